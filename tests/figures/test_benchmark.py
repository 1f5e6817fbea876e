"""Figures and bots of `research/tables/benchmark.md`, compared with the measurements."""

from __future__ import annotations

from bots.sdk.registry import known_names, make_bot
from protocol import find_game
from tests.scripts import script

REMAKE = script("research/benchmark/remake.py")


def test_page_has_the_measured_figures() -> None:
    text = REMAKE.PAGE.read_text("utf-8")
    assert REMAKE.with_results(text) == text


def test_every_bot_of_no_limit_is_measured_or_named_as_missing() -> None:
    game = find_game("nolimit")[1]
    # `lbr` answers a policy that has to be named.
    bots = {name for name in known_names() if name != "lbr" and make_bot(name).refusal(game) is None}
    assert bots == {*REMAKE.BOTS}
    measured = {row.bot for row in REMAKE.stored()}
    page = REMAKE.PAGE.read_text("utf-8")
    for bot in REMAKE.BOTS:
        assert (f"| `{bot}` | not yet measured |" in page) is (bot not in measured)


def test_streets_sum_to_the_rate() -> None:
    for row in REMAKE.stored():
        total = row.mean if row.is_corrected else row.raw
        assert abs(row.preflop + row.flop + row.turn + row.river - total) < 0.5
