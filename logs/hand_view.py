"""Hands step by step: events in order, and views of the table after each of them.

    for view in views_of(record):
        print(view.words, view.pot)

Tables, replays and terminals show them. A view follows from the betting and from the events before it. It has only the
cards that the caller passes, so that a player's view is made without the cards that the player must not see.
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

_MIN_CHIPS = 1e-6


@dataclass(frozen=True, slots=True)
class Moved:
    """Chips moved without an action.

    Attributes:
        verb: ``post`` for a blind, ``get`` for uncalled chips that return, ``win`` for chips of the pot, the player's
            own included.
    """

    verb: Literal["post", "get", "win"]
    position: Position
    chips: float


@dataclass(frozen=True, slots=True)
class Dealt:
    """A betting round began.

    Attributes:
        round: 0-based.
        cards: cards added to the board; empty in most first rounds.
        pot: chips in the pot.
    """

    round: int
    cards: tuple[Card, ...]
    pot: int


@dataclass(frozen=True, slots=True)
class Acted:
    """A player acted.

    Attributes:
        added: chips added to the pot.
        street_total: chips of the player in this round after the action.
        is_all_in: whether the chips were its last.
    """

    position: Position
    round: int
    move: Move
    added: int
    street_total: int
    is_all_in: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A player showed its cards.

    Attributes:
        cards: hole cards; empty if unknown.
        strength: name of its best hand, such as ``a pair of Kings``; empty in games without such names.
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
    """Return the events of a hand; those of an unfinished hand are the first events of the finished one.

    Args:
        all_hole_cards: by position, empty if they were not shown.
        values: net chips by position; None before the hand is over.
        showing: positions that show at the showdown, in order; None for all players left, by position.
    """
    game = betting.game
    events: list[HandEvent] = []
    blinds = [(blind, position) for position, blind in enumerate(game.blinds) if blind]
    for blind, position in sorted(blinds):
        events.append(Moved("post", Position(position), blind))
    pot = sum(game.blinds)
    dealt = 0
    steps = betting_steps(betting)
    for round_ in range(betting.round + 1):
        board_cards = game.board_cards_by_round[round_]
        if round_ or board_cards:
            events.append(Dealt(round_, board[dealt:board_cards], pot))
        dealt = board_cards
        for step in steps:
            if step.round == round_:
                pot += step.added
                events.append(Acted(step.position, round_, step.move, step.added, step.street_total, step.is_all_in))
    if values is not None:
        events += _final_events(betting, all_hole_cards, board, values, showing)
    return tuple(events)


def events_of(record: HandRecord) -> tuple[HandEvent, ...]:
    """Return the events of a finished hand, in which players show in the order of the rules."""
    showing = showdown_order(record, betting_steps(record.betting))
    return hand_events(record.betting, record.deal.hole_cards, record.deal.board, record.values, showing)


def _final_events(
    betting: BettingState,
    all_hole_cards: tuple[tuple[Card, ...], ...],
    board: tuple[Card, ...],
    values: tuple[float, ...],
    showing: Sequence[Position] | None,
) -> list[HandEvent]:
    events: list[HandEvent] = []
    returned_to, returned = uncalled(betting.spent)
    if returned:
        events.append(Moved("get", returned_to, returned))
    if betting.is_showdown:
        for position in betting.in_pot if showing is None else showing:
            hole = all_hole_cards[position]
            strength = strength_of(betting.game, hole + board) if hole else ""
            events.append(Shown(position, hole, strength))
    for index, value in enumerate(values):
        won = value + betting.spent[index]
        if index == returned_to:
            won -= returned
        # A rounded split pot can leave a trace of a chip.
        if won > _MIN_CHIPS:
            events.append(Moved("win", Position(index), won))
    return events


def strength_of(game: Game, cards: tuple[Card, ...]) -> str:
    """Return the name of a hand; empty with less than five cards, and in games without such names."""
    if is_holdem(game) and len(cards) > 4:
        return name_hand(cards, rank_hand(cards)).text
    return ""


def action_words(event: Moved | Acted, game: Game, *, end: str = "s") -> str:
    """Describe an event in the words that follow the player's name, such as ``raises to 300, all-in``.

    Args:
        end: ending of the verb; empty after ``You``.
    """
    match event:
        case Acted():
            words = _action(event, end)
            return f"{words}, all-in" if event.is_all_in else words
        case Moved("post", position, chips):
            blinds = holdem_blinds(game)
            if blinds is None:
                return f"post{end} {chips:,}"
            kind = "small" if position == blinds.small else "big"
            return f"post{end} the {kind} blind of {chips:,}"
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
    """A player at one moment of a hand.

    Attributes:
        name: name of the player, safe to show.
        place: name of the position, such as BB.
        cards: hole cards as in `Game.shown_cards`; empty if unknown or not to be seen.
        street_total: chips put in during this round.
        stack_left: chips left to play with; None if the stack is deeper than any pot of the game.
        is_all_in: whether it has no chips left and has not folded.
        last: its last action in this round, such as ``raises to 300``; empty before it.
        move: its last action in this round; None before it.
        value: net chips of the hand; None before the hand is over.
        strength: name of its best hand, once it is shown; empty in games without such names.
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
    """A hand at one moment.

    Attributes:
        words: event since the view before, such as ``Ann raises to 300``.
        board: board cards as in `Game.shown_cards`.
        pot: chips put in by all players so far, without returned ones.
        pots: main pot and side pots, if an all-in has divided the pot and all bets are called; empty otherwise.
        to_call: chips that a call by the acting player would add; 0 without an acting player.
        seats: players, by position.
        comments: names and texts of the players' comments before it.
        time_ms: time of the reply; None if unknown.
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
        """Player to act, or None."""
        return next((seat for seat in self.seats if seat.is_acting), None)

    @property
    def pot_odds(self) -> float | None:
        """Share of showdowns, 0 to 1, that a call must win; None if there is nothing to call."""
        if self.to_call:
            return self.to_call / (self.pot + self.to_call)
        return None


def views_of(record: HandRecord) -> tuple[HandView, ...]:
    """Return the views of a finished hand; comments after the last action are in the last view."""
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
    """Return the views of a hand up to now; cards that must not be seen are empty in the arguments.

    Args:
        values: net chips by position; None before the hand is over.
    """
    events = hand_events(betting, tuple(hole_cards), board, values)
    return _views(betting, names, hole_cards, events=events, values=values, comments_at={}, times=())


def _has_deep_stack(game: Game, position: int) -> bool:
    """Return whether a stack is deeper than any bet of the game, so that its size does not matter."""
    return game.is_limit and game.stacks[position] > largest_loss(game)


def _comments_by_action(record: HandRecord) -> dict[int, list[tuple[str, str]]]:
    comments: dict[int, list[tuple[str, str]]] = {}
    for comment in record.comments:
        name = shown(record.names_by_seat[comment.seat])
        text = shown(comment.text.lstrip("#;").strip())
        comments.setdefault(comment.action_index, []).append((name, text))
    return comments


class _Table:
    """A table to which the events of a hand are applied."""

    def __init__(self, betting: BettingState, names: Sequence[str], hole_cards: Sequence[tuple[Card, ...]]) -> None:
        game = self.game = betting.game
        self.spent = [0] * game.num_players
        self.state = betting_start(game)
        self.actions = [action for actions in betting.rounds for _, action in actions]
        self.acted = 0
        self.round = 0
        self.board: tuple[str, ...] = ()
        places = position_names(game)
        blinds = holdem_blinds(game)
        self.seats: list[PlayerView] = []
        for position, name in enumerate(names):
            self.seats.append(
                PlayerView(
                    position=Position(position),
                    name=shown(name),
                    place=places[position],
                    is_button=blinds is not None and position == blinds.button,
                    cards=game.shown_cards(hole_cards[position]),
                    street_total=0,
                    stack_left=None if _has_deep_stack(game, position) else game.stacks[position],
                )
            )

    def _put_in(self, position: Position, chips: int, street_total: int, words: str) -> None:
        self.spent[position] += chips
        seat = self.seats[position]
        stack_left = None if seat.stack_left is None else seat.stack_left - chips
        is_all_in = not seat.has_folded and self.spent[position] == self.game.stacks[position]
        self.seats[position] = replace(
            seat, street_total=street_total, stack_left=stack_left, is_all_in=is_all_in, last=words
        )

    def add(self, event: HandEvent) -> str:
        """Apply an event; return its words."""
        if isinstance(event, Dealt):
            return self._deal(event)
        name = self.seats[event.position].name
        if isinstance(event, Shown):
            words = self._show(event)
        elif isinstance(event, Acted):
            words = self._act(event)
        else:
            words = self._move_chips(event)
        return f"{name} {words}"

    def _deal(self, event: Dealt) -> str:
        self.round = event.round
        cards = self.game.shown_cards(event.cards)
        self.board += cards
        if event.round:
            self.seats = [replace(seat, street_total=0, last="", move=None) for seat in self.seats]
        street = round_names(self.game)[event.round]
        return f"{street}: {' '.join(cards)}" if cards else street

    def _show(self, event: Shown) -> str:
        words = "does not show"
        if event.cards:
            words = f"shows {' '.join(self.game.shown_cards(event.cards))}"
        self.seats[event.position] = replace(self.seats[event.position], last=words, strength=event.strength)
        return f"{words}, {event.strength}" if event.strength else words

    def _act(self, event: Acted) -> str:
        words = action_words(event, self.game)
        position = event.position
        self.state = self.state.after_played(self.actions[self.acted])
        self.acted += 1
        self._put_in(position, event.added, event.street_total, words)
        has_folded = bool(self.state.folded >> position & 1)
        self.seats[position] = replace(self.seats[position], has_folded=has_folded, move=event.move)
        return words

    def _move_chips(self, event: Moved) -> str:
        words = action_words(event, self.game)
        position = event.position
        if event.verb == "win":
            # Chips won stay in the pot of the view.
            self.seats[position] = replace(self.seats[position], last=words)
            return words
        chips = int(event.chips if event.verb == "post" else -event.chips)
        # Uncalled chips may have been bet in an earlier round.
        street_total = max(0, self.seats[position].street_total + chips)
        self._put_in(position, chips, street_total, words)
        return words

    def _pots(self) -> tuple[int, ...]:
        highest = max(self.spent)
        for seat, spent in zip(self.seats, self.spent, strict=True):
            if not seat.has_folded and not seat.is_all_in and spent != highest:
                return ()
        pots = side_pots(self.spent, self.state.folded)
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
    num_posts = sum(isinstance(event, Moved) and event.verb == "post" for event in events)
    # The blinds are one view.
    opening = ", ".join([table.add(event) for event in events[:num_posts]])
    views = [table.view(opening or "the cards are dealt", (), None, begins_round=True)]
    for event in events[num_posts:]:
        number = table.acted
        words = table.add(event)
        comments: Sequence[tuple[str, str]] = ()
        time_ms = None
        if isinstance(event, Acted):
            comments = comments_at.get(number, ())
            if number < len(times):
                time_ms = (times[number].received_us - times[number].sent_us) / 1000
        views.append(table.view(words, comments, time_ms, begins_round=isinstance(event, Dealt)))
    if values is not None:
        last = views[-1]
        seats = tuple(replace(seat, value=value) for seat, value in zip(last.seats, values, strict=True))
        comments_after: list[tuple[str, str]] = []
        for number in sorted(comments_at):
            if number >= table.acted:
                comments_after += comments_at[number]
        views[-1] = replace(last, seats=seats, comments=(*last.comments, *comments_after))
    return tuple(views)
