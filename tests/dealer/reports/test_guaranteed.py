"""Results and statistics with guaranteed intervals."""

from __future__ import annotations

from dealer.reports.guaranteed import NOTE, with_guaranteed_intervals
from dealer.reports.result_documents import result_document
from dealer.run.choices import ShownInterval
from logs.document.plain import markdown
from logs.estimation import Estimate
from logs.tracker.hand_counts import HandCounts
from logs.tracker.statistics import statistics_of
from tests.dealer.results_of import contest, player, winnings
from tests.logs.hands import random_hands


def test_document_of_a_result_has_guaranteed_intervals_and_data_both_kinds() -> None:
    won = winnings(Estimate(40.0, 10.0, 5.0, 60.0))
    result = contest(player("A", chips=1.0, won=won), player("B", chips=-1.0))
    usual = markdown(result_document(result))
    assert "+40.0 ± 10.0" in usual
    assert NOTE not in usual
    document = result_document(result, interval=ShownInterval.GUARANTEED)
    page = markdown(document)
    assert document.sentences[0] == (
        "A is ahead of B by 40 ± 60 mbb/g (95 %, guaranteed) after 1,000 deals of holdem.limit.2p in 2 seatings each, "
        "which is not significant; about 2,300 deals would be needed."
    )
    assert "mbb/g ± 95 %, guaranteed" in page
    assert "+40.0 ± 60.0" in page
    assert document.notes == (NOTE,)
    assert document.data is result


def test_statistics_have_guaranteed_intervals_in_tables_and_curves() -> None:
    statistics = statistics_of(HandCounts().add_all(random_hands("limit", 120)))
    for usual, guaranteed in zip(statistics.bots, with_guaranteed_intervals(statistics).bots, strict=True):
        assert usual.mbb_per_game.half_width != usual.mbb_per_game.guaranteed_half_width
        assert guaranteed.mbb_per_game == usual.mbb_per_game.guaranteed
        assert guaranteed.positions[0].mbb_per_game == usual.positions[0].mbb_per_game.guaranteed
        assert guaranteed.curve[-1].half_width_95 == usual.curve[-1].guaranteed_half_width is not None
