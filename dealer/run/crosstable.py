"""Crosstables and rankings of a tournament as text that other programs take: CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import enum
import io
import re

from dealer.run.results import CrosstableCell, GameStandings, Rank
from logs.document import NAME, Column, Table
from logs.document.plain import markdown_table
from logs.estimation.mean import signed

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


class TableFormat(enum.StrEnum):
    """How tables are written."""

    CSV = "csv"
    """A line per bot and opponent with plain numbers; the mean over all contests has no opponent."""
    MARKDOWN = "markdown"
    LATEX = "latex"


def crosstable(standings: GameStandings) -> Table:
    """Winnings of the bot of a row from that of a column and in the mean, in mbb/g.

    Figures are without the luck of the cards where all contests have that. A bot without a finished contest is marked.
    """
    order = standings.bots
    cells = {(cell.player, cell.opponent): cell for cell in standings.crosstable}
    rows = []
    for name in order:
        found = [*(cells.get((name, other)) for other in order), standings.mean_of(name)]
        label = f"{name} (unfinished)" if name in standings.unfinished else name
        rows.append([label, *("" if cell is None else _cell(*cell.figures) for cell in found)])
    without_luck = ", without the luck of the cards" if standings.corrected_mbb_per_game else ""
    title = f"mbb/g of row against column{without_luck}, ± 95 % (standard error)"
    return Table.of(title, ("", *(Column(name, ",", rank=place) for place, name in enumerate(order, 1)), "mean"), rows)


def _cell(mbb: float, half_width: float | None, error: float | None) -> str:
    half = "" if half_width is None else f" ± {half_width:,.0f}"
    return f"{signed(mbb)}{half}{'' if error is None else f' ({error:,.0f})'}"


def rankings(standings: GameStandings) -> Table:
    """Both rankings side by side."""
    columns = (
        Column("place", ","),
        Column("total bankroll", format=NAME),
        Column("place", ",", rank=1),
        Column("instant run-off", format=NAME),
    )
    return Table.of(
        "",
        columns,
        (
            (str(first.place), _named(first), str(second.place), _named(second))
            for first, second in zip(standings.total_bankroll, standings.instant_runoff, strict=True)
        ),
    )


def _named(rank: Rank) -> str:
    return rank.player if rank.confidence is None else f"{rank.player} ({rank.confidence:.0%})"


def standings_text(standings: GameStandings, form: TableFormat) -> str:
    """A game's crosstable and, unless it is CSV, its rankings."""
    if form is TableFormat.CSV:
        return _csv(standings)
    write = markdown_table if form is TableFormat.MARKDOWN else _latex
    return write(crosstable(standings)) + "\n" + write(rankings(standings))


def _csv(standings: GameStandings) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    kinds = [name for name in CrosstableCell.model_fields if name.endswith(("mbb_per_game", "half_width_95", "_error"))]
    writer.writerow(("game", "player", "opponent", *kinds[:2], "hands", *kinds[2:]))
    means = [cell for name in standings.bots if (cell := standings.mean_of(name)) is not None]
    for cell in (*standings.crosstable, *means):
        figures = ["" if (figure := getattr(cell, kind)) is None else f"{figure:.4f}" for kind in kinds]
        hands = cell.hands if cell.opponent else None
        writer.writerow((standings.game, cell.player, cell.opponent, *figures[:2], hands, *figures[2:]))
    return text.getvalue()


def _latex(table: Table) -> str:
    alignment = "".join("l" if column.is_words else "r" for column in table.columns)
    head, *lines = [" & ".join(map(_latex_cell, row)) + r" \\" for row in _with_head(table)]
    inner = "\n".join([head, r"\hline", *lines])
    return f"\\begin{{tabular}}{{{alignment}}}\n{inner}\n\\end{{tabular}}\n"


def _with_head(table: Table) -> list[list[str]]:
    return [[column.heading for column in table.columns], *table.texts]


def _latex_cell(cell: str) -> str:
    if re.fullmatch(r"[+-][\d,]+( ± [\d,]+)?( \([\d,]+\))?", cell):
        number = cell.replace(",", "{,}").replace("±", r"\pm")
        return f"${number}$"
    return "".join(_LATEX.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in cell)
