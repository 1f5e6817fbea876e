"""Claims of the publications: complete, and judged by the printed numbers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from bots.studies.claims import Claim, Verdict
from bots.studies.study import FOLDER, NAMES, Study, read_study
from tests.scripts import script

PAGES = script("research/studies/study.py")
STUDIES = {name: read_study(name) for name in NAMES}


def claims_of(study: Study) -> Iterator[Claim]:
    for group in study.data["claims"]:
        yield from study.claims_of(group)


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_has_a_source_and_a_key_of_its_own(name: str) -> None:
    claims = list(claims_of(STUDIES[name]))
    assert claims
    assert all(claim.source and claim.quantity for claim in claims)
    assert len({claim.key for claim in claims}) == len(claims)


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_a_row_is_used(name: str) -> None:
    known = set(Claim.__dataclass_fields__)
    data = STUDIES[name].data
    for part in (*data["claims"], *data.get("tables", ())):
        columns = part.get("columns", ())
        used = {*re.findall(r"{(\w+)}", str(part)), *(column.get("field", "") for column in columns)}
        for row in part.get("rows", ()):
            assert set(row) <= used | (set() if columns else known)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_print_changes_the_verdict(name: str) -> None:
    """A number far from our figure is not reproduced, and refuted unless the print is very noisy."""
    study = STUDIES[name]
    changed = []
    for claim in claims_of(study):
        if study.judged(claim).verdict is Verdict.REPRODUCED and claim.printed[0] not in "<>":
            other = replace(claim, printed=f"{3 * float(claim.printed) + 7:.2f}")
            changed.append(study.judged(other).verdict)
    assert Verdict.REFUTED in changed
    assert Verdict.REPRODUCED not in changed


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_print_in_the_file_changes_the_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = STUDIES[name]
    claim = next(claim for claim in claims_of(study) if study.judged(claim).verdict is Verdict.REPRODUCED)
    before = study.overview()
    text = (FOLDER / f"{name}.toml").read_text("utf-8")
    number = claim.printed.removeprefix(">").strip()
    changed = text.replace(f'printed = "{claim.printed}"', f'printed = "{3 * float(number) + 7:.2f}"')
    assert changed != text
    other = read_study(name)
    monkeypatch.setattr(other, "data", tomllib.loads(changed))
    assert other.overview() != before


def test_the_page_of_claims_is_made_of_the_data() -> None:
    page = (PAGES.APPENDIX / "claims.md").read_text("utf-8")
    assert PAGES.with_blocks(page, PAGES.claims_blocks()) == page
    assert all(claim.quantity in page for study in STUDIES.values() for claim in claims_of(study))


def test_printed_tables_that_are_not_judged_have_a_reason() -> None:
    for study in STUDIES.values():
        for part in study.unjudged():
            assert part["title"]
            assert part["source"]
            assert part["why"]
            assert part["figures"] >= 0
