"""Breed the champion, measure it, and write the results into `docs/evolved-tables.md`.

    python docs/evolved/remake.py FOLDER

breeds the runs below in FOLDER, or resumes them; chooses the player that wins most over many tables, on deals that
decide nothing else; writes it to `bots/evolved/champion.chromosome`; and makes the report on its run, compared with the
other runs. The tables of the report go to `report.json` next to this script, and from there into the page; FOLDER has
the whole report as `report.html`. The tests compare the page with that file. Review the sentences of both pages when
the figures have changed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bots.evolved.chromosome import CHAMPION, write_chromosome
from bots.evolved.runs import FinishedRuns, read_runs
from bots.evolved.training import make_deals
from bots.studies.evolved import EvolvedStudySettings, evolved_report
from bots.studies.evolved_play import players_at_tables
from bots.studies.report import Report, format_report, markdown_table, with_blocks
from bots.workers import local_workers

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "evolved-tables.md"
REPORT: Final = HERE / "report.json"

SELECTION_DEALS: Final = 1000
SELECTION_SEED: Final = 90_001
SETTINGS: Final = EvolvedStudySettings(deals=1000, matches=200, gene_deals=51_797)
"""The genes on as many hands as, by the thesis, use them all."""


class Bred(NamedTuple):
    """A run.

    Attributes:
        player: the options of its player.
        trainers: the options of its own trainers; empty if they are those of other runs.
        borrowed: numbers of trainers, by the run that they come from.
    """

    player: str
    trainers: str = ""
    borrowed: Mapping[str, Sequence[int]] = {}


_SMALL: Final = "--deals 60 --population 40 --generations 50 --seed 1001"
_SMALL_PLAYER: Final = "--deals 150 --population 40 --generations 120 --seed 1100"
_ALL: Final = tuple(range(1, 10))

RUNS: Final = {
    "published": Bred("--seed 100", "--generations 200 --seed 1"),
    "larger": Bred(
        "--deals 780 --population 120 --generations 600 --seed 1300",
        borrowed={"published": _ALL},
    ),
    "reward": Bred(_SMALL_PLAYER, _SMALL),
    "price": Bred(f"{_SMALL_PLAYER} --odds price", f"{_SMALL} --odds price"),
    "no-rake": Bred(f"{_SMALL_PLAYER} --no-rake", f"{_SMALL} --no-rake"),
    "more-deals": Bred("--deals 450 --population 40 --generations 120 --seed 1100", borrowed={"reward": _ALL}),
    "longer": Bred("--deals 150 --population 40 --generations 360 --seed 1100", borrowed={"reward": _ALL}),
}
"""`published` has the settings of the thesis; all others but `larger` are small."""


def breed(folder: Path) -> list[FinishedRuns]:
    """Every run, finished."""
    for name, bred in RUNS.items():
        if bred.trainers and not (folder / name / "trainer-9.chromosome").exists():
            _arena("trainers", folder / name, bred.trainers)
        (folder / name).mkdir(exist_ok=True)
        for source, numbers in bred.borrowed.items():
            for number in numbers:
                for kind in ("npz", "chromosome"):
                    shutil.copy(folder / source / f"trainer-{number}.{kind}", folder / name)
        if not (folder / name / "player.chromosome").exists():
            _arena("player", folder / name, bred.player)
    return [read_runs(folder / name) for name in RUNS]


def _arena(command: str, folder: Path, options: str) -> None:
    words = ["evolve", command, str(folder), *options.split(), "--workers", str(os.cpu_count())]
    subprocess.run([sys.executable, "-c", "from dealer.cli import main; main()", *words], check=True)


def commands(name: str) -> list[str]:
    """The commands that breed a run, in their order; borrowed trainers are copied into its folder."""
    bred = RUNS[name]
    made = [f"arena evolve trainers {name} {bred.trainers}"] if bred.trainers else []
    for source in bred.borrowed:
        made.append(f"arena evolve trainers {source} {RUNS[source].trainers}")
    return [*made, f"arena evolve player {name} {bred.player}"]


def choose(all_runs: Sequence[FinishedRuns]) -> FinishedRuns:
    """The runs whose player wins most over all tables."""
    deals = make_deals(SELECTION_DEALS, SELECTION_SEED)
    return max(players_at_tables(all_runs, deals, SELECTION_SEED), key=lambda one: one.mean).runs


def ship(runs: FinishedRuns) -> None:
    """Write the champion with the record of its training."""
    name, player = runs.folder.name, runs.player
    record = {
        "what": "the shipped champion: of the runs of docs/evolved/remake.py the player that won most over many tables",
        "commands": commands(name),
        "trainers of other runs": {source: list(numbers) for source, numbers in RUNS[name].borrowed.items()},
        "chosen": {"deals": SELECTION_DEALS, "seed": SELECTION_SEED, "among": list(RUNS)},
        **player.record,
    }
    write_chromosome(CHAMPION, player.chromosome.astype("int8").tobytes(), record)


def _show(part: float) -> None:
    print(f"{part:.0%}", flush=True)


def as_data(report: Report) -> dict[str, Any]:
    """Words and tables of a report."""
    return {
        "sentences": list(report.sentences),
        "facts": [list(fact) for fact in report.facts],
        "tables": {
            view.title: {"columns": [head for head, _ in view.columns], "rows": [list(row) for row in view.rows]}
            for section in report.sections
            for view in section.tables
        },
    }


def with_tables(text: str, data: Mapping[str, Any]) -> str:
    """The text of the page with these tables and sentences."""
    parts = {title: markdown_table(table["columns"], table["rows"]) for title, table in data["tables"].items()}
    parts["sentences"] = "".join(f"> {sentence}\n" for sentence in data["sentences"])
    return with_blocks(text, {title: part for title, part in parts.items() if f"<!-- {title} -->\n" in text})


def main(folder: Path) -> None:
    """Breed what is missing and write the champion, the report and the page."""
    folder.mkdir(parents=True, exist_ok=True)
    all_runs = breed(folder)
    chosen = choose(all_runs)
    ship(chosen)
    others = [runs for runs in all_runs if runs is not chosen]
    with local_workers(os.cpu_count() or 1) as workers:
        report = evolved_report(
            chosen, SETTINGS, others, workers=workers, show=lambda part: print(f"{part:.0%}", flush=True)
        )
    (folder / "report.html").write_text(format_report(report), "utf-8")
    REPORT.write_text(json.dumps(as_data(report), indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), as_data(report)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
