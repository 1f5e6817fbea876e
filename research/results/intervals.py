"""Simulate the coverage of the intervals of results, and write `research/tables/intervals.md`.

    python research/results/intervals.py FOLDER [SCENARIO ...]

plays matches between built-in bots in this process. The deals of a match are a population, whose mean is the true one.
Samples of few of them are drawn with replacement, each as the result of a run. The coverage of the normal interval
(1.96 standard errors), the ± 95 % interval and the guaranteed one is the share of samples whose interval holds the true
mean. A sample without an interval counts as a miss.

Populations are kept in FOLDER, so that an interrupted study resumes. The figures go to `intervals.csv` beside this
script, those of the named scenarios in place of the old ones, and from there into the page.

"""

from __future__ import annotations

import contextlib
import csv
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bots.cfr.value_terms import ValuedHands, value_terms
from bots.evaluation.hypothetical_hands import ActionTerms
from bots.evaluation.policies import open_policy
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from logs.document import Column, Table, Value
from logs.document.plain import markdown_table
from logs.estimation import MIN_UNITS, Z_95, Bounds, RunningMean, score_bounds
from logs.record import HandRecord
from logs.variance.correction import ChanceCorrection, fitted_scores
from logs.variance.terms import Shares, term_values
from protocol import find_game

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "intervals.md"
FIGURES: Final = HERE / "intervals.csv"

SEED: Final = 5
REPETITIONS: Final = 10_000
DEALS: Final = (50, 100, 300, 1_000, 5_000)
LOST_ONCE_IN: Final = 500
"""Deals per lost stack in the scenario in which no interval from the scores alone can hold."""
_MAX_DRAWS: Final = 2_000_000
"""Scores drawn at once."""
_BATCH_HANDS: Final = 4096

Floats: TypeAlias = NDArray[np.float64]
Score: TypeAlias = Literal["raw", "corrected", "AIVAT", "AIVAT by values"]


class Scenario(NamedTuple):
    """A match whose deals are a population.

    Attributes:
        deals: number of deals.
        players: bots; the intervals are the first one's.
        scores: kinds of scores that are studied.
        seating: every rotation of the players, or one seating.
        loses_stacks: whether the first player loses a stack once in `LOST_ONCE_IN` deals, whatever it plays.
    """

    name: str
    game: str
    deals: int
    players: tuple[str, ...]
    scores: tuple[Score, ...] = ("raw",)
    seating: Literal["rotations", "single"] = "rotations"
    loses_stacks: bool = False


_ALL_IN: Final = "constant?action=raise,size=allin"
SCENARIOS: Final = (
    Scenario("all-in against calling, one seating", "nolimit", 20_000, (_ALL_IN, "calling"), seating="single"),
    Scenario("all-in against mfs", "nolimit", 10_000, (_ALL_IN, "mfs?seed=1"), ("raw", "corrected")),
    Scenario("all-in against cfr", "nolimit", 10_000, (_ALL_IN, "cfr?rivers=0,seed=1")),
    Scenario(
        "random against calling",
        "nolimit",
        20_000,
        ("random?decisions=20/50/15/10/5,seed=1", "calling"),
        ("raw", "corrected"),
    ),
    Scenario("rembrant against mfs", "nolimit", 20_000, ("rembrant?seed=1", "mfs?seed=1"), ("raw", "corrected")),
    Scenario(
        "cfr against mfs",
        "nolimit",
        5_000,
        ("cfr?rivers=0,seed=1", "mfs?seed=1"),
        ("raw", "corrected", "AIVAT", "AIVAT by values"),
    ),
    Scenario("cfr against folding", "nolimit", 5_000, ("cfr?rivers=0,seed=1", "folding")),
    Scenario("cfr against mfs", "limit", 10_000, ("cfr?rivers=0,seed=1", "mfs?seed=1"), ("raw", "corrected")),
    Scenario("random, calling and rh", "limit3", 8_000, ("random?seed=1", "calling", "rh?k=30"), ("raw", "corrected")),
    Scenario("mfs, random and calling", "nolimit3", 8_000, ("mfs?seed=1", "random?seed=1", "calling")),
    Scenario("six bots", "limit6", 4_000, ("mfs?seed=1", "random?seed=1", "calling", "raising", "rh?k=30", "folding")),
    Scenario("six bots", "nolimit6", 4_000, ("mfs?seed=1", "random?seed=1", "calling", "rh?k=30", *["folding"] * 2)),
    Scenario(
        "cfr against folding, a stack lost in 1 of 500 deals",
        "nolimit",
        5_000,
        ("cfr?rivers=0,seed=1", "folding"),
        loses_stacks=True,
    ),
)


