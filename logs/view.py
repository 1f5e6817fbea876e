"""A hand moment by moment: who sits where, with how many chips and which cards, whose turn it is.

    for view in views_of(record):
        print(view.words, view.pot)

A view follows from what has happened up to it (`logs.hand_events`) and from the betting; nothing is counted a second
time here. It holds only the cards that it is given: for somebody who must not see a card, views are made without it.

`replayed` is the same for a page that lists a finished hand step by step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine import CARD_TEXTS, Card, Game, Move, Position, betting_start
from engine.betting import BettingState
from engine.holdem import holdem_blinds
from logs.estimation.bounds import largest_loss
from logs.hand_events import Acted, Dealt, HandEvent, Posted, Returned, Shown, Won, action_words, events_of, hand_events
from logs.record import HandRecord, PlayerComment, Times
from logs.text import shown
from logs.tracker.positions import position_names, round_names


@dataclass(frozen=True, slots=True)
class PlayerView:
    """A player at one moment.

    Attributes:
        position: its position in the hand.
        name: the player, as it can be shown.
        place: what the position is called, such as BB.
        is_button: whether it has the dealer's button.
        cards: its hole cards; empty where they are not known or not to be seen.
        street_total: chips put in during this round.
        stack_left: chips left to play with; None where the stack is deeper than any pot of the game.
        has_folded: whether it has folded.
        is_all_in: whether it has no chips left and has not folded.
        is_acting: whether it is its turn.
        last: what it has done last in this round, such as ``raises to 300``; empty before.
        move: its last action of this round; None before.
        value: net chips of the hand; None before it is over.
    """

    position: Position
    name: str
    place: str
    is_button: bool
    cards: tuple[Card, ...]
    street_total: int
    stack_left: int | None
    has_folded: bool = False
    is_all_in: bool = False
    is_acting: bool = False
    last: str = ""
    move: Move | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class HandView:
    """One moment of a hand.

    Attributes:
        words: what has happened since the view before, such as ``Ann raises to 300``.
        round: what the betting round is called.
        begins_round: whether the round begins with it.
        board: the cards on the table.
        pot: chips put in by everybody so far, without those that went back.
        to_call: chips that a call by the player in turn would add; 0 where nobody is in turn, too.
        seats: the players, in the order of their positions.
        comments: names and texts of what players said before it.
        time_ms: how long the answer took; None where that is not known.
    """

    words: str
    round: str
    begins_round: bool
    board: tuple[Card, ...]
    pot: int
    to_call: int
    seats: tuple[PlayerView, ...]
    comments: tuple[tuple[str, str], ...] = ()
    time_ms: float | None = None

    @property
    def acting(self) -> PlayerView | None:
        """Whose turn it is."""
        return next((seat for seat in self.seats if seat.is_acting), None)

    @property
    def pot_odds(self) -> float | None:
        """The share of showdowns that a call has to win to pay for itself, 0 to 1; None where there is none to make."""
        return self.to_call / (self.pot + self.to_call) if self.to_call else None


def views_of(record: HandRecord) -> tuple[HandView, ...]:
    """A finished hand from its blinds to its end; what was said after the last action stands with the last view."""
    said: dict[int, list[tuple[str, str]]] = {}
    for comment in record.comments:
        said.setdefault(comment.action_index, []).append(_said(record.names_by_seat, comment))
    return _views(
        record.betting,
        record.names,
        record.deal.hole_cards,
        events_of(record),
        record.values,
        said,
        record.times,
    )


def live_views(
    betting: BettingState,
    names: Sequence[str],
    hole_cards: Sequence[tuple[Card, ...]],
    board: tuple[Card, ...],
) -> tuple[HandView, ...]:
    """A hand that is not over, up to now.

    Args:
        betting: so far.
        names: by position.
        hole_cards: by position, empty where they are not to be seen.
        board: so far.
    """
    events = hand_events(betting, tuple(hole_cards), board, None)
    return _views(betting, names, hole_cards, events, None, {}, ())


def _has_deep_stack(game: Game, position: int) -> bool:
    """Whether a stack is deeper than any bet of the game can become, so that nobody need look at it."""
    return game.is_limit and game.stacks[position] > largest_loss(game)


def _said(names_by_seat: Sequence[str], comment: PlayerComment) -> tuple[str, str]:
    return shown(names_by_seat[comment.seat]), shown(comment.text.lstrip("#;").strip())


class _Table:
    """The table while events are added."""

    def __init__(self, betting: BettingState, names: Sequence[str], hole_cards: Sequence[tuple[Card, ...]]) -> None:
        game = self.game = betting.game
        places, blinds = position_names(game), holdem_blinds(game)
        self.spent = [0] * game.num_players
        self.is_deep = [_has_deep_stack(game, at) for at in range(game.num_players)]
        self.state = betting_start(game)
        self.actions = [action for actions in betting.rounds for _, action in actions]
        self.acted = 0
        self.round = 0
        self.board: tuple[Card, ...] = ()
        self.seats = [
            PlayerView(
                position=Position(at),
                name=shown(name),
                place=places[at],
                is_button=blinds is not None and at == blinds.button,
                cards=hole_cards[at],
                street_total=0,
                stack_left=None if self.is_deep[at] else game.stacks[at],
            )
            for at, name in enumerate(names)
        ]

    def put_in(self, at: Position, chips: int, street_total: int, words: str) -> None:
        """A player puts chips in; fewer than none come back."""
        self.spent[at] += chips
        seat = self.seats[at]
        left = None if seat.stack_left is None else seat.stack_left - chips
        all_in = not seat.has_folded and self.spent[at] == self.game.stacks[at]
        self.seats[at] = replace(seat, street_total=street_total, stack_left=left, is_all_in=all_in, last=words)

    def add(self, event: HandEvent) -> str:
        """Take in an event; returns it in words."""
        if isinstance(event, Dealt):
            self.round = event.round
            self.board += event.cards
            if event.round:
                self.seats = [replace(seat, street_total=0, last="", move=None) for seat in self.seats]
            cards = " ".join(CARD_TEXTS[card] for card in event.cards)
            return round_names(self.game)[event.round] + (f": {cards}" if cards else "")
        at = event.position
        who = self.seats[at].name
        if isinstance(event, Shown):
            cards = " ".join(CARD_TEXTS[card] for card in event.cards)
            words = f"shows {cards}" if cards else "does not show"
            self.seats[at] = replace(self.seats[at], last=words)
            return f"{who} {words}" + (f", {event.strength}" if event.strength else "")
        words = action_words(event, self.game)
        match event:
            case Posted(chips=chips):
                self.put_in(at, chips, chips, words)
            case Acted(added=added, street_total=street_total):
                after = self.state.after_many((self.actions[self.acted],))
                assert after is not None, "the actions of a betting are legal"
                self.state = after
                self.acted += 1
                self.put_in(at, added, street_total, words)
                has_folded = bool(self.state.folded >> at & 1)
                self.seats[at] = replace(self.seats[at], has_folded=has_folded, move=event.move)
            case Returned(chips=chips):
                self.put_in(at, -chips, max(0, self.seats[at].street_total - chips), words)
            case Won():
                self.seats[at] = replace(self.seats[at], last=words)
        return f"{who} {words}"

    def view(
        self, words: str, comments: Sequence[tuple[str, str]], time_ms: float | None, *, begins_round: bool
    ) -> HandView:
        """The table as it is now."""
        state = self.state
        is_turn = not state.finished and state.round == self.round
        seats = list(self.seats)
        if is_turn:
            seats[state.acting_position] = replace(seats[state.acting_position], is_acting=True)
        return HandView(
            words,
            round_names(self.game)[self.round],
            begins_round,
            self.board,
            sum(self.spent),
            state.to_call if is_turn else 0,
            tuple(seats),
            tuple(comments),
            time_ms,
        )


def _views(
    betting: BettingState,
    names: Sequence[str],
    hole_cards: Sequence[tuple[Card, ...]],
    events: Sequence[HandEvent],
    values: tuple[float, ...] | None,
    said: Mapping[int, Sequence[tuple[str, str]]],
    times: Sequence[Times],
) -> tuple[HandView, ...]:
    table = _Table(betting, names, hole_cards)
    posted = 0
    while posted < len(events) and isinstance(events[posted], Posted):
        posted += 1
    opening = ", ".join([table.add(blind) for blind in events[:posted]])
    found = [table.view(opening or "the cards are dealt", (), None, begins_round=True)]
    for event in events[posted:]:
        number = table.acted
        words = table.add(event)
        comments: Sequence[tuple[str, str]] = ()
        time_ms = None
        if isinstance(event, Acted):
            comments = said.get(number, ())
            time_ms = (times[number].received_us - times[number].sent_us) / 1000 if number < len(times) else None
        found.append(table.view(words, comments, time_ms, begins_round=isinstance(event, Dealt)))
    if values is not None:
        end = found[-1]
        seats = tuple(replace(seat, value=value) for seat, value in zip(end.seats, values, strict=True))
        last_words = [words for at, comments in sorted(said.items()) if at >= table.acted for words in comments]
        found[-1] = replace(end, seats=seats, comments=(*end.comments, *last_words))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SeatView:
    """A player at the table.

    Attributes:
        name: the player.
        position: SB, BB, BTN ...
        stack: chips before the hand; 0 in limit games, where they do not matter.
        cards: its hole cards, as texts.
        value: net chips of the hand.
    """

    name: str
    position: str
    stack: int
    cards: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One thing that happened.

    Attributes:
        name: the player; empty where a street or the showdown begins.
        words: what happened.
        cards: dealt to the board, or shown.
        pot: chips in the pot afterwards.
        comments: names and texts of what players said since the previous step.
        time_ms: how long the answer took; None where that is not known.
    """

    name: str
    words: str
    cards: tuple[str, ...]
    pot: int
    comments: tuple[tuple[str, str], ...]
    time_ms: float | None


