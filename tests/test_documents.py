"""Documents: links, navigation of the site, lengths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "research" / "tables"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "research/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(TABLES.glob("*.md")),
]


def _anchors(document: Path) -> set[str]:
    """Anchors that GitHub gives the headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_has_a_target(document: Path) -> None:
    text = document.read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    targets += re.findall(r'<(?:img src|source [^>]*srcset)="([^"]+)"', text)
    for target in targets:
        # MkDocs generates the reference, and checks links to it.
        if target.startswith(("http", "reference/")):
            continue
        name, _, anchor = target.partition("#")
        path = document.parent / name if name else document
        if name.startswith("appendix/"):
            path = TABLES / name.removeprefix("appendix/")
        assert path.exists(), target
        assert not anchor or path.suffix == ".png" or anchor in _anchors(path), target


@pytest.mark.parametrize("document", ["README.md", "CHANGELOG.md"])
def test_documents_count_the_lines_of_the_bot(document: str) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    count = sum(1 for line in program.splitlines() if line)
    words = ("six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    numbers = re.findall(rf"bot (?:takes|in) ({'|'.join(words)}) lines", (ROOT / document).read_text("utf-8"))
    assert numbers == [words[count - 6]]


def test_navigation_has_every_page() -> None:
    listed = re.findall(r"^ +- .*: ([\w.-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_pages_stay_short() -> None:
    """Tables belong to `research/tables`, and details to the generated reference."""
    assert sum(len(path.read_text("utf-8").split()) for path in (ROOT / "docs").glob("*.md")) <= 26_000


def test_documents_have_no_marks_of_a_merge() -> None:
    marks = re.compile(r"^(<{7}|>{7}) |^={7}$", re.MULTILINE)
    paths = [*DOCUMENTS, *ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("docs/**/*.md")]
    assert not [path.name for path in paths if marks.search(path.read_text("utf-8"))]
