"""Measure the cost and the value of solving rivers and turns, for `research/tables/cfr.md`.

    python research/cfr/rivers.py FOLDER [WORKERS]

solves rivers and turns that came up between two players of the shipped strategy, by several numbers of iterations; then
it plays `cfr` against itself without solving, lets local best response answer both, and answers `cfr` with and without
solved turns on the same deals. FOLDER keeps finished measurements; the results go to `rivers.csv`, `turns.csv`,
`rivers-worth.csv` and `turns-worth.csv` next to this script. The tests compare the page with all of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX
from rows import Row, between, read_rows, won_without_luck, write_rows

from bots.cfr.abstraction import ClusteredHands
from bots.cfr.bot import SHIPPED
from bots.cfr.endgames import Endgames
from bots.cfr.strategy_files import read_strategy
from bots.evaluation.exploiting import DEALS_A_PART, Exploitation, Parts, lower_bounds, play_part, play_parts
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from engine import BettingState, Card, betting_start
from logs.estimation import RunningMean
from protocol import find_game

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "cfr.md"
COSTS: Final = HERE / "rivers.csv"
TURNS: Final = HERE / "turns.csv"
WORTH: Final = HERE / "rivers-worth.csv"
TURNS_WORTH: Final = HERE / "turns-worth.csv"
SHIPPED_FOR: Final = {name: SHIPPED[name] for name in ("limit", "nolimit")}
ITERATIONS: Final = {"river": (25, 50, 100, 200, 400), "turn": (10, 25, 50)}
COUNTS: Final = {"river": 100, "turn": 10}
GAMES: Final = {"river": tuple(SHIPPED_FOR), "turn": tuple(SHIPPED_FOR)}
DEALS: Final = {"limit": 4_000, "nolimit": 2_000}
HANDS: Final = {"limit": 8_000, "nolimit": 2_000}
"""Hands of local best response, for each set of actions."""
ACTIONS: Final = {"limit": ("fcr", "c/fcr/fcr/fcr", "c/c/fcr/fcr"), "nolimit": ("fcpa", "c/c/fcpa/fcpa")}
SEED: Final = 2018
TURNS_HANDS: Final = {"fcpa": 2_000, "c/c/fcpa/fcpa": 1_000}
TURNS_BOT: Final = "cfr?turns=25"
TURNS_SEED: Final = 2017
_NORMAL: Final = 1.96
_ROUNDS: Final = {"turn": 2, "river": 3}


class Cost(NamedTuple):
    """Cost of solving rivers or turns.

    Attributes:
        game: name of the game.
        iterations: of each solution.
        solved: number of solved rivers or turns.
        nodes: mean number of nodes of their betting.
        median_ms: median processor time, the ranges included.
        most_ms: 99th percentile of the processor time.
        gap_percent: mean winnings of a best response to the solution, in percent of the pot.

    """

    game: str
    iterations: int
    solved: int
    nodes: float
    median_ms: float
    most_ms: float
    gap_percent: float


class Worth(NamedTuple):
    """Value of solving rivers, in mbb/g.

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


class TurnsWorth(NamedTuple):
    """Winnings of local best response from `cfr` without and with solved turns, in mbb/g.

    Attributes:
        actions: set of local best response.
        hands: number of hands, the same against both.
        mean: winnings with unsolved turns.
        half_width: of the 95 % interval.
        solved: winnings with solved turns.
        solved_half_width: of the 95 % interval.
        less: the difference.
        less_half_width: of the normal 95 % interval, over the differences of the hands.

    """

    actions: str
    hands: int
    mean: float
    half_width: float
    solved: float
    solved_half_width: float
    less: float
    less_half_width: float


class Came(NamedTuple):
    """A river or a turn reached in play."""

    betting: BettingState
    board: tuple[Card, ...]


def endgames_of(game: str, street: str, count: int) -> list[Came]:
    """Collect the first decisions of rivers or turns between two players of the shipped strategy."""
    endgames: list[Came] = []
    round_ = _ROUNDS[street]
    bots = [make_bot("cfr?rivers=0", seed=1), make_bot("cfr?rivers=0", seed=2)]
    decide = bots[0].act

    def act(view: View) -> Any:
        if view.round == round_ and not any(came.board == view.board for came in endgames):
            state = betting_start(view.game)
            for _, action in (one for actions in view.betting.rounds[:round_] for one in actions):
                state = state.after(action)
            endgames.append(Came(state, view.board))
        return decide(view)

    bots[0].act = act  # type: ignore[method-assign]
    for _ in self_play(game, bots, deals=20 * count, seed=SEED, names=["one", "other"]):
        if len(endgames) >= count:
            break
    return endgames[:count]


def costs(game: str, street: str) -> Iterator[Cost]:
    """Solve rivers or turns."""
    strategy, came = read_strategy(SHIPPED_FOR[game]), endgames_of(game, street, COUNTS[street])
    Endgames(strategy, 1, 1).at(*came[0])[0].policy(0)  # compiles
    for iterations in ITERATIONS[street]:
        seconds, gaps, nodes = [], [], []
        for one in came:
            ClusteredHands.on.cache_clear()
            before = time.thread_time()
            endgame = Endgames(strategy, iterations, iterations * (street == "turn")).at(*one)[0]
            gap = endgame.solution.gap
            seconds.append(time.thread_time() - before)
            gaps.append(100 * gap / one.betting.pot)
            nodes.append(len(endgame.tree.kinds))
        milliseconds = 1000 * np.array(seconds)
        yield Cost(
            game,
            iterations,
            len(came),
            round(float(np.mean(nodes)), 1),
            round(float(np.median(milliseconds)), 1),
            round(float(np.quantile(milliseconds, 0.99)), 1),
            round(float(np.mean(gaps)), 3),
        )


