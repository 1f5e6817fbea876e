"""Judge the claims of a publication, and write the pages about it.

    python docs/studies/study.py NAME [FOLDER]

NAME is `evolved`, `kuhn`, `learner`, `lp-mc` or `rembrant`. NAME.toml has the claims: what was printed, where and with
which uncertainty, and how it is measured. With a folder, everything is measured that it does not hold yet; then
NAME.csv has the figures and FOLDER/NAME.html the report. Without one, the claims are judged by the figures of NAME.csv.
Both write the verdicts into docs/NAME.md and the tables into docs/NAME-tables.md. Review the prose of these pages when
figures have changed.

A claim is

- *refuted* if the interval of our figure and that of the printed one have no point in common,
- *reproduced* if our whole interval differs from the printed figure by less than 20 %, or as much as the claim states,
- *undecided* otherwise, or if nothing was measured.

Intervals hold at 95 %; that of an exact figure is a point. The interval of a printed figure comes from its digits and,
where the publication names a number of runs or hands, from the spread of ours.
"""

from __future__ import annotations

import enum
import importlib
import json
import os
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields
from functools import cached_property
from math import inf, sqrt
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from measured import Measured, read_figures, write_figures

from logs.document import TEXT, Column, Document, Section, Table, text_of
from logs.document.page import format_page
from logs.document.plain import markdown_table
from logs.document.values import NAME
from logs.estimation import Estimate
from logs.whole_file import write_whole

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import with_blocks

HERE: Final = Path(__file__).resolve().parent
NAMES: Final = ("evolved", "kuhn", "learner", "lp-mc", "rembrant")
_TOLERANCE: Final = 0.2
_JUDGED: Final = ("", "printed", "ours", Column("verdict"), Column("because", TEXT))
_FIGURE: Final = re.compile(r"measured\('([^']+)'\)")


class Verdict(enum.StrEnum):
    REPRODUCED = enum.auto()
    UNDECIDED = enum.auto()
    REFUTED = enum.auto()


class Interval(NamedTuple):
    low: float
    high: float

    @classmethod
    def around(cls, middle: float, half_width: float) -> Interval:
        return cls(middle - half_width, middle + half_width)


