"""Two-player limit hold'em that ends before the flop, as a game for `bots.solving`.

The betting before the flop is followed by a showdown, averaged over all boards. This is the model of Selby (1999) and
of Vytrísal (2013). Player 0 is the small blind, and a class is one of the 169 starting hands. With blinds 1/2, bets of
2 and at most four bets the tree has 15 leaves, and each player has 11 sequences, with 4 information sets for each
class. `solve` computes the equilibrium, `solve_as_published` the solution printed in the thesis.
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

_MAX_CAP: Final = 12
"""With a larger cap no hand raises more often."""
_MAX_CHIPS: Final = 1_000_000
OPPONENTS: Final[Mapping[str, tuple[float, float, float]]] = {
    "raising": (0.0, 0.0, 1.0),
    "random": (1 / 3, 1 / 3, 1 / 3),
    "calling": (0.0, 1.0, 0.0),
}
"""Probabilities of fold, call and raise of the simple players of the thesis, who call in place of an illegal raise."""
_SMALL_BLIND: Final = Position(1)
"""Position of the small blind in a game of two players, where the big blind has position 0."""


@dataclass(frozen=True, slots=True)
class PreflopRules:
    """Rules of the betting before the flop.

    Attributes:
        blinds: small and big blind, in chips.
        bet: size of a raise, in chips.
        cap: maximum number of bets, counting the big blind.
    """

    blinds: tuple[int, int] = (1, 2)
    bet: int = 2
    cap: int = 4

    def __post_init__(self) -> None:
        small, big = self.blinds
        if not 1 <= small < big <= _MAX_CHIPS:
            raise SolvingError(f"the blinds must be two numbers of chips, the small one first, not {small}/{big}")
        if not 1 <= self.bet <= _MAX_CHIPS:
            raise SolvingError(f"the bet must be 1 to {_MAX_CHIPS:,} chips, not {self.bet:,}")
        if not 1 <= self.cap <= _MAX_CAP:
            raise SolvingError(f"the cap must be 1 to {_MAX_CAP} bets, not {self.cap:,}")

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
    """Cards of a game whose betting ends before any board card."""

    def boards(self, round_: int, board: Board) -> Sequence[Board]:
        return [board]

    def payoff_at(self, spent: Sequence[int], folded: Collection[int], board: Board) -> tuple[int, float]:
        # 0 selects the matrix of the chance of the deals, 1 that of wins less losses.
        if 1 in folded:
            return 0, spent[1]
        if folded:
            return 0, -spent[0]
        return 1, min(spent)


def preflop_form(rules: PreflopRules, counts: NDArray[np.int64] | None = None) -> SequenceForm:
    """Return the sequence form of the game.

    Args:
        counts: wins, ties and losses of each class against each, shape (169, 169, 3); by default those of
            `engine.matchups`.
    """
    if counts is None:
        counts = matchups.counts()
    # Like the thesis, the game has a free fold, which the rules refuse. `solve` never takes it.
    root = betting_tree(rules.game, _Matchups(), first=_SMALL_BLIND, free_folds=True)
    showdowns = counts.sum()
    deal_chances = counts.sum(2) / showdowns
    expected_wins = (counts[:, :, 0] - counts[:, :, 2]) / showdowns
    matrices = np.stack([deal_chances, expected_wins])
    return sequence_form(PublicGame(root, (STARTING_HANDS, STARTING_HANDS), matrices))


def solve(form: SequenceForm, on_step: Step | None = None) -> Equilibrium:
    """Compute an equilibrium without free folds, by linear programming.

    Args:
        on_step: called repeatedly with the progress of the solver.
    """
    # The simplex method solves the program of the big blind in a third of the time.
    value, plans = LinearProgram(form, player=1).solve(on_step)
    return Equilibrium(value, (plans[0], without_free_folds(form, plans[1])))


def without_free_folds(form: SequenceForm, plan: Plan) -> Plan:
    """Return a plan of the big blind that checks in place of its free folds."""
    # The new plan is never worse: a check ends the betting, and a fold costs as much as the worst showdown.
    after_limp = next(choice for choice in form.choices[1] if choice.name == "c")
    checking = plan.copy()
    checking[after_limp.first + 1] += checking[after_limp.first]
    checking[after_limp.first] = 0
    return checking


def simple_plan(form: SequenceForm, player: int, opponent: str) -> Plan:
    """Return the plan of one of `OPPONENTS` as a player of the game."""
    fold, call, raise_ = OPPONENTS[opponent]

    def chances(choice: Choice) -> Chances:
        action_chances = [fold, call, raise_]
        if "r" not in choice.actions:
            action_chances = [fold, call + raise_]
        return np.tile(np.array(action_chances)[:, None], (1, len(STARTING_HANDS)))

    return plan_of(form, player, chances)


def balance(form: SequenceForm, plans: Plans, opponent: str) -> float:
    """Return the winnings of two plans from one of `OPPONENTS`, in chips per hand, as the mean of both seats."""
    as_small_blind = expected_value(form, (plans[0], simple_plan(form, 1, opponent)))
    as_big_blind = -expected_value(form, (simple_plan(form, 0, opponent), plans[1]))
    return (as_small_blind + as_big_blind) / 2


_SEQUENCES = {"f": ("c", 0), "k": ("c", 1), "rf": ("crr", 0), "rr": ("crr", 2)}
"""Notation of the table after a limp: the betting before the last action, and the index of that action."""


def published_program(form: SequenceForm, *, player: int = 0) -> LinearProgram:
    """Return the linear program of a player with the mistake of the thesis."""
    # Where the small blind folds at once, the big blind has not acted. In the sequence form that leaf is a single cell
    # for all 169 classes of the big blind, whose payoffs have to be summed. The thesis assigned them in turn, so that
    # only the last one counted. A fold then cost nearly nothing, and 89 of 169 hands folded. The last class matters
    # little: with any pair (ours is AA) the mixed strategies are those of the thesis.
    return LinearProgram(form, form.payoffs().overwritten(), player=player)


def solve_as_published(form: SequenceForm, on_step: Step | None = None) -> Equilibrium:
    """Compute the solution that the thesis printed.

    Args:
        on_step: called repeatedly with the progress of the solver.
    """
    # With the mistake the small blind never limps, and many plans of the big blind after a limp are optimal. Take the
    # one nearest to the printed plan.
    program = published_program(form, player=1)
    value, (small_blind, _) = program.solve(on_step)
    return Equilibrium(value, (small_blind, program.favourite(_printed(form), on_step)))


def _printed(form: SequenceForm) -> Plan:
    first = {choice.name: choice.first for choice in form.choices[1]}
    """Return the printed plan of the big blind."""
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
"""Table 2, the big blind after a limp."""
MIXED: Final[Mapping[str, Mapping[str, float]]] = {
    "y1": {"rf": 0.47040, "rr": 0.52960},
    "y2": {"k": 0.44107, "rr": 0.55893},
    "y3": {"f": 0.44638, "k": 0.55362},
}
"""Mixed strategies of table 2."""
BALANCES: Final = {"raising": 0.04051, "random": 0.13224, "calling": -0.04931}
"""Table 4, the winnings of the strategy before the flop from each player, in small bets per hand (5,000,000 hands)."""


AFTER_LIMP: Final[Mapping[str, str]] = dict(zip(STARTING_HANDS[::-1], _AFTER_LIMP.split(), strict=True))
"""Table 2 by starting hand: f fold, k check, rf raise and fold to a raise, rr raise twice, or a key of `MIXED`."""


_CERTAIN: Final = 1 - 1e-9
_SEATS: Final = ("small blind", "big blind")
_AFTER: Final = {"": "", "c": " after a call", "r": " after a raise"}
_MAX_MIXED: Final = 36
"""Maximum number of mixed hands that are listed."""
_LEGEND: Final = "f fold · k check · c call · r raise; rc raises and calls the next raise; * mixed"


@dataclass(frozen=True, slots=True)
class PreflopSolution:
    """Solution of the game before the flop. Its values are winnings of the small blind, in chips per hand.

    Attributes:
        objective: optimum of the linear program.
        value: winnings with both plans.
        exploitability: loss to best responses, in chips per hand, as the mean of both seats.
        lines: probability of each sequence of actions of a hand, by first decision and by starting hand; ``rc`` raises
            and calls a raise.
        small_bets_per_hand: winnings from each of `OPPONENTS` by solution, as the mean of both seats.
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
    """Return the first of some solutions, together with the winnings of all of them."""
    (name, (objective, plans)), *_ = solutions.items()
    balances: dict[str, Mapping[str, float]] = {}
    for solution, equilibrium in solutions.items():
        by_opponent = {}
        for opponent in OPPONENTS:
            by_opponent[opponent] = balance(form, equilibrium.plans, opponent) / rules.bet
        balances[solution] = by_opponent
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


