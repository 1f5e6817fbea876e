"""Measure the built-in bots and write the results wherever they are quoted.

    python research/strength/remake.py FOLDER

plays the tournaments of `limit.toml` and `nolimit.toml` into FOLDER (or resumes them, or reuses complete ones), keeps
their crosstables as CSV in this folder, and writes the tables of `research/tables/strength.md` and the figures in the
docstrings of the bots. The tests compare all of these with the CSV files. Review the sentences around the figures when
they have changed.

"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dealer.reports.result_documents import crosstable, pairs_table, rankings
from dealer.run.results import GameStandings, TournamentResult, read_result
from logs.document.plain import csv_text, markdown_table
from logs.estimation import Rate

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GAMES = ("limit", "nolimit")

QUOTED: Mapping[str, list[tuple[str, list[tuple[str, str]]]]] = {
    "bots/formula/bot.py": [
        ("class MfsBot(", [("mfs", "limit"), ("mfs", "nolimit")]),
        ("class RhBot(", [("rh", "limit"), ("rh", "nolimit")]),
    ],
    "bots/rembrant/bot.py": [("    Strength:", [("rembrant", "nolimit"), ("rembrant", "limit")])],
    "bots/baseline.py": [
        ("class CallingBot(", [("calling", "limit"), ("calling", "nolimit")]),
        ("class FoldingBot(", [("folding", "limit"), ("folding", "nolimit")]),
        ("class RaisingBot(", [("raising", "limit"), ("raising", "nolimit")]),
        ("class RandomBot(", [(bot, game) for bot in ("random", "random5") for game in GAMES]),
        ("class ConstantBot(", [("constant3", "limit"), ("constant3", "nolimit")]),
    ],
}
"""By file: a text, and the bots and games whose means follow it."""

_FIGURE = re.compile(r"[+-]\d{1,3}(,\d{3})* ± \d{1,3}(,\d{3})*")


def means() -> dict[tuple[str, str], Rate]:
    """Winnings of every bot from the field in each game, from the CSV files."""
    rates = {}
    for game in GAMES:
        with (HERE / f"{game}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if not row["opponent"]:
                    rate = Rate(
                        float(row["mbb_per_game"]),
                        float(row["guaranteed_half_width"]),
                        player=row["player"],
                        opponent="the field",
                    )
                    rates[row["player"], game] = rate
    return rates


def with_figures(path: str, text: str) -> str:
    """Return the text of a file with the present means."""
    rates = means()
    for anchor, quoted in QUOTED[path]:
        at = text.index(anchor)
        for key in quoted:
            figure = _FIGURE.search(text, at)
            if figure is None:
                raise ValueError(f"{path}: no figure of {key} after {anchor!r}")
            shown = rates[key].text().removesuffix(" mbb/g")
            text = text[: figure.start()] + shown + text[figure.end() :]
            at = figure.start() + len(shown)
    return text


def with_tables(text: str, game: str, standings: GameStandings) -> str:
    """Return the text of `research/tables/strength.md` with the tables of a game."""
    tables = "\n".join(map(markdown_table, (crosstable(standings), rankings(standings))))
    return with_blocks(text, {game: tables.replace("|  |", "| mbb/g of row |", 1)})


def _played(folder: Path, game: str) -> GameStandings:
    """Play the tournament of a game to its end."""
    run = folder / game
    is_new = not (run / "run.toml").exists()
    words = ["tournament", str(HERE / f"{game}.toml"), "--out", str(run)] if is_new else ["resume", str(run)]
    subprocess.run([sys.executable, "-c", "from dealer.cli import main; main()", *words], check=True)
    result = read_result(run)
    if not isinstance(result, TournamentResult) or not result.outcome.is_complete:
        raise ValueError(f"{run} is not a complete tournament")
    return result.standings[0]


def main(folder: Path) -> None:
    """Play the missing tournaments and write the files and the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    page = APPENDIX / "strength.md"
    for game in GAMES:
        standings = _played(folder, game)
        (HERE / f"{game}.csv").write_text(csv_text(pairs_table([standings])), "utf-8")
        page.write_text(with_tables(page.read_text("utf-8"), game, standings), "utf-8")
    for path in QUOTED:
        (ROOT / path).write_text(with_figures(path, (ROOT / path).read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