def verdict(ours: Interval, printed: Interval, accepted: Interval) -> Verdict:
    """The verdict on a claim from what we measured, what was printed, and what would be the same."""
    if ours.low > printed.high or ours.high < printed.low:
        return Verdict.REFUTED
    if accepted.low <= ours.low and ours.high <= accepted.high:
        return Verdict.REPRODUCED
    return Verdict.UNDECIDED


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a publication.

    Attributes:
        printed: as it was printed, or a bound such as ``> 0``.
        source: the section and page of the publication.
        measured: the name of our figure; `exact` in its place is an expression. Neither, if it cannot be measured.
        format: of our figure.
        units: the number of runs or hands behind the printed figure, if it is known.
        uncertainty: half the interval of the printed figure beyond its decimals, as a number or an expression. A whole
            number is exact.
        within: how far ours may differ, in place of 20 %, with `within_why`.
        why: a remark on the verdict.
    """

    quantity: str
    printed: str
    source: str
    unit: str = ""
    measured: str = ""
    exact: str = ""
    format: str = "g"
    units: int = 0
    uncertainty: str | float = 0.0
    within: float | None = None
    within_why: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if (self.within is None) is bool(self.within_why):
            raise ValueError(f"{self.quantity}: a tolerance has a reason, and a reason a tolerance")


class Judged(NamedTuple):
    """A claim with the printed figure and ours as texts, and the verdict."""

    claim: Claim
    printed: str
    ours: str
    verdict: Verdict


class Study:
    """The claims and tables of a publication, judged by figures."""

    def __init__(self, name: str, figures: Mapping[str, Measured]) -> None:
        self.name, self.figures = name, figures
        self.data = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))

    @cached_property
    def module(self) -> ModuleType:
        """The functions of the expressions, and the measurements."""
        if str(HERE) not in sys.path:
            sys.path.append(str(HERE))
        return importlib.import_module(f"measure_{self.name.replace('-', '_')}")

    def claims_of(self, group: Mapping[str, Any]) -> list[Claim]:
        """Claims of a group, whose statement has the fields of each row in braces."""
        found = []
        for row in self._rows(group):
            values = {**group, **row}
            known = {one.name: _filled(values[one.name], row) for one in fields(Claim) if one.name in values}
            found.append(Claim(**known))
        return found

    def _rows(self, part: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        if "rows" in part:
            return part["rows"]
        (other,) = [group for group in self.data["claims"] if group["marker"] == part["rows_of"]]
        return other["rows"]

    def needed(self) -> list[str]:
        """The names of all figures that claims and tables are made of."""
        pairs = [(one.measured, one.exact) for group in self.data["claims"] for one in self.claims_of(group)]
        for table in self.data.get("tables", ()):
            pairs += [_sources(column, row) for row in self._rows(table) for column in table["columns"]]
        return list(dict.fromkeys(name for one, exact in pairs for name in (one, *_FIGURE.findall(exact)) if name))

    def value(self, expression: str) -> Any:
        names = {**vars(self.module), **self.data.get("constants", {}), "measured": self.figures.__getitem__}
        return eval(expression, names)

    def figure(self, measured: str, exact: str) -> Measured | None:
        if not exact:
            return self.figures.get(measured)
        value = self.value(exact)
        return value if isinstance(value, Measured) else Measured(float(value))

    def judged(self, claim: Claim) -> Judged:
        ours = self.figure(claim.measured, claim.exact)
        if ours is None:
            return Judged(claim, claim.printed, "not measured", Verdict.UNDECIDED)
        text = text_of(_estimate(ours), claim.format)
        # A sample without any spread is no exact figure.
        own = Interval.around(ours.mean, ours.half_width or (inf if ours.units else 0.0))
        if claim.printed[0] in "<>":
            bound = float(claim.printed[1:])
            claimed = Interval(bound, inf) if claim.printed[0] == ">" else Interval(-inf, bound)
            return Judged(claim, claim.printed, text, verdict(own, claimed, claimed))
        value, shown = float(claim.printed), claim.printed
        half_width = claim.uncertainty if isinstance(claim.uncertainty, float) else self.value(claim.uncertainty)
        if claim.units:
            half_width += ours.half_width * sqrt(ours.units / claim.units)
        if half_width:
            shown += f" ± {text_of(half_width, claim.format.replace('+', ''))}"
        if "." in claim.printed:
            half_width += 0.5 * 10.0 ** -len(claim.printed.partition(".")[2])
        room = abs(value) * _TOLERANCE if claim.within is None else claim.within
        printed, accepted = Interval.around(value, half_width), Interval.around(value, room)
        return Judged(claim, shown, text, verdict(own, printed, accepted))

    def judged_groups(self) -> Iterator[tuple[Mapping[str, Any], list[Judged]]]:
        for group in self.data["claims"]:
            yield group, [self.judged(claim) for claim in self.claims_of(group)]

    def tables(self) -> dict[str, Table]:
        """The tables of the page by their markers."""
        found = {}
        for group, judged in self.judged_groups():
            rows = [(one.claim.quantity, *one[1:], one.claim.why) for one in judged]
            units = {one.claim.unit for one in judged}
            title = f"{group['title']}, {units.pop()}" if len(units) == 1 and units != {""} else group["title"]
            note = f"{group.get('note', '')} Source: {group['source']}.".strip()
            found[group["marker"]] = Table.of(title, _JUDGED, rows, note).without_empty()
        for table in self.data.get("tables", ()):
            columns = [Column(one["title"], one.get("format") or NAME) for one in table["columns"]]
            rows = [[self._cell(column, row) for column in table["columns"]] for row in self._rows(table)]
            found[table["marker"]] = Table.of(table["title"], columns, rows, table.get("note", ""))
        return found

    def _cell(self, column: Mapping[str, str], row: Mapping[str, Any]) -> str | Estimate | None:
        if "field" in column:
            return _filled(row.get(column["field"], ""), row)
        found = self.figure(*_sources(column, row))
        return found and _estimate(found)

    def overview(self) -> Table:
        """The number of claims with each verdict, by group."""
        rows = []
        for group, judged in self.judged_groups():
            counts = Counter(one.verdict for one in judged)
            rows.append((group["title"], *(counts[one] for one in Verdict), group["finding"]))
        return Table.of("Verdicts", ("claims", *Verdict, Column("finding", TEXT)), rows)

    def document(self) -> Document:
        counts = Counter(one.verdict for _, judged in self.judged_groups() for one in judged)
        sentence = f"{counts.total()} claims: " + ", ".join(f"{counts[one]} {one}" for one in Verdict) + "."
        tables = (self.overview(), *self.tables().values())
        return Document(
            self.data["title"],
            (sentence, self.data["work"]),
            sections=tuple(Section(table.title, (table,)) for table in tables),
        )

    def blocks(self) -> dict[Path, dict[str, str]]:
        """Tables of the pages, by page and marker."""
        tables = {
            marker: markdown_table(table) + (f"\n{table.note}\n" if table.note else "")
            for marker, table in self.tables().items()
        }
        note = HERE.parent / f"{self.name}.md"
        return {note: {"verdicts": markdown_table(self.overview())}, note.with_stem(f"{self.name}-tables"): tables}


def _estimate(figure: Measured) -> Estimate:
    return Estimate(figure.mean, figure.half_width or None)


def _filled(value: Any, row: Mapping[str, Any]) -> Any:
    return value.format(**row) if isinstance(value, str) else value


def _sources(column: Mapping[str, str], row: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a cell's figure, or the expression for it; both empty where the row has none."""
    try:
        return _filled(column.get("measured", ""), row), _filled(column.get("exact", ""), row)
    except KeyError:
        return "", ""