class Row(NamedTuple):
    """Results of the samples of one size.

    Attributes:
        deals: of a sample.
        error: median standard error, in mbb/g.
        normal: share of samples whose mean is within 1.96 standard errors of the true one.
        interval: the same of the ± 95 % interval; empty if it does not exist.
        guaranteed: the same of the guaranteed interval; empty if it does not exist.
        width: median width of the ± 95 % interval over that of the normal one.
        guaranteed_width: the same of the guaranteed interval.
    """

    scenario: str
    game: str
    score: str
    deals: str
    error: str
    normal: str
    interval: str
    guaranteed: str
    width: str
    guaranteed_width: str


def population(scenario: Scenario, folder: Path) -> Floats:
    """Play the deals, or read them; return the scores in mbb/g, shape (scores, deals, players)."""
    name = "-".join([scenario.game, *scenario.name.replace(",", "").split()])
    path = folder / f"{name}.npy"
    if path.exists():
        scores: Floats = np.load(path)
        return scores
    scores = _played(scenario)
    np.save(path, scores)
    return scores


def _played(scenario: Scenario) -> Floats:
    game = find_game(scenario.game)[1]
    players = len(scenario.players)
    names = [str(index) for index in range(players)]
    totals = np.zeros((len(scenario.scores), scenario.deals, players))
    bots = [make_bot(text) for text in scenario.players]
    records = self_play(game, bots, deals=scenario.deals, seed=SEED, seating=scenario.seating, names=names)
    correction = ChanceCorrection(game)
    shares = Shares(game)
    batch: list[HandRecord] = []
    with contextlib.ExitStack() as stack:
        action_terms = None
        valued = None
        if "AIVAT" in scenario.scores:
            policy = stack.enter_context(open_policy(scenario.players[0], game))
            action_terms = ActionTerms(game, {"0": policy})
            terms_by_values = value_terms(game, {"0": policy})
            assert terms_by_values is not None
            valued = ValuedHands(terms_by_values)

        def count() -> None:
            values = {"raw": [list(record.values) for record in batch]}
            if "corrected" in scenario.scores:
                values["corrected"] = correction.values(batch)
            if action_terms is not None:
                streams = [record.hand_number for record in batch]
                terms = [action_terms.terms(record, record.hand_number) for record in batch]
                columns = term_values(shares, [record.deal for record in batch], terms, streams)
                # The first column is the term of the value function, the one without fitted weights.
                values["AIVAT"] = (np.array(values["corrected"]) + columns[:, :, 0]).tolist()
            if valued is not None:
                values["AIVAT by values"] = [
                    [value + gain for value, gain in zip(record.values, valued.columns(record)[:, 0], strict=True)]
                    for record in batch
                ]
            for index, kind in enumerate(scenario.scores):
                for record, hand_values in zip(batch, values[kind], strict=True):
                    for name, value in zip(record.names, hand_values, strict=True):
                        totals[index, record.hand_number, int(name)] += value
            batch.clear()

        for record in records:
            batch.append(record)
            if len(batch) == _BATCH_HANDS:
                count()
        count()
    seatings = players if scenario.seating == "rotations" else 1
    return totals * 1000 / game.big_blind / seatings


def simulated(scenario: Scenario, folder: Path) -> list[Row]:
    """Return the rows of a scenario."""
    bounds = score_bounds(find_game(scenario.game)[1])
    scores = population(scenario, folder)
    if scenario.loses_stacks:
        # A stack lost in one of two seatings is half the largest loss of a deal.
        scores[0, ::LOST_ONCE_IN, 0] = bounds[0] / len(scenario.players)
    rows = []
    for index, kind in enumerate(scenario.scores):
        rng = np.random.default_rng(SEED)
        for size in DEALS:
            if kind == "corrected":
                means = _fitted_means(scores[0], scores[index], size, bounds, rng)
            else:
                means = _means(scores[index, :, 0], size, bounds, rng)
            if means:
                rows.append(
                    _row(scenario, kind, size, float(scores[0 if kind == "corrected" else index, :, 0].mean()), means)
                )
    return rows


