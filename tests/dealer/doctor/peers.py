"""Good bots, and bots with one fault each, for tests of the doctor.

A bot is an object that takes and returns bytes, so that it can be examined in the process of the tests. As a program
(``python peers.py FAULT HOST PORT``) it plays over TCP. `FAULTS` has the kind of finding and the marked bytes of each
fault.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import zlib
from collections.abc import Callable
from typing import TypeAlias

from dealer.doctor.judge import Kind
from engine import CALL, FOLD, RAISE, Action, BettingState, Game, Position, betting_start, raise_to
from protocol import MatchState, find_game
from protocol.actions import format_action
from protocol.framing import LineReader
from protocol.match_state import StateReader

VERSION = b"VERSION:2.0.0\r\n"
SECRET = "the last words"


class Leave(Exception):
    """The bot closes the connection and exits with a code; with None it does not exit."""

    def __init__(self, code: int | None = 0) -> None:
        self.code = code
        super().__init__(code)


def choose_action(text: bytes, betting: BettingState) -> Action:
    """Choose an action of any kind and size by a hash of the state."""
    number = zlib.crc32(text) % 100
    legal = betting.legal_actions()
    if number < 10 and legal.can_fold:
        return FOLD
    if number < 60 or not legal.can_raise:
        return CALL
    if betting.game.is_limit:
        return RAISE
    middle = min(legal.raise_max, legal.raise_min + betting.pot // 2)
    sizes = (legal.raise_min, legal.raise_max, middle)
    return raise_to(sizes[number % 3])


class Peer:
    """A good bot; bots with faults replace one of its methods."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.reader = LineReader()
        self.asked = 0
        self.exit_code: int | None = 0
        """Exit code when the dealer closes the connection, or None if the bot does not exit."""

    def open(self) -> bytes:
        return VERSION

    def receive_data(self, data: bytes) -> bytes:
        self.reader.feed(data)
        out = b""
        while (line := self.reader.pop()) is not None:
            out += self.on_line(line)
        return out

    def on_line(self, line: bytes) -> bytes:
        if line[:1] in (b"#", b";"):
            return b""
        text = line.rstrip(b"\r\n")
        hand = StateReader(self.game).read(text.decode("latin-1"))
        return self.on_state(text, hand.state, hand.betting)

    def on_state(self, text: bytes, state: MatchState, betting: BettingState) -> bytes:
        if betting.finished:
            return self.on_end(text)
        if betting.acting_position != state.position:
            return self.on_other(text)
        self.asked += 1
        return self.on_question(text, betting)

    def on_question(self, text: bytes, betting: BettingState) -> bytes:
        return self.reply(text, self.action(text, betting), betting)

    def on_other(self, text: bytes) -> bytes:
        return b""

    def on_end(self, text: bytes) -> bytes:
        return b""

    def on_silence(self, seconds: float) -> None:
        """Called in the process of the tests when time passes."""

    def action(self, text: bytes, betting: BettingState) -> bytes:
        return format_action(choose_action(text, betting)).encode()

    def reply(self, text: bytes, action: bytes, betting: BettingState) -> bytes:
        return text + b":" + action + b"\r\n"


# ---- unusual good bots


class Chatty(Peer):
    """Bot that sends comments before every reply."""

    def on_question(self, text: bytes, betting: BettingState) -> bytes:
        return b"# thinking\r\n;" + b"x" * 4000 + b"\r\n" + super().on_question(text, betting)


class WithLf(Peer):
    """Bot that ends lines with LF alone, which is a warning."""

    def open(self) -> bytes:
        return super().open().replace(b"\r", b"")

    def reply(self, text: bytes, action: bytes, betting: BettingState) -> bytes:
        return super().reply(text, action, betting).replace(b"\r", b"")


# ---- bots with faults

Reply: TypeAlias = Callable[[bytes, bytes, BettingState], bytes]
Choose: TypeAlias = Callable[[BettingState], bytes]
Make: TypeAlias = Callable[[Game], Peer]


