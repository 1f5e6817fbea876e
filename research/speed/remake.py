"""Measure the figures of matches and starts in `research/tables/benchmarks.md`, and write them into the page.

    python research/speed/remake.py REFERENCE [--rounds N] [--hands N] [--core N]

runs `python -m bench match` on one core, then with one match and with eight at once on all cores, and `python -m bench
startup`; REFERENCE is the folder with the reference's programs. It writes `measured.json` beside this script and the
tables of the page, which a test compares with the file; review the sentences around the tables when the figures have
changed.

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
MEASURED: Final = HERE / "measured.json"
GAMES: Final = ("limit", "nolimit", "nolimit6")
AT_ONCE: Final = (1, 8)
OWN_BOT: Final = HERE.parents[1] / "examples" / "minimal_bot.py"


def measure(reference: str, rounds: int, hands: int, core: int) -> dict[str, Any]:
    """Measure all figures; the result includes the options."""
    from bench import match, startup

    options = {"rounds": rounds, "hands": hands}
    figures = {
        "one core": match.measure(**options, games=GAMES, reference=reference, core=core),
        **{
            f"{count} at once": match.measure(
                **options, games=("limit",), matches=count, waits=0, reference=reference, play=""
            )
            for count in AT_ONCE
        },
        # Without the folder of this machine.
        "starts": [
            dataclasses.replace(row, who=row.who.replace(str(OWN_BOT), OWN_BOT.name))
            for row in startup.measure(bots=(f"{OWN_BOT}:PairRaiser",))
        ],
    }
    return {"asked": options, "rows": {name: list(map(dataclasses.asdict, rows)) for name, rows in figures.items()}}


def tables(found: dict[str, Any]) -> dict[str, Table]:
    """Tables of the page by name."""
    rows, hands = found["rows"], found["asked"]["hands"]
    whole = {(row["group"], row["who"]): row for row in rows["one core"] if row["unit"] == "ms"}
    matches = []
    for row in rows["one core"]:
        if row["unit"] == "µs":
            job, game, _ = row["group"].rsplit(", ", 2)
            match = whole[f"{job}, {game}, a match of {hands:,} hands", row["who"]]
            times = [row[name] for name in ("rate_median", "user_us", "system_us")]
            matches.append((_program(job, row["who"]), f"`{game}`", *times, match["rate_median"], _hands_per_s(match)))
    at_once = [
        (count, _program("dealer", row["who"]), _hands_per_s(row))
        for count in AT_ONCE
        for row in rows[f"{count} at once"]
        if row["unit"] == "ms" and row["group"].startswith("dealer")
    ]
    waits = [
        (_program("dealer", row["who"]), max(0.0, row["rate_median"]), row["rate_high"])
        for row in rows["one core"]
        if row["group"].startswith("line to a player")
    ]
    starts = [(row["who"], row["rate_median"]) for row in rows["starts"]]
    names = ("µs a hand", "user", "system", f"ms a match of {hands:,} hands", "hands/s")
    return {
        "matches": _table(matches, "program", "game", *(Column(name, ",.0f") for name in names)),
        "at once": _table(at_once, Column("matches at once", "d"), "dealer", Column("hands/s", ",.0f")),
        "waits": _table(waits, "dealer", Column("median ms", ".1f"), Column("longest", ".1f")),
        "starts": _table(starts, "program", Column("processor ms", ".0f")),
    }


def _program(job: str, who: str) -> str:
    if job == "dealer":
        return "reference dealer" if who == "reference" else "`acpc-dealer`"
    return "players `calling`" if job == "Python players" else f"`{job}`"


def _hands_per_s(row: dict[str, Any]) -> float:
    match = re.search(r"([0-9,]+) hands/s", row["note"])
    assert match is not None
    return float(match[1].replace(",", ""))


def _table(rows: list[Any], *columns: Column | str) -> Table:
    return Table("", tuple(Column(one) if isinstance(one, str) else one for one in columns), tuple(rows))


def with_tables(page: str, found: dict[str, Any]) -> str:
    """Return the page with these figures."""
    return with_blocks(page, {name: markdown_table(table) for name, table in tables(found).items()})


def main(arguments: Sequence[str]) -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reference")
    for name, value in {"rounds": 3, "hands": 3000, "core": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    try:
        figures = measure(**vars(parser.parse_args(arguments)))
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(str(error))
    MEASURED.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), figures), "utf-8")
    print(f"{MEASURED.name} and {PAGE.name} are written")


if __name__ == "__main__":
    main(sys.argv[1:])