def measure(study: Study, folder: Path) -> dict[str, Measured]:
    """Measure the figures that the folder lacks; return all figures of the study."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Measured] = {}
    with ProcessPoolExecutor() as pool:
        running = {}
        for task, function, arguments in study.module.tasks(study.needed(), folder):
            path = folder / f"{re.sub('[^a-z0-9.,=-]+', '-', task.lower())}.json"
            if path.exists():
                found |= {name: Measured(*one) for name, one in json.loads(path.read_text("utf-8")).items()}
            else:
                running[pool.submit(function, *arguments)] = path
        for done, future in enumerate(as_completed(running), 1):
            write_whole(running[future], json.dumps(future.result(), indent=0))
            found |= future.result()
            print(f"{done} of {len(running)}: {running[future].stem}", flush=True)
    return {name: found[name] for name in study.needed() if name in found}


def output_of(command: str) -> str:
    """Run a command in a new folder; return its output."""
    from typer.testing import CliRunner

    from dealer.cli import commands_for
    from dealer.cli.shell.app import application

    words, before = command.split()[1:], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            result = CliRunner().invoke(application(commands_for(words)), words, prog_name="arena")
        finally:
            os.chdir(before)
    if result.exit_code:
        raise SystemExit(f"{command}: exit code {result.exit_code}\n{result.output}")
    return "```text\n" + "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines()) + "```\n"


def main(name: str = "", folder: str = "") -> None:
    if name not in NAMES:
        raise SystemExit(f"usage: python docs/studies/study.py NAME [FOLDER], with NAME one of {', '.join(NAMES)}")
    path = HERE / f"{name}.csv"
    if folder:
        write_figures(path, measure(Study(name, {}), Path(folder)))
    study = Study(name, read_figures(path))
    blocks = study.blocks()
    if folder:
        blocks[HERE.parent / f"{name}-tables.md"] |= {
            marker: output_of(command) for marker, command in study.data.get("outputs", {}).items()
        }
        Path(folder, f"{name}.html").write_text(format_page(study.document()), "utf-8")
    for page, of_page in blocks.items():
        page.write_text(with_blocks(page.read_text("utf-8"), of_page), "utf-8")
    print(study.document().sentences[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
