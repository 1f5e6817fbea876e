"""The study of `lp-mc`: its verdicts, and matches that are played once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.errors import CheckpointError
from bots.studies import lp_mc
from bots.studies.lp_mc import MatchWinnings, lp_mc_report
from bots.studies.report import Claims, Verdict


def verdicts(won: dict[str, MatchWinnings]) -> list[Verdict]:
    (claims,) = lp_mc._whole_bot(won).parts
    assert isinstance(claims, Claims)
    return [row.verdict for row in claims.rows]


def test_verdicts_on_the_whole_bot_can_fail() -> None:
    good = {
        "raising": MatchWinnings(4000, 1.4, 0.1),
        "random": MatchWinnings(4000, 0.85, 0.1),
        "calling": MatchWinnings(4000, 0.7, 0.1),
    }
    assert verdicts(good) == [Verdict.REPRODUCED] * 4
    assert verdicts({**good, "raising": MatchWinnings(4000, 2.5, 0.1)})[0] is Verdict.NOT_REPRODUCED
    assert verdicts({**good, "calling": MatchWinnings(4000, 0.7, 0.8)})[2:] == [Verdict.UNDECIDED, Verdict.UNDECIDED]
    assert verdicts({**good, "random": MatchWinnings(2, 0.85, 0.0)})[1::2] == [Verdict.UNDECIDED, Verdict.UNDECIDED]


def test_a_damaged_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "matches.jsonl").write_text('{"hands": 4, "seed": 2013}\n["nobody", 4, 1.0, 0.1]\n', "utf-8")
    with pytest.raises(CheckpointError, match=r"matches\.jsonl.*holds other things"):
        lp_mc_report(tmp_path, 4)


@pytest.mark.slow  # solves the game some eight times
def test_the_tables_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[float] = []
    report = lp_mc_report(tmp_path, 4, show=parts.append)
    assert parts == pytest.approx([1 / 3, 2 / 3, 1])
    before, _ = report.sections
    judged = {row[0]: row[-2] if len(row) > 4 else row[-1] for view in before.tables for row in view.rows}
    assert judged["the small blind folds"] == "reproduced"
    assert judged["chips per hand that best responses win from an optimal strategy"] == "refuted"
    monkeypatch.setattr(lp_mc, "play_full", lambda *_: pytest.fail("it was played before"))
    assert lp_mc_report(tmp_path, 4) == report
