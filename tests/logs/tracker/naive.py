"""Slow, obvious twin of the statistics: each figure scans the list of all hands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations

from engine import ActionKind, BettingState, Card, Deal, Position, betting_start, category, hand_values, rank_hand
from engine.betting import Step
from engine.cards import starting_hand_name
from engine.holdem import position_names
from logs import HandRecord
from logs.formats.settlement import street_actions

steps_of = cache(street_actions)

Dealt = tuple[HandRecord, Position]


def dealt_to(records: Iterable[HandRecord], name: str) -> list[Dealt]:
    """All hands of a bot, with its position."""
    return [
        (record, Position(position))
        for record in records
        for position in range(record.game.num_players)
        if record.name_at(Position(position)) == name
    ]


def actions_of(dealt: Dealt) -> list[Step]:
    record, position = dealt
    return [action for action in steps_of(record.betting) if action.position == position]


def states_of(dealt: Dealt) -> list[tuple[BettingState, ActionKind]]:
    """Return the states in which the player had to act before the flop, with the action."""
    record, position = dealt
    betting = betting_start(record.game)
    states = []
    for actor, action in record.betting.rounds[0]:
        if actor == position:
            states.append((betting, action.kind))
        betting = betting.after(action)
    return states


def net(dealt: Dealt) -> float:
    record, position = dealt
    return record.values[position]


def raises_before(record: HandRecord, betting: BettingState) -> int:
    """Count the raises before the flop up to this state."""
    actions_before = sum(len(of_round) for of_round in betting.rounds)
    return sum(action.kind == ActionKind.RAISE for _, action in record.betting.rounds[0][:actions_before])


def folded_in(dealt: Dealt) -> int | None:
    folds = [action.round for action in actions_of(dealt) if action.action.kind == ActionKind.FOLD]
    return folds[0] if folds else None


def saw(dealt: Dealt, round_: int) -> bool:
    fold = folded_in(dealt)
    return dealt[0].betting.round >= round_ and (fold is None or fold >= round_)


def in_showdown(dealt: Dealt) -> bool:
    record, position = dealt
    return record.betting.folded.bit_count() + 1 < record.game.num_players and not record.betting.folded >> position & 1


def won(dealt: Dealt) -> bool:
    """Return whether chips came back beyond the uncalled ones."""
    record, position = dealt
    spent = list(record.betting.spent)
    collected = record.values[position] + spent[position]
    highest_other = max(chips for other, chips in enumerate(spent) if other != position)
    return collected - max(0, spent[position] - highest_other) > 1e-6


def vpip(hands: list[Dealt]) -> tuple[int, int]:
    had_turn = [dealt for dealt in hands if any(action.round == 0 for action in actions_of(dealt))]
    did = [dealt for dealt in had_turn if any(action.round == 0 and action.added for action in actions_of(dealt))]
    return len(did), len(had_turn)


def pfr(hands: list[Dealt]) -> tuple[int, int]:
    could = [d for d in hands if any(betting.legal_actions().can_raise for betting, _ in states_of(d))]
    did = [d for d in could if any(kind == ActionKind.RAISE for _, kind in states_of(d))]
    return len(did), len(could)


def three_bet(hands: list[Dealt]) -> tuple[int, int]:
    times = chances = 0
    for dealt in hands:
        for betting, kind in states_of(dealt):
            if raises_before(dealt[0], betting) == 1 and betting.legal_actions().can_raise:
                chances += 1
                times += kind == ActionKind.RAISE
    return times, chances


# ---- turn by turn: each statistic scans the whole hand for every turn of the player


class Turn:
    """A turn of a player: the state before it and the action."""

    def __init__(self, dealt: Dealt, number: int) -> None:
        self.record, self.position = dealt
        steps = steps_of(self.record.betting)
        self.step = steps[number]
        self.before = steps[:number]
        self.street_steps = [step for step in self.before if step.round == self.step.round]
        self.preflop = [step for step in self.before if step.round == 0]
        self.may_raise = self.step.before.legal_actions().can_raise
        self.raised = self.step.action.kind == ActionKind.RAISE
        self.called = self.step.action.kind == ActionKind.CALL and self.step.added > 0
        self.folded = self.step.action.kind == ActionKind.FOLD

    @property
    def raises(self) -> list[Step]:
        """Return the raises before this turn on its street."""
        return [step for step in self.street_steps if step.action.kind == ActionKind.RAISE]

    def place(self, position: int) -> str:
        return position_names(self.record.game)[position]

    def is_steal(self, number: int) -> bool:
        """Return whether an action before the flop was an attempt to steal."""
        step = steps_of(self.record.betting)[number]
        before = steps_of(self.record.betting)[:number]
        is_open = all(earlier.action.kind == ActionKind.FOLD for earlier in before)
        return is_open and step.action.kind == ActionKind.RAISE and self.place(step.position) in ("CO", "BTN", "SB")

    def aggressor(self) -> Position | None:
        """Return the last raiser before the flop, unless all-in."""
        raises = [step for step in self.preflop if step.action.kind == ActionKind.RAISE]
        return raises[-1].position if raises and not raises[-1].is_all_in else None

    def bets(self, round_: int) -> list[Step]:
        """Return bets and raises before this turn on a street."""
        return [step for step in self.before if step.round == round_ and step.action.kind == ActionKind.RAISE]

    def is_continuation_bet(self, step: Step) -> bool:
        is_first_bet = self.bets(step.round)[:1] == [step]
        if not is_first_bet or step.position != self.aggressor():
            return False
        return step.round == 1 or (step.round == 2 and self.is_continuation_bet_on_flop())

    def is_continuation_bet_on_flop(self) -> bool:
        return [bet.position for bet in self.bets(1)] == [self.aggressor()]


def turns(hands: list[Dealt]) -> list[Turn]:
    return [
        Turn(dealt, number)
        for dealt in hands
        for number, step in enumerate(steps_of(dealt[0].betting))
        if step.position == dealt[1]
    ]


def chance_of(key: str, turn: Turn) -> bool | None:
    """Return whether a turn used an opportunity; None if it had none."""
    round_, raises = turn.step.round, turn.raises
    is_aggressor = turn.aggressor() == turn.position
    match key:
        case "four_bet" if round_ == 0 and len(raises) == 2 and turn.may_raise:
            return turn.raised
        case "squeeze" if round_ == 0 and len(raises) == 1 and turn.may_raise:
            behind = turn.street_steps[turn.street_steps.index(raises[0]) + 1 :]
            has_caller = any(step.action.kind == ActionKind.CALL for step in behind)
            return turn.raised if has_caller else None
        case "cold_call" if round_ == 0 and len(raises) == 1 and turn.step.before.spent[turn.position] == 0:
            return turn.called
        case "steal" if round_ == 0 and turn.may_raise and turn.place(turn.position) in ("CO", "BTN", "SB"):
            is_open = all(step.action.kind == ActionKind.FOLD for step in turn.street_steps)
            return turn.raised if is_open else None
        case "fold_to_steal" if round_ == 0 and len(raises) == 1 and turn.place(turn.position) in ("SB", "BB"):
            number = turn.street_steps.index(raises[0])
            behind = turn.street_steps[number + 1 :]
            is_alone = all(step.action.kind == ActionKind.FOLD for step in behind)
            return turn.folded if is_alone and turn.is_steal(number) else None
        case "continuation_bet" if round_ == 1 and is_aggressor and not raises and turn.may_raise:
            return turn.raised
        case "turn_continuation_bet" if round_ == 2 and is_aggressor and not raises and turn.may_raise:
            return turn.raised if turn.is_continuation_bet_on_flop() else None
        case "fold_to_continuation_bet" if round_ == 1 and len(raises) == 1 and turn.is_continuation_bet(raises[0]):
            return turn.folded
        case "fold_to_turn_continuation_bet" if (
            round_ == 2 and len(raises) == 1 and turn.is_continuation_bet(raises[0])
        ):
            return turn.folded
        case "check_raise" if round_ > 0 and raises and turn.may_raise:
            own_steps = [step for step in turn.street_steps if step.position == turn.position]
            has_checked = len(own_steps) == 1 and own_steps[0] not in raises and own_steps[0].added == 0
            return turn.raised if has_checked else None
        case "donk_bet" if round_ == 1 and not raises and turn.may_raise and not is_aggressor:
            has_acted = any(step.position == turn.aggressor() for step in turn.street_steps)
            return turn.raised if turn.aggressor() is not None and not has_acted else None
    return None


def frequency(key: str, turns: list[Turn]) -> tuple[int, int]:
    """Count a figure's opportunities and uses."""
    taken = [chance for turn in turns if (chance := chance_of(key, turn)) is not None]
    return sum(taken), len(taken)


def street(hands: list[Dealt], round_: int) -> tuple[int, int, int, int, int, int]:
    """Return hands that saw the street, folds, checks, calls, bets, raises."""
    seen = folds = checks = calls = bets = raises = 0
    for dealt in hands:
        record, position = dealt
        seen += saw(dealt, round_)
        is_bet = round_ == 0 and any(record.game.blinds)
        for action in steps_of(record.betting):
            if action.round == round_:
                if action.position == position:
                    folds += action.action.kind == ActionKind.FOLD
                    checks += action.action.kind == ActionKind.CALL and not action.added
                    calls += action.action.kind == ActionKind.CALL and action.added > 0
                    bets += action.action.kind == ActionKind.RAISE and not is_bet
                    raises += action.action.kind == ActionKind.RAISE and is_bet
                is_bet = is_bet or action.action.kind == ActionKind.RAISE
    return seen, folds, checks, calls, bets, raises


def expectation(dealt: Dealt) -> float:
    """Return the mean result of the hand if betting ends while cards are still to come."""
    record, position = dealt
    game, betting = record.game, record.betting
    if not in_showdown((record, next(Position(p) for p in range(game.num_players) if not betting.folded >> p & 1))):
        return net(dealt)
    last_bet = max([round_ for round_, of_round in enumerate(betting.rounds) if of_round], default=0)
    known = record.deal.board[: game.board_cards_by_round[last_bet]]
    holes = record.deal.hole_cards
    live = [card for card in game.deck if card not in known and all(card not in hole for hole in holes)]
    values = [
        hand_values(betting, Deal(holes, known + rest))[position]
        for rest in combinations(live, game.board_cards_by_round[-1] - len(known))
    ]
    return sum(values) / len(values)


def by_starting_hand(hands: list[Dealt]) -> dict[str, tuple[int, int, float]]:
    counts: dict[str, tuple[int, int, float]] = {}
    for dealt in hands:
        record, position = dealt
        name = starting_hand_name(record.deal.hole_cards[position])
        count, wins, chips = counts.get(name, (0, 0, 0.0))
        counts[name] = count + 1, wins + won(dealt), chips + net(dealt)
    return counts


def by_category(hands: list[Dealt], among: Callable[[Dealt], bool]) -> dict[str, tuple[int, int, float]]:
    counts: dict[str, tuple[int, int, float]] = {}
    for dealt in filter(among, hands):
        record, position = dealt
        cards: tuple[Card, ...] = record.deal.hole_cards[position] + record.deal.board
        name = category(rank_hand(cards)).name.replace("_", " ").lower()
        count, wins, chips = counts.get(name, (0, 0, 0.0))
        counts[name] = count + 1, wins + won(dealt), chips + net(dealt)
    return counts
