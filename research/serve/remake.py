"""Measure the figures of a server's capacity in `research/tables/benchmarks.md`, and write them into the page.

    python research/serve/remake.py [--rounds N] [--seconds S] [--calls N]

runs `python -m bench server`, with 200 bots and 50,000 finished matches by default, and writes `measured.json` beside
this script and the tables of the page. Hands per second and waiting times depend on the other load of the machine,
which the first table states; processor times hardly do. A test compares the page with the file; review the sentences
around the tables when the figures have changed.

"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = APPENDIX / "benchmarks.md"
MEASURED: Final = HERE / "measured.json"
ASKED: Final = {"bots": 200, "seconds": 10.0, "rounds": 3, "calls": 100, "runs": 50_000}


def measure(asked: dict[str, Any]) -> dict[str, Any]:
    """Measure all figures; the result includes the options."""
    from bench.server import measure

    rows = measure(**asked, show=lambda line: print(line, file=sys.stderr, flush=True))
    return {"asked": asked, "cores": os.cpu_count(), "rows": [dataclasses.asdict(row) for row in rows]}


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Tables of the page by name."""
    rows = found["rows"]
    rates = [row for row in rows if row["unit"] == "hands/s"]
    memory = [row for row in rows if row["unit"] == "kB"]
    times = [row for row in rows if row["unit"] == "ms"]
    at_rest = {row["who"]: row for row in times if row["group"].endswith("nobody plays")}
    busy = [row for row in times if not row["group"].endswith("nobody plays")]
    return {
        "hands": _table(
            ("", "hands per second", "user µs per hand", "system µs per hand", "machine busy with other things"),
            [
                (
                    f"`{row['who']}`",
                    f"{row['rate_median']:,.0f}",
                    f"{row['user_us']:,.0f}",
                    f"{row['system_us']:,.0f}",
                    f"{row['others_share']:.0%}",
                )
                for row in rates
            ],
        ),
        "memory": _table(("", "kB"), [(row["who"], f"{row['rate_median']:,.0f}") for row in memory]),
        "times": _table(
            (
                "",
                "processor ms at rest",
                "median ms at rest",
                "99 of 100 within",
                "median ms while all play",
                "99 of 100 within",
            ),
            [
                (
                    f"`{row['who']}`" if row["who"].startswith("GET") else row["who"],
                    *_at_rest(at_rest.get(row["who"])),
                    *_both(row),
                )
                for row in busy
            ],
        ),
    }


def _at_rest(row: dict[str, Any] | None) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    return (f"{(row['user_us'] + row['system_us']) / 1000:.1f}", *_both(row))


def _both(row: dict[str, Any]) -> tuple[str, str]:
    within = re.search(r"99 of 100 within ([0-9.]+) ms", row["note"])
    assert within is not None
    return f"{row['rate_median']:,.1f}", f"{float(within[1]):,.1f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ("---", *["---:"] * (len(head) - 1)), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def with_tables(page: str, found: dict[str, Any]) -> str:
    """Return the page with these figures."""
    return with_blocks(page, {name: f"{table}\n" for name, table in tables(found).items()})


def main(arguments: Sequence[str]) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    for name, value in ASKED.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    figures = measure(vars(parser.parse_args(arguments)))
    MEASURED.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), figures), "utf-8")
    print(f"{MEASURED.name} and {PAGE.name} are written")


if __name__ == "__main__":
    main(sys.argv[1:])
