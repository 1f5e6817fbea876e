"""Recorded scenarios: handshakes, odd replies, limits, disconnects, clocks, command lines, resuming, game definitions.

`scenarios.json.xz` holds for each scenario the exit code, stdout, stderr, log, tlog and the bytes per seat. What the
seats did follows from the FROM lines of the expected stderr, the command line from its header; the rest, which leaves
no trace there, stands in `SETUPS`.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import scripted

SCENARIOS: dict[str, dict[str, Any]] = json.loads(lzma.decompress((scripted.DATA / "scenarios.json.xz").read_bytes()))

KUHN = (scripted.DATA / "games" / "kuhn.limit.2p.game").read_bytes()


@dataclass(slots=True)
class Setup:
    """Start of a scenario, as far as the header of its stderr does not state it."""

    args: list[str] | None = None
    names: list[str] = field(default_factory=lambda: ["Ann", "Bob"])
    options: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    hello: dict[int, bytes] = field(default_factory=dict)
    order: list[int] | None = None
    in_advance: bool = False
    connect: bool = True
    edit: Callable[[scripted.Script], None] | None = None


def _resumed_after_three_hands() -> Setup:
    """The files of a run that ended after hand 2: the first part of the expected ones, with times filled in."""
    expected = SCENARIOS["resume_clean"]
    first_run = expected["log"][: expected["log"].rindex("# name/")]
    stamps = [line for line in expected["tlog"].splitlines(keepends=True) if int(line.split()[1]) < 3]
    tlog = "".join(stamps).replace("T T", "1700000000.000001 1700000000.000002")
    return Setup(options=["-a"], files={"m.log": first_run.encode(), "m.tlog": tlog.encode()})


def _gamedef(text: bytes) -> Setup:
    return Setup(names=["A", "B"], files={"t.game": text})


SETUPS: dict[str, Setup] = {
    "cl_none": Setup(args=[]),
    "cl_nogame": Setup(args=["m", "/nonexistent.game", "1", "5", "Ann", "Bob"]),
    "cl_hands0": Setup(args=["m", "kuhn.limit.2p.game", "0", "5", "Ann", "Bob"]),
    "close_at_turn": Setup(edit=lambda script: script.say(0, b"", close=True)),
    "gd_ok": _gamedef(KUHN),
    "gd_crlf": _gamedef(KUHN.replace(b"\n", b"\r\n")),
    "gd_players_11": Setup(
        args=["m", "t.game", "2", "3", "A", "B"],
        files={"t.game": KUHN.replace(b"numPlayers = 2", b"numPlayers = 11")},
    ),
    "resume_clean": _resumed_after_three_hands(),
    "start_reverse_order": Setup(order=[1, 0]),
    "start_timeout_none": Setup(options=["--start_timeout", "300"], connect=False),
    "t_response_silent": Setup(in_advance=True),
    "version_garbage": Setup(hello={0: b"HELLO\r\n"}),
    "version_lf": Setup(hello={0: b"VERSION:2.0.0\n", 1: b"VERSION:2.0.0\n"}),
    "version_major1": Setup(hello={0: b"VERSION:1.0.0\r\n"}),
}

_DEFAULTS = {"t_response": "600000", "t_hand": "600000", "t_per_hand": "7000"}


def command_line(expected: dict[str, Any], setup: Setup) -> list[str]:
    """The arguments as the header of stderr tells them, and `-T` if there is a transaction log."""
    if setup.args is not None:
        return setup.args
    header = re.match(r"# name/game/hands/seed (\S+) (\S+) (\d+) (\d+)\n", expected["stderr"])
    assert header
    args = [*header.groups(), *setup.names, *setup.options]
    for option, value in re.findall(r"^#--(\w+) (\d+)$", expected["stderr"], re.MULTILINE):
        if _DEFAULTS[option] != value:
            args += [f"--{option}", value]
    return args if expected["tlog"] is None else [*args, "-T"]


def run(name: str, directory: Path) -> scripted.Outcome:
    expected, setup = SCENARIOS[name], SETUPS.get(name, Setup())
    args = command_line(expected, setup)
    files = {path.name: path.read_bytes() for path in (scripted.DATA / "games").iterdir()}
    script = None
    if setup.connect:
        script = scripted.script_of_transcript(expected["stderr"].encode("latin-1"), len(expected["rx"]))
        if setup.edit:
            setup.edit(script)
    return scripted.play(
        directory,
        args,
        script,
        files={**files, **setup.files},
        hello=setup.hello,
        order=setup.order,
        in_advance=setup.in_advance,
    )


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_the_scenario_is_reproduced(name: str, tmp_path: Path) -> None:
    expected = SCENARIOS[name]
    outcome = run(name, tmp_path)

    def recorded(what: str) -> bytes | None:
        return None if expected[what] is None else expected[what].encode("latin-1")

    scripted.assert_same("stderr", recorded("stderr"), scripted.mask_stderr(outcome.stderr))
    scripted.assert_same("stdout", recorded("stdout"), scripted.mask_ports(outcome.stdout))
    scripted.assert_same("log", recorded("log"), outcome.log)
    scripted.assert_same("tlog", recorded("tlog"), None if outcome.tlog is None else scripted.mask_times(outcome.tlog))
    assert outcome.rc == expected["rc"]
    assert {str(seat): data for seat, data in outcome.rx.items()} == {
        seat: data.encode("latin-1") for seat, data in expected["rx"].items()
    }
