"""STATE lines, each a finished hand: read, and checked against the rules.

    STATE:0:crc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:Ann|Bob

A line is accepted only if all of it agrees with the game: the betting is legal and over, every card is in the deck
and occurs once, the values are those the rules give. Hands of one game repeat their betting and their values again
and again, so both are remembered by their texts; the memory is bounded. In no-limit games, and in others once it has
been full, a betting text is remembered only when it comes for the second time: where texts hardly ever come again,
keeping them would save nothing and cost time in the garbage collector. Read too are lines of older servers and of
others who wrote this format:

- betting with blinds and amounts, ``b50b100r300c300/`` (see `protocol.match_state`);
- the order of fields before ``STATE:`` came up, ``Ann|Bob:0:crc/...:cards:values``;
- the time behind the names, `` # 1479132064.35509``;
- no hole cards for a position that never had to show any.

A SCORE line, ``SCORE:440|-440:Ann|Bob``, ends a log: the sum of its hands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from engine import CALL, CARD_TEXTS, FOLD, RAISE, Action, BettingState, Card, Deal, Game, IllegalAction, betting_start
from engine.betting_rules import ActionKind
from engine.hand import hand_values
from engine.text import count_of
from logs.acpc_log.writer import format_value
from protocol import FormatError
from protocol.match_state import betting_after, parse_legacy_state

_MOST_TEXTS: Final = 1 << 13
"""Values, names and raises remembered, each."""
_MOST_CHARACTERS: Final = 1 << 18
"""Of all betting texts remembered."""
_MOST_SEEN: Final = 1 << 16
"""Betting texts, as their hashes, of which it is known that they have come once."""
_MOST_HANDS: Final = 2**32
_TOLERANCE_CHIPS: Final = 1e-6
"""Logs print six decimals."""
_make: Final = tuple.__new__
"""Makes a named tuple without its checks, for the inner loop of reading."""
_CARD_OF_TEXT: Final = {text: card for card, text in enumerate(CARD_TEXTS)}
_TOKENS: Final = re.compile(r"r[1-9][0-9]{0,9}|.", re.DOTALL)
NUMBER: Final = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)
_NUMBERS: Final = re.compile(rf"{NUMBER.pattern}(\|{NUMBER.pattern})*", re.ASCII)
_TIME_REMARK: Final = re.compile(r" # [0-9]{9,}(\.[0-9]+)?$", re.ASCII)
_T = TypeVar("_T")


class StateLine(NamedTuple):
    """A finished hand as a line has it: values and names by position, the board as far as the hand went."""

    hand_number: int
    betting: BettingState
    deal: Deal
    values: tuple[float, ...]
    names: tuple[str, ...]


class _Runs(dict[str, tuple[Card, ...]]):
    """Hole cards by their text, each made when it is first met; there are not many."""

    def __init__(self, num_hole_cards: int) -> None:
        super().__init__()
        self._width = 2 * num_hole_cards

    def __missing__(self, text: str) -> tuple[Card, ...]:
        if len(text) != self._width and text:
            raise KeyError(text)
        cards = self[text] = tuple([_CARD_OF_TEXT[text[i : i + 2]] for i in range(0, len(text), 2)])
        return cards


class _Actions(dict[str, Action]):
    """Actions by their texts, raises of any size each made when it is first met."""

    def __init__(self, game: Game) -> None:
        self._plain = {"f": FOLD, "c": CALL} | ({"r": RAISE} if game.is_limit else {})
        super().__init__(self._plain)

    def __missing__(self, text: str) -> Action:
        if len(text) < 2:
            raise KeyError(text)
        if len(self) >= _MOST_TEXTS:
            self.clear()
            self.update(self._plain)
        action = self[text] = _make(Action, (ActionKind.RAISE, int(text[1:])))
        return action


class StateLines:
    def __init__(self, game: Game) -> None:
        self._game = game
        self._root = betting_start(game)
        self._runs = _Runs(game.num_hole_cards)
        self._deck = game.deck_set
        self._first_board = 2 * game.num_board_cards[0]
        self._hole_total = game.num_players * game.num_hole_cards
        self._board_lengths = [
            [2 * count for count in game.num_board_cards[1 : round_ + 1]] for round_ in range(game.num_rounds)
        ]
        self._actions = _Actions(game)
        self._characters_held = 0
        self._seen: set[int] | None = None if game.is_limit else set()
        """Hashes of betting texts that have come once; None in limit games as long as the memory was never full."""
        self._ends: dict[str, tuple[BettingState, tuple[float, ...] | None]] = {}
        """By betting text, the final state, and the values where they do not depend on the cards."""
        self._starts: dict[str, BettingState] = {}
        """States at the start of a later round, by the betting text up to and with its slash."""
        self._values: dict[str, tuple[float, ...]] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def read(self, line: str) -> StateLine:
        """Read a line, with or without its end.

        Raises:
            FormatError: it is not a finished hand of this game; `column` is the first wrong character.
        """
        fields = line.split(":")
        if len(fields) != 6 or fields[0] != "STATE":
            return self._read_odd(line, fields)
        _, number, betting_text, _, values_text, names_text = fields
        if not (number.isascii() and number.isdigit()) or int(number) >= _MOST_HANDS:
            raise FormatError(line, _start(fields, 1), f"{number[:20]!r} is not a hand number")
        end = self._ends.get(betting_text)
        if end is None:
            end = self._learn_betting(line, fields)
        betting, values = end
        deal = self._read_cards(line, fields, betting)
        if values is None:
            values = tuple(hand_values(betting, deal))
        written = self._values.get(values_text)
        if written is None:
            written = self._learn_values(line, fields)
        if written != values:
            _check_close(line, fields, written, values)
        names = self._names.get(names_text)
        if names is None:
            names = self._learn_names(line, fields)
        return _make(StateLine, (int(number), betting, deal, values, names))

    def _read_odd(self, line: str, fields: list[str]) -> StateLine:
        """Read a line that does not have today's six fields: the names may come first, without 'STATE'."""
        if len(fields) == 5 and fields[0] != "STATE" and fields[0].count("|") + 1 == self._game.num_players:
            names = fields[0]
            rest = line[len(fields[0]) + 1 :].rstrip("\r\n")
            try:
                return self.read(f"STATE:{rest}:{names}")
            except FormatError as error:
                moved = len(names) + 1 - len("STATE:")
                column = error.column + moved if error.column <= len("STATE:") + len(rest) else 0
                raise FormatError(line, column, error.problem) from None
        if fields[0] != "STATE":
            raise FormatError(line, 0, "the line is neither a hand ('STATE:'), a score ('SCORE:') nor a remark ('#')")
        if (at := line.find("STATE:", 1)) > 0:
            raise FormatError(line, at, "another hand begins: the end of the first is missing")
        if len(fields) > 6:
            raise FormatError(line, _start(fields, 5), "a name contains ':', so that the names cannot be separated")
        raise FormatError(line, len(line.rstrip("\r\n")), f"the line ends after {len(fields)} of its 6 fields")

    # ---- the betting

    def _learn_betting(self, line: str, fields: list[str]) -> tuple[BettingState, tuple[float, ...] | None]:
        text = fields[2]
        try:
            betting = self._walk_legacy(text) if text.startswith("b") else self._walk_whole(text)
        except FormatError as error:
            raise FormatError(line, _start(fields, 2) + error.column, error.problem) from None
        if not betting.finished:
            raise FormatError(line, _start(fields, 2) + len(text), "the betting stops before the hand is over")
        end = betting, None if betting.is_showdown else tuple(hand_values(betting, Deal((), ())))
        if self._is_kept(text):
            self._ends[text] = end
        return end

    def _is_kept(self, text: str) -> bool:
        seen = self._seen
        if seen is not None and (key := hash(text)) not in seen:
            if len(seen) >= _MOST_SEEN:
                seen.clear()
            seen.add(key)
            return False
        self._characters_held += len(text)
        return True

    def _walk_whole(self, text: str) -> BettingState:
        if self._characters_held > _MOST_CHARACTERS:
            self._ends.clear()
            self._starts.clear()
            self._characters_held = 0
            self._seen = self._seen or set()
        betting = self._walk(text)
        if betting is None or not betting.finished or text.count("/") != betting.round:
            # Something is wrong; the strict reader names it.
            return betting_after(self._game, text)
        return betting

    def _walk(self, text: str) -> BettingState | None:
        """The state a betting text leads to, None where it breaks the rules; slashes at its end are not checked.

        Begins in the last round that is remembered: hands share their first rounds.
        """
        known = self._actions
        starts = self._starts
        is_limit = self._game.is_limit
        betting: BettingState | None = None
        cut = len(text)
        while betting is None:
            cut = text.rfind("/", 0, cut) + 1
            betting = starts.get(text[:cut]) if cut else self._root
            cut -= 1
        start = cut + 1
        for round_, part in enumerate(text[start:].split("/"), text.count("/", 0, start)):
            if start > cut + 1 and self._is_kept(before := text[:start]):
                starts[before] = betting
            start += len(part) + 1
            if not part:
                continue
            if betting.round != round_:
                return None
            try:
                actions = [known[token] for token in (part if is_limit else _TOKENS.findall(part))]
            except KeyError:
                return None
            after = betting.after_many(actions)
            if after is None:
                return None
            betting = after
        return betting

    def _walk_legacy(self, text: str) -> BettingState:
        """The state an older betting text leads to: it contains blinds, and amounts after calls."""
        before = "0:0:"
        try:
            older, blinds = parse_legacy_state(f"{before}{text}:")
        except FormatError as error:
            raise FormatError(text, error.column - len(before), error.problem) from None
        wanted = sorted(blind for blind in self._game.blinds if blind)
        if sorted(blind for blind in blinds if blind) != wanted:
            raise FormatError(text, 0, f"the blinds are {blinds}, those of the game are {self._game.blinds}")
        betting = self._root
        for round_, actions in enumerate(older.rounds):
            for action in actions:
                try:
                    if betting.round != round_:
                        raise FormatError(text, 0, f"round {round_ + 1} has actions, but it is not reached")
                    betting = betting.after(action)
                except IllegalAction as error:
                    raise FormatError(text, 0, error.fact) from None
        if betting.finished and len(older.rounds) != betting.round + 1:
            problem = f"{len(older.rounds)} rounds of betting where there are {betting.round + 1}"
            raise FormatError(text, 0, problem)
        return betting

    # ---- the cards

    def _read_cards(self, line: str, fields: list[str], betting: BettingState) -> Deal:
        """The deal, each card of the deck at most once."""
        runs = self._runs
        hole_text, *boards = fields[3].split("/")
        round_ = betting.round
        board_text = "".join(boards)
        slots = hole_text.split("|")
        if self._first_board:
            slots[-1], first = self._split_last_slot(slots[-1])
            board_text = first + board_text
        try:
            holes = tuple([runs[slot] for slot in slots])
            board = tuple([_CARD_OF_TEXT[board_text[i : i + 2]] for i in range(0, len(board_text), 2)])
        except KeyError:
            raise self._card_error(line, fields, betting) from None
        cards = set(board).union(*holes)
        if (
            len(holes) != self._game.num_players
            or list(map(len, boards)) != self._board_lengths[round_]
            or len(board) != self._game.board_cards_by_round[round_]
            or not cards <= self._deck
            or (len(cards) != self._hole_total + len(board) and not self._is_complete(holes, board, cards, betting))
        ):
            raise self._card_error(line, fields, betting)
        return _make(Deal, (holes, board))

    def _split_last_slot(self, text: str) -> tuple[str, str]:
        """The last hole cards and the board cards of round 0, which follow them without a mark."""
        cut = len(text) - self._first_board
        if cut >= 0:
            return (text[:cut], text[cut:])
        return (text, "")

    def _is_complete(
        self, holes: tuple[tuple[Card, ...], ...], board: tuple[Card, ...], cards: set[Card], betting: BettingState
    ) -> bool:
        is_showdown = betting.is_showdown
        is_known = all(hole or not is_showdown or betting.folded >> position & 1 for position, hole in enumerate(holes))
        return is_known and len(cards) == sum(map(len, holes)) + len(board)

    def _card_error(self, line: str, fields: list[str], betting: BettingState) -> FormatError:
        game = self._game
        start = at = _start(fields, 3)
        hole_text, *boards = fields[3].split("/")
        slots = hole_text.split("|")
        if len(slots) != game.num_players:
            return FormatError(line, at, f"hole cards of {len(slots)} players in a game of {game.num_players}")
        runs = [(slot, 2 * game.num_hole_cards, "hole cards") for slot in slots]
        if self._first_board:
            last, first = self._split_last_slot(slots[-1])
            runs[-1] = last + first, 2 * game.num_hole_cards + self._first_board, "hole and board cards"
        if len(boards) != betting.round:
            at += len(fields[3])
            return FormatError(line, at, f"board cards of {len(boards)} rounds after {betting.round} rounds of betting")
        runs += [
            (board, length, "board cards")
            for board, length in zip(boards, self._board_lengths[betting.round], strict=True)
        ]
        seen: set[Card] = set()
        for index, (run, length, what) in enumerate(runs):
            if len(run) != length and (run or what != "hole cards"):
                return FormatError(line, at, f"{run[:20]!r} are not {length // 2} {what}")
            if not run and betting.is_showdown and not betting.folded >> index & 1:
                return FormatError(line, at, f"position {index} has no hole cards, but came to the showdown")
            for i in range(0, len(run), 2):
                card = _CARD_OF_TEXT.get(run[i : i + 2])
                if card is None:
                    return FormatError(line, at + i, f"{run[i : i + 2]!r} is not a card")
                if card in seen or card not in self._deck:
                    problem = "occurs twice" if card in seen else "is not in the game's deck"
                    return FormatError(line, at + i, f"{CARD_TEXTS[card]} {problem}")
                seen.add(card)
            at += len(run) + 1
        return FormatError(line, start, "the cards cannot be read")

    # ---- values and names

    def _learn_values(self, line: str, fields: list[str]) -> tuple[float, ...]:
        at = _start(fields, 4)
        texts = fields[4].split("|")
        if len(texts) != self._game.num_players:
            raise FormatError(
                line, at, f"{count_of(len(texts), 'value')} in a game of {self._game.num_players} players"
            )
        if not _NUMBERS.fullmatch(fields[4]):
            for text in texts:
                if not NUMBER.fullmatch(text):
                    raise FormatError(line, at, f"{text[:20]!r} is not a number of chips")
                at += len(text) + 1
        values = tuple(map(float, texts))
        _remember(self._values, fields[4], values)
        return values

    def _learn_names(self, line: str, fields: list[str]) -> tuple[str, ...]:
        text = _TIME_REMARK.sub("", fields[5].rstrip("\r\n"))
        names = tuple(text.split("|"))
        if len(names) != self._game.num_players:
            at = line.rfind(fields[5])
            raise FormatError(line, at, f"{count_of(len(names), 'name')} in a game of {self._game.num_players} players")
        _remember(self._names, fields[5], names)
        return names