def preflop_document(solution: PreflopSolution) -> Document:
    """Build a document with the value, a grid of hands for each first decision, and winnings from simple players."""
    small, big = solution.rules.blinds
    sentence = f"The small blind wins {solution.value:+.12f} chips per hand."
    if solution.solution == "as published":
        sentence = (
            f"With the mistake the program gives {solution.objective:+.12f} chips for the small blind; the plans win "
            f"{solution.value:+.12f}."
        )
    facts = (
        Fact("blinds", f"{small}/{big}"),
        Fact("bet", solution.rules.bet),
        Fact("cap", solution.rules.cap),
        Fact("algorithm", solution.algorithm),
        Fact("exploitability", solution.exploitability, ".6g", "chips per hand"),
    )
    lines: set[str] = set()
    for hands in solution.lines.values():
        for shares in hands.values():
            lines.update(shares)
    actions = tuple(sorted(lines, key=lambda line: [*map("fkcr".find, line)]))
    grids = [HandGrid(title, tuple(hands.values()), actions) for title, hands in solution.lines.items()]
    mixed = []
    for grid in grids:
        for hand, mixture in grid.mixed.items():
            mixed.append((grid.title, hand, mixture))
    mixtures = Table.of("Mixed hands", ("player", Column("hand"), Column("plays", TEXT)), mixed)
    ending: Table | str = mixtures
    if len(mixed) > _MAX_MIXED:
        ending = f"{len(mixed)} hands mix: --json has them all."
    balances = solution.small_bets_per_hand
    columns = [Column(name, "+.4f") for name in balances]
    rows: list[tuple[Value, ...]] = []
    for opponent in OPPONENTS:
        rows.append((opponent, *[by_opponent[opponent] for by_opponent in balances.values()]))
    table = Table.of("Small bets per hand against simple players, mean of both seats", ("opponent", *columns), rows)
    sections = (Section("Action of each hand", (*grids, _LEGEND, ending)), Section("Simple players", (table,)))
    return Document("Limit hold'em before the flop", (sentence,), facts, sections, data=solution)