def opens_with(line: bytes) -> Make:
    def make(game: Game) -> Peer:
        peer = Peer(game)
        peer.open = lambda: line  # type: ignore[method-assign]
        return peer

    return make


def replies(reply: Reply) -> Make:
    def make(game: Game) -> Peer:
        peer = Peer(game)
        peer.reply = reply  # type: ignore[method-assign]
        return peer

    return make


def chooses(choose: Choose) -> Make:
    """Make bots that answer with `choose`, or with a call where it returns nothing."""

    def make(game: Game) -> Peer:
        peer = Peer(game)

        def action(text: bytes, betting: BettingState) -> bytes:
            return choose(betting) or b"c"

        peer.action = action  # type: ignore[method-assign]
        return peer

    return make


def spent_before_round(betting: BettingState) -> int:
    state = betting_start(betting.game)
    for actions in betting.rounds[:-1]:
        for _, action in actions:
            state = state.after(action)
    return 0 if betting.round == 0 else state.spent[betting.acting_position]


def street_total(betting: BettingState) -> bytes:
    legal = betting.legal_actions()
    return b"r%d" % (legal.raise_min - spent_before_round(betting)) if legal.can_raise else b""


def over_the_stack(betting: BettingState) -> bytes:
    legal = betting.legal_actions()
    return b"r%d" % (legal.raise_max + 1) if legal.can_raise else b""


def free_fold(betting: BettingState) -> bytes:
    return b"" if betting.legal_actions().can_fold else b"f"


def sized(suffix: bytes, prefix: bytes = b"") -> Choose:
    def choose(betting: BettingState) -> bytes:
        legal = betting.legal_actions()
        return b"r" + prefix + b"%d" % legal.raise_min + suffix if legal.can_raise else b""

    return choose


def other_cards_case(text: bytes, action: bytes, betting: BettingState) -> bytes:
    head, cards = text.rsplit(b":", 1)
    return head + b":" + cards.lower() + b":" + action + b"\r\n"


def betting_with_action(text: bytes, action: bytes, betting: BettingState) -> bytes:
    fields = text.split(b":")
    fields[3] += action
    return b":".join(fields) + b":" + action + b"\r\n"


class AnswersEverything(Peer):
    def on_other(self, text: bytes) -> bytes:
        return text + b":c\r\n"


class AnswersTheEnd(Peer):
    def on_end(self, text: bytes) -> bytes:
        return text + b":c\r\n"


class OldState(Peer):
    last = b""

    def reply(self, text: bytes, action: bytes, betting: BettingState) -> bytes:
        old, self.last = self.last or text, text
        return super().reply(old, action, betting)


class FixedSeat(Peer):
    """Bot that acts as if it had position 0 in every hand."""

    def on_state(self, text: bytes, state: MatchState, betting: BettingState) -> bytes:
        return super().on_state(text, state._replace(position=Position(0)), betting)


class CountsHands(Peer):
    hand = -1
    last = b""

    def on_state(self, text: bytes, state: MatchState, betting: BettingState) -> bytes:
        number = text.split(b":")[2]
        self.hand += number != self.last
        self.last = number
        return super().on_state(text, state, betting)

    def reply(self, text: bytes, action: bytes, betting: BettingState) -> bytes:
        fields = text.split(b":")
        fields[2] = b"%d" % self.hand
        return super().reply(b":".join(fields), action, betting)


class Stalls(Peer):
    def on_question(self, text: bytes, betting: BettingState) -> bytes:
        return b"" if self.asked == 3 else super().on_question(text, betting)


class ReadsNothing(Peer):
    def receive_data(self, data: bytes) -> bytes:
        return b""


class StallsAtAllIn(Peer):
    """Bot that does not reply in a hand with an all-in."""

    def on_question(self, text: bytes, betting: BettingState) -> bytes:
        is_all_in = any(spent == stack for spent, stack in zip(betting.spent, self.game.stacks, strict=True))
        return b"" if is_all_in else super().on_question(text, betting)


