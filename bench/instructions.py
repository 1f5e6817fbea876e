"""Processor instructions of `arena export`, which do not depend on the load of the machine.

valgrind counts them while a log is made into PokerStars text, for two lengths of the same match; the difference is what
a hand costs, without the start of the interpreter.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.export import SEED, random_records
from dealer.bench import Row
from logs import HandRecord, format_header, format_state_line, format_transaction
from protocol import find_game

_CASES = (("limit", False), ("limit", True), ("nolimit", False), ("nolimit6", False))
_LONGER = 3
_JOB = """
import sys
from pathlib import Path
from dealer.table.collector import relax_collector
from logs.conversion import convert
from logs.export import POKERSTARS
from logs.hand_source import find
relax_collector()
convert(find([sys.argv[1]]), (POKERSTARS,), folder=Path(sys.argv[1]).parent / "out")
"""
_COUNT = re.compile(r"I\s+refs:\s+([0-9,]+)")


def measure(hands: int = 2000) -> list[Row]:
    """Count the instructions of a hand of random play in each kind of game, with a transaction log and without.

    Args:
        hands: of the shorter match; the longer one has three times as many.

    Raises:
        RuntimeError: valgrind is not installed, or it fails.
        OSError: the temporary folder cannot be written.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise RuntimeError("valgrind, which counts instructions, is not installed")
    rows = []
    for game, has_tlog in _CASES:
        records = random_records(game, None, _LONGER * hands)
        counts = [_count(valgrind, game, records[:length], has_tlog=has_tlog) for length in (hands, len(records))]
        per_hand = (counts[1] - counts[0]) / (len(records) - hands)
        group = f"PokerStars text from a log{' and its .tlog' * has_tlog}, {game}"
        rows.append(Row(group, "acpc-arena", per_hand, per_hand, per_hand, "instructions/hand", None, ""))
    return rows


def _count(valgrind: str, game: str, records: Sequence[HandRecord], *, has_tlog: bool) -> int:
    """Count the instructions of an export, including the start of the interpreter."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "bench.log"
        name = find_game(game)[0]
        header = format_header("bench", name, len(records), SEED, t_response_ms=1, t_hand_ms=1, t_per_hand_ms=1)
        log.write_text(header + "".join(map(format_state_line, records)), "utf-8")
        if has_tlog:
            log.with_suffix(".tlog").write_text("".join(map(_transactions, records)), "utf-8")
        tool = [valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        done = subprocess.run(
            [*tool, sys.executable, "-c", _JOB, str(log)],
            env={**os.environ, "PYTHONHASHSEED": "0"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    match = _COUNT.search(done.stderr)
    if done.returncode or match is None:
        raise RuntimeError(f"valgrind did not count: {done.stderr.strip()[-200:]}")
    return int(match[1].replace(",", ""))


def _transactions(record: HandRecord) -> str:
    """Format the transactions of a hand, with an action every millisecond."""
    actions = [action for actions in record.betting.rounds for _, action in actions]
    begin_us = 1_700_000_000_000_000 + record.hand_number * 1_000_000
    times = range(begin_us, begin_us + 1000 * len(actions), 1000)
    return "".join(
        format_transaction(action, record.hand_number, at, at + 500) for action, at in zip(actions, times, strict=True)
    )
