"""Measurements for the thesis on the evolved agent: breed seven runs, choose the champion, and watch it play.

The champion is the player that wins most over many tables, on deals that decide nothing else; it becomes
`bots/evolved/champion.chromosome`. Figures are about it and its nine trainers, in dollars per 1,000 hands dealt:

- ``trained NAME``, ``unseen NAME``: what a player wins on the deals of its training and on others; ``after flop`` those
  of the hands in which it saw the flop, the only ones that the thesis prints
- ``VPIP``, ``PFR`` and so on: its style on unseen deals
- ``won HAND``, ``times HAND``, ``dollars HAND``: how often it won with a hand at the end, in per cent, how often it had
  it in 1,000 hands, and the winnings of these hands
- ``spread FIGURE``: standard deviation of such a figure between nine trainers that were bred alike, on the same deals
- ``genes after DEALS``: per cent of the genes that it was asked for, over tables of random chromosomes
- ``gain to DEALS``: those that the last tenfold of the deals added
- ``distance from a logarithm``: the largest of a table's curve from the logarithm that fits it best
- ``genes used``: per cent of the genes that it was asked for in 5,179,700 hands against its trainers
- ``unused HAND``: per cent of the genes for a hand that it was never asked for in them
- ``RUN at TABLE``: what the player of a run wins at a table that is the same for all runs
- ``GAME BOT``: mbb/g against one or nine bots of a kind, each deal in every rotation of the seats, with its ± 95 %
- ``guaranteed GAME BOT``: the same with the guaranteed interval
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import hypot, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Final, NamedTuple

import numpy as np

from bots.evolution.breeding import Chromosomes
from bots.evolved.bot import EvolvedBot
from bots.evolved.chromosome import (
    BETTING_STATES,
    CHAMPION,
    GENES,
    HAND_CATEGORIES,
    POSITION_CLASSES,
    THRESHOLD,
    Odds,
    read_chromosome,
    write_chromosome,
)
from bots.evolved.training import GENOME, OPPONENTS, DealSet, EvolvedSettings, make_deals
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.studies.evolved_hands import HandResults, genes_after, play_hands, preflop_play, ratio, total, winnings_of
from bots.studies.measured import Measured, Task, student_bound
from engine import Category
from logs.estimation import RunningMean, score_bounds
from protocol import find_game

SEED: Final = 20_121
"""Of the unseen deals and the matches."""
SELECTION_SEED: Final = 90_001
_DEALS: Final = 1_000
_GENE_DEALS: Final = 51_797
"""Each is a hundred hands, together the fewest that can use all genes by the thesis."""
_CURVE: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000)
"""Deals after which the genes used are counted; every second step is a tenfold."""
_CURVE_TABLES: Final = 5
_GENE_TRIALS: Final = 50
"""Samples for the weight of a hand; the situations that occur hardly depend on it."""
FIELDS: Final = ("random", "calling", "raising")
"""The opponents that the player must beat at a table of ten; these matches have five times as many deals."""
_MATCH_DEALS: Final = 200
_HANDS: Final = tuple(category.name.replace("_", " ").lower() for category in Category)
_ALL: Final = tuple(range(1, 10))


class Bred(NamedTuple):
    """A run: options of its player and of its own trainers, or numbers of trainers by the run that they come from."""

    player: str
    trainers: str = ""
    borrowed: Mapping[str, Sequence[int]] = {}


_SMALL: Final = "--deals 60 --population 40 --generations 50 --seed 1001"
_SMALL_PLAYER: Final = "--deals 150 --population 40 --generations 120 --seed 1100"
RUNS: Final = {
    "published": Bred("--seed 100", "--generations 200 --seed 1"),
    "larger": Bred("--deals 780 --population 120 --generations 600 --seed 1300", borrowed={"published": _ALL}),
    "reward": Bred(_SMALL_PLAYER, _SMALL),
    "price": Bred(f"{_SMALL_PLAYER} --odds price", f"{_SMALL} --odds price"),
    "no-rake": Bred(f"{_SMALL_PLAYER} --no-rake", f"{_SMALL} --no-rake"),
    "more-deals": Bred("--deals 450 --population 40 --generations 120 --seed 1100", borrowed={"reward": _ALL}),
    "longer": Bred("--deals 150 --population 40 --generations 360 --seed 1100", borrowed={"reward": _ALL}),
}
"""`published` has the settings of the thesis; all others but `larger` are small."""


class Player(NamedTuple):
    settings: EvolvedSettings
    chromosome: Chromosomes
    record: Mapping[str, object]


class Table(NamedTuple):
    """Nine opponents after the flop; before it all play the charts."""

    name: str
    chromosomes: Chromosomes
    odds: Odds = "reward"


def tasks(figures: Iterable[str], folder: Path) -> Iterator[Task]:
    breed(folder / "runs")
    champion = choose(folder / "runs")
    ship(folder / "runs", champion)
    run = folder / "runs" / champion
    for name in ("player", *trainer_names()):
        yield Task(f"winnings {name}", winnings, (run, name))
    for game, bot in (figure.split() for figure in figures if figure.startswith("limit")):
        yield Task(f"match {game} {bot}", match, (CHAMPION, game, bot))
    yield Task("play", play, (run,))
    yield Task("spread", spreads, (folder / "runs" / "reward",))
    yield Task("genes", genes, (run,))
    yield Task("curve", gene_curve, (CHAMPION,))
    for name in RUNS:
        yield Task(f"tables {name}", at_tables, (folder / "runs", name, SEED))


def task_of(figure: str) -> Task | None:
    """Return None for figures of players that are not shipped: `tasks` breeds them."""
    if figure.startswith(("genes after ", "gain to ", "distance ")):
        return Task("curve", gene_curve, (CHAMPION,), is_long=True)
    match_name = figure.removeprefix("guaranteed ")
    if not match_name.startswith("limit"):
        return None
    game, bot = match_name.split()
    return Task(f"match {game} {bot}", match, (CHAMPION, game, bot), is_long=True)


# ---- runs


def breed(folder: Path) -> None:
    """Finish the breeding of all runs."""
    for name, bred in RUNS.items():
        run = folder / name
        run.mkdir(parents=True, exist_ok=True)
        if bred.trainers and not (run / "trainer-9.chromosome").exists():
            _arena("trainers", run, bred.trainers)
        for source, numbers in bred.borrowed.items():
            for number in numbers:
                shutil.copy(folder / source / f"trainer-{number}.chromosome", run)
        if not (run / "player.chromosome").exists():
            _arena("player", run, bred.player)


def _arena(command: str, run: Path, options: str) -> None:
    words = ["evolve", command, str(run), *options.split(), "--workers", str(os.cpu_count())]
    subprocess.run([sys.executable, "-c", "from dealer.cli import main; main()", *words], check=True)


def commands(name: str) -> list[str]:
    """The commands that breed a run, in their order; borrowed trainers are copied into its folder."""
    bred = RUNS[name]
    made = [f"arena evolve trainers {name} {bred.trainers}"] if bred.trainers else []
    made += [f"arena evolve trainers {source} {RUNS[source].trainers}" for source in bred.borrowed]
    return [*made, f"arena evolve player {name} {bred.player}"]


def choose(folder: Path) -> str:
    """The run whose player wins most over all tables."""
    return max(RUNS, key=lambda name: at_tables(folder, name, SELECTION_SEED)[f"{name} at all"].mean)


def ship(folder: Path, name: str) -> None:
    """Write the champion with the record of its training."""
    player = read_player(folder / name / "player.chromosome")
    record = {
        "what": "the shipped champion: of the runs of research/studies the player that won most over many tables",
        "commands": commands(name),
        "trainers of other runs": {source: list(numbers) for source, numbers in RUNS[name].borrowed.items()},
        "chosen": {"deals": _DEALS, "seed": SELECTION_SEED, "among": list(RUNS)},
        **player.record,
    }
    write_chromosome(CHAMPION, player.chromosome.astype("int8").tobytes(), record)


def read_player(path: Path) -> Player:
    found = read_chromosome(str(path))
    record = json.loads(found.record)
    settings = EvolvedSettings(**record["settings"])
    return Player(settings, np.array(found.thresholds, np.int16).reshape(GENES, 2), record)


def trainer_names() -> list[str]:
    return [f"trainer-{number}" for number in _ALL]


def _trainers(run: Path) -> Chromosomes:
    return np.array([read_player(run / f"{name}.chromosome").chromosome for name in trainer_names()])


# ---- figures


def _per_thousand(watched: HandResults, values: np.ndarray) -> Measured:
    return total(watched, values).times(10 / watched.deals)


def winnings(run: Path, name: str) -> dict[str, Measured]:
    """Winnings of the player against the trainers, or of a trainer against those of the end of its run."""
    player = read_player(run / f"{name}.chromosome")
    others = _trainers(run) if name == "player" else _last_opponents(run, name)
    own, trials = player.settings.evaluator, player.settings.trials
    figures = {}
    for kind, count, seed in (("trained", own.deals, own.seed), ("unseen", _DEALS, SEED)):
        deals = make_deals(count, seed, trials)
        watched = play_hands(deals, player.chromosome, others, (player.settings.odds,) * 10, player.settings.rake)
        figures[f"{kind} {name}"] = _per_thousand(watched, watched.dollars)
        figures[f"{kind} after flop {name}"] = _per_thousand(watched, watched.dollars * watched.saw_flop)
    # Those of the training are all there are, and so exact.
    return {key: Measured(one.mean) if key.startswith("trained") else one for key, one in figures.items()}


def _last_opponents(run: Path, name: str) -> Chromosomes:
    from bots.evolution.evolution import load_checkpoint

    source = next(iter(RUNS[run.name].borrowed), run.name)
    opponents = load_checkpoint(run.parent / source / f"{name}.checkpoint")[0].opponents
    assert opponents is not None
    return opponents


def play(run: Path) -> dict[str, Measured]:
    """The style of the player, and the hands that it had at the end."""
    player = read_player(run / "player.chromosome")
    unseen = make_deals(_DEALS, SEED, player.settings.trials)
    return {**_preflop_style(unseen), **_style(unseen, player, _trainers(run))}


def spreads(run: Path) -> dict[str, Measured]:
    """Standard deviations between the trainers of a run, each among those of the end of its training.

    All play the same deals, so that the differences are those of breeding.
    """
    styles = []
    for name in trainer_names():
        trainer = read_player(run / f"{name}.chromosome")
        unseen = make_deals(_DEALS, SEED, trainer.settings.trials)
        styles.append(_style(unseen, trainer, _last_opponents(run, name)))
    return {
        f"spread {figure}": Measured(stdev(style[figure].mean for style in styles), 0.0, len(styles))
        for figure in styles[0]
        if all(figure in style for style in styles)
    }


def one_run(figure: Measured, spread: Measured, deals: int = 0) -> Measured:
    """A figure of one run, whose interval covers the luck of breeding besides that of the cards.

    Args:
        spread: standard deviation between runs that were bred alike.
        deals: of the run, if others than those that were measured.
    """
    if not figure.half_width:
        return figure
    cards = figure.half_width * sqrt(figure.units / deals) if deals else figure.half_width
    breeding = student_bound(spread.units - 1) * spread.mean
    return Measured(figure.mean, hypot(cards, breeding), deals or figure.units)


def like_trainers(figure: Measured, trainers: Sequence[float]) -> Measured:
    """A figure of one player, with the relative spread between trainers, each bred with a seed and deals of its own."""
    breeding = student_bound(len(trainers) - 1) * stdev(trainers) / fmean(trainers) * figure.mean
    return Measured(figure.mean, hypot(figure.half_width, breeding), max(1, figure.units))


def on_same_deals(figures: Sequence[Measured]) -> Measured:
    """The mean of runs measured on the same deals, whose luck it does not average out."""
    between = Measured.over([figure.mean for figure in figures])
    cards = fmean(figure.half_width for figure in figures)
    return Measured(between.mean, hypot(between.half_width, cards), between.units)


def _preflop_style(deals: DealSet) -> dict[str, Measured]:
    return {name: part.times(100) for name, part in preflop_play(deals).items()}


def _style(deals: DealSet, player: Player, others: Chromosomes) -> dict[str, Measured]:
    """Play after the flop, and the hands at the end."""
    watched = play_hands(deals, player.chromosome, others, (player.settings.odds,) * 10, player.settings.rake)
    seen, showdown = watched.saw_flop * 1.0, watched.showdown * 1.0
    figures = {
        "W$WSF": ratio(watched, watched.won * seen, seen).times(100),
        "WTSD": ratio(watched, showdown, seen).times(100),
        "W$SD": ratio(watched, watched.won * showdown, showdown).times(100),
        "AF": ratio(watched, watched.raises * 1.0, watched.calls * 1.0),
    }
    for kind, name in enumerate(_HANDS):
        of_kind = seen * (watched.category == kind)
        if of_kind.any():
            figures[f"won {name}"] = ratio(watched, watched.won * of_kind, of_kind).times(100)
            figures[f"times {name}"] = _per_thousand(watched, of_kind)
            figures[f"dollars {name}"] = _per_thousand(watched, watched.dollars * of_kind)
    return figures


def gene_curve(chromosome: str) -> dict[str, Measured]:
    """Parts of the genes that a player was asked for, over tables of random chromosomes with deals of their own."""
    player = read_player(Path(chromosome))
    odds = (player.settings.odds,) * 10
    curves = []
    for table in range(_CURVE_TABLES):
        deals = make_deals(_CURVE[-1], SEED + table, _GENE_TRIALS)
        others = GENOME.random(OPPONENTS, np.random.default_rng([SEED, table]))
        curve = genes_after(deals, _CURVE, player.chromosome, others, odds, player.settings.rake)
        curves.append([100 * share for share in curve])
    figures = {"distance from a logarithm": Measured.over([_distance_from_logarithm(curve) for curve in curves])}
    for point, deals_played in enumerate(_CURVE):
        figures[f"genes after {deals_played}"] = Measured.over([curve[point] for curve in curves])
        if point >= 2:
            figures[f"gain to {deals_played}"] = Measured.over([curve[point] - curve[point - 2] for curve in curves])
    return figures


def _distance_from_logarithm(curve: Sequence[float]) -> float:
    logarithms = np.log(_CURVE)
    line = np.polyfit(logarithms, curve, 1)
    return float(np.abs(np.polyval(line, logarithms) - curve).max())


def genes(run: Path) -> dict[str, Measured]:
    """Parts of the genes that the player was asked for against its trainers."""
    player = read_player(run / "player.chromosome")
    unseen = make_deals(_GENE_DEALS, SEED, _GENE_TRIALS)
    odds = (player.settings.odds,) * 10
    used = winnings_of(unseen, player.chromosome, _trainers(run), odds, player.settings.rake)[1]
    by_hand = used.reshape(HAND_CATEGORIES, len(POSITION_CLASSES) * BETTING_STATES)
    unused = {f"unused {name}": Measured(100 * float(1 - of.mean())) for name, of in zip(_HANDS, by_hand, strict=True)}
    return {"genes used": Measured(100 * float(used.mean())), **unused}


def at_tables(folder: Path, name: str, seed: int) -> dict[str, Measured]:
    """Winnings of the player of a run at every table, with rake."""
    player = read_player(folder / name / "player.chromosome")
    deals = make_deals(_DEALS, seed, player.settings.trials)
    figures = {}
    for table in _tables(folder, seed):
        odds = (player.settings.odds, *[table.odds] * 9)
        watched = play_hands(deals, player.chromosome, table.chromosomes, odds, rake=True)
        figures[f"{name} at {table.name}"] = _per_thousand(watched, watched.dollars)
    return {**figures, f"{name} at all": Measured(fmean(one.mean for one in figures.values()))}


def _tables(folder: Path, seed: int) -> Iterator[Table]:
    for name in ("larger", "reward", "price", "no-rake"):
        yield Table(name, _trainers(folder / name), read_player(folder / name / "player.chromosome").settings.odds)
    yield Table("random", GENOME.random(OPPONENTS, np.random.default_rng([seed, 99])))
    for name, thresholds in (("callers", (THRESHOLD, -THRESHOLD)), ("raisers", (-THRESHOLD, -THRESHOLD))):
        yield Table(name, np.tile(np.array(thresholds, np.int16), (9, GENES, 1)))


def match(chromosome: str, game: str, bot: str) -> dict[str, Measured]:
    """Winnings of the player in mbb/g, a deal in all rotations counting once."""
    definition = find_game(game)[1]
    count = definition.num_players
    deals = _MATCH_DEALS * (5 if bot in FIELDS and count > 2 else 1)
    bots = [EvolvedBot(chromosome=chromosome, seed=SEED), *(make_bot(bot, SEED + at) for at in range(1, count))]
    for one in bots:
        one.prepare_for_many_hands()
    names = ("us", *(f"{bot} {at}" for at in range(1, count)))
    won, of_deal = RunningMean(bounds=score_bounds(definition)), 0.0
    for number, hand in enumerate(self_play(definition, bots, deals=deals, seed=SEED, names=names), 1):
        of_deal += hand.values[hand.names.index("us")]
        if number % count == 0:
            won.add(1000 * of_deal / count / definition.big_blind)
            of_deal = 0.0
    return {
        f"{game} {bot}": Measured(won.mean, won.half_width() or 0.0, won.count),
        f"guaranteed {game} {bot}": Measured(won.mean, won.guaranteed_half_width() or 0.0, won.count),
    }
