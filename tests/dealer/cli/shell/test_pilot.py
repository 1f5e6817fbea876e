"""``arena play --plan``: a pilot that estimates the number of deals for a stop rule."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from dealer.run.results.result_sentences import rounded_up
from logs.estimation import IntervalWidth, Monitor, score_bounds
from protocol import find_game
from tests.dealer.cli.conftest import Arena
from tests.dealer.helpers import ARENA, PATIENCE_S, program_env, write_program
from tests.programs import start

KUHN = ("play", "kuhn", "calling", "random", "--in-process", "--seed", "3", "--plan")


def test_deals_follow_from_the_spread_of_the_pilot(arena_here: Arena, tmp_path: Path) -> None:
    result = arena_here(*KUHN, "--stop", "ci=20", "--json")
    planned = json.loads(result.out)
    pilot = planned["pilot"]
    first = pilot["players"][0]
    assert (result.code, result.err, pilot["duplicates"]) == (0, "", 1000)
    monitor = Monitor(IntervalWidth(20), score_bounds(find_game("kuhn")[1]))
    assert planned["deals"] == monitor.likely_units(first["standard_deviation"], first["won"]["raw"]["mean"])
    assert planned["seconds"] == pytest.approx(planned["deals"] * 2 / pilot["hands_per_second"])
    assert [*tmp_path.iterdir()] == []


def test_stop_rule_can_end_the_pilot(arena_here: Arena) -> None:
    planned = json.loads(arena_here(*KUHN, "--stop", "better:-1900,1900", "--json").out)
    assert planned["deals"] == planned["pilot"]["duplicates"] < 1000


def test_plan_can_exceed_the_configured_deals(arena_here: Arena) -> None:
    words = (*KUHN, "--stop", "ci=5", "-n", "150")
    about = f"{rounded_up(json.loads(arena_here(*words, '--json').out)['deals']):,}"
    pilot, plan = arena_here(*words).out.splitlines()[:2]
    assert pilot.startswith("A pilot of 150 deals took ")
    more = "more than the 150 that would be played"
    assert re.fullmatch(rf"--stop ci=5 is likely to need about {about} deals of kuhn, {more}: .+\.", plan)


NO_STOP_RULE = "--plan estimates the deals of a stop rule; add one, such as --stop ci=20 or --stop better:0,30"


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ((), 2, NO_STOP_RULE),
        (("--stop", "5000"), 2, NO_STOP_RULE),
        (("--stop", "ci=20", "-n", "50"), 1, "the pilot has 50 deals, and an estimate needs at least 100"),
    ],
)
def test_pilot_without_a_rule_is_refused(arena_here: Arena, options: tuple[str, ...], code: int, sentence: str) -> None:
    result = arena_here(*KUHN, *options)
    assert (result.code, result.sentence) == (code, sentence)


def test_failed_pilot_has_the_reason(arena_here: Arena, tmp_path: Path) -> None:
    bad = write_program(tmp_path, "bad.py", "raise SystemExit(3)")
    result = arena_here("play", "leduc", bad, "random", "--stop", "ci=20", "--plan")
    assert (result.code, result.out) == (1, "")
    assert "exit code 3" in result.sentence
    assert not (tmp_path / "runs").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(
    ("options", "number"), [((), signal.SIGINT), (("--in-process", "--no-duplicate"), signal.SIGTERM)]
)
def test_interrupted_pilot_is_removed(tmp_path: Path, number: signal.Signals, options: tuple[str, ...]) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\n"
        "from bots import Bot\n"
        "class Slow(Bot):\n"
        "    def act(self, view):\n"
        "        pathlib.Path('playing').touch()\n"
        "        time.sleep(0.2)\n"
        "        return view.call()\n"
    )
    words = ["play", "kuhn", "slow.py:Slow", "calling", "--stop", "ci=20", "--plan", *options]
    process = start([*ARENA, *words], cwd=tmp_path, env=program_env(TMPDIR=str(tmp_path)))
    try:
        until = time.monotonic() + PATIENCE_S
        while not (tmp_path / "playing").exists():
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, b"")
    assert re.search(rb"arena: interrupted; the pilot has \d+ deals?, and an estimate needs at least 100", err)
    assert not [*tmp_path.glob("arena-plan-*")]
