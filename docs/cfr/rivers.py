"""Measure the cost and the value of solving rivers, for `docs/cfr-tables.md`.

    python docs/cfr/rivers.py FOLDER [WORKERS]

solves rivers that came up between two players of the shipped strategy, by several numbers of iterations, and counts
what a turn would take; then it plays `cfr` against itself without solving and lets local best response answer both.
FOLDER keeps finished measurements; the results go to `rivers.csv`, `turns.csv` and `rivers-worth.csv` next to this
script. The tests compare the page with all of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
from rows import Row, between, read_rows, won_without_luck, write_rows

from bots.cfr.abstraction import ClusteredHands
from bots.cfr.bot import RIVER_ITERATIONS, SHIPPED
from bots.cfr.endgames import RIVER_SIZES, Endgames
from bots.cfr.strategy_files import StrategyFile, read_strategy
from bots.cfr.tree import betting_tree, read_sizes
from bots.evaluation.exploiting import DEALS_A_PART, Exploitation, lower_bounds, play_part
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from engine import BettingState, Card, betting_start
from logs.estimation import RunningMean
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "cfr-tables.md"
COSTS: Final = HERE / "rivers.csv"
TURNS: Final = HERE / "turns.csv"
WORTH: Final = HERE / "rivers-worth.csv"
SHIPPED_FOR: Final = {name: SHIPPED[name] for name in ("limit", "nolimit")}
ITERATIONS: Final = (25, 50, 100, 200, 400)
RIVERS: Final = 100
DEALS: Final = {"limit": 4_000, "nolimit": 2_000}
HANDS: Final = {"limit": 8_000, "nolimit": 2_000}
"""Of local best response, for each set of actions."""
ACTIONS: Final = {"limit": ("fcr", "c/fcr/fcr/fcr", "c/c/fcr/fcr"), "nolimit": ("fcpa", "c/c/fcpa/fcpa")}
SEED: Final = 2018
_TURN, _RIVER = 2, 3
_RIVER_CARDS: Final = 48
_TURN_HOLDINGS: Final = 1128
_BYTES: Final = 3 * 4
"""Of an action and a holding: regret, probability, average."""


class Cost(NamedTuple):
    """What solving rivers takes.

    Attributes:
        game: played.
        iterations: by which each was solved.
        rivers: how many.
        nodes: of their betting, on average.
        median_ms: of processor time, the ranges included.
        most_ms: that 99 of 100 stay within.
        gap_percent: what an answer to the solution wins, in percent of the pot, on average.
    """

    game: str
    iterations: int
    rivers: int
    nodes: float
    median_ms: float
    most_ms: float
    gap_percent: float


class Turn(NamedTuple):
    """What solving turns would take, with the rivers behind them, at the speed of rivers.

    Attributes:
        game: played.
        nodes: of the betting of both rounds, each river counted for all its cards, on average.
        seconds: of processor time, by as many iterations as a river.
        megabytes: of what is learned.
    """

    game: str
    nodes: float
    seconds: float
    megabytes: float


class Worth(NamedTuple):
    """What solving rivers is worth, in mbb/g.

    Attributes:
        game: played.
        player: who wins: `cfr`, or the actions of local best response.
        loser: its opponent.
        played: deals in both seatings, or hands.
        mean: won.
        half_width: of the 95 % interval.
    """

    game: str
    player: str
    loser: str
    played: int
    mean: float
    half_width: float


class Came(NamedTuple):
    """A river that came up."""

    betting: BettingState
    board: tuple[Card, ...]


def rivers_of(game: str, count: int) -> list[Came]:
    """The first decisions of rivers between two players of the shipped strategy."""
    found: list[Came] = []
    bots = [make_bot("cfr?rivers=0", seed=1), make_bot("cfr?rivers=0", seed=2)]
    decide = bots[0].act

    def act(view: View) -> Any:
        if view.round == _RIVER and not any(came.board == view.board for came in found):
            state = betting_start(view.game)
            for _, action in (one for actions in view.betting.rounds[:_RIVER] for one in actions):
                state = state.after(action)
            found.append(Came(state, view.board))
        return decide(view)

    bots[0].act = act  # type: ignore[method-assign]
    for _ in self_play(game, bots, deals=20 * count, seed=SEED, names=["one", "other"]):
        if len(found) >= count:
            break
    return found[:count]


def costs(game: str) -> tuple[list[Cost], Turn]:
    """Solve rivers, and count what turns would take."""
    strategy, rows, per_node = read_strategy(SHIPPED_FOR[game]), [], 0.0
    came = rivers_of(game, RIVERS)
    Endgames(strategy, 1).at(*came[0])[0].policy(0)  # compiles
    for iterations in ITERATIONS:
        seconds, gaps, nodes = [], [], []
        for one in came:
            ClusteredHands.on.cache_clear()
            before = time.thread_time()
            river = Endgames(strategy, iterations).at(*one)[0]
            gap = river.solution.gap
            seconds.append(time.thread_time() - before)
            gaps.append(100 * gap / one.betting.pot)
            nodes.append(len(river.tree.kinds))
        milliseconds = 1000 * np.array(seconds)
        rows.append(
            Cost(
                game,
                iterations,
                len(came),
                round(float(np.mean(nodes)), 1),
                round(float(np.median(milliseconds)), 1),
                round(float(np.quantile(milliseconds, 0.99)), 1),
                round(float(np.mean(gaps)), 3),
            )
        )
        if iterations == RIVER_ITERATIONS[strategy.game.is_limit]:
            per_node = sum(seconds) / sum(nodes)
    return rows, turns(strategy, came, per_node)


def turns(strategy: StrategyFile, came: Sequence[Came], per_node: float) -> Turn:
    """What the turns of these hands would have taken, with so many seconds for a node."""
    sizes = None if strategy.game.is_limit else read_sizes(RIVER_SIZES, strategy.game.num_rounds)
    nodes, actions = [], []
    for one in came:
        state = betting_start(strategy.game)
        for _, action in (step for round_ in one.betting.rounds[:_TURN] for step in round_):
            state = state.after(action)
        tree = betting_tree(strategy.game, sizes, state)
        times = np.where(tree.rounds == _RIVER, _RIVER_CARDS, 1)
        nodes.append(int(times.sum()))
        actions.append(int((times * tree.number_of_actions()).sum()))
    name = next(name for name, path in SHIPPED_FOR.items() if path == strategy.path)
    megabytes = float(np.mean(actions)) * _TURN_HOLDINGS * _BYTES / 1e6
    return Turn(name, round(float(np.mean(nodes)), 1), round(float(np.mean(nodes)) * per_node, 1), round(megabytes, 1))


def worth(game: str, workers: int) -> list[Worth]:
    """Play, and let local best response answer."""
    bots = make_bot("cfr", seed=1), make_bot("cfr?rivers=0", seed=2)
    won = Row.of("cfr?rivers=0", RunningMean(won_without_luck(game, bots, DEALS[game], SEED)))
    rows = [Worth(game, "cfr", *won)]
    with ProcessPoolExecutor(workers) as pool:
        for bot in ("cfr?rivers=0", "cfr"):
            rows += [Worth(game, bound[0], bot, *bound[1:]) for bound in _bounds(game, bot, pool)]
    return rows


def _bounds(game: str, bot: str, pool: ProcessPoolExecutor) -> Iterator[tuple[str, int, float, float]]:
    """Actions, hands, and what local best response wins with half its 95 % interval."""
    what = Exploitation(find_game(game)[1], bot, ACTIONS[game], SEED)
    hands = HANDS[game]
    parts = hands // (2 * DEALS_A_PART)
    for bound in lower_bounds(what, list(pool.map(play_part, [what] * parts, range(parts)))):
        yield bound.actions, hands, round(bound.won.mean, 1), round(bound.won.half_width or 0.0, 1)


def with_tables(text: str, of_costs: Iterable[Cost], of_worth: Iterable[Worth]) -> str:
    """The page with what these rows say."""
    lines = [
        "| game | iterations | median | 99 of 100 within | an answer wins of the pot |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.game} | {row.iterations} | {row.median_ms:.0f} ms | {row.most_ms:.0f} ms | {row.gap_percent:.2f} % |"
        for row in of_costs
    ]
    text = between(text, "rivers", lines)
    lines = ["| game | player | wins from | mbb/g |", "| --- | --- | --- | ---: |"]
    lines += [
        f"| {row.game} | {_named(row.player)} | `{row.loser}` | {row.mean:+,.0f} ± {row.half_width:,.0f} |"
        for row in of_worth
    ]
    return between(text, "rivers worth", lines)


def _named(player: str) -> str:
    return "`cfr`" if player == "cfr" else f"local best response, `{player}`"


def main(folder: Path, workers: int = 1) -> None:
    """Measure what is missing and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for game in SHIPPED_FOR:
        if not (folder / f"{game}-turns.csv").exists():
            rows, turn = costs(game)
            write_rows(folder / f"{game}-costs.csv", Cost, rows)
            write_rows(folder / f"{game}-turns.csv", Turn, [turn])
    for game in SHIPPED_FOR:
        if not (folder / f"{game}-worth.csv").exists():
            write_rows(folder / f"{game}-worth.csv", Worth, worth(game, workers))
    of_costs = [row for game in SHIPPED_FOR for row in read_rows(folder / f"{game}-costs.csv", Cost)]
    of_turns = [row for game in SHIPPED_FOR for row in read_rows(folder / f"{game}-turns.csv", Turn)]
    of_worth = [row for game in SHIPPED_FOR for row in read_rows(folder / f"{game}-worth.csv", Worth)]
    write_rows(COSTS, Cost, of_costs)
    write_rows(TURNS, Turn, of_turns)
    write_rows(WORTH, Worth, of_worth)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), of_costs, of_worth), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
