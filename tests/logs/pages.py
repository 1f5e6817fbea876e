"""Check of HTML pages: balanced tags and fetched resources."""

from __future__ import annotations

from html.parser import HTMLParser


class PageChecker(HTMLParser):
    """Parser that tracks open elements and collects the resources a page fetches."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        for name, value in attrs:
            is_link = name in ("src", "href", "data", "action", "srcset") or name.endswith(":href")
            if is_link and value is not None and not value.startswith("#"):
                self.fetched.append(value)
        if tag not in ("meta", "link", "br", "img", "input", "path", "use"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "use"):
            assert self.open.pop() == tag


def checked_page(page: str) -> PageChecker:
    """Parse a page and check that every element is closed."""
    checker = PageChecker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker
