"""A hand as a page shows it: who sits where, and step by step what happened, what lay on the table, what was said."""

from __future__ import annotations

from dataclasses import dataclass

from engine import CARD_TEXTS, ActionKind, Card, Position
from engine.actions import Move
from engine.pots import uncalled
from engine.steps import Step as BettingStep
from logs.errors import LogsError
from logs.record import HandRecord
from logs.steps import street_actions
from logs.text import clean
from logs.tracker.positions import position_names, round_names

__all__ = ["ReplayedHand", "SeatView", "Step", "replayed"]


@dataclass(frozen=True, slots=True)
class SeatView:
    """A player at the table.

    Attributes:
        name: his name.
        position: SB, BB, BTN ...
        stack: chips before the hand.
        cards: his hole cards, as texts.
        value: net chips of the hand.
    """

    name: str
    position: str
    stack: int
    cards: tuple[str, ...]
    value: float


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened.

    Attributes:
        name: who did it; empty for cards that were dealt.
        words: what.
        cards: board cards that came.
        pot: chips in the pot afterwards.
        comments: what players remarked since the step before.
        time_ms: how long the answer took; None where it is not known.
    """

    name: str
    words: str
    cards: tuple[str, ...]
    pot: int
    comments: tuple[tuple[str, str], ...]
    time_ms: float | None


@dataclass(frozen=True, slots=True)
class ReplayedHand:
    """A hand to be shown.

    Attributes:
        match_name: the match.
        number: the hand's.
        pot_in_blinds: how big the pot was, in big blinds.
        seats: the players, in the order of their positions.
        steps: what happened.
        last_words: remarks after the last action.
    """

    match_name: str
    number: int
    pot_in_blinds: float
    seats: tuple[SeatView, ...]
    steps: tuple[Step, ...]
    last_words: tuple[tuple[str, str], ...]


def replayed(record: HandRecord, pot_in_blinds: float) -> ReplayedHand:
    """A hand as a page shows it."""
    game = record.game
    names = [clean(record.name_at(Position(position))) for position in range(game.num_players)]
    places = position_names(game)
    seats = tuple(
        SeatView(names[p], places[p], game.stacks[p] if not game.is_limit else 0, _texts(hole), record.values[p])
        for p, hole in enumerate(_padded(record.deal.hole_cards, game.num_players))
    )
    said: dict[int, list[tuple[str, str]]] = {}
    for comment in record.comments:
        said.setdefault(comment.action_index, []).append((clean(record.names[comment.seat]), _readable(comment.text)))
    steps: list[Step] = []
    pot = sum(game.blinds)
    for position, blind in enumerate(game.blinds):
        if blind:
            steps.append(Step(names[position], f"posts {blind:,}", (), pot, (), None))
    streets = round_names(game)
    boards = record.board_by_round
    actions = _actions(record)
    index = 0
    for round_, street in enumerate(streets[: record.betting.round + 1]):
        if round_ or boards[0]:
            steps.append(Step("", street, _texts(boards[round_]), pot, (), None))
        for position, words, added in actions[round_]:
            pot += added
            time_ms = None
            if index < len(record.times):
                sent_us, received_us = record.times[index]
                time_ms = (received_us - sent_us) / 1000
            steps.append(Step(names[position], words, (), pot, tuple(said.get(index, ())), time_ms))
            index += 1
    returned_to, returned = uncalled(record.betting.spent)
    if returned:
        steps.append(
            Step(names[returned_to], f"takes back {returned:,} that nobody called", (), pot - returned, (), None)
        )
    last_words = tuple(words for at, of_action in sorted(said.items()) if at >= index for words in of_action)
    return ReplayedHand(clean(record.match_name), record.hand_number, pot_in_blinds, seats, tuple(steps), last_words)


def _actions(record: HandRecord) -> list[list[tuple[Position, str, int]]]:
    """By round: who did what, and the chips it added."""
    found: list[list[tuple[Position, str, int]]] = [[] for _ in record.betting.rounds]
    try:
        told = street_actions(record.betting)
    except LogsError:
        # A limit game's raise that lowers the bet has no other name than the protocol's.
        for round_, of_round in enumerate(record.betting.rounds):
            for position, action in of_round:
                word = {ActionKind.FOLD: "folds", ActionKind.CALL: "calls", ActionKind.RAISE: "raises"}[action.kind]
                found[round_].append((position, word, 0))
        return found
    for of_street in told:
        found[of_street.round].append((of_street.position, _words(of_street), of_street.added))
    return found


def _words(action: BettingStep) -> str:
    end = ", all-in" if action.is_all_in else ""
    match action.move:
        case Move.FOLD:
            return "folds"
        case Move.CHECK:
            return "checks"
        case Move.CALL:
            return f"calls {action.added:,}{end}"
        case Move.BET:
            return f"bets {action.added:,}{end}"
        case Move.RAISE:
            return f"raises to {action.street_total:,}{end}"


def _padded(holes: tuple[tuple[Card, ...], ...], players: int) -> list[tuple[Card, ...]]:
    return [*holes, *[()] * (players - len(holes))]


def _texts(cards: tuple[Card, ...]) -> tuple[str, ...]:
    return tuple(CARD_TEXTS[card] for card in cards)


def _readable(text: str) -> str:
    """A comment without its mark; its bytes, kept as Latin-1, are UTF-8 where they can be."""
    return text.encode("latin-1", "replace").decode("utf-8", "replace").lstrip("#;").strip()
