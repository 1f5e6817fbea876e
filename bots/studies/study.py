"""The claims and tables of a publication, judged by figures.

The figures of ``NAME.csv`` are measured ones, by name, and values of expressions, by their text. So claims are judged
without a computation. Measuring imports the module of the publication, such as `bots.studies.measure_kuhn`, whose
functions the expressions call.
"""

from __future__ import annotations

import importlib
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

from bots.studies.claims import Claim, Judged, Verdict, estimate_of, judged, verdict_on_table
from bots.studies.measured import Measured, read_figures
from logs.document import TEXT, Column, Document, Section, Table
from logs.document.values import NAME
from logs.estimation import Estimate

FOLDER: Final = Path(__file__).resolve().parent
NAMES: Final = ("evolved", "kuhn", "learner", "lp-mc", "rembrant")
_JUDGED: Final = ("", "printed", "ours", Column("verdict"), Column("because", TEXT))


class JudgedGroup(NamedTuple):
    """Claims of one group.

    Attributes:
        group: the group as `NAME.toml` has it. With a `statement` it is one claim, and the others are the cells of its
            table.
    """

    group: Mapping[str, Any]
    claims: Sequence[Judged]

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Verdict of each claim, or the verdict on the statement of a table."""
        verdicts = [claim.verdict for claim in self.claims]
        if "statement" in self.group:
            return [verdict_on_table(verdicts)]
        return verdicts

    @property
    def counts(self) -> Counter[Verdict]:
        """Number of claims with each verdict."""
        return Counter(self.verdicts)

    @property
    def table(self) -> Table:
        rows = [(row.claim.quantity, row.printed, row.ours, row.verdict, row.claim.why) for row in self.claims]
        units = {row.claim.unit for row in self.claims}
        title = self.group["title"]
        if len(units) == 1 and units != {""}:
            title += f", {units.pop()}"
        note = f"Source: {self.group['source']}."
        if "note" in self.group:
            note = f"{self.group['note']} {note}"
        if "statement" in self.group:
            reproduced = sum(row.verdict is Verdict.REPRODUCED for row in self.claims)
            note = (
                f"One claim, {self.verdicts[0]}: {self.group['statement']} "
                f"Reproduced are {reproduced} of {len(self.claims)} figures. {note}"
            )
        return Table.of(title, _JUDGED, rows, note).without_empty()


class Study:
    """The claims and tables of a publication, judged by figures."""

    def __init__(self, name: str, figures: Mapping[str, Measured]) -> None:
        self.name = name
        self.figures = figures
        self.data = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))

    @cached_property
    def module(self) -> ModuleType:
        """The functions of the expressions, and the measurements."""
        return importlib.import_module(f"bots.studies.measure_{self.name.replace('-', '_')}")

    def claims_of(self, group: Mapping[str, Any]) -> list[Claim]:
        """Claims of a group, whose statement has the fields of each row in braces."""
        claims = []
        for number, row in enumerate(self._rows(group), 1):
            values = {**group, **row, "key": f"{self.group_key(group)}.{number}"}
            known = {field.name: _filled(values[field.name], row) for field in fields(Claim) if field.name in values}
            claims.append(Claim(**known))
        return claims

    def group_key(self, group: Mapping[str, Any]) -> str:
        """Return the name of a group, such as ``kuhn.larger-games``."""
        return f"{self.name}.{group['marker'].replace(' ', '-')}"

    def _rows(self, part: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        if "rows" in part:
            rows: Sequence[Mapping[str, Any]] = part["rows"]
            return rows
        sources = part["rows_of"]
        if isinstance(sources, str):
            sources = [sources]
        groups = {group["marker"]: group for group in self.data["claims"]}
        return [row for source in sources for row in self._rows(groups[source])]

    @property
    def tables_data(self) -> Sequence[Mapping[str, Any]]:
        tables: Sequence[Mapping[str, Any]] = self.data.get("tables", ())
        return tables

    def _sources(self) -> list[tuple[str, str]]:
        """Name of the figure, or expression, of every claim and cell."""
        pairs = []
        for group in self.data["claims"]:
            for claim in self.claims_of(group):
                pairs.append((claim.measured, claim.exact))
                if isinstance(claim.uncertainty, str):
                    pairs.append(("", claim.uncertainty))
        for table in self.tables_data:
            pairs += [_sources(column, row) for row in self._rows(table) for column in table["columns"]]
        return pairs

    def needed(self) -> list[str]:
        """Return the names of all measured figures that claims and tables need."""
        names: list[str] = []
        for name, expression in self._sources():
            names += [name] if name else self.names_in(expression)
        return list(dict.fromkeys(names))

    def names_in(self, expression: str) -> list[str]:
        """Return the names of the measured figures that an expression needs."""
        if "measured" not in expression:
            return []
        names: list[str] = []

        def record(name: str) -> Measured:
            names.append(name)
            # Not 0, by which an expression may divide.
            return Measured(1.0)

        self._value(expression, record)
        return list(dict.fromkeys(names))

    def expressions(self) -> list[str]:
        """Return all expressions of claims and tables."""
        return [text for text in dict.fromkeys(expression for _, expression in self._sources()) if text]

    def evaluated(self, expression: str) -> Measured:
        """Compute the value of an expression from the measured figures."""
        return self._value(expression, self.figures.__getitem__)

    def _value(self, expression: str, measured: Callable[[str], Measured]) -> Measured:
        names = {**vars(self.module), **self.data.get("constants", {}), "measured": measured}
        value = eval(expression, names)
        if isinstance(value, Measured):
            return value
        return Measured(float(value))

    def judged(self, claim: Claim) -> Judged:
        uncertainty = claim.uncertainty
        if isinstance(uncertainty, str):
            uncertainty = self.figures[uncertainty].mean
        return judged(claim, self.figures.get(claim.exact or claim.measured), uncertainty)

    def judged_groups(self) -> Iterator[JudgedGroup]:
        for group in self.data["claims"]:
            yield JudgedGroup(group, [self.judged(claim) for claim in self.claims_of(group)])

    def counts(self) -> Counter[Verdict]:
        """Return the number of claims with each verdict."""
        total: Counter[Verdict] = Counter()
        for group in self.judged_groups():
            total += group.counts
        return total

    def tables(self) -> dict[str, Table]:
        """Return the tables of the page by their markers."""
        tables = {}
        for group in self.judged_groups():
            tables[group.group["marker"]] = group.table
        for table in self.tables_data:
            columns = [Column(column["title"], column.get("format") or NAME) for column in table["columns"]]
            cells = [[self._cell(column, row) for column in table["columns"]] for row in self._rows(table)]
            tables[table["marker"]] = Table.of(table["title"], columns, cells, table.get("note", ""))
        return tables

    def _cell(self, column: Mapping[str, str], row: Mapping[str, Any]) -> str | Estimate | None:
        if "field" in column:
            text: str = _filled(row.get(column["field"], ""), row)
            return text
        measured, exact = _sources(column, row)
        figure = self.figures.get(exact or measured)
        return figure and estimate_of(figure)

    def overview(self) -> Table:
        """Return the number of claims with each verdict, by group."""
        rows = []
        for group in self.judged_groups():
            counts = group.counts
            rows.append((group.group["title"], *(counts[verdict] for verdict in Verdict), group.group["finding"]))
        return Table.of("Verdicts", ("claims", *Verdict, Column("finding", TEXT)), rows)

    def unjudged(self) -> Sequence[Mapping[str, Any]]:
        """Return the printed tables that are not judged, each with title, source, number of figures and reason."""
        tables: Sequence[Mapping[str, Any]] = self.data.get("unjudged", ())
        return tables

    def document(self) -> Document:
        tables = (self.overview(), *self.tables().values())
        return Document(
            self.data["title"],
            (counts_sentence([self]), self.data["work"]),
            sections=tuple(Section(table.title, (table,)) for table in tables),
        )


def read_study(name: str) -> Study:
    """Read a study with its stored figures."""
    return Study(name, read_figures(FOLDER / f"{name}.csv"))


def counts_sentence(studies: Iterable[Study]) -> str:
    """Compose a sentence with the number of claims and of each verdict."""
    counts: Counter[Verdict] = Counter()
    for study in studies:
        counts += study.counts()
    return f"{counts.total()} claims: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict) + "."


def _filled(value: Any, row: Mapping[str, Any]) -> Any:
    return value.format(**row) if isinstance(value, str) else value


def _sources(column: Mapping[str, str], row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of a cell's figure, or the expression for it; both empty where the row has none."""
    try:
        return _filled(column.get("measured", ""), row), _filled(column.get("exact", ""), row)
    except KeyError:
        return "", ""
