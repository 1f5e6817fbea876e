"""A result as a value, and the renderers that show it in every medium.

- `values`: the document: sentences, facts, tables, charts, grids of starting hands, hands
- `terminal`, `page` (HTML, with `chart` for SVG), `plain` (JSON, Markdown, LaTeX, CSV): the renderers
"""

from logs.document.values import (
    ABSENT,
    CODE,
    NAME,
    TEXT,
    Axis,
    Bars,
    Chart,
    Column,
    Document,
    Fact,
    HandGrid,
    Link,
    Marked,
    Part,
    Particulars,
    Replay,
    Section,
    Series,
    Shares,
    Table,
    Tone,
    Toned,
    Value,
    text_of,
)

__all__ = [
    "ABSENT",
    "CODE",
    "NAME",
    "TEXT",
    "Axis",
    "Bars",
    "Chart",
    "Column",
    "Document",
    "Fact",
    "HandGrid",
    "Link",
    "Marked",
    "Part",
    "Particulars",
    "Replay",
    "Section",
    "Series",
    "Shares",
    "Table",
    "Tone",
    "Toned",
    "Value",
    "text_of",
]
