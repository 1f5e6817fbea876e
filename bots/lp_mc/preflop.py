"""Limit hold'em of two players that ends before the flop, as a game for `bots.solving`.

The betting before the flop is played as the rules have it; the players left then show down, on all boards. It is the
model of Selby (1999), and of Vytrísal (2013). Player 0 is the small blind, a class is one of the 169 starting hands.
With blinds 1/2, bets of 2 and at most four bets the tree has 15 leaves; each player has 11 sequences and 4 information
sets for each class. As in the thesis, one of the sequences is a fold that owes nothing, which the rules refuse: `solve`
never takes it.

The printed solution is the same game with a mistake. Where the small blind folds at once, the big blind has done
nothing: in the sequence form that leaf is one cell for all its 169 classes, and their payoffs have to be summed. The
thesis assigned each of them to the cell, so that only the one written last was left: to fold cost nearly nothing, and
89 of 169 hands did. Which class came last matters little: with any pair, and AA is the last of ours, the mixed
strategies are those of the thesis.

In that game the small blind never limps, and what the big blind would do after a limp is hardly bound: it only has to
make limping no better. Of all optimal plans the one nearest to what the thesis printed is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.solving.engine_games import Board, betting_tree
from bots.solving.equilibria import Equilibrium, LinearProgram, Step
from bots.solving.sequence_form import (
    ROUNDING,
    Chances,
    Choice,
    Plan,
    Plans,
    PublicGame,
    SequenceForm,
    expected_value,
    exploitability,
    plan_of,
    sequence_form,
)
from engine import STARTING_HANDS, BettingType, Game, matchups
from engine.game import DEFAULT_STACK, Position
from logs.document import TEXT, Column, Document, Fact, HandGrid, Section, Shares, Table, Value

_MOST_BETS: Final = 12
"""The largest cap; beyond it no hand raises more often."""
_MOST_CHIPS: Final = 1_000_000
OPPONENTS: Final[Mapping[str, tuple[float, float, float]]] = {
    "raising": (0.0, 0.0, 1.0),
    "random": (1 / 3, 1 / 3, 1 / 3),
    "calling": (0.0, 1.0, 0.0),
}
"""The simple players of the thesis: how often they fold, call and raise; where a raise is refused they call instead."""
_SMALL_BLIND: Final = Position(1)
"""Of the arena's game of two players; the big blind is position 0."""


@dataclass(frozen=True, slots=True)
class PreflopRules:
    """The betting before the flop: blinds and the size of a raise in chips, and the most bets, with the big blind."""

    blinds: tuple[int, int] = (1, 2)
    bet: int = 2
    cap: int = 4

    def __post_init__(self) -> None:
        small, big = self.blinds
        if not 1 <= small < big <= _MOST_CHIPS:
            raise SolvingError(f"the blinds must be two numbers of chips, the small one first, not {small}/{big}")
        if not 1 <= self.bet <= _MOST_CHIPS:
            raise SolvingError(f"the bet must be 1 to {_MOST_CHIPS:,} chips, not {self.bet:,}")
        if not 1 <= self.cap <= _MOST_BETS:
            raise SolvingError(f"the cap must be 1 to {_MOST_BETS} bets, not {self.cap:,}")

    @property
    def game(self) -> Game:
        small, big = self.blinds
        return Game(
            betting=BettingType.LIMIT,
            num_players=2,
            num_rounds=1,
            stacks=(DEFAULT_STACK, DEFAULT_STACK),
            blinds=(big, small),
            raise_sizes=(self.bet,),
            first_players=(_SMALL_BLIND,),
            max_raises=(self.cap - 1,),
            num_suits=4,
            num_ranks=13,
            num_hole_cards=2,
            num_board_cards=(0,),
        )


class _Matchups:
    """The cards: no board is seen while there is betting."""

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        return [board]

    def payoff_at(self, spent: Sequence[int], folded: Collection[int], board: Board) -> tuple[int, float]:
        if folded:
            return 0, spent[1] if 1 in folded else -spent[0]
        return 1, min(spent)


def preflop_form(rules: PreflopRules, counts: NDArray[np.int64] | None = None) -> SequenceForm:
    """The sequence form of the game.

    The counts are wins, ties and losses of each class against each, by default those of `engine.matchups`.
    """
    if counts is None:
        counts = matchups.counts()
    root = betting_tree(rules.game, _Matchups(), first=_SMALL_BLIND, free_folds=True)
    showdowns = counts.sum()
    matrices = np.stack([counts.sum(2) / showdowns, (counts[:, :, 0] - counts[:, :, 2]) / showdowns])
    return sequence_form(PublicGame(root, (STARTING_HANDS, STARTING_HANDS), matrices))


