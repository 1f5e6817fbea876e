"""Runs in a folder can be interrupted at any moment without effect on the result."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from bots.evolution.evolution import Evolution, Generation
from bots.kuhn.fitness import KuhnSettings
from bots.kuhn.runs import evolution_document, evolve
from logs.document import Chart


def test_an_interruption_right_after_a_generation_keeps_its_genes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = KuhnSettings(opposition="coevolution", fitness="exact", start="random", population=12)
    expected = evolve(tmp_path / "whole", settings, 6)
    step, left = Evolution.step, [2, 2]

    def interrupted(evolution: Evolution) -> Generation:
        generation = step(evolution)
        if left and generation.number % 2:
            left.pop()
            signal.raise_signal(signal.SIGINT)
        return generation

    monkeypatch.setattr(Evolution, "step", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            evolve(tmp_path, settings, 6)
    assert evolve(tmp_path, settings, 6) == expected


def test_genes_are_drawn_by_generation(tmp_path: Path) -> None:
    settings = KuhnSettings(opposition="coevolution", fitness="exact", start="random", population=12)
    result = evolve(tmp_path, settings, 3)
    assert result.genes_by_generation[-1] == result.genes
    *_, section = evolution_document(settings, [result], tmp_path).sections
    charts = [chart for chart in section.parts if isinstance(chart, Chart)]
    assert [chart.title for chart in charts] == [
        "first player: B: bet?",
        "first player: C: call a bet?",
        "second player: B: bet?",
        "second player: C: call a bet?",
    ]
    last = [series.ys[-1] for series in charts[1].series]
    assert last == pytest.approx(result.genes[3:])
