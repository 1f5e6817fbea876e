"""A person's seat as values: what it shows, what is legal, the bytes to and from the dealer.

Terminal and page are elsewhere: they show a `Scene` and return an action. `HumanSeat` is the seat without a
socket, `SeatConnection` the same with one. `SeatMoments` is for those whose entries come late or twice, such as a page.

    with SeatConnection(seat, "127.0.0.1", 18374) as connection:
        for scene in connection.scenes():
            if scene.is_your_turn:
                connection.answer(read_entry(input(), scene))

A `Scene` never holds a card that the person has not been shown; all that follows from its fields is computed when asked
for. `HumanSeat` has no socket, no clock and no thread; the waits of `SeatConnection` are short, so that a person can
always interrupt them.

What a person types, as `read_entry` takes it; what is unclear or illegal is refused with one sentence that says what
is possible:

    f fold        c, k call or check        r raise, in limit games        m the minimum        a all-in
    300, r 300, raise to 300                a size: the total for the street
    p, p/2, 2p, 3/4p, r p/2, 75%            call, then raise by that part of the pot as it is after the call

The dealer may be ahead of the person, who still looks at the end of a hand, so scenes wait in `SeatMoments` until the
person has continued. A moment's name is the number of the hand and how many actions were played in it: ``12.3``. An
answer that was sent twice, or from a page that is out of date, names a moment that has passed and changes nothing.
What the person has played in a hand is a value, `HandProgress`. Given back when the hand is dealt again, after a break,
it brings the person to the same decision, so no decision is made a second time with more knowledge.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import TracebackType
from typing import Final, NoReturn

from bots.errors import DealerFailure, StaleEntry, UnclearEntry
from bots.sdk.client import CONNECT_TIMEOUT_S, connect
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Card, Game, Move, Position, Seat, raise_to
from engine.betting import BettingState
from engine.errors import quoted
from engine.holdem import round_names
from engine.text import shown
from logs.estimation import AnyTimeMean, Rate, score_bounds
from logs.view import Acted, Dealt, HandEvent, HandView, Shown, action_words, hand_events, live_views, strength_of
from protocol import NEED_DATA, Comment, Handshake, PlayerSession, ReceivedState, RemoteProtocolError, Reply
from protocol.actions import scan_action
from protocol.match_state import betting_text


@dataclass(frozen=True, slots=True)
class MatchScore:
    """The result of a person's match so far: net chips by seat, and a rate per hand if there are hands."""

    hands: int
    chips: tuple[float, ...]
    seat: Seat
    rate: Rate | None = None

    @property
    def yours(self) -> float:
        return self.chips[self.seat]


@dataclass(frozen=True)
class Scene:
    """One moment of a hand as a person at the table sees it.

    Attributes:
        names: the players, by position in this hand.
        hand_number: 0-based number of the hand in the match.
        all_hole_cards: by position; empty where the person has not been shown them.
        score: over all finished hands, including this one once it is over.
    """

    names: tuple[str, ...]
    position: Position
    hand_number: int
    all_hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[Card, ...]
    betting: BettingState
    score: MatchScore

    @property
    def game(self) -> Game:
        return self.betting.game

    @cached_property
    def view(self) -> View:
        """The same moment as a bot would see it."""
        return View(self.betting, self.position, self.hand_number, self.all_hole_cards, self.board)

    @property
    def hole_cards(self) -> tuple[Card, ...]:
        return self.all_hole_cards[self.position]

    @property
    def pot(self) -> int:
        return self.betting.pot

    @property
    def finished(self) -> bool:
        return self.betting.finished

    @property
    def is_your_turn(self) -> bool:
        return not self.finished and self.betting.acting_position == self.position

    @property
    def round_name(self) -> str:
        return round_names(self.game)[self.betting.round]

    @property
    def strength(self) -> str:
        """What the person's best hand is called, ``a pair of Kings``; empty before the flop and in other games."""
        return strength_of(self.game, self.hole_cards + self.board)

    @cached_property
    def values(self) -> tuple[float, ...] | None:
        return self.view.values if self.finished else None

    @cached_property
    def history(self) -> tuple[HandEvent, ...]:
        """The events of the hand, in order; a later scene of the hand only adds to it."""
        return hand_events(self.betting, self.all_hole_cards, self.board, self.values)

    @property
    def is_call_all_in(self) -> bool:
        return 0 < self.view.to_call == self.view.stack_left

    @property
    def is_bet(self) -> bool:
        """Whether a raise would be a bet: the first of a round without blinds."""
        return max(self.view.street_committed) == 0

    @property
    def raise_totals(self) -> tuple[int, int] | None:
        """The smallest and the largest legal bet or raise, as totals for the street; equal where the game fixes it."""
        view = self.view
        return (view.min_raise_street_total, view.max_raise_street_total) if view.can_raise else None

    @cached_property
    def moment(self) -> HandView:
        """The same moment as everybody at the table sees it; with each player's result once the hand is over."""
        now = live_views(self.betting, self.names, self.all_hole_cards, self.board)[-1]
        if self.values is None:
            return now
        seats = zip(now.seats, self.values, strict=True)
        return replace(now, seats=tuple([replace(seat, value=value) for seat, value in seats]))


