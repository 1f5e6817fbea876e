"""Repeat the runs of `docs/kuhn-tables.md` and write their figures into the page.

    python docs/kuhn/remake.py FOLDER

does the runs of the report that FOLDER does not hold yet, hundreds where it is empty. The tables of the report go to
`report.json` next to this script, and from there into the page; the output of the command goes there as well. The tests
compare the page with that file. Review the sentences of both pages when the figures have changed.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, Final

from bots.studies.kuhn import kuhn_report
from bots.studies.kuhn_runs import experiments, read_results, run_experiments
from bots.studies.report import markdown_table, with_blocks

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "kuhn-tables.md"
STORED: Final = HERE / "report.json"
SEEDS: Final = 100
WIDTH: Final = 110
COMMAND: Final = ("kuhn", "kuhn-rational", "--repeat", "3")
"""The run whose output the page shows."""

_HIGHEST: Final = "The highest fitness of all generations, chips per hand"
_OTHER_RULES: Final = "The highest fitness under other rules, chips per hand"
_BREADTH: Final = "Three sizes of bets against the models"
_BOTH: Final = "Sizes and a raise against the models"
TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "classic": ("Kuhn poker against the models", _HIGHEST),
    "classic exact": ("Kuhn poker against the models", "The highest possible value, and that of the best strategy"),
    "classic genes": ("Kuhn poker against the models", "Convergence of the genes"),
    "breadth": (_BREADTH, _HIGHEST),
    "breadth, other rules": (_BREADTH, _OTHER_RULES),
    "depth": ("One raise against the models", _HIGHEST),
    "both": (_BOTH, _HIGHEST),
    "both, other rules": (_BOTH, _OTHER_RULES),
    "selection": ("Selection", "Selection, chips per hand"),
    "start and crossover": ("Start and crossover", "Mean fitness, chips per hand"),
    "listing": ("The listing", "Mistakes in the listing"),
    "exact fitness": ("Exact fitness, and halls of fame", "Fitness sampled and exact"),
    "exploitable": ("Exact fitness, and halls of fame", "Exploitability, chips per hand"),
    "co-evolution": ("Co-evolution", "Co-evolution of both players"),
    "co-evolved genes": ("Co-evolution", "Genes on average"),
    "printed strategies": ("Printed strategies", "Printed strategies against the models, chips per hand"),
    "mixed": ("The mixed approach", "The mixed approach"),
    "larger games": ("Co-evolution in the larger games", "Co-evolution in the larger games, chips per hand"),
    "sums": ("Sums of the text", "Average earnings, chips per hand"),
}
"""The tables of the page by the names of their markers: section and title in the report."""


def report_data(folder: Path) -> dict[str, Any]:
    """The part of the report that the page shows; missing runs of the folder are done first."""
    run_experiments(folder, experiments(), SEEDS, show=lambda part: print(f"{part:.1%}", flush=True))
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
    """The content of the file next to this script."""
    found: dict[str, Any] = json.loads(STORED.read_text("utf-8"))
    return found


def run_output() -> str:
    """The output of `arena evolve` for the run of the page; sentences are broken between words."""
    from dealer.cli.app import application

    stream, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with redirect_stdout(stream), suppress(SystemExit):
                application(["evolve"])(["evolve", *COMMAND], prog_name="arena")
        finally:
            os.chdir(before)
    lines: list[str] = []
    for line in stream.getvalue().strip("\n").splitlines():
        lines += textwrap.wrap(line.rstrip(), WIDTH) if line and not line.startswith(" ") else [line.rstrip()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def blocks(data: Mapping[str, Any]) -> dict[str, str]:
    """The blocks of the page that come from the report, by the names of their markers."""
    made = {"summary": "\n".join(textwrap.fill(text, 140) + "\n" for text in data["sentences"])}
    for name, table in data["tables"].items():
        note = f"\n{textwrap.fill(table['note'], 140)}\n" if table["note"] else ""
        made[name] = markdown_table(table["columns"], table["rows"]) + note
    return made


def main(folder: Path) -> None:
    """Do the missing runs and write the file and the page."""
    data = report_data(folder)
    STORED.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    made = {**blocks(data), "run": run_output()}
    PAGE.write_text(with_blocks(PAGE.read_text("utf-8"), made), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
