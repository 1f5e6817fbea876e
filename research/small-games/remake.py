"""Repeat the commands of `research/tables/small-games.md` and write their output into the page.

    python research/small-games/remake.py

It takes seconds. The tests compare the page with it. Review the sentences of the page when the figures have changed.
"""

from __future__ import annotations

import io
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Final

from bots.kuhn.games import MODEL_NAMES, Genes, KuhnGame, Variant, kuhn_equilibrium, models
from bots.kuhn.runs import best_answer, expected_value
from dealer.cli.shell.app import application

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

PAGE: Final = APPENDIX / "small-games.md"
WIDTH: Final = 110


def printed(*words: str, until: str = "") -> str:
    """Output of `arena`, up to a line that begins with a text; sentences are broken between words."""
    stream = io.StringIO()
    with redirect_stdout(stream), suppress(SystemExit):
        application(["solve"])(["solve", *words], prog_name="arena")
    lines: list[str] = []
    for line in stream.getvalue().splitlines():
        if until and line.startswith(until):
            break
        is_sentence = line and not line.startswith(" ")
        lines += textwrap.wrap(line.rstrip(), WIDTH) if is_sentence else [line.rstrip()]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))
    return f"```text\n{text}\n```\n"


def _mean(game: KuhnGame, one: tuple[Genes, Genes], other: tuple[Genes, Genes]) -> float:
    """The winnings of one player from another on average over both seats."""
    return (expected_value(game, one[0], other[1]) - expected_value(game, other[0], one[1])) / 2


def matrix() -> str:
    """Winnings of each model and of the equilibrium from each model in the classic game."""
    game, players = KuhnGame(), models(Variant.CLASSIC)
    rows: dict[str, tuple[Genes, Genes]] = {name: (players[name],) * 2 for name in MODEL_NAMES}
    rows["equilibrium"] = kuhn_equilibrium(1 / 3)
    lines = [f"| chips per hand of row | {' | '.join(MODEL_NAMES)} |", "| --- |" + " ---: |" * len(MODEL_NAMES)]
    for name, genes in rows.items():
        cells = []
        for other in MODEL_NAMES:
            value = round(_mean(game, genes, (players[other],) * 2), 4) + 0.0
            cells.append("" if name == other else f"{value:+.4f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def best_answers() -> str:
    """Value of the best response to each model in each game, in the first and in the second seat."""
    names = [variant.value for variant in Variant]
    lines = [f"| against | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names)]
    for name in MODEL_NAMES:
        cells = []
        for variant in Variant:
            values = [best_answer(KuhnGame(variant), seat, models(variant)[name]).value for seat in (0, 1)]
            cells.append(" / ".join(f"{value:.4f}" for value in values))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


BLOCKS: Final[Mapping[str, Callable[[], str]]] = {
    "kuhn": partial(printed, "kuhn", "--algorithm", "cfr+", "--iterations", "1000"),
    "leduc": partial(printed, "leduc", until="Strategies"),
    "kuhn3": partial(printed, "kuhn3", "--iterations", "200", until="Strategies"),
    "matrix": matrix,
    "best answers": best_answers,
}
"""Blocks of the page by the names of their markers."""


def remade(text: str) -> str:
    """Return the text of the page with the present output."""
    return with_blocks(text, {name: make() for name, make in BLOCKS.items()})


if __name__ == "__main__":
    PAGE.write_text(remade(PAGE.read_text("utf-8")), "utf-8")