class OneReadOneLine(Peer):
    """Bot that takes the result of one read for one line."""

    def receive_data(self, data: bytes) -> bytes:
        text = data.split(b"\r\n")[0]
        try:
            hand = StateReader(self.game).read(text.decode("latin-1"))
        except ValueError:
            return text + b":c\r\n"
        return self.on_state(text, hand.state, hand.betting)


class FirstLineOnly(Peer):
    """Bot that buffers bytes, but drops all lines after the first one of the buffer."""

    buffer = b""

    def receive_data(self, data: bytes) -> bytes:
        self.buffer += data
        if b"\n" not in self.buffer:
            return b""
        line = self.buffer.split(b"\n")[0]
        self.buffer = b""
        return self.on_line(line + b"\n")


class EndsAtCr(Peer):
    """Bot that takes CR for the end of a line and ignores LF."""

    buffer = b""

    def receive_data(self, data: bytes) -> bytes:
        self.buffer += data.replace(b"\n", b"")
        out = b""
        while b"\r" in self.buffer:
            line, self.buffer = self.buffer.split(b"\r", 1)
            out += self.on_line(line)
        return out


class Impatient(Peer):
    def on_silence(self, seconds: float) -> None:
        if seconds >= 1.0:
            raise Leave(0)


class KnowsNoComments(Peer):
    def on_line(self, line: bytes) -> bytes:
        if not line.startswith(b"MATCHSTATE"):
            raise Leave(3)
        return super().on_line(line)


class BeginsAtHandZero(Peer):
    hands: int | None = None

    def on_state(self, text: bytes, state: MatchState, betting: BettingState) -> bytes:
        if self.hands is None and state.hand_number:
            raise Leave(4)
        self.hands = state.hand_number
        return super().on_state(text, state, betting)


class BeginsWithHands(Peer):
    """Bot that crashes when its first state of a hand has actions."""

    hand = -1

    def on_state(self, text: bytes, state: MatchState, betting: BettingState) -> bytes:
        if state.hand_number != self.hand and len(text.split(b":")[3]) > 1:
            raise Leave(6)
        self.hand = state.hand_number
        return super().on_state(text, state, betting)


class ShortBuffer(Peer):
    def on_line(self, line: bytes) -> bytes:
        if len(line) > 255:
            raise Leave(-11)
        return super().on_line(line)


class CrashesOnTheRiver(Peer):
    def on_state(self, text: bytes, state: MatchState, betting: BettingState) -> bytes:
        if betting.round == self.game.num_rounds - 1:
            raise Leave(7)
        return super().on_state(text, state, betting)


class LeavesAfterAnswers(Peer):
    def on_question(self, text: bytes, betting: BettingState) -> bytes:
        if self.asked == 5:
            raise Leave(0)
        return super().on_question(text, betting)


class Lingers(Peer):
    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.exit_code = None


class EndsWithError(Peer):
    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.exit_code = 9