@dataclass(frozen=True, slots=True)
class ReplayedHand:
    """A hand step by step.

    Attributes:
        match_name: the match.
        number: the number of the hand.
        pot_in_blinds: how big the pot was, in big blinds.
        seats: the players, in the order of their positions.
        steps: what happened.
        last_words: names and texts of what players said after the last action.
    """

    match_name: str
    number: int
    pot_in_blinds: float
    seats: tuple[SeatView, ...]
    steps: tuple[ReplayStep, ...]
    last_words: tuple[tuple[str, str], ...]


def replayed(record: HandRecord, pot_in_blinds: float) -> ReplayedHand:
    """A hand as a page shows it."""
    game = record.game
    names = list(map(shown, record.names))
    places = position_names(game)
    seats = tuple(
        SeatView(names[p], places[p], 0 if game.is_limit else game.stacks[p], _texts(hole), record.values[p])
        for p, hole in enumerate(record.deal.hole_cards)
    )
    said: dict[int, list[tuple[str, str]]] = {}
    for comment in record.comments:
        said.setdefault(comment.action_index, []).append(
            (shown(record.names_by_seat[comment.seat]), _readable(comment.text))
        )
    acted = 0
    times_ms = [(received_us - sent_us) / 1000 for sent_us, received_us in record.times]
    steps: list[ReplayStep] = []
    pot = 0
    showdown_begun = False
    for event in events_of(record):
        if isinstance(event, Dealt):
            steps.append(ReplayStep("", round_names(game)[event.round], _texts(event.cards), pot, (), None))
            continue
        name = names[event.position]
        if isinstance(event, Shown):
            if not showdown_begun:
                steps.append(ReplayStep("", "showdown", (), pot, (), None))
                showdown_begun = True
            steps.append(ReplayStep(name, _shows(event), _texts(event.cards), pot, (), None))
            continue
        words = action_words(event, game)
        if isinstance(event, Acted):
            pot += event.added
            time_ms = times_ms[acted] if acted < len(times_ms) else None
            steps.append(ReplayStep(name, words, (), pot, tuple(said.get(acted, ())), time_ms))
            acted += 1
            continue
        pot += event.chips if isinstance(event, Posted) else 0
        pot -= event.chips if isinstance(event, Returned) else 0
        steps.append(ReplayStep(name, words, (), pot, (), None))
    last_words = tuple(words for at, comments in sorted(said.items()) if at >= acted for words in comments)
    return ReplayedHand(shown(record.match_name), record.hand_number, pot_in_blinds, seats, tuple(steps), last_words)


def _shows(event: Shown) -> str:
    """What is said of a player at the showdown: ``shows a pair of Kings``, in hold'em."""
    return " ".join(filter(None, ("shows", event.strength))) if event.cards else "does not show"


def _texts(cards: tuple[Card, ...]) -> tuple[str, ...]:
    return tuple(CARD_TEXTS[card] for card in cards)


def _readable(text: str) -> str:
    return shown(text.lstrip("#;").strip())
