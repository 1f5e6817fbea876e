"""Figures in documents, compared with the output of the commands that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dealer import play
from dealer.cli.shell.documents import show_document
from dealer.reports.result_documents import contest_document
from tests.dealer.cli.conftest import window
from tests.dealer.helpers import ARENA, PATIENCE_S, ROOT, program_env
from tests.programs import start

pytestmark = pytest.mark.slow

_US = {"µs": 1.0, "ms": 1000.0}
README = (ROOT / "README.md").read_text("utf-8")


def _columns(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize("game", ["limit", "nolimit", "nolimit6"])
def test_documented_disk_space_is_that_of_a_run(tmp_path: Path, game: str) -> None:
    """Bytes of 1,000 hands between `random` and `calling` with `--no-duplicate --seed 1`."""
    text = (ROOT / "docs" / "files.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{game}`.*$", text, re.MULTILINE)
    bots = ["random", "calling"] * (3 if game == "nolimit6" else 1)
    play(game, bots, deals=1000, seed=1, seating="single", in_process=True, out=str(tmp_path / "run"))
    sizes = {path.suffix: path.stat().st_size / 1000 for path in (tmp_path / "run").rglob("*") if path.is_file()}
    log, log_and_times = sizes[".log"], sizes[".log"] + sizes[".tlog"]
    documented_values = [int(cell.replace(",", "")) for cell in _columns(row)[1:]]
    assert documented_values == pytest.approx([log, log_and_times, log_and_times + sizes[".txt"]], abs=10)


def test_first_command_prints_the_documented_output() -> None:
    """The output in 80 columns is that of the README, apart from times, speed and folder."""
    (block,) = re.findall(r"The first command prints:\n\n```text\n(.*?)```", README, re.DOTALL)
    seed, speed, folder = re.findall(r"^seed (\d+), speed (\S+) hands/s, files\s(.*)", block, re.MULTILINE)[0]
    result = play("limit", ["raising", "random"], deals=3000, seed=int(seed), in_process=True)
    players = []
    for player in result.players:
        (row,) = re.findall(rf"^  {player.name} .*", block, re.MULTILINE)
        # The median is in a wider window only.
        ((time, unit),) = re.findall(r"(\S+) ([µm]s)", row)
        p99_us = float(time) * _US[unit]
        players.append(player.model_copy(update={"median_us": p99_us, "p99_us": p99_us}))
    documented_values = {"players": players, "hands_per_second": float(speed.replace(",", "")), "folder": folder}
    terminal, out = window(80)
    show_document(terminal, contest_document(result.model_copy(update=documented_values)))
    assert out.getvalue() == block


def test_preflop_game_has_the_documented_output() -> None:
    """The command prints every line of output in the document, with or without --as-published."""
    text = (ROOT / "research" / "tables" / "lp-mc.md").read_text("utf-8")
    output_lines = set()
    for more in ([], ["--as-published"]):
        program = start([*ARENA, "solve", "preflop", *more], cwd=ROOT, env=program_env())
        output_lines |= {line.rstrip() for line in program.communicate(timeout=PATIENCE_S)[0].decode().splitlines()}
        assert program.wait() == 0
    blocks = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    documented_values = {line for block in blocks for line in block.splitlines() if line.startswith("small blind: ")}
    assert len(documented_values) == 2
    for block in blocks:
        if re.search("small blind|equilibrium", block):
            assert set(block.splitlines()) <= output_lines