class LeavesAtOnce(Peer):
    def open(self) -> bytes:
        raise Leave(0)


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault of a bot, and its finding.

    Attributes:
        kind: kind of the finding.
        make: constructor of the bot.
        marked: bytes of the line from the marked one on, or None to skip this check.
        game: game with the fault.
        situation: first situation with the fault; empty for any.
        others: kinds of further findings that may follow from the fault.
    """

    kind: Kind
    make: Make
    marked: bytes | None = None
    game: str = "limit"
    situation: str = ""
    others: frozenset[Kind] = frozenset()


def also(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


FAULTS: dict[str, Fault] = {
    # version line
    "no version line": Fault(Kind.NO_VERSION, opens_with(b"")),
    "version in lower case": Fault(Kind.NO_VERSION, opens_with(b"version:2.0.0\r\n"), b"version"),
    "old version": Fault(Kind.VERSION_NUMBER, opens_with(b"VERSION:1.0.0\r\n"), b"1.0.0"),
    "version and name": Fault(Kind.VERSION_TEXT, opens_with(b"VERSION:2.0.0 bot\r\n"), b" bot"),
    "version without end": Fault(Kind.LINE_UNFINISHED, opens_with(b"VERSION:2.0.0"), b""),
    # lines
    "LF alone": Fault(Kind.LINE_END, WithLf, b"\n"),
    "no line end": Fault(Kind.LINE_UNFINISHED, replies(lambda text, action, _: text + b":" + action), b""),
    "NUL of the string": Fault(
        Kind.NUL_BYTE,
        replies(lambda text, action, _: text + b":" + action + b"\r\n\0"),
        b"\0MATCH",
    ),
    "two line ends": Fault(
        Kind.EMPTY_LINE, replies(lambda text, action, _: text + b":" + action + b"\r\n\r\n"), b"\r\n"
    ),
    "prints into the socket": Fault(
        Kind.JUNK, replies(lambda text, action, _: b"thinking...\r\n" + text + b":" + action + b"\r\n"), b"thinking"
    ),
    "very long comment": Fault(
        Kind.LINE_TOO_LONG,
        replies(lambda text, action, _: b"#" + b"x" * 9000 + b"\r\n" + text + b":" + action + b"\r\n"),
    ),
    # times of answers
    "answers everybody's turn": Fault(Kind.UNASKED, AnswersEverything, b":c\r\n"),
    "answers the last state": Fault(Kind.UNASKED_FINAL, AnswersTheEnd, b":c\r\n"),
    "answers twice": Fault(Kind.TWICE, replies(lambda text, action, _: 2 * (text + b":" + action + b"\r\n")), b":"),
    "answers the state before": Fault(Kind.OLD_STATE, OldState),
    "takes position 0 for its own": Fault(Kind.SILENT, FixedSeat, others=also(Kind.UNASKED)),
    "reads nothing": Fault(Kind.SILENT, ReadsNothing),
    "stalls": Fault(Kind.SILENT, Stalls),
    "stalls at an all-in": Fault(Kind.SILENT, StallsAtAllIn, game="nolimit3"),
    "takes CR for the end": Fault(Kind.EARLY, EndsAtCr, b":", situation="bytewise"),
    # echo
    "action alone": Fault(Kind.ECHO_MISSING, replies(lambda text, action, _: action + b"\r\n")),
    "CR in the echo": Fault(Kind.ECHO_CR, replies(lambda text, action, _: text + b"\r:" + action + b"\r\n"), b"\r:"),
    "CR LF in the echo": Fault(
        Kind.ACTION_MISSING,
        replies(lambda text, action, _: text + b"\r\n:" + action + b"\r\n"),
        b"\r\n",
        others=also(Kind.ECHO_MISSING),
    ),
    "cards in lower case": Fault(Kind.ECHO_REWRITTEN, replies(other_cards_case)),
    "action in the betting, too": Fault(Kind.ECHO_CHANGED, replies(betting_with_action)),
    "counts hands itself": Fault(Kind.ECHO_CHANGED, CountsHands, b"0:", situation="resumed-match"),
    "cut at 16 bytes": Fault(
        Kind.ECHO_CUT,
        replies(lambda text, action, _: text[:16] + b":" + action + b"\r\n"),
        b":",
        others=also(Kind.SILENT),
    ),
    # action
    "no action": Fault(Kind.ACTION_MISSING, replies(lambda text, *_: text + b"\r\n"), b"\r\n"),
    "x for a check": Fault(Kind.ACTION_UNKNOWN, chooses(lambda betting: b"x"), b"x"),
    "upper case": Fault(Kind.ACTION_LETTER, chooses(lambda betting: b"C"), b"C"),
    "the word": Fault(Kind.ACTION_TAIL, chooses(lambda betting: b"call"), b"all"),
    "a size in limit": Fault(
        Kind.LIMIT_SIZE, chooses(lambda betting: b"r20" if betting.legal_actions().can_raise else b""), b"20"
    ),
    "no size in no-limit": Fault(
        Kind.SIZE_MISSING,
        chooses(lambda betting: b"r" if betting.legal_actions().can_raise else b""),
        b"\r\n",
        "nolimit",
    ),
    "size with a point": Fault(Kind.SIZE_UNREADABLE, chooses(sized(b".50")), b".50", "nolimit"),
    "size with a zero before": Fault(Kind.SIZE_UNUSUAL, chooses(sized(b"", b"0")), b"0", "nolimit"),
    "total of the round": Fault(Kind.SIZE_TOO_SMALL, chooses(street_total), None, "nolimit"),
    "above the stack": Fault(Kind.SIZE_TOO_LARGE, chooses(over_the_stack), b"20001", "nolimit"),
    "folds for nothing": Fault(Kind.FOLD_REFUSED, chooses(free_fold), b"f"),
    "raises over the cap": Fault(Kind.RAISE_REFUSED, chooses(lambda betting: b"r"), b"r"),
    # segments and pauses
    "one read for one line": Fault(
        Kind.ECHO_CUT,
        OneReadOneLine,
        None,
        situation="straddled",
        others=also(Kind.SILENT, Kind.JUNK, Kind.UNASKED, Kind.ECHO_MISSING, Kind.ECHO_CHANGED, Kind.EMPTY_LINE),
    ),
    "one line of a read": Fault(Kind.SILENT, FirstLineOnly, situation="joined", others=also(Kind.CRASHED)),
    "gives up waiting": Fault(Kind.LEFT, Impatient, situation="long-wait"),
    "dies of a comment": Fault(Kind.CRASHED, KnowsNoComments, situation="comments"),
    # connections and exits
    "begins at hand 0 only": Fault(Kind.CRASHED, BeginsAtHandZero, situation="resumed-match"),
    "begins with a hand only": Fault(Kind.CRASHED, BeginsWithHands, situation="resumed-hand"),
    "255 bytes for a line": Fault(Kind.CRASHED, ShortBuffer, None, "nolimit", "long-line"),
    "crashes on the river": Fault(Kind.CRASHED, CrashesOnTheRiver, situation="check-down"),
    "leaves in between": Fault(Kind.LEFT, LeavesAfterAnswers),
    "does not end": Fault(Kind.LINGERS, Lingers, situation="end-of-match"),
    "ends with an error": Fault(Kind.EXIT_CODE, EndsWithError, situation="end-of-match"),
    "comes and goes": Fault(Kind.LEFT, LeavesAtOnce, situation="handshake"),
    # floods
    "lines without end": Fault(Kind.FLOOD, replies(lambda *_: b"so what\r\n" * 5000), others=also(Kind.JUNK)),
    "comments without end": Fault(Kind.FLOOD, replies(lambda *_: b"# so what\r\n" * 5000)),
    "binary noise": Fault(
        Kind.FLOOD,
        replies(lambda *_: bytes(range(256)) * 5000),
        others=also(Kind.NUL_BYTE),
    ),
    "a line of ten megabytes": Fault(
        Kind.FLOOD, replies(lambda *_: b"x" * 10_000_000), others=also(Kind.LINE_TOO_LONG)
    ),
}


# ---- as a program


def main() -> int:
    """``FAULT HOST PORT``; `FAULT` is a name of `FAULTS`, of a class of good bots, or ``bytewise``."""
    name, host, port = sys.argv[1:]
    game = find_game(os.environ["ARENA_GAME"])[1]
    good: dict[str, Make] = {"Peer": Peer, "Chatty": Chatty, "WithLf": WithLf, "bytewise": Peer}
    peer = good[name](game) if name in good else FAULTS[name].make(game)
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            out = peer.open()
            while True:
                pieces = [bytes([byte]) for byte in out] if name == "bytewise" else [out]
                for piece in pieces:
                    connection.sendall(piece)
                data = connection.recv(1 << 16)
                if not data:
                    break
                out = peer.receive_data(data)
        except Leave as leaving:
            peer.exit_code = leaving.code
        except OSError:
            pass
    print(SECRET, flush=True)
    if peer.exit_code is None:
        import time

        time.sleep(600)
    return peer.exit_code or 0


if __name__ == "__main__":
    sys.exit(main())
