"""Seat of a person: scenes of a hand, made from the dealer's bytes, and replies to the dealer.

A page or a terminal shows a `Scene` and returns an entry (`dealer.person.entries`). A scene has only cards that the
person may see. `HumanSeat` has no socket, clock or thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from bots.errors import DealerFailure
from bots.sdk.view import View
from engine import Action, Card, Game, Position, Seat
from engine.betting import BettingState
from engine.holdem import round_names
from engine.text import shown
from logs.estimation import AnyTimeMean, Rate, Scoreboard, score_bounds
from logs.hand_view import Dealt, HandEvent, HandView, Shown, action_words, hand_events, live_views, strength_of
from protocol import NEED_DATA, Comment, Handshake, PlayerSession, ReceivedState, RemoteProtocolError, Reply


@dataclass(frozen=True, slots=True)
class MatchScore:
    """Score of a match so far, with net chips by seat and the person's rate per hand if there are hands."""

    hands: int
    chips: tuple[float, ...]
    seat: Seat
    rate: Rate | None = None

    @property
    def yours(self) -> float:
        return self.chips[self.seat]


@dataclass(frozen=True)
class Scene:
    """A moment of a hand as a person at the table sees it.

    Attributes:
        names: players by position in this hand.
        hand_number: 0-based number of the hand in the match.
        all_hole_cards: hole cards by position; empty for cards that the person may not see.
        score: score over all finished hands, including this one once it is over.
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
        """The moment as a bot would see it."""
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
    def strength(self) -> str:
        """Name of the person's best hand, as in ``a pair of Kings``; empty before the flop and in other games."""
        return strength_of(self.game, self.hole_cards + self.board)

    @cached_property
    def values(self) -> tuple[float, ...] | None:
        if not self.finished:
            return None
        return self.view.values

    @cached_property
    def history(self) -> tuple[HandEvent, ...]:
        """Events of the hand in order; a later scene only adds events."""
        return hand_events(self.betting, self.all_hole_cards, self.board, self.values)

    @cached_property
    def moment(self) -> HandView:
        """The moment as the whole table sees it, with results once the hand is over."""
        view = live_views(self.betting, self.names, self.all_hole_cards, self.board)[-1]
        if self.values is None:
            return view
        seats = []
        for seat, value in zip(view.seats, self.values, strict=True):
            seats.append(replace(seat, value=value))
        return replace(view, seats=tuple(seats))


def in_words(event: HandEvent, scene: Scene) -> str:
    """Describe an event of a scene's history in a sentence without its full stop."""
    if isinstance(event, Dealt):
        name = round_names(scene.game)[event.round].capitalize()
        cards = ""
        if event.cards:
            cards = f": {' '.join(scene.game.shown_cards(event.cards))}"
        return f"{name}{cards} (pot {event.pot:,})"
    subject = shown(scene.names[event.position])
    end = "s"
    if event.position == scene.position:
        subject = "You"
        end = ""
    if isinstance(event, Shown):
        sentence = f"{subject} show{end} {' '.join(scene.game.shown_cards(event.cards))}"
        if event.strength:
            sentence += f", {event.strength}"
        return sentence
    return f"{subject} {action_words(event, scene.game, end=end)}"


class HumanSeat:
    """Seat of a person, without I/O.

    Args:
        game: game of the match.
        names: players by seat.
        seat: seat of the person.
        earlier: numbers of hands played before, each with the seats and net chips of its positions. A hand that is
            dealt again does not count.
    """

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        seat: Seat,
        earlier: Iterable[tuple[int, Sequence[int], Sequence[float]]] = (),
    ) -> None:
        self._session = PlayerSession(game)
        self._names = tuple(names)
        self._seat = seat
        self._earlier = list(earlier)
        self._hands = 0
        self._chips = [0.0] * len(self._names)
        # Intervals must hold at every hand, because a person looks at them and may leave at any time.
        self._board = Scoreboard(partial(AnyTimeMean, (), score_bounds(game)), names)
        self._mbb_per_chip = 1000.0 / game.big_blind

    @property
    def score(self) -> MatchScore:
        return MatchScore(self._hands, tuple(self._chips), self._seat, self._board.rate(self._names[self._seat]))

    def open(self) -> bytes:
        return self._session.send(Handshake())

    def receive_data(self, data: bytes) -> Iterator[Scene]:
        """Receive bytes from the dealer, and yield a scene for each of its states.

        Raises:
            DealerFailure: the dealer violates the protocol.
        """
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
        """Return the bytes that answer the last scene, in which it was the person's turn."""
        return self._session.send(Reply(action))

    def _scene(self, received: ReceivedState) -> Scene:
        hand = received.hand
        count = len(self._names)
        # Positions follow the order of the seats; only their start moves with the button.
        seats = [(self._seat + position - hand.position) % count for position in range(count)]
        for number, earlier_seats, values in self._earlier:
            if number < hand.hand_number:
                self._count(earlier_seats, values)
        self._earlier = []
        scene = Scene(
            names=tuple(self._names[seat] for seat in seats),
            position=hand.position,
            hand_number=hand.hand_number,
            all_hole_cards=hand.hole_cards,
            board=tuple(card for cards in hand.board for card in cards),
            betting=hand.betting,
            score=self.score,
        )
        if scene.values is None:
            return scene
        self._count(seats, scene.values)
        return replace(scene, score=self.score)

    def _count(self, seats: Sequence[int], values: Sequence[float]) -> None:
        """Add a hand, with the seats and net chips of its positions, to the score."""
        self._hands += 1
        for seat, value in zip(seats, values, strict=True):
            self._chips[seat] += value
        self._board.add([(self._names[self._seat], values[seats.index(self._seat)] * self._mbb_per_chip)])
