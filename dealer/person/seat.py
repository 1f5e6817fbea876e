"""A person's seat as values: what is seen from it, and the bytes to and from the dealer.

A page and a terminal show a `Scene` and return what was entered (`dealer.person.entries`). A scene never holds a card
that the person has not been shown; all that follows from its fields is computed when asked for. `HumanSeat` makes
scenes of the dealer's bytes; it has no socket, no clock and no thread.
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
    def strength(self) -> str:
        """What the person's best hand is called, ``a pair of Kings``; empty before the flop and in other games."""
        return strength_of(self.game, self.hole_cards + self.board)

    @cached_property
    def values(self) -> tuple[float, ...] | None:
        if not self.finished:
            return None
        return self.view.values

    @cached_property
    def history(self) -> tuple[HandEvent, ...]:
        """The events of the hand, in order; a later scene of the hand only adds to it."""
        return hand_events(self.betting, self.all_hole_cards, self.board, self.values)

    @cached_property
    def moment(self) -> HandView:
        """The same moment as everybody at the table sees it; with each player's result once the hand is over."""
        now = live_views(self.betting, self.names, self.all_hole_cards, self.board)[-1]
        if self.values is None:
            return now
        seats = []
        for seat, value in zip(now.seats, self.values, strict=True):
            seats.append(replace(seat, value=value))
        return replace(now, seats=tuple(seats))


def in_words(event: HandEvent, scene: Scene) -> str:
    """One event of the scene's history as a sentence without its full stop."""
    if isinstance(event, Dealt):
        name = round_names(scene.game)[event.round].capitalize()
        cards = ""
        if event.cards:
            cards = f": {' '.join(scene.game.shown_cards(event.cards))}"
        return f"{name}{cards} (pot {event.pot:,})"
    who = shown(scene.names[event.position])
    end = "s"
    if event.position == scene.position:
        who = "You"
        end = ""
    if isinstance(event, Shown):
        sentence = f"{who} show{end} {' '.join(scene.game.shown_cards(event.cards))}"
        if event.strength:
            sentence += f", {event.strength}"
        return sentence
    return f"{who} {action_words(event, scene.game, end=end)}"


class HumanSeat:
    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        seat: Seat,
        earlier: Iterable[tuple[int, Sequence[int], Sequence[float]]] = (),
    ) -> None:
        """Prepare the seat.

        Args:
            names: the players, by seat.
            earlier: numbers of hands that were played before, each with the seats and the net chips of its positions;
                those that are played again do not count.
        """
        self._session = PlayerSession(game)
        self._names = tuple(names)
        self._seat = seat
        self._earlier = list(earlier)
        self._hands = 0
        self._chips = [0.0] * len(self._names)
        # A person looks after every hand, and leaves at any time.
        self._board = Scoreboard(partial(AnyTimeMean, (), score_bounds(game)), names)
        self._mbb_per_chip = 1000.0 / game.big_blind

    @property
    def score(self) -> MatchScore:
        return MatchScore(self._hands, tuple(self._chips), self._seat, self._board.rate(self._names[self._seat]))

    def open(self) -> bytes:
        return self._session.send(Handshake())

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
        hand = received.hand
        count = len(self._names)
        # Positions go round the table from seat to seat, wherever the button is.
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
        """Count a hand, by the seats and the net chips of its positions."""
        self._hands += 1
        for seat, value in zip(seats, values, strict=True):
            self._chips[seat] += value
        self._board.add([(self._names[self._seat], values[seats.index(self._seat)] * self._mbb_per_chip)])
