"""Figures that documents print are those of the commands that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dealer import play
from tests.dealer.helpers import ARENA, PATIENCE_S, ROOT, program_env
from tests.programs import start

README = (ROOT / "README.md").read_text("utf-8")


def _columns(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


@pytest.mark.parametrize(
    "game", ["limit", *(pytest.param(game, marks=pytest.mark.slow) for game in ("nolimit", "nolimit6"))]
)
def test_disk_space(tmp_path: Path, game: str) -> None:
    """Bytes of 1,000 hands between `random` and `calling` with `--no-duplicate --seed 1`."""
    text = (ROOT / "docs" / "files.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{game}`.*$", text, re.MULTILINE)
    bots = ["random", "calling"] * (3 if game == "nolimit6" else 1)
    play(game, bots, hands=1000, seed=1, seating="single", in_process=True, out=str(tmp_path / "run"))
    sizes = {path.suffix: path.stat().st_size / 1000 for path in (tmp_path / "run").rglob("*") if path.is_file()}
    log, log_and_times = sizes[".log"], sizes[".log"] + sizes[".tlog"]
    shown = [int(cell.replace(",", "")) for cell in _columns(row)[1:]]
    assert shown == pytest.approx([log, log_and_times, log_and_times + sizes[".txt"]], abs=10)


@pytest.mark.slow
def test_what_the_first_command_prints(tmp_path: Path) -> None:
    """Cards and built-in bots follow from the seed; times and speed do not."""
    (seed,) = re.findall(r"^Seed (\d+),", README, re.MULTILINE)
    result = play("limit", ["raising", "random"], hands=3000, seed=int(seed), in_process=True)
    assert f"\n{result.sentence}\n" in README
    for player in result.players:
        rates = f"{player.mbb_per_game:+,.1f} {player.half_width_95:,.1f} {player.standard_error:,.1f}"
        row = f"{player.name} {rates} {player.chips:+,.0f} 6,000 0"
        assert row in re.sub(" +", " ", README)


@pytest.mark.slow
def test_the_game_before_the_flop() -> None:
    """Every line of output in the document is one that the command prints, with and without --as-published."""
    text = (ROOT / "docs" / "lp-mc-tables.md").read_text("utf-8")
    printed = set()
    for more in ([], ["--as-published"]):
        program = start([*ARENA, "solve", "preflop", *more], cwd=ROOT, env=program_env())
        printed |= {line.rstrip() for line in program.communicate(timeout=PATIENCE_S)[0].decode().splitlines()}
        assert program.wait() == 0
    blocks = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    shown = {line for block in blocks for line in block.splitlines() if line.startswith("small blind: ")}
    assert len(shown) == 2
    for block in blocks:
        if re.search("small blind|equilibrium", block):
            assert set(block.splitlines()) <= printed