def solve(form: SequenceForm, on_step: Step | None = None) -> Equilibrium:
    """An equilibrium by linear programming, without free folds; `on_step` is called now and then."""
    # The simplex method solves the program of the big blind in a third of the time.
    value, plans = LinearProgram(form, player=1).solve(on_step)
    return Equilibrium(value, (plans[0], without_free_folds(form, plans[1])))


def without_free_folds(form: SequenceForm, plan: Plan) -> Plan:
    """A plan of the big blind that checks where it folded without a bet to call.

    It is never worse: a check ends the betting, and who folds loses what the worst showdown costs.
    """
    limped = next(choice for choice in form.choices[1] if choice.name == "c")
    better = plan.copy()
    better[limped.first + 1] += better[limped.first]
    better[limped.first] = 0
    return better


def simple_plan(form: SequenceForm, player: int, opponent: str) -> Plan:
    fold, call, raise_ = OPPONENTS[opponent]

    def chances(choice: Choice) -> Chances:
        of_actions = [fold, call, raise_]
        if "r" not in choice.actions:
            of_actions = [fold, call + raise_]
        return np.tile(np.array(of_actions)[:, None], (1, len(STARTING_HANDS)))

    return plan_of(form, player, chances)


def balance(form: SequenceForm, plans: Plans, opponent: str) -> float:
    """What two plans win on average against one of `OPPONENTS`, half of the hands in each seat, in chips per hand."""
    as_small_blind = expected_value(form, (plans[0], simple_plan(form, 1, opponent)))
    as_big_blind = -expected_value(form, (simple_plan(form, 0, opponent), plans[1]))
    return (as_small_blind + as_big_blind) / 2


_SEQUENCES = {"f": ("c", 0), "k": ("c", 1), "rf": ("crr", 0), "rr": ("crr", 2)}
"""The notation of the table after a limp: the betting before the last action, and its place among the actions."""


def published_program(form: SequenceForm, *, player: int = 0) -> LinearProgram:
    """The linear program of a player, with the mistake."""
    return LinearProgram(form, form.payoffs().overwritten(), player=player)


def solve_as_published(form: SequenceForm, on_step: Step | None = None) -> Equilibrium:
    """The solution of the game with the mistake; `on_step` is called now and then."""
    program = published_program(form, player=1)
    value, (small_blind, _) = program.solve(on_step)
    return Equilibrium(value, (small_blind, program.favourite(_printed(form), on_step)))


def _printed(form: SequenceForm) -> Plan:
    first = {choice.name: choice.first for choice in form.choices[1]}
    plan = np.zeros(form.plan_shape(1))
    for hand, name in enumerate(STARTING_HANDS):
        cell = AFTER_LIMP[name]
        for word, chance in MIXED.get(cell, {cell: 1.0}).items():
            betting, action = _SEQUENCES[word]
            if betting in first:
                plan[first[betting] + action, hand] = chance
    return plan


_AFTER_LIMP: Final = """
rr k  k  k  k  k  k  k  k  k  k  k  k
rr rr k  k  k  k  k  k  k  k  k  k  rf
rr rr rr k  k  k  k  k  rf rf k  k  k
rr rr rr rr rf k  rf k  k  k  k  k  k
rr rr rr k  rr k  k  k  k  k  k  k  k
rr k  k  k  k  rr k  k  k  k  k  f  f
rr k  k  k  k  k  rr k  k  k  k  f  f
k  k  k  k  k  k  k  rr k  k  k  f  f
k  k  k  k  k  k  k  k  y1 k  k  f  f
k  k  k  k  k  k  k  k  rr k  k  k  k
k  k  k  k  k  k  k  k  k  rf y3 f  f
y2 k  k  k  k  k  k  k  k  k  k  k  f
k  k  k  k  k  k  k  k  k  k  k  k  k
"""
"""Table 2: the big blind after a limp."""
MIXED: Final[Mapping[str, Mapping[str, float]]] = {
    "y1": {"rf": 0.47040, "rr": 0.52960},
    "y2": {"k": 0.44107, "rr": 0.55893},
    "y3": {"f": 0.44638, "k": 0.55362},
}
"""The mixed strategies of table 2."""
BALANCES: Final = {"raising": 0.04051, "random": 0.13224, "calling": -0.04931}
"""Table 4: what the strategy before the flop won in 5,000,000 hands each, in small bets per hand."""


AFTER_LIMP: Final[Mapping[str, str]] = dict(zip(STARTING_HANDS[::-1], _AFTER_LIMP.split(), strict=True))
"""Table 2 by starting hand: f fold, k check, rf raise and fold to a raise, rr raise again, or one of `MIXED`."""


_CERTAIN: Final = 1 - 1e-9
_SEATS: Final = ("small blind", "big blind")
_AFTER: Final = {"": "", "c": " after a call", "r": " after a raise"}
_MOST_MIXED: Final = 36
"""Mixed hands that are listed one by one."""
_LEGEND: Final = "f fold · k check · c call · r raise; rc raises and calls the next raise; * mixed"


