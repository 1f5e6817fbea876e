"""SplitMix64 compared with published numbers."""

from __future__ import annotations

from engine.splitmix import MASK_64, STEP, mixed


def test_the_stream_of_seed_1234567() -> None:
    """These five numbers are the usual check of an implementation."""
    counter, drawn = 1234567, []
    for _ in range(5):
        counter = counter + STEP & MASK_64
        drawn.append(mixed(counter))
    assert drawn == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_mixing_is_one_to_one() -> None:
    assert len({mixed(word) for word in range(100_000)}) == 100_000
    assert mixed(0) == 0