MOVED: Final = {
    Move.FOLD: "folded",
    Move.CHECK: "checked",
    Move.CALL: "called",
    Move.BET: "bet",
    Move.RAISE: "raised",
}
"""What a player did last, in a word."""


def in_words(event: HandEvent, scene: Scene, cards_text: Callable[[Sequence[str]], str] = " ".join) -> str:
    """One event of the scene's history as a sentence without its full stop."""
    if isinstance(event, Dealt):
        name = round_names(scene.game)[event.round].capitalize()
        cards = f": {cards_text(scene.game.shown_cards(event.cards))}" if event.cards else ""
        return f"{name}{cards} (pot {event.pot:,})"
    is_you = event.position == scene.position
    who, end = ("You", "") if is_you else (shown(scene.names[event.position]), "s")
    if isinstance(event, Shown):
        strength = f", {event.strength}" if event.strength else ""
        return f"{who} show{end} {cards_text(scene.game.shown_cards(event.cards))}{strength}"
    return f"{who} {action_words(event, scene.game, end=end)}"


_FOLD: Final = ("f", "fold")
_CHECK: Final = ("k", "x", "check")
_CALL: Final = ("c", "call")
_RAISE: Final = re.compile(r"(?:raise|r|bet|b)(?:\s*to)?\s*(?P<size>.*)")
_MINIMUM: Final = ("m", "min", "minimum")
_ALL_IN: Final = ("a", "all-in", "allin", "all in")
_CHIPS: Final = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(?:,[0-9]{3}){1,5}")
_NUMBER: Final = r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?)"
_POT: Final = re.compile(
    rf"(?:{_NUMBER}\s*(?:/\s*(?P<under>[0-9]{{1,9}})\s*)?)?p(?:ot)?(?:\s*/\s*(?P<part>[0-9]{{1,9}}))?"
)
_PERCENT: Final = re.compile(rf"{_NUMBER}\s*%(?:\s*p(?:ot)?)?")
_MOST_LETTERS: Final = 40


def read_entry(text: str, scene: Scene) -> Action:
    """The legal action that a person, whose turn it is, has typed; else an `UnclearEntry` with what is possible."""
    if not scene.is_your_turn:
        raise ValueError("it is not the person's turn")
    entry = " ".join(text.lower().split())
    if entry in _FOLD:
        if not scene.view.can_fold:
            _refuse("There is nothing to fold to", scene)
        return FOLD
    if entry in _CALL:
        return CALL
    if entry in _CHECK:
        if scene.view.to_call:
            _refuse(f"You cannot check, there are {scene.view.to_call:,} to call", scene)
        return CALL
    found = _RAISE.fullmatch(entry)
    size = found["size"] if found is not None else entry
    if found is None and not _is_size(size):
        said = "Nothing was entered" if not entry else f"{quoted(entry, _MOST_LETTERS)} is not clear"
        _refuse(said, scene)
    if scene.raise_totals is None:
        if size in _ALL_IN and scene.is_call_all_in:
            return CALL
        _refuse("You cannot raise here", scene)
    return _raise_of(size, scene, *scene.raise_totals)


def _is_size(text: str) -> bool:
    patterns = (_CHIPS, _POT, _PERCENT)
    return text in (*_MINIMUM, *_ALL_IN) or any(pattern.fullmatch(text) for pattern in patterns)


def _raise_of(size: str, scene: Scene, least: int, most: int) -> Action:
    view, is_fixed = scene.view, scene.game.is_limit
    if not size:
        if not is_fixed and least < most:
            _refuse("How much?", scene)
        return RAISE if is_fixed else view.raise_min()
    if not _is_size(size):
        _refuse(f"{quoted(size, _MOST_LETTERS)} is not a size", scene)
    if size in _MINIMUM:
        street_total = least
    elif size in _ALL_IN:
        if is_fixed and most < view.stack_left + view.street_committed[scene.position]:
            _refuse("There is no all-in: the game fixes the size", scene)
        street_total = most
    elif _CHIPS.fullmatch(size):
        street_total = int(size.replace(",", ""))
    else:
        try:
            part = _part_of_pot(size)
        except ZeroDivisionError:
            _refuse(f"{quoted(size, _MOST_LETTERS)} is not a size", scene)
        betting = scene.betting
        street_total = view.to_street_total(betting.max_spent + int(part * (betting.pot + betting.to_call)))
    if not least <= street_total <= most:
        _refuse(f"{street_total:,} is not possible here", scene)
    return RAISE if is_fixed else raise_to(view.to_hand_total(street_total))


