"""Matches that the reference dealer played in 2012, played again from their seed and their actions.

1,000 hands each, two and three players, limit and no-limit. The logs are all that is needed: cards come from the seed,
seats answer with the actions of the log, and every STATE line and the SCORE line must come out as they were.
"""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from tests.conformance.scripted import DATA, Game, assert_same, play, script_of_log

LOGS = sorted((DATA / "dealer2012").glob("*.log.xz"))


def _results(log: str) -> bytes:
    return "".join(line + "\n" for line in log.splitlines() if line.startswith(("STATE:", "SCORE:"))).encode()


@pytest.mark.slow  # a thousand hands each; those of `test_recorded_matches` are dealt by the same reference
@pytest.mark.parametrize("path", LOGS, ids=lambda p: p.name.removesuffix(".log.xz"))
def test_the_log_of_2012_comes_out_again(path: Path, tmp_path: Path) -> None:
    log = lzma.decompress(path.read_bytes()).decode()
    header = re.match(r"# name/game/hands/seed (\S+) \S*/(\S+) (\d+) (\d+)\n", log)
    assert header
    name, game, hands, seed = header.groups()
    names = log.rstrip().rpartition(":")[2].split("|")
    definition = DATA / "games" / game
    outcome = play(
        tmp_path,
        [name, game, hands, seed, *names, "-q"],
        script_of_log(log, Game.read(definition), names),
        files={game: definition.read_bytes()},
    )
    assert outcome.rc == 0
    assert_same("log", _results(log), _results((outcome.log or b"").decode()))
