"""Counts of the instructions of an export."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from bench.instructions import measure

COUNTER = """#!{python}
import pathlib, subprocess, sys
*_, python, option, job, log = sys.argv
log = pathlib.Path(log)
subprocess.run([python, option, job, log], check=True)
hands = (log.parent / "out" / next((log.parent / "out").iterdir())).read_text().count("PokerStars Hand")
lines = log.with_suffix(".tlog").read_text().count(chr(10)) if log.with_suffix(".tlog").exists() else 0
print(f"==1== I refs: {{10**6 + 1000 * hands + lines:,}}", file=sys.stderr)
"""


def test_without_valgrind_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match="valgrind, which counts instructions, is not installed"):
        measure(2)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_cost_of_a_hand_excludes_the_start_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A program in place of valgrind counts 1000 instructions a hand and 1 a line, after a million.
    counter = tmp_path / "valgrind"
    counter.write_text(COUNTER.format(python=sys.executable))
    counter.chmod(counter.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = measure(3)
    assert [row.group for row in rows] == [
        "PokerStars text from a log, limit",
        "PokerStars text from a log and its .tlog, limit",
        "PokerStars text from a log, nolimit",
        "PokerStars text from a log, nolimit6",
    ]
    limit, limit_with_times, nolimit, nolimit6 = (row.rate_median for row in rows)
    assert limit == nolimit == nolimit6 == 1000
    assert limit_with_times > 1000 + 1
    counter.write_text(f"#!{sys.executable}\nraise SystemExit('no counter')\n")
    with pytest.raises(RuntimeError, match="valgrind did not count: no counter"):
        measure(3)
