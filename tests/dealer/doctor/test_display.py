"""Printed reports of the doctor: lines with a mark under the wrong byte, tables and sentences."""

from __future__ import annotations

import json
from functools import cache

import pytest

from dealer.cli.shell.documents import show_document
from dealer.doctor.findings import (
    SCHEMA_VERSION,
    DoctorReport,
    doctor_document,
)
from logs.document import Document
from tests.dealer.cli.conftest import window
from tests.dealer.doctor.local_host import examine
from tests.dealer.doctor.peers import FAULTS, Peer, WithLf
from tests.dealer.helpers import ROOT, game

WIDTH = 100


def print_lines(document: Document, width: int = WIDTH) -> list[str]:
    terminal, output = window(width)
    show_document(terminal, document)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def findings(report: DoctorReport, width: int = WIDTH) -> list[str]:
    """Printed lines of the findings."""
    lines = print_lines(doctor_document(report), width)
    return lines[lines.index("Findings") + 1 :]


@cache
def report_on(name: str) -> DoctorReport:
    fault = FAULTS[name]
    return examine(fault.make, game(fault.game)).report(bot=name, game=fault.game)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("total of the round", "binary noise") else pytest.mark.slow)
        for name in FAULTS
    ],
)
def test_finding_fits_its_width_in_full(name: str) -> None:
    report = report_on(name)
    for width in (40, 60, 100):
        lines = findings(report, width)
        assert max(map(len, lines), default=0) <= width
        assert all(line.isprintable() for line in lines)
        text = " ".join(" ".join(lines).split())
        for finding in report.findings:
            assert f"{finding.severity} {finding.kind}, " in text
            for part in (finding.wrong[1:], finding.expected, finding.advice):
                assert " ".join(part.split()) in text
            if finding.line:
                assert any(line.endswith((f"^ byte {finding.byte}", f"byte {finding.byte} ^")) for line in lines)


def test_finding_marks_its_byte() -> None:
    assert findings(report_on("folds for nothing")) == [
        "error fold-refused, 70 times, in check-down, folds, bets, raises and 10 more",
        " dealer sent MATCHSTATE:0:0:c:5d5c|",
        r"    bot sent MATCHSTATE:0:0:c:5d5c|:f\r\n",
        "                                    ^ byte 24",
        "       wrong A fold is not allowed because there is nothing to call; a dealer plays a check.",
        "    expected c or r",
        "      remedy Send c when there is nothing to call. A check costs nothing.",
    ]


def test_crash_shows_the_output_of_the_bot() -> None:
    assert findings(report_on("crashes on the river"))[-1] == "      output the last words"


def test_table_of_situations_has_counts_and_results() -> None:
    lines = print_lines(doctor_document(report_on("crashes on the river")))
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in lines if line.strip()}
    assert rows["handshake"] == "- - - - ok"
    assert rows["check-down"] == "1 0 3 0 crashed"
    assert rows["folds"].endswith("ok")
    assert rows["all-in"] == "- - - - not in this game: bets never reach the stacks"
    assert rows["end-of-match"] == "- - - - not tried"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("folds for nothing", "1 error found in 148 answers and 32 hands of limit."),
        ("LF alone", "1 warning found in "),
        ("CR LF in the echo", "2 errors found in "),
    ],
)
def test_sentence_counts_errors_and_warnings(name: str, sentence: str) -> None:
    assert report_on(name).sentence.startswith(sentence)


def test_sentence_names_unchecked_actions() -> None:
    report = report_on("the word")
    assert "It never folds and never raises, so this could not be checked." in report.sentence


def test_report_survives_a_round_trip_as_json() -> None:
    report = report_on("binary noise")
    data = json.loads(report.model_dump_json())
    assert data["schema_version"] == SCHEMA_VERSION
    assert data["result"] == "faulty"
    assert data["errors"] == 2
    assert data["warnings"] == 0
    by_kind = {finding["kind"]: finding for finding in data["findings"]}
    assert by_kind["nul-byte"]["line"].encode("latin-1") == bytes(range(11))
    assert by_kind["nul-byte"]["byte"] == 1
    assert DoctorReport.model_validate(data) == report


def test_warning_leaves_a_bot_sound() -> None:
    report = examine(WithLf, game("kuhn")).report(bot="x", game="kuhn")
    assert report.result == "sound"
    assert report.warnings == 1
    report = examine(Peer, game("nolimit")).report(bot="x", game="nolimit")
    assert report.result == "sound"
    assert report.findings == []
    assert report.sentence.startswith("Nothing wrong found in ")
    assert report.sentence.endswith(" of nolimit.")
    assert report.hands == sum(row.hands for row in report.situations)


def test_guide_shows_the_output() -> None:
    guide = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    example = guide.split("```text\n")[1].split("```")[0].splitlines()
    assert findings(report_on("total of the round")) == example