def _means(scores: Floats, size: int, bounds: Bounds, rng: np.random.Generator) -> list[RunningMean]:
    means: list[RunningMean] = []
    while len(means) < REPETITIONS:
        samples = scores[rng.integers(0, len(scores), (min(REPETITIONS - len(means), _MAX_DRAWS // size), size))]
        means += _means_of(samples, bounds)
    return means


def _means_of(samples: Floats, bounds: Bounds) -> list[RunningMean]:
    """Return the mean of each row."""
    means = samples.mean(axis=1)
    distances = samples - means[:, np.newaxis]
    squares = distances**2
    cubes = (squares * distances).sum(axis=1)
    moments = zip(means.tolist(), squares.sum(axis=1).tolist(), cubes.tolist(), strict=True)
    return [RunningMean.from_moments(samples.shape[1], *of_sample, bounds) for of_sample in moments]


def _fitted_means(
    raw: Floats, corrected: Floats, size: int, bounds: Bounds, rng: np.random.Generator
) -> list[RunningMean]:
    """Return the means of corrected scores, with the weights that `arena play` fits; empty with too few deals."""
    # A correction has mean 0 in the game; its mean in the population is not for the samples to estimate.
    corrected = corrected - (corrected - raw).mean(axis=0)
    means: list[RunningMean] = []
    for _ in range(REPETITIONS):
        drawn = rng.integers(0, len(raw), size)
        fitted = fitted_scores(raw[drawn], corrected[drawn])
        if fitted is None:
            return []
        means += _means_of(fitted[np.newaxis, :, 0], bounds)
    return means


def _row(scenario: Scenario, kind: Score, size: int, truth: float, means: Sequence[RunningMean]) -> Row:
    errors = [mean.standard_error or 0.0 for mean in means]
    normal = [Z_95 * error for error in errors]
    half_widths: list[float | None] = [mean.half_width() for mean in means]
    guaranteed: list[float | None] = [mean.guaranteed_half_width() for mean in means]

    def coverage(widths: Sequence[float | None]) -> str:
        held = [
            width is not None and abs(mean.mean - truth) <= width for mean, width in zip(means, widths, strict=True)
        ]
        return f"{sum(held) / len(held):.3f}"

    def ratio(widths: Sequence[float | None]) -> str:
        ratios = [width / plain for width, plain in zip(widths, normal, strict=True) if width is not None and plain]
        return f"{statistics.median(ratios):.2f}"

    has_intervals = size >= MIN_UNITS
    return Row(
        scenario=scenario.name,
        game=scenario.game,
        score=kind,
        deals=str(size),
        error=f"{statistics.median(errors):.0f}",
        normal=coverage(normal),
        interval=coverage(half_widths) if has_intervals else "",
        guaranteed=coverage(guaranteed) if has_intervals else "",
        width=ratio(half_widths) if has_intervals else "",
        guaranteed_width=ratio(guaranteed) if has_intervals else "",
    )


def stored() -> list[Row]:
    """Rows of the file beside this script."""
    if not FIGURES.exists():
        return []
    with FIGURES.open(newline="") as file:
        return [Row(*row) for row in csv.reader(file)]


def with_table(text: str, rows: Sequence[Row]) -> str:
    """Return the page with these figures."""
    columns = (
        Column("match"),
        Column("score"),
        Column("deals", ","),
        Column("SE, mbb/g", ","),
        *map(
            Column,
            ("1.96 SE holds", "± 95 % holds", "guaranteed holds", "± 95 %, in 1.96 SE", "guaranteed, in 1.96 SE"),
        ),
    )
    cells: list[tuple[Value, ...]] = []
    for row in rows:
        figures = [figure or "none" for figure in row[5:]]
        cells.append((f"{row.game}: {row.scenario}", row.score, int(row.deals), int(row.error), *figures))
    table = markdown_table(Table("", columns, tuple(cells)))
    return with_blocks(text, {"intervals": table})


def main() -> None:
    """Simulate, store after each scenario, and write the page."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:]
    for scenario in SCENARIOS:
        if names and scenario.name not in names:
            continue
        key = scenario.name, scenario.game
        rows = {other[:2]: [row for row in stored() if row[:2] == other[:2]] for other in stored()}
        rows[key] = simulated(scenario, folder)
        with FIGURES.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            for other in SCENARIOS:
                writer.writerows(rows.get((other.name, other.game), []))
        print(*rows[key], sep="\n", flush=True)
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main()
