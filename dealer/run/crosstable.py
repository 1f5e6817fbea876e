"""Crosstables and rankings of a tournament as text that other programs take: CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import enum
import io
import re
from collections.abc import Sequence

from dealer.run.results import CrosstableCell, GameStandings, Rank
from logs.estimation.mean import signed

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


class TableFormat(enum.StrEnum):
    """How tables are written."""

    CSV = "csv"
    """A line per bot and opponent with plain numbers; the mean over all contests has no opponent."""
    MARKDOWN = "markdown"
    LATEX = "latex"


def crosstable_title(standings: GameStandings) -> str:
    """What the cells of a crosstable are."""
    without_luck = ", without the luck of the cards" if standings.corrected_mbb_per_game else ""
    return f"mbb/g of row against column{without_luck}, ± 95 % (standard error)"


def crosstable_rows(standings: GameStandings) -> list[list[str]]:
    """What the bot of a row won from that of a column and in the mean, in mbb/g; the first row and column are names.

    Figures are without the luck of the cards where all contests have that.
    """
    order = [rank.player for rank in standings.total_bankroll]
    cells = {(cell.player, cell.opponent): cell for cell in standings.crosstable}
    rows = [["", *order, "mean"]]
    for name in order:
        found = [*(cells.get((name, other)) for other in order), standings.mean_of(name)]
        rows.append([name, *("" if cell is None else _cell(*cell.figures) for cell in found)])
    return rows


def _cell(mbb: float, half_width: float | None, error: float | None) -> str:
    half = "" if half_width is None else f" ± {half_width:,.0f}"
    return f"{signed(mbb)}{half}{'' if error is None else f' ({error:,.0f})'}"


def ranking_rows(standings: GameStandings) -> list[list[str]]:
    """Both rankings side by side, under a row of headings."""
    rows = [["place", "total bankroll", "place", "instant run-off"]]
    for first, second in zip(standings.total_bankroll, standings.instant_runoff, strict=True):
        rows.append([str(first.place), _named(first), str(second.place), _named(second)])
    return rows


def _named(rank: Rank) -> str:
    return rank.player if rank.confidence is None else f"{rank.player} ({rank.confidence:.0%})"


def standings_text(standings: GameStandings, form: TableFormat) -> str:
    """A game's crosstable and, unless it is CSV, its rankings."""
    if form is TableFormat.CSV:
        return _csv(standings)
    write = _markdown if form is TableFormat.MARKDOWN else _latex
    cells, ranks = crosstable_rows(standings), ranking_rows(standings)
    return write(cells, "l" + "r" * (len(cells[0]) - 1)) + "\n" + write(ranks, "rlrl")


def _csv(standings: GameStandings) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    kinds = [name for name in CrosstableCell.model_fields if name.endswith(("mbb_per_game", "half_width_95", "_error"))]
    writer.writerow(("game", "player", "opponent", *kinds[:2], "hands", *kinds[2:]))
    means = [standings.mean_of(rank.player) for rank in standings.total_bankroll]
    for cell in (*standings.crosstable, *means):
        figures = ["" if (figure := getattr(cell, kind)) is None else f"{figure:.4f}" for kind in kinds]
        hands = cell.hands if cell.opponent else None
        writer.writerow((standings.game, cell.player, cell.opponent, *figures[:2], hands, *figures[2:]))
    return text.getvalue()


def _markdown(rows: Sequence[Sequence[str]], alignment: str) -> str:
    marks = [{"l": "---", "r": "---:"}[letter] for letter in alignment]
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (escaped[0], marks, *escaped[1:]))


def _latex(rows: Sequence[Sequence[str]], alignment: str) -> str:
    lines = [" & ".join(map(_latex_cell, row)) + r" \\" for row in rows]
    inner = "\n".join([lines[0], r"\hline", *lines[1:]])
    return f"\\begin{{tabular}}{{{alignment}}}\n{inner}\n\\end{{tabular}}\n"


def _latex_cell(cell: str) -> str:
    if re.fullmatch(r"[+-][\d,]+( ± [\d,]+)?( \([\d,]+\))?", cell):
        number = cell.replace(",", "{,}").replace("±", r"\pm")
        return f"${number}$"
    return "".join(_LATEX.get(char, f"\\{char}" if char in "&%$#_{}" else char) for char in cell)
