"""Measure whole runs and write the table of `research/tables/benchmarks.md`.

    python research/speed/runs.py REFERENCE CHECKOUT [--rounds N] [--hands N]

runs `python -m bench dealers` on all cores of a quiet machine; REFERENCE is the folder with the reference's
programs, CHECKOUT that of the version to compare with. It writes `runs.json` beside this script and the table of the
page; read the sentences around the table again when the figures have changed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

from logs.document.plain import markdown_table
from logs.document.values import Column, Table

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "benchmarks.md"
MEASURED: Final = HERE / "runs.json"
OWN: Final = "bound"
BEFORE: Final = "before"


def measure(reference: str, checkout: str, rounds: int, hands: int) -> dict[str, Any]:
    """Measure all figures; the result includes the options."""
    from bench import dealers

    rows = [
        dataclasses.asdict(row)
        for row in dealers.measure(rounds=rounds, hands=hands, checkout=checkout, reference=reference)
    ]
    for row in rows:
        if row["who"] == Path(checkout).name:
            row["who"] = BEFORE
    return {"asked": {"rounds": rounds, "hands": hands}, "rows": rows}


def tables(measured: dict[str, Any]) -> dict[str, Table]:
    """Table of the page, by its name."""
    rows = []
    for row in measured["rows"]:
        used = re.match(r"([0-9.]+) s of processor time, ([0-9]+) MB", row["note"])
        cpu_s, memory_mb = (None, None) if used is None or float(used[1]) == 0 else (float(used[1]), float(used[2]))
        rows.append((row["group"], row["who"], row["rate_median"], row["ratio"], cpu_s, memory_mb))
    columns = (
        Column("run"),
        Column("programs"),
        Column("wall s", ".1f"),
        Column("bound / this", ".2f"),
        Column("processor s", ".1f"),
        Column("MB", ".0f"),
    )
    return {"runs": Table("", columns, tuple(rows))}


def with_tables(page: str, measured: dict[str, Any]) -> str:
    """Return the page with these figures."""
    return with_blocks(page, {name: markdown_table(table) for name, table in tables(measured).items()})


def main(arguments: Sequence[str]) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reference")
    parser.add_argument("checkout")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--hands", type=int, default=3000)
    try:
        measured = measure(**vars(parser.parse_args(arguments)))
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(str(error))
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), measured), "utf-8")
    print(f"{MEASURED.name} and {PAGE.name} are written")


if __name__ == "__main__":
    main(sys.argv[1:])