def _remember(memory: dict[str, _T], text: str, meaning: _T) -> None:
    """Keep what a text means; when there are too many, start again."""
    if len(memory) >= _MOST_TEXTS:
        memory.clear()
    memory[text] = meaning


def _start(fields: list[str], index: int) -> int:
    return sum(map(len, fields[:index])) + index


def _check_close(line: str, fields: list[str], written: tuple[float, ...], values: tuple[float, ...]) -> None:
    """Do nothing if two sets of values are the same but for the decimals that are not printed."""
    for position, (one, other) in enumerate(zip(written, values, strict=True)):
        if abs(one - other) > _TOLERANCE_CHIPS:
            at = _start(fields, 4) + sum(len(text) + 1 for text in fields[4].split("|")[:position])
            raise FormatError(
                line, at, f"position {position} has won {format_value(one)} here, by the rules {format_value(other)}"
            )


_SCORE_TOLERANCE_CHIPS: Final = 1e-3


class ScoreLine(NamedTuple):
    """Total chips and names, both by seat."""

    totals: tuple[float, ...]
    names: tuple[str, ...]


def parse_score(line: str) -> ScoreLine | None:
    """Read a score line; None for any other line."""
    values_text, _, names_text = line.rstrip("\r\n").removeprefix("SCORE:").partition(":")
    texts = values_text.split("|")
    names = tuple(names_text.split("|"))
    if len(texts) != len(names) or not all(map(NUMBER.fullmatch, texts)):
        return None
    return ScoreLine(tuple(map(float, texts)), names)


def is_same_score(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether totals are equal, except for decimals that were lost in printing."""
    return all(abs(a - b) <= _SCORE_TOLERANCE_CHIPS for a, b in zip(one, other, strict=True))


def wrong_score(totals: Sequence[float]) -> str:
    """The sentence about a score that differs from these sums."""
    shown = "|".join(map(format_value, totals))
    return f"the score is not the sum of the hands, {shown}: hands are missing, or some were added"
