"""Make the figures of `docs/kuhn.md` again and write them into the page.

    python docs/kuhn/remake.py FOLDER

does the runs of the report that FOLDER does not hold yet, hundreds where it is empty. The tables of the report go to
`report.json` beside this script, and from there into the page; what the command line prints is put there, too. The
tests hold the page against that file. The sentences around the tables are not written by a program: read them again
when the figures have changed.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from bots.studies.kuhn import kuhn_report
from bots.studies.kuhn_runs import experiments, read_results, run_experiments

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "kuhn.md"
STORED: Final = HERE / "report.json"
SEEDS: Final = 100
WIDTH: Final = 110
COMMAND: Final = ("kuhn", "kuhn-rational", "--repeat", "3")
"""The run whose output the page shows."""

LESSON: Final = "lesson"
TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "classic": ("Kuhn poker against the models", "The highest fitness of all generations, chips per hand"),
    "classic exact": ("Kuhn poker against the models", "What can be won, and what the best strategy is worth"),
    "classic genes": ("Kuhn poker against the models", "What the genes converge to"),
    "breadth": ("Three sizes of bets against the models", "The highest fitness of all generations, chips per hand"),
    "depth": ("One raise against the models", "The highest fitness of all generations, chips per hand"),
    "both": ("Sizes and a raise against the models", "The highest fitness of all generations, chips per hand"),
    "selection": ("Selection", "Selection, chips per hand"),
    "start and crossover": ("Start and crossover", "Mean fitness, chips per hand"),
    "listing": ("The listing", "The mistakes of the listing"),
    "exact fitness": ("Exact fitness, and halls of fame", "Fitness sampled and exact"),
    "exploitable": ("Exact fitness, and halls of fame", "Exploitable by, chips per hand"),
    "co-evolution": ("Co-evolution", "Co-evolution of both players"),
    "co-evolved genes": ("Co-evolution", "Genes on average"),
    "printed strategies": (
        "The strategies that the work prints",
        "Printed strategies against the models, chips per hand",
    ),
    "mixed": ("The mixed approach", "The mixed approach"),
    "larger games": ("Co-evolution in the larger games", "Co-evolution in the larger games, chips per hand"),
    "sums": ("Sums of the text", "Average earnings, chips per hand"),
}
"""The tables of the page by the names of their markers: section and title in the report."""


def report_data(folder: Path) -> dict[str, Any]:
    """What the page shows of the report on the runs of a folder; those that are missing are done."""
    run_experiments(
        folder, experiments(), SEEDS, show=lambda standing: print(standing.done, standing.runs, standing.name)
    )
    report = kuhn_report(read_results(folder, experiments(), SEEDS))
    views = {(section.title, view.title): view for section in report.sections for view in section.tables}
    return {
        "seeds": SEEDS,
        "sentences": list(report.sentences),
        "tables": {
            name: {
                "columns": [head for head, _ in views[place].columns],
                "rows": [list(row) for row in views[place].rows],
                "note": views[place].note,
            }
            for name, place in TABLES.items()
        },
    }


def stored() -> dict[str, Any]:
    """What is beside this script."""
    found: dict[str, Any] = json.loads(STORED.read_text("utf-8"))
    return found


def run_output() -> str:
    """What `arena evolve` prints for the run of the page; sentences are broken between words."""
    from dealer.cli.app import application

    stream, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with redirect_stdout(stream):
                application(["evolve"])(["evolve", *COMMAND], prog_name="arena", standalone_mode=False)
        finally:
            os.chdir(before)
    lines: list[str] = []
    for line in stream.getvalue().strip("\n").splitlines():
        lines += textwrap.wrap(line.rstrip(), WIDTH) if line and not line.startswith(" ") else [line.rstrip()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> str:
    """A table as the page has it; what it is told of each row stands in it, its note below."""
    lines = [f"| {' | '.join(columns)} |", "| --- |" + " --- |" * (len(columns) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    below = textwrap.fill(note, 140) + "\n" if note else ""
    return "\n".join(lines) + "\n" + (f"\n{below}" if below else "")


def blocks(data: Mapping[str, Any]) -> dict[str, str]:
    """The blocks of the page that come from the report, by the names of their markers."""
    made = {name: markdown(**table) for name, table in data["tables"].items()}
    return {LESSON: "\n".join(textwrap.fill(text, 140) + "\n" for text in data["sentences"]), **made}


def with_blocks(text: str, made: Mapping[str, str]) -> str:
    """The text of the page with these blocks."""
    for name, block in made.items():
        head, rest = text.split(f"<!-- {name} -->\n")
        text = f"{head}<!-- {name} -->\n{block}<!-- end of {name} -->" + rest.split(f"<!-- end of {name} -->")[1]
    return text


def main(folder: Path) -> None:
    """Do what has not been done, and write everything anew."""
    data = report_data(folder)
    STORED.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    made = {**blocks(data), "run": run_output()}
    PAGE.write_text(with_blocks(PAGE.read_text("utf-8"), made), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
