"""A hand moment by moment: what has happened, in values and words, and who sits where with how many chips and cards.

    for view in views_of(record):
        print(view.words, view.pot)

`hand_events` gives what has happened in order, at a table, in a replay, in a terminal. A view follows from the events
up to it and from the betting; nothing is counted a second time. It holds only the cards that it is given: for a player
who must not see a card, views are made without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from engine import Card, Game, Move, Position, betting_start, betting_steps, rank_hand, side_pots, uncalled
from engine.betting import BettingState
from engine.holdem import holdem_blinds, is_holdem, position_names, round_names
from engine.text import shown
from logs.estimation.mean import chips_in_words, largest_loss
from logs.formats.settlement import showdown_order
from logs.pokerstars.names import name_hand
from logs.record import HandRecord, Times

_LEAST_CHIPS = 1e-6


@dataclass(frozen=True, slots=True)
class Moved:
    """Chips of a player have moved without an action.

    Attributes:
        verb: ``post`` for a blind, ``get`` for what comes back uncalled, ``win`` for chips of the pot, its own among
            them.
    """

    verb: Literal["post", "get", "win"]
    position: Position
    chips: float


@dataclass(frozen=True, slots=True)
class Dealt:
    """A betting round has begun.

    Attributes:
        round: which one, 0-based.
        cards: what it added to the board; none in most first rounds.
        pot: chips in the pot.
    """

    round: int
    cards: tuple[Card, ...]
    pot: int


@dataclass(frozen=True, slots=True)
class Acted:
    """An action: the chips added, the player's chips in this round after it, and whether they were its last."""

    position: Position
    round: int
    move: Move
    added: int
    street_total: int
    is_all_in: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A player has shown its cards.

    Attributes:
        cards: its hole cards; empty if unknown.
        strength: what its best hand is called, such as ``a pair of Kings``; empty in games without such names.
    """

    position: Position
    cards: tuple[Card, ...]
    strength: str


HandEvent: TypeAlias = Moved | Dealt | Acted | Shown


def hand_events(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...] | None,
    showing: Sequence[Position] | None = None,
) -> tuple[HandEvent, ...]:
    """All that has happened in a hand: earlier events stay as they are when more has happened.

    Args:
        all_hole_cards: by position, empty where they have not been shown.
        values: net chips by position; None as long as the hand is not over.
        showing: who shows at the showdown, in order; None is every player left, in the order of the positions.
    """
    game = betting.game
    found: list[HandEvent] = [
        Moved("post", Position(position), blind)
        for blind, position in sorted((blind, position) for position, blind in enumerate(game.blinds) if blind)
    ]
    pot = sum(game.blinds)
    dealt = 0
    steps = betting_steps(betting)
    for round_ in range(betting.round + 1):
        until = game.board_cards_by_round[round_]
        if round_ or until:
            found.append(Dealt(round_, board[dealt:until], pot))
        dealt = until
        for step in steps:
            if step.round == round_:
                pot += step.added
                is_all_in = step.is_all_in
                found.append(Acted(step.position, round_, step.move, step.added, step.street_total, is_all_in))
    if values is None:
        return tuple(found)
    return (*found, *_ending(betting, all_hole_cards, board, values, showing))


def events_of(record: HandRecord) -> tuple[HandEvent, ...]:
    """All that has happened in a finished hand; the player that has to show first does."""
    showing = showdown_order(record, betting_steps(record.betting))
    return hand_events(record.betting, record.deal.hole_cards, record.deal.board, record.values, showing)


def _ending(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...],
    showing: Sequence[Position] | None,
) -> list[HandEvent]:
    found: list[HandEvent] = []
    returned_to, returned = uncalled(betting.spent)
    if returned:
        found.append(Moved("get", returned_to, returned))
    if betting.is_showdown:
        for position in betting.in_pot if showing is None else showing:
            hole = all_hole_cards[position]
            found.append(Shown(position, hole, strength_of(betting.game, hole + board) if hole else ""))
    for place, value in enumerate(values):
        won = value + betting.spent[place] - (returned if place == returned_to else 0)
        if won > _LEAST_CHIPS:
            found.append(Moved("win", Position(place), won))
    return found


def strength_of(game: Game, cards: tuple[Card, ...]) -> str:
    """What a hand is called; empty with too few cards, and in games without such names."""
    if is_holdem(game) and len(cards) > 4:
        return name_hand(cards, rank_hand(cards)).text
    return ""


def action_words(event: Moved | Acted, game: Game, *, end: str = "s") -> str:
    """What a player does, as the words behind its name: ``raises to 300, all-in``.

    Args:
        end: of the verb: empty behind ``You``.
    """
    match event:
        case Acted():
            return _action(event, end) + (", all-in" if event.is_all_in else "")
        case Moved("post", position, chips):
            blinds = holdem_blinds(game)
            kind = "" if blinds is None else "the small blind of " if position == blinds.small else "the big blind of "
            return f"post{end} {kind}{chips:,}"
        case Moved("get", _, chips):
            return f"get{end} {chips:,} back, uncalled"
        case Moved(_, _, chips):
            return f"win{end} {chips_in_words(chips)}"


def _action(action: Acted, end: str) -> str:
    match action.move:
        case Move.FOLD:
            return f"fold{end}"
        case Move.CHECK:
            return f"check{end}"
        case Move.CALL:
            return f"call{end} {action.added:,}"
        case Move.BET:
            return f"bet{end} {action.added:,}"
        case Move.RAISE:
            return f"raise{end} to {action.street_total:,}"


@dataclass(frozen=True, slots=True)
class PlayerView:
    """A player at one moment.

    Attributes:
        name: the player, as it can be shown.
        place: what the position is called, such as BB.
        cards: its hole cards, as `Game.shown_cards` has them; empty if unknown or not to be seen.
        street_total: chips put in during this round.
        stack_left: chips left to play with; None where the stack is deeper than any pot of the game.
        is_all_in: whether it has no chips left and has not folded.
        last: what it has done last in this round, such as ``raises to 300``; empty before.
        move: its last action of this round; None before.
        value: net chips of the hand; None before it is over.
        strength: what its best hand is called, once it is shown; empty in games without such names.
    """

    position: Position
    name: str
    place: str
    is_button: bool
    cards: tuple[str, ...]
    street_total: int
    stack_left: int | None
    has_folded: bool = False
    is_all_in: bool = False
    is_acting: bool = False
    last: str = ""
    move: Move | None = None
    value: float | None = None
    strength: str = ""


@dataclass(frozen=True, slots=True)
class HandView:
    """One moment of a hand.

    Attributes:
        words: what has happened since the view before, such as ``Ann raises to 300``.
        board: its cards, as `Game.shown_cards` has them.
        pot: chips put in by every player so far, without those that went back.
        pots: the main pot and the side pots where an all-in has divided it and all bets are called; empty otherwise.
        to_call: chips that a call by the player in turn would add; 0 where no player is in turn.
        seats: the players, in the order of their positions.
        comments: names and texts of the players' comments before it.
        time_ms: how long the answer took; None if unknown.
    """

    words: str
    round: str
    begins_round: bool
    board: tuple[str, ...]
    pot: int
    to_call: int
    seats: tuple[PlayerView, ...]
    pots: tuple[int, ...] = ()
    comments: tuple[tuple[str, str], ...] = ()
    time_ms: float | None = None

    @property
    def acting(self) -> PlayerView | None:
        """Whose turn it is."""
        return next((seat for seat in self.seats if seat.is_acting), None)

    @property
    def pot_odds(self) -> float | None:
        """The share of showdowns that a call has to win to pay for itself, 0 to 1; None where there is none to make."""
        if self.to_call:
            return self.to_call / (self.pot + self.to_call)
        return None


def views_of(record: HandRecord) -> tuple[HandView, ...]:
    """A finished hand from its blinds to its end; comments after the last action are with the last view."""
    return _views(
        record.betting,
        record.names,
        record.deal.hole_cards,
        events=events_of(record),
        values=record.values,
        comments_at=_comments_by_action(record),
        times=record.times,
    )


def live_views(
    betting: BettingState,
    names: Sequence[str],
    hole_cards: Sequence[tuple[Card, ...]],
    board: tuple[Card, ...],
    values: tuple[float, ...] | None = None,
) -> tuple[HandView, ...]:
    """A hand up to now; what is by position has no cards where they are not to be seen.

    Args:
        values: net chips by position; None as long as the hand is not over.
    """
    events = hand_events(betting, tuple(hole_cards), board, values)
    return _views(betting, names, hole_cards, events=events, values=values, comments_at={}, times=())


def _has_deep_stack(game: Game, position: int) -> bool:
    """Whether a stack is deeper than any bet of the game can become, so that it need not be checked."""
    return game.is_limit and game.stacks[position] > largest_loss(game)


def _comments_by_action(record: HandRecord) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    for comment in record.comments:
        words = shown(record.names_by_seat[comment.seat]), shown(comment.text.lstrip("#;").strip())
        found.setdefault(comment.action_index, []).append(words)
    return found


class _Table:
    def __init__(self, betting: BettingState, names: Sequence[str], hole_cards: Sequence[tuple[Card, ...]]) -> None:
        game = self.game = betting.game
        places = position_names(game)
        blinds = holdem_blinds(game)
        self.spent = [0] * game.num_players
        self.is_deep = [_has_deep_stack(game, at) for at in range(game.num_players)]
        self.state = betting_start(game)
        self.actions = [action for actions in betting.rounds for _, action in actions]
        self.acted = 0
        self.round = 0
        self.board: tuple[str, ...] = ()
        self.seats = [
            PlayerView(
                position=Position(at),
                name=shown(name),
                place=places[at],
                is_button=blinds is not None and at == blinds.button,
                cards=game.shown_cards(hole_cards[at]),
                street_total=0,
                stack_left=None if self.is_deep[at] else game.stacks[at],
            )
            for at, name in enumerate(names)
        ]

    def put_in(self, at: Position, chips: int, street_total: int, words: str) -> None:
        self.spent[at] += chips
        seat = self.seats[at]
        left = None if seat.stack_left is None else seat.stack_left - chips
        all_in = not seat.has_folded and self.spent[at] == self.game.stacks[at]
        self.seats[at] = replace(seat, street_total=street_total, stack_left=left, is_all_in=all_in, last=words)

    def add(self, event: HandEvent) -> str:
        if isinstance(event, Dealt):
            self.round = event.round
            cards = self.game.shown_cards(event.cards)
            self.board += cards
            if event.round:
                self.seats = [replace(seat, street_total=0, last="", move=None) for seat in self.seats]
            return round_names(self.game)[event.round] + (f": {' '.join(cards)}" if cards else "")
        at = event.position
        who = self.seats[at].name
        if isinstance(event, Shown):
            words = f"shows {' '.join(self.game.shown_cards(event.cards))}" if event.cards else "does not show"
            self.seats[at] = replace(self.seats[at], last=words, strength=event.strength)
            return f"{who} {words}" + (f", {event.strength}" if event.strength else "")
        words = action_words(event, self.game)
        match event:
            case Acted(added=added, street_total=street_total):
                self.state = self.state.after_played(self.actions[self.acted])
                self.acted += 1
                self.put_in(at, added, street_total, words)
                has_folded = bool(self.state.folded >> at & 1)
                self.seats[at] = replace(self.seats[at], has_folded=has_folded, move=event.move)
            case Moved("win"):
                self.seats[at] = replace(self.seats[at], last=words)
            case Moved(verb, chips=chips):
                chips = int(chips if verb == "post" else -chips)
                self.put_in(at, chips, max(0, self.seats[at].street_total + chips), words)
        return f"{who} {words}"

    def _pots(self) -> tuple[int, ...]:
        is_called = all(
            seat.has_folded or seat.is_all_in or spent == max(self.spent)
            for seat, spent in zip(self.seats, self.spent, strict=True)
        )
        pots = side_pots(self.spent, self.state.folded) if is_called else []
        if len(pots) > 1:
            return tuple([pot.amount for pot in pots])
        return ()

    def view(
        self, words: str, comments: Sequence[tuple[str, str]], time_ms: float | None, *, begins_round: bool
    ) -> HandView:
        state = self.state
        is_turn = not state.finished and state.round == self.round
        seats = list(self.seats)
        if is_turn:
            seats[state.acting_position] = replace(seats[state.acting_position], is_acting=True)
        return HandView(
            words=words,
            round=round_names(self.game)[self.round],
            begins_round=begins_round,
            board=self.board,
            pot=sum(self.spent),
            to_call=state.to_call if is_turn else 0,
            seats=tuple(seats),
            pots=self._pots(),
            comments=tuple(comments),
            time_ms=time_ms,
        )


def _views(
    betting: BettingState,
    names: Sequence[str],
    hole_cards: Sequence[tuple[Card, ...]],
    events: Sequence[HandEvent],
    values: tuple[float, ...] | None,
    comments_at: Mapping[int, Sequence[tuple[str, str]]],
    times: Sequence[Times],
) -> tuple[HandView, ...]:
    table = _Table(betting, names, hole_cards)
    posted = sum(isinstance(event, Moved) and event.verb == "post" for event in events)
    opening = ", ".join([table.add(blind) for blind in events[:posted]])
    found = [table.view(opening or "the cards are dealt", (), None, begins_round=True)]
    for event in events[posted:]:
        number = table.acted
        words = table.add(event)
        comments: Sequence[tuple[str, str]] = ()
        time_ms = None
        if isinstance(event, Acted):
            comments = comments_at.get(number, ())
            time_ms = (times[number].received_us - times[number].sent_us) / 1000 if number < len(times) else None
        found.append(table.view(words, comments, time_ms, begins_round=isinstance(event, Dealt)))
    if values is not None:
        end = found[-1]
        seats = tuple(replace(seat, value=value) for seat, value in zip(end.seats, values, strict=True))
        last_words = [words for at, comments in sorted(comments_at.items()) if at >= table.acted for words in comments]
        found[-1] = replace(end, seats=seats, comments=(*end.comments, *last_words))
    return tuple(found)