def _part_of_pot(size: str) -> Fraction:
    if (percent := _PERCENT.fullmatch(size)) is not None:
        return Fraction(percent["number"]) / 100
    found = _POT.fullmatch(size)
    assert found is not None
    return Fraction(found["number"] or 1) / Fraction(found["under"] or 1) / Fraction(found["part"] or 1)


def _refuse(problem: str, scene: Scene) -> NoReturn:
    ways = [f"{keys} to {does}" for keys, does in possible(scene)]
    said = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
    raise UnclearEntry(f"{problem}{'' if problem.endswith('?') else ':'} {said}.")


def possible(scene: Scene) -> list[tuple[str, str]]:
    """What a person whose turn it is may type, and what it does: ``("c", "call 20")``."""
    found = [("f", "fold")] if scene.view.can_fold else []
    to_call, all_in = scene.view.to_call, ", all-in" if scene.is_call_all_in else ""
    found.append(("c", f"call {to_call:,}{all_in}" if to_call else "check"))
    if scene.raise_totals is not None:
        least, most = scene.raise_totals
        does = "bet" if scene.is_bet else "raise to"
        if least == most:
            found.append(("r", f"{does} {least:,}{'' if scene.game.is_limit else ', all-in'}"))
        else:
            found.append(("r N", f"{does} N, from {least:,} (m) to {most:,} (a), or by p/2, p, 2p"))
    return found


_REMEMBERED: Final = 16
"""So many answers are kept by their moments; older ones were not sent twice by accident."""


@dataclass(frozen=True, slots=True)
class HandProgress:
    """A person's progress in a hand: the betting after the person's last action, as the protocol writes it."""

    hand_number: int
    betting: str


