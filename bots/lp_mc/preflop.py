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

`python -m bots.lp_mc.preflop` writes the table of both solutions (`bots.lp_mc.strategy`). It takes seconds. If the
checksum it prints is a new one, `bots.lp_mc.strategy.STRATEGY_SHA256` has to follow: the equilibrium is one of many,
and another version of the solver may find another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.errors import SolvingError
from bots.lp_mc.strategy import BETTINGS, STRATEGY_PATH, PreflopStrategy, write
from bots.solving.engine_games import Board, betting_tree
from bots.solving.equilibria import Equilibrium, LinearProgram, Step
from bots.solving.sequence_form import (
    Chances,
    Choice,
    Plan,
    Plans,
    PublicGame,
    SequenceForm,
    completed,
    expected_value,
    exploitability,
    plan_of,
    sequence_form,
    strategy_of,
)
from engine import STARTING_HANDS, BettingType, Game, matchups
from engine.cards import RANKS
from engine.game import DEFAULT_STACK, Position

MOST_BETS: Final = 12
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
        if not 1 <= self.cap <= MOST_BETS:
            raise SolvingError(f"the cap must be 1 to {MOST_BETS} bets, not {self.cap:,}")

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
    (limped,) = (choice for choice in form.choices[1] if choice.name == "c")
    better = plan.copy()
    better[limped.first + 1] += better[limped.first]
    better[limped.first] = 0
    return better


def simple_plan(form: SequenceForm, player: int, opponent: str) -> Plan:
    fold, call, raise_ = OPPONENTS[opponent]

    def chances(choice: Choice) -> Chances:
        of_actions = (fold, call, raise_) if "r" in choice.actions else (fold, call + raise_)
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


def _by_name(table: str) -> dict[str, str]:
    ranks = RANKS[::-1]
    rows = [line.split() for line in table.split("\n") if line]
    return {
        ranks[min(row, column)]
        + ranks[max(row, column)]
        + ("" if row == column else "s" if row < column else "o"): cell
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    }


AFTER_LIMP: Final[Mapping[str, str]] = _by_name(_AFTER_LIMP)
"""Table 2 by starting hand: f fold, k check, rf raise and fold to a raise, rr raise again, or one of `MIXED`."""


def strategy_table(form: SequenceForm, plans: Plans) -> PreflopStrategy:
    """Two plans as probabilities of fold, call and raise, complete: see `bots.solving.sequence_form.completed`."""
    chances = {name: array for player in (0, 1) for name, array in completed(form, player, plans).items()}
    rows = [np.vstack([chances[name], np.zeros((3 - len(chances[name]), chances[name].shape[1]))]) for name in BETTINGS]
    return PreflopStrategy(tuple(float(number) for row in rows for number in row.T.ravel()))


_CERTAIN: Final = 1 - 1e-9
_SEATS: Final = ("small blind", "big blind")
_AFTER: Final = {"": "", "c": " after a call", "r": " after a raise"}


Lines: TypeAlias = Mapping[str, float]
"""The lines of play of a hand, likeliest first, with their probabilities: ``rc`` raises and calls a raise."""


class Chart(NamedTuple):
    """What a player does from its first decision on; the title names the player and what came before."""

    title: str
    lines: tuple[Lines, ...]

    def counts(self) -> dict[str, int]:
        """How many hands always play each line, most first; those of several lines are ``mixed``."""
        names = [next(iter(lines)) if is_pure(lines) else "mixed" for lines in self.lines]
        return {name: names.count(name) for name in sorted(set(names), key=lambda name: (-names.count(name), name))}


class DecisionCounts(NamedTuple):
    """How many of the 169 hands always fold, call (or check) or raise at a decision, mix these, or never get there."""

    seat: str
    betting: str
    fold: int
    call: int
    raise_: int
    mixed: int
    absent: int


def is_pure(lines: Lines) -> bool:
    return max(lines.values()) > _CERTAIN


def charts(form: SequenceForm, plans: Plans) -> tuple[Chart, ...]:
    """The charts of both players: the small blind, the big blind after a call and after a raise."""
    found = []
    for player, plan in enumerate(plans):
        for choice in form.choices[player]:
            if choice.parent == 0:
                lines = tuple(_lines(form, player, plan, choice, hand) for hand in range(len(STARTING_HANDS)))
                found.append(Chart(_SEATS[player] + _AFTER[choice.name], lines))
    return tuple(found)


def _lines(form: SequenceForm, player: int, plan: Plan, start: Choice, hand: int) -> Lines:
    found: dict[str, float] = {}

    def walk(choice: Choice, before: str) -> None:
        for sequence, action in enumerate(choice.actions, start=choice.first):
            line = before + ("k" if action == "c" and choice.name == "c" else action)
            following = [later for later in form.choices[player] if later.parent == sequence]
            for later in following:
                walk(later, line)
            if not following and plan[sequence, hand] > 1 - _CERTAIN:
                found[line] = float(plan[sequence, hand])

    walk(start, "")
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def decision_counts(form: SequenceForm, plans: Plans) -> list[DecisionCounts]:
    found = []
    for player, plan in enumerate(plans):
        for name, chances in strategy_of(form, player, plan).items():
            fold, call, *raises = (int((of_action > _CERTAIN).sum()) for of_action in chances)
            absent = int((~(chances[0] >= 0)).sum())
            raise_ = sum(raises)
            mixed = len(STARTING_HANDS) - fold - call - raise_ - absent
            found.append(
                DecisionCounts(
                    seat=_SEATS[player], betting=name, fold=fold, call=call, raise_=raise_, mixed=mixed, absent=absent
                )
            )
    return found


def solution_data(
    rules: PreflopRules, form: SequenceForm, solutions: Mapping[str, Equilibrium], *, algorithm: str
) -> dict[str, Any]:
    """Solutions by name as JSON has them; the value and the strategies are those of the first."""
    (name, (objective, plans)), *_ = solutions.items()
    payoffs = form.payoffs().summed()
    balances: dict[str, Mapping[str, float]] = {
        solution: {opponent: balance(form, found.plans, opponent) / rules.bet for opponent in OPPONENTS}
        for solution, found in solutions.items()
    }
    if name == "as published" and rules == PreflopRules():
        balances = {"printed": BALANCES} | balances
    strategies = {
        betting: {
            hand: [round(float(chance), 12) if chance >= 0 else None for chance in chances[:, number]]
            for number, hand in enumerate(STARTING_HANDS)
        }
        for player in (0, 1)
        for betting, chances in strategy_of(form, player, plans[player]).items()
    }
    return {
        "blinds": list(rules.blinds),
        "bet": rules.bet,
        "cap": rules.cap,
        "solution": name,
        "algorithm": algorithm,
        "payoffs": {"rows": payoffs.shape[0], "columns": payoffs.shape[1], "entries": len(payoffs.values)},
        "constraints": [form.constraints(player).shape[0] for player in (0, 1)],
        "leaves": len(form.terminal_nodes),
        "objective": objective,
        "value": expected_value(form, plans),
        "exploitability": exploitability(form, plans),
        "charts": {view.title: view.counts() for view in charts(form, plans)},
        "decisions": [counts._asdict() for counts in decision_counts(form, plans)],
        "small_bets_per_hand": balances,
        "strategies": strategies,
    }


def main() -> None:
    form = preflop_form(PreflopRules())
    tables = [strategy_table(form, solver(form).plans) for solver in (solve, solve_as_published)]
    data = write(*tables)
    with open(STRATEGY_PATH, "wb") as file:
        file.write(data)
    print(f"{STRATEGY_PATH}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