@dataclass(frozen=True, slots=True)
class PreflopSolution:
    """A solution; winnings are chips per hand of the small blind.

    Attributes:
        objective: the optimum of the linear program.
        value: what the plans win.
        lines: what each hand does from its player's first decision on, with the probabilities: ``rc`` raises and calls
            a raise. By the player and what came before.
        small_bets_per_hand: what this solution and others win on average over both seats from `OPPONENTS`.
    """

    rules: PreflopRules
    solution: str
    algorithm: str
    objective: float
    value: float
    exploitability: float
    lines: Mapping[str, Mapping[str, Shares]]
    small_bets_per_hand: Mapping[str, Mapping[str, float]]
    schema_version: int = 1


def preflop_solution(
    rules: PreflopRules, form: SequenceForm, solutions: Mapping[str, Equilibrium], *, algorithm: str
) -> PreflopSolution:
    """The first of some solutions by name, with the winnings of all."""
    (name, (objective, plans)), *_ = solutions.items()
    balances: dict[str, Mapping[str, float]] = {}
    for solution, equilibrium in solutions.items():
        balances[solution] = {
            opponent: balance(form, equilibrium.plans, opponent) / rules.bet for opponent in OPPONENTS
        }
    if name == "as published" and rules == PreflopRules():
        balances = {"printed": BALANCES} | balances
    lines = {}
    for player, plan in enumerate(plans):
        for choice in form.choices[player]:
            if choice.parent == 0:
                title = _SEATS[player] + _AFTER[choice.name]
                lines[title] = _lines_by_hand(form, player, plan, choice)
    loss = exploitability(form, plans)
    return PreflopSolution(
        rules=rules,
        solution=name,
        algorithm=algorithm,
        objective=objective,
        value=expected_value(form, plans),
        exploitability=0.0 if loss < ROUNDING else loss,
        lines=lines,
        small_bets_per_hand=balances,
    )


def _lines_by_hand(form: SequenceForm, player: int, plan: Plan, start: Choice) -> Mapping[str, Shares]:
    return {hand: _lines(form, player, plan, start, number) for number, hand in enumerate(STARTING_HANDS)}


def _lines(form: SequenceForm, player: int, plan: Plan, start: Choice, hand: int) -> Shares:
    shares: dict[str, float] = {}

    def walk(choice: Choice, before: str) -> None:
        for sequence, action in enumerate(choice.actions, start=choice.first):
            line = before + action
            if action == "c" and choice.name == "c":
                line = before + "k"
            following = [later for later in form.choices[player] if later.parent == sequence]
            for later in following:
                walk(later, line)
            if not following and plan[sequence, hand] > 1 - _CERTAIN:
                shares[line] = float(plan[sequence, hand])

    walk(start, "")
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def preflop_document(found: PreflopSolution) -> Document:
    """The value, a grid of all hands for each first decision, and the winnings from simple opponents."""
    small, big = found.rules.blinds
    sentence = f"The small blind wins {found.value:+.12f} chips per hand."
    if found.solution == "as published":
        sentence = (
            f"With the mistake the program gives {found.objective:+.12f} chips for the small blind; the plans win "
            f"{found.value:+.12f}."
        )
    facts = (
        Fact("blinds", f"{small}/{big}"),
        Fact("bet", found.rules.bet),
        Fact("cap", found.rules.cap),
        Fact("algorithm", found.algorithm),
        Fact("exploitability", found.exploitability, ".6g", "chips per hand"),
    )
    lines: set[str] = set()
    for hands in found.lines.values():
        for shares in hands.values():
            lines.update(shares)
    actions = tuple(sorted(lines, key=lambda line: [*map("fkcr".find, line)]))
    grids = [HandGrid(title, tuple(hands.values()), actions) for title, hands in found.lines.items()]
    mixed = []
    for grid in grids:
        for hand, mixture in grid.mixed.items():
            mixed.append((grid.title, hand, mixture))
    mixtures = Table.of("Mixed hands", ("player", Column("hand"), Column("plays", TEXT)), mixed)
    ending: Table | str = mixtures
    if len(mixed) > _MOST_MIXED:
        ending = f"{len(mixed)} hands mix: --json has them all."
    balances = found.small_bets_per_hand
    columns = [Column(name, "+.4f") for name in balances]
    rows: list[tuple[Value, ...]] = []
    for opponent in OPPONENTS:
        rows.append((opponent, *[by_opponent[opponent] for by_opponent in balances.values()]))
    table = Table.of("Small bets per hand against simple players, mean of both seats", ("opponent", *columns), rows)
    sections = (Section("What each hand does", (*grids, _LEGEND, ending)), Section("Simple players", (table,)))
    return Document("Limit hold'em before the flop", (sentence,), facts, sections, data=found)
