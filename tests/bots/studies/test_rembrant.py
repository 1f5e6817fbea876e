"""The study of Rembrant: its tables against its sentences."""

from __future__ import annotations

import pytest

from bots.studies import rembrant
from bots.studies.rembrant import rembrant_report
from bots.studies.report import Claims, Verdict


def verdicts() -> list[Verdict]:
    (section,) = rembrant_report().sections
    (claims,) = section.parts
    assert isinstance(claims, Claims)
    return [row.verdict for row in claims.rows]


def test_the_claims_are_judged() -> None:
    exact, refuted, open_ = [Verdict.REPRODUCED] * 2, [Verdict.REFUTED], [Verdict.UNDECIDED] * 2
    assert verdicts() == exact + refuted + open_


def test_a_table_less_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rembrant, "PREFLOP_TABLES", dict(list(rembrant.PREFLOP_TABLES.items())[1:]))
    assert verdicts()[0] is Verdict.NOT_REPRODUCED
