"""A training as findings: what it won by block, with its chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from bots.findings import Line, LineChart, Report, Section, TableView
from bots.learner.memory import Memory
from bots.learner.training import Block, Earned, TrainingSettings

__all__ = ["learning_lines", "training_report"]

_ROWS = 10
_CURVES: Sequence[tuple[str, Callable[[Block], Earned]]] = (
    ("while learning", lambda block: block.learning),
    ("frozen, the field it learns on", lambda block: block.field),
    ("frozen, the other field", lambda block: block.unseen),
)


def training_report(settings: TrainingSettings, memory: Memory, blocks: Sequence[Block]) -> Report:
    """The report of a training.

    Args:
        settings: of the training.
        memory: what has been learnt.
        blocks: of the training, at least one.
    """
    shown = sorted({round(at * (len(blocks) - 1) / (_ROWS - 1)) for at in range(_ROWS)})
    table = TableView(
        "Winnings by block, mbb/g",
        tuple((name, "") for name in ("hands", "cells", *[name for name, _ in _CURVES])),
        tuple(
            (f"{blocks[at].hands:,}", f"{blocks[at].cells:,}", *[curve(blocks[at]).words for _, curve in _CURVES])
            for at in shown
        ),
        "Each ± is half the normal 95 % interval over the deals of the block or test, a deal with all its rotations "
        "counting once: it covers the cards, not the luck of the training.",
    )
    chart = LineChart(
        title="Winnings by hands learnt",
        x_label="hands learnt",
        y_label="mbb/g",
        lines=learning_lines(blocks),
        note="The bands are the 95 % intervals of the table. Tests are on deals that are never learnt from.",
    )
    constants = ", ".join(f"{name} {value:g}" for name, value in asdict(settings.constants).items())
    last = blocks[-1]
    return Report(
        "The learner's training",
        (
            f"After {memory.hands:,} hands it remembers {len(memory.cells):,} cells. It wins {last.field.words} "
            f"mbb/g from the field it learnt on, and {last.unseen.words} from the one it never met.",
        ),
        (
            ("game", settings.game),
            ("learnt on", " ".join(settings.opponents)),
            ("tested on", " ".join(settings.unseen)),
            ("explore", f"{settings.explore:g}"),
            ("trials", f"{settings.trials:,}"),
            ("seed", str(settings.seed)),
            ("constants", constants),
        ),
        (Section("Winnings", (), (table, chart)),),
    )


def learning_lines(blocks: Sequence[Block]) -> tuple[Line, ...]:
    """The curves of a training, with their bands."""
    xs = tuple(float(block.hands) for block in blocks)
    return tuple(
        Line(
            name=name,
            xs=xs,
            ys=tuple(curve(block).mean for block in blocks),
            low=tuple(curve(block).mean - curve(block).half_width for block in blocks),
            high=tuple(curve(block).mean + curve(block).half_width for block in blocks),
        )
        for name, curve in _CURVES
    )
