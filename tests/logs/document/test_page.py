from __future__ import annotations

from html.parser import HTMLParser

from logs.document import (
    CODE,
    NAME,
    Axis,
    Bars,
    Chart,
    Column,
    Document,
    Fact,
    Link,
    Marked,
    Replay,
    Section,
    Series,
    Table,
)
from logs.document.page import format_page
from logs.estimation import Estimate
from tests.logs.hands import random_hands

TABLE = Table(
    "Winnings",
    (Column("player", NAME), Column("won", "+,.1f", unit="mbb/g", meaning="per hand"), Column("board", NAME)),
    (("<b>mfs</b>", Link(Estimate(100.0, 20.0), "/pair", "mfs over rh"), "Ah Kd"), ("rh", Estimate(-5.0, 20.0), "")),
    "a note",
)


class _Tags(HTMLParser):
    """Opening tags of a page, and whether each is closed in order."""

    void = frozenset({"meta", "link", "br", "input", "line", "circle", "rect", "polyline", "polygon", "path", "img"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.void:
            assert self.stack.pop() == tag


def _page(*parts: str | Table | Chart | Bars | Replay) -> str:
    return format_page(
        Document("mfs & rh", ("It <wins>.",), (Fact("seed", 12),), (Section("Part", tuple(parts)),), ("quiet",))
    )


def test_user_text_is_escaped() -> None:
    page = _page(TABLE, "a <sentence>")
    assert "<b>mfs" not in page
    for text in ("mfs &amp; rh", "It &lt;wins&gt;.", "&lt;b&gt;mfs&lt;/b&gt;", "a &lt;sentence&gt;", "quiet", "a note"):
        assert text in page


def test_a_marked_line_is_escaped_once() -> None:
    table = Table("Faults", (Column("line", CODE),), ((Marked("a<b>&c", 2, 'byte "3"'),),))
    assert 'a&lt;<mark title="byte &quot;3&quot;">b</mark>&gt;&amp;c' in _page(table)


def test_the_tags_of_a_page_are_balanced_and_nothing_is_fetched() -> None:
    chart = Chart("Curve", Axis("hands"), Axis("chips"), (Series("a", (0, 1), (0, 1)), Series("b", (0, 1), (0, 2))))
    parsed = _Tags(_page(TABLE, chart, Bars("Bars", Axis("chips"), (("x", Estimate(1, 2)),)), "text"))
    assert parsed.stack == []
    assert not [tag for tag, values in parsed.tags if "src" in values or tag == "link"]


def test_winnings_beyond_chance_are_coloured() -> None:
    page = _page(TABLE)
    assert '<td class="won2"><a href="/pair" aria-label="mfs over rh">+100.0\xa0±\xa020.0</a></td>' in page
    assert '<td class="even">-5.0\xa0±\xa020.0</td>' in page


def test_cards_in_words_have_symbols() -> None:
    assert "A♥ K♦" in _page(TABLE)


def test_charts_that_follow_one_another_are_side_by_side() -> None:
    chart = Chart("Curve", Axis("hands"), Axis("chips"), (Series("a", (0, 1), (0, 1)),))
    assert _page(chart, chart).count('class="plots"') == 1
    assert _page(chart, "between", chart).count('class="plots"') == 0


def test_a_hand_is_replayed() -> None:
    record = random_hands("holdem.limit.2p.reverse_blinds", 1)[0]
    page = _page(Replay("The biggest pot", record))
    assert "The biggest pot" in page
    assert all(name in page for name in record.names)


def test_a_grouped_table_names_each_group_once() -> None:
    table = Table(
        "G",
        (Column("bot", NAME), Column("street", NAME), Column("n", ",")),
        (("a", "flop", 1), ("a", "turn", 2)),
        is_grouped=True,
    )
    page = _page(table)
    assert page.count("rowgroup") == 1
    assert _Tags(page).stack == []


def test_the_first_words_of_a_row_are_its_head() -> None:
    table = Table.of(
        "T", (Column("place", ","), Column("bot"), Column("won", "+,.0f", is_drawn=True)), [(1, "a", Estimate(5))]
    )
    page = _page(table)
    assert '<tr><td>1</td><th scope="row" class="words">a</th><td class="even">+5</td><td class="drawn"><svg' in page
    assert page.count('class="interval"') == 2


def test_several_values_in_a_cell_have_their_own_colours_and_addresses() -> None:
    table = Table.of("T", ("bot", Column("runs", "+,.0f")), [("a", (Link(Estimate(90, 20), "/1"), Estimate(-50, 20)))])
    assert (
        '<td><span class="won2"><a href="/1">+90\xa0±\xa020</a></span>, <span class="lost1">-50\xa0±\xa020</span></td>'
    ) in _page(table)


def test_brief_column_shows_its_interval_as_a_hint() -> None:
    rate = Link(Estimate(1250.0, 300.0), "/pairs/1", "a over b")
    table = Table.of("T", ("bot", Column("b", "+,.0f", is_brief=True)), [("a", rate)])
    page = _page(table)
    cell = '<td class="won2"><a href="/pairs/1" aria-label="a over b" title="+1,250\xa0±\xa0300">+1,250</a></td>'
    assert cell in page
    assert '<table class="cross">' in page
