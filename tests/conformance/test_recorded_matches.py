"""The recorded matches, replayed against the dealer: every byte of every stream and file, times apart.

Each recording holds the log, the transaction log, stderr and the SCORE line of a match, times replaced by T; the
manifest holds SHA-256 sums of the same and of all bytes each seat received. `wild` matches contain replies that the
dealer has to correct or refuse; `-q` matches have no transcript, so their seats are scripted from the log.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.scripted import (
    DATA,
    Game,
    Script,
    assert_same,
    mask_ports,
    mask_stderr,
    mask_times,
    play,
    script_of_log,
    script_of_transcript,
)

MATCHES: list[dict[str, Any]] = json.loads((DATA / "manifest.json").read_text())
QUIET = "-q"

QUICK = {
    "holdem.limit.2p.reverse_blinds.s0",
    "holdem.nolimit.6p.wild",
    "sidepots.nolimit.3p.wild",
    "kuhn.limit.3p.wild",
}
CASES = [
    pytest.param(match, id=match["name"], marks=[pytest.mark.slow] * (match["name"] not in QUICK)) for match in MATCHES
]


def recording(match: dict[str, Any]) -> dict[str, bytes]:
    """The recorded files of a match by extension."""
    return _unpacked(match["name"])


@cache
def _unpacked(name: str) -> dict[str, bytes]:
    raw = lzma.decompress((DATA / "matches" / f"{name}.tar.xz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
        members = {m.name.removeprefix(f"{name}."): tar.extractfile(m) for m in tar.getmembers()}
        return {ext: f.read() for ext, f in members.items() if f is not None}


def script_from_log(match: dict[str, Any], files: dict[str, bytes]) -> Script:
    return script_of_log(files["log"].decode(), Game.read(DATA / "games" / match["game"]), match["names"])


def script_of(match: dict[str, Any], files: dict[str, bytes]) -> Script:
    if QUIET in match["opts"].split():
        return script_from_log(match, files)
    return script_of_transcript(files["err"], len(match["names"]))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("match", CASES)
def test_the_recording_is_whole(match: dict[str, Any]) -> None:
    """The data agree with the manifest, and the log alone tells every byte of every seat."""
    files = recording(match)
    assert sha256(files["log"]) == match["sha_log"]
    assert sha256(files["tlog"]) == match["sha_tlog_masked"]
    assert sha256(files["err"]) == match["sha_err_masked"]
    wires = [s["wire_sha256"] for s in match["seats"]]
    assert [sha256(r) for r in script_from_log(match, files).received] == wires
    if QUIET not in match["opts"].split():
        assert [sha256(r) for r in script_of(match, files).received] == wires


@pytest.mark.parametrize("match", CASES)
def test_the_match_is_reproduced(match: dict[str, Any], tmp_path: Path) -> None:
    files = recording(match)
    game = (DATA / "games" / match["game"]).read_bytes()
    args = [match["name"], match["game"], str(match["hands"]), str(match["seed"]), *match["names"]]
    outcome = play(tmp_path, [*args, *match["opts"].split()], script_of(match, files), files={match["game"]: game})
    assert_same("stderr", files["err"], mask_stderr(outcome.stderr))
    assert_same("log", files["log"], outcome.log)
    assert_same("tlog", files["tlog"], mask_times(outcome.tlog or b""))
    assert_same("stdout", b"PORTS\n" + files["stdout"], mask_ports(outcome.stdout))
    assert files["stdout"].decode() == match["score"] + "\n"
    # Thirds look like times in the masked stderr; the SCORE line there is the one of stdout.
    assert_same("last line of stderr", files["stdout"], outcome.stderr.splitlines(keepends=True)[-1])
    assert outcome.rc == match["rc"]
    assert sha256(mask_stderr(outcome.stderr)) == match["sha_err_masked"]
    assert sha256(mask_times(outcome.tlog or b"")) == match["sha_tlog_masked"]
    assert [sha256(outcome.rx[seat]) for seat in range(len(match["names"]))] == [
        s["wire_sha256"] for s in match["seats"]
    ]
