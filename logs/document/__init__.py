"""A result as a value, and the renderers that show it in every medium.

- `values`: the document: sentences, facts, tables, charts, hands
- `terminal`, `page` (HTML, with `chart` for SVG), `plain` (JSON, Markdown, CSV): the renderers
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
    Link,
    Replay,
    Section,
    Series,
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
    "Link",
    "Replay",
    "Section",
    "Series",
    "Table",
    "Tone",
    "Toned",
    "Value",
    "text_of",
]
