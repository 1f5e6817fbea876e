"""Pages of documents whose tables are long."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from logs.document.values import Document, Table

ROWS_ON_PAGE: Final = 50


def page_count(rows: int, rows_on_page: int = ROWS_ON_PAGE) -> int:
    """Return the number of pages of a list; an empty list has one."""
    return max(1, -(-rows // rows_on_page))


def row_count(document: Document) -> int:
    """Return the number of rows of the longest table."""
    tables = [part for section in document.sections for part in section.parts if isinstance(part, Table)]
    return max((len(table.rows) for table in tables), default=0)


def document_page(document: Document, page: int) -> Document:
    """Return a page, counted from 1, with at most `ROWS_ON_PAGE` rows of every table.

    Other parts of sections are on the first page only.
    """
    sections = []
    for section in document.sections:
        parts = [_cut(part, page) if isinstance(part, Table) else part for part in section.parts]
        if page > 1:
            parts = [part for part in parts if isinstance(part, Table) and part.rows]
        if parts:
            sections.append(replace(section, parts=tuple(parts)))
    return replace(document, sections=tuple(sections))


def _cut(table: Table, page: int) -> Table:
    rows = slice((page - 1) * ROWS_ON_PAGE, page * ROWS_ON_PAGE)
    return replace(table, rows=table.rows[rows], meanings=table.meanings[rows], formats=table.formats[rows])