class SeatMoments:
    """The moments of one person, in order.

    Attributes:
        scene: what is shown; None before the first hand.
        played: how far the person has come in the last hand in which it acted; None before.
    """

    def __init__(self, played: HandProgress | None = None) -> None:
        self.scene: Scene | None = None
        self.played = played
        self._coming: deque[Scene] = deque()
        self._is_passed = False
        self._answers: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The name of the moment that is shown; empty before the first hand."""
        return "" if self.scene is None else _name_of(self.scene)

    @property
    def is_asked(self) -> bool:
        """Whether the match waits for the person: to act, or to continue with the next hand."""
        scene = self.scene
        return scene is not None and not self._is_passed and (scene.is_your_turn or scene.finished)

    def see(self, scene: Scene) -> Action | None:
        """Take a scene from the dealer; returns the answer to it, where the person has given it before a break."""
        action = self._played_here(scene) if scene.is_your_turn else None
        if action is None:
            self._coming.append(scene)
            self._advance()
        return action

    def answer(self, name: str, entry: str) -> Action | None:
        """Take what the person has entered at a moment; returns its action, None where a hand was over.

        The name is that of the moment that the person has seen; after a hand, any entry continues.

        Raises:
            StaleEntry: that moment has passed.
            UnclearEntry: it is not a legal action.
        """
        scene = self.scene
        if scene is None or name != self.name or not self.is_asked:
            raise StaleEntry(self._stale(name))
        if scene.finished:
            action, said = None, f"you have continued from hand {scene.hand_number}"
        else:
            action = read_entry(entry, scene)
            after = scene.betting.after(action)
            self.played = HandProgress(scene.hand_number, betting_text(after))
            said = _said(scene, action)
        self._answers[name] = said
        if len(self._answers) > _REMEMBERED:
            del self._answers[next(iter(self._answers))]
        self._is_passed = True
        self._advance()
        return action

    def _advance(self) -> None:
        while self._coming and not self.is_asked:
            self.scene, self._is_passed = self._coming.popleft(), False

    def _played_here(self, scene: Scene) -> Action | None:
        played, so_far = self.played, betting_text(scene.betting)
        if played is None or played.hand_number != scene.hand_number or not played.betting.startswith(so_far):
            return None
        found = scan_action(played.betting, len(so_far), scene.game.is_limit)
        return None if found is None else found[0]

    def _stale(self, name: str) -> str:
        if name in self._answers:
            return f"That was taken already, and counts once: {self._answers[name]}."
        return "That entry was for an earlier state of the match and was ignored; this is the present state."


def _name_of(scene: Scene) -> str:
    return f"{scene.hand_number}.{sum(map(len, scene.betting.rounds))}"


def _said(scene: Scene, action: Action) -> str:
    after = replace(scene, betting=scene.betting.after(action))
    so_far = hand_events(after.betting, after.all_hole_cards, after.board, None)
    words = in_words([one for one in so_far if isinstance(one, Acted) and one.position == scene.position][-1], after)
    return words[0].lower() + words[1:]


_LOOK_UP_S: Final = 0.2
"""How long a wait lasts before Ctrl-C is noticed on systems that do not interrupt it."""
_SEND_TIMEOUT_S: Final = 10.0
_RECEIVE_BYTES: Final = 1 << 16


class HumanSeat:
    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        seat: Seat,
        earlier: Iterable[tuple[int, Sequence[float]]] = (),
        key: str | None = None,
    ) -> None:
        """Prepare the seat.

        Args:
            names: the players, by seat.
            earlier: numbers of hands that were played before, each with its net chips by seat; those that are played
                again do not count.
            key: the line that the dealer expects first; None for none.
        """
        self._key = b"" if key is None else f"{key}\n".encode()
        self._session = PlayerSession(game)
        self._names = tuple(names)
        self._seat = seat
        self._earlier = list(earlier)
        self._is_begun = False
        self._hands = 0
        self._chips = [0.0] * len(self._names)
        # A person looks after every hand, and leaves at any time.
        self._mean = AnyTimeMean((), score_bounds(game))
        self._mbb_per_chip = 1000.0 / game.big_blind
        self._opponent = self._names[1 - seat] if len(self._names) == 2 else "the table"

    @property
    def score(self) -> MatchScore:
        rate = self._mean.rate(self._names[self._seat], self._opponent)
        return MatchScore(self._hands, tuple(self._chips), self._seat, rate)

    def open(self) -> bytes:
        return self._key + self._session.send(Handshake())

    def receive_data(self, data: bytes) -> Iterator[Scene]:
        """Take bytes from the dealer; what is seen after each of its states, in order, or a `DealerFailure`."""
        self._session.receive_data(data)
        while True:
            try:
                event = self._session.next_event()
            except RemoteProtocolError as error:
                raise DealerFailure(str(error)) from error
            if isinstance(event, ReceivedState):
                yield self._scene(event)
            elif event is NEED_DATA or not isinstance(event, Comment):
                return

    def answer(self, action: Action) -> bytes:
        """The bytes that answer the last scene, in which it was the person's turn."""
        return self._session.send(Reply(action))

    def _scene(self, received: ReceivedState) -> Scene:
        state, betting = received.state, received.betting
        count = len(self._names)
        # Positions go round the table from seat to seat, wherever the button is.
        seats = [(self._seat + position - state.position) % count for position in range(count)]
        if not self._is_begun:
            self._is_begun = True
            for number, values in self._earlier:
                if number < state.hand_number:
                    self._count(values)
            self._earlier = []
        scene = Scene(
            names=tuple(self._names[seat] for seat in seats),
            position=Position(state.position),
            hand_number=state.hand_number,
            all_hole_cards=state.hole_cards,
            board=tuple(card for cards in state.board for card in cards),
            betting=betting,
            score=self.score,
        )
        if scene.values is None:
            return scene
        by_seat = [0.0] * count
        for seat, value in zip(seats, scene.values, strict=True):
            by_seat[seat] = value
        self._count(by_seat)
        return replace(scene, score=self.score)

    def _count(self, values: Sequence[float]) -> None:
        self._hands += 1
        for seat, value in enumerate(values):
            self._chips[seat] += value
        self._mean.add(values[self._seat] * self._mbb_per_chip)


class SeatConnection:
    def __init__(self, seat: HumanSeat, host: str, port: int, *, connect_timeout_s: float = CONNECT_TIMEOUT_S) -> None:
        self._seat = seat
        self._socket = connect(host, port, connect_timeout_s)
        self._send(seat.open())

    def scenes(self, on_idle: Callable[[], None] = lambda: None) -> Iterator[Scene]:
        """What is seen, as it comes, until the dealer disconnects; `on_idle` is called while nothing comes."""
        while True:
            try:
                self._socket.settimeout(_LOOK_UP_S)
                data = self._socket.recv(_RECEIVE_BYTES)
            except TimeoutError:
                on_idle()
                continue
            except OSError:
                return
            if not data:
                return
            yield from self._seat.receive_data(data)

    def answer(self, action: Action) -> None:
        """Answer the last scene; where the dealer is gone, the scenes end."""
        self._send(self._seat.answer(action))

    def _send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(_SEND_TIMEOUT_S)
            self._socket.sendall(data)
        except OSError:
            # The dealer's last lines can still be read.
            return

    def close(self) -> None:
        """Leave; the dealer treats the player as gone."""
        self._socket.close()

    def __enter__(self) -> SeatConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
