"""Releases: the version, the README on a package index, lengths of documents."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_version_is_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert version("acpc-arena") == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "version:" not in (ROOT / "CITATION.cff").read_text("utf-8").removeprefix("cff-version:")


def test_readme_on_an_index_has_no_relative_links() -> None:
    pytest.importorskip("hatchling")
    from hatch_build import index_readme

    text = (ROOT / "README.md").read_text("utf-8")
    text += 'See [a page](docs/a.md), [the site](https://example.com) and <img src="docs/a.png">.'
    relative = re.compile(r'(?:\]\(|src="|srcset=")(?!https?://|#)')
    without = index_readme(text.replace('<img src="docs/a.png">', "<picture>\n<img src='docs/a.png'></picture>"), None)
    assert not relative.search(without)
    assert "See a page, [the site](https://example.com) and ." in without
    linked = index_readme(text, "https://example.org/v1/")
    assert not relative.search(linked)
    assert "[a page](https://example.org/v1/docs/a.md)" in linked
    assert 'src="https://example.org/v1/docs/a.png"' in linked


def test_short_documents_stay_short() -> None:
    assert len((ROOT / "SECURITY.md").read_text("utf-8").split()) <= 400
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").split()) <= 1200