def turns_worth(folder: Path, actions: str, hands: int) -> TurnsWorth:
    """Let local best response answer `cfr` with and without solved turns."""
    played: list[list[NDArray[np.float64]]] = []
    for number, bot in enumerate(("cfr?turns=0", TURNS_BOT)):
        what, done = Exploitation(find_game("nolimit")[1], bot, (actions,), TURNS_SEED), Parts()
        kept = folder / f"{actions.replace('/', '-')}-{number}"
        play_parts(what, hands // (2 * DEALS_A_PART), done, folder=kept)
        played.append([done[part] for part in sorted(done)])
    plain, solved = played
    less = [one - other for one, other in zip(plain, solved, strict=True)]
    own, other, difference = (lower_bounds(what, parts)[0].won for parts in (plain, solved, less))
    widths = own.half_width or 0.0, other.half_width or 0.0, _NORMAL * (difference.error or 0.0)
    figures = (x for pair in zip((own.mean, other.mean, difference.mean), widths, strict=True) for x in pair)
    return TurnsWorth(actions, hands, *(round(x, 1) for x in figures))


def worth(game: str, workers: int) -> list[Worth]:
    """Play, and let local best response answer."""
    bots = make_bot("cfr?turns=0", seed=1), make_bot("cfr?rivers=0", seed=2)
    won = Row.of("cfr?rivers=0", RunningMean(won_without_luck(game, bots, DEALS[game], SEED)))
    rows = [Worth(game, "cfr?turns=0", *won)]
    with ProcessPoolExecutor(workers) as pool:
        for bot in ("cfr?rivers=0", "cfr?turns=0"):
            rows += [Worth(game, bound[0], bot, *bound[1:]) for bound in _bounds(game, bot, pool)]
    return rows


def _bounds(game: str, bot: str, pool: ProcessPoolExecutor) -> Iterator[tuple[str, int, float, float]]:
    """Return actions, hands, and winnings of local best response with their half width."""
    what = Exploitation(find_game(game)[1], bot, ACTIONS[game], SEED)
    hands = HANDS[game]
    parts = hands // (2 * DEALS_A_PART)
    for bound in lower_bounds(what, list(pool.map(play_part, [what] * parts, range(parts)))):
        yield bound.actions, hands, round(bound.won.mean, 1), round(bound.won.half_width or 0.0, 1)


def with_tables(
    text: str, of_costs: Mapping[str, Iterable[Cost]], of_worth: Iterable[Worth], of_turns: Iterable[TurnsWorth]
) -> str:
    """Return the page with the tables of these rows."""
    for street, rows in of_costs.items():
        lines = [
            "| game | iterations | median | 99 of 100 within | an answer wins of the pot |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {row.game} | {row.iterations} | {row.median_ms:.0f} ms | {row.most_ms:.0f} ms | "
            f"{row.gap_percent:.2f} % |"
            for row in rows
        ]
        text = between(text, f"{street}s", lines)
    lines = [
        f"| local best response | hands | wins from `cfr?turns=0` | wins from `{TURNS_BOT}` | difference |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| `{row.actions}` | {row.hands:,} | {row.mean:+,.0f} ± {row.half_width:,.0f} | "
        f"{row.solved:+,.0f} ± {row.solved_half_width:,.0f} | {row.less:,.0f} ± {row.less_half_width:,.0f} |"
        for row in of_turns
    ]
    text = between(text, "turns worth", lines)
    lines = ["| game | player | wins from | mbb/g |", "| --- | --- | --- | ---: |"]
    lines += [
        f"| {row.game} | {_named(row.player)} | `{row.loser}` | {row.mean:+,.0f} ± {row.half_width:,.0f} |"
        for row in of_worth
    ]
    return between(text, "rivers worth", lines)


def _named(player: str) -> str:
    return f"`{player}`" if player.startswith("cfr") else f"local best response, `{player}`"


def main(folder: Path, workers: int = 1) -> None:
    """Measure the missing figures and write the files and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for street, game in ((street, game) for street, games in GAMES.items() for game in games):
        if not (kept := folder / f"{game}-{street}s.csv").exists():
            write_rows(kept, Cost, costs(game, street))
    for game in SHIPPED_FOR:
        if not (folder / f"{game}-worth.csv").exists():
            write_rows(folder / f"{game}-worth.csv", Worth, worth(game, workers))
    of_costs = {
        street: [row for game in games for row in read_rows(folder / f"{game}-{street}s.csv", Cost)]
        for street, games in GAMES.items()
    }
    of_worth = [row for game in SHIPPED_FOR for row in read_rows(folder / f"{game}-worth.csv", Worth)]
    of_turns = [turns_worth(folder, actions, hands) for actions, hands in TURNS_HANDS.items()]
    write_rows(COSTS, Cost, of_costs["river"])
    write_rows(TURNS, Cost, of_costs["turn"])
    write_rows(WORTH, Worth, of_worth)
    write_rows(TURNS_WORTH, TurnsWorth, of_turns)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), of_costs, of_worth, of_turns), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
