"""The benchmark: its fixed settings and its document."""

from __future__ import annotations

import pytest

from bots.cfr.bot import SHIPPED
from bots.cfr.strategy_files import read_strategy
from bots.cfr.strategy_values import strategy_checksum
from dealer.errors import ConfigError
from dealer.reports.benchmark_data import (
    DEALS,
    SEEDS,
    VERSION,
    BenchmarkData,
    BenchmarkGame,
    benchmark_settings,
    check_benchmark,
)
from dealer.reports.benchmark_report import benchmark_document
from dealer.reports.guaranteed import NOTE
from dealer.reports.winnings_parts import WinningsPart
from dealer.run.choices import Seating, ShownInterval
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from dealer.run.run_settings import RunSettings
from logs.document.plain import markdown
from logs.estimation import Estimate
from logs.variance.estimates import Estimator, GameEstimates, PlayerEstimates, WinRateEstimate
from tests.dealer.results_of import contest, player, winnings


def test_settings_are_those_of_this_version() -> None:
    # With a change of these, raise VERSION and change the seeds: old and new rates must not be compared.
    strategies = {game.value: strategy_checksum(read_strategy(SHIPPED[game])) for game in BenchmarkGame}
    assert (VERSION, DEALS, dict(SEEDS), strategies) == (
        1,
        500,
        {"nolimit": 20261, "limit": 20262},
        {"nolimit": "4c54e841", "limit": "cf4fc213"},
    )


def test_settings_are_fixed_but_for_deals_seed_and_clocks() -> None:
    settings = benchmark_settings("./mine", BenchmarkGame.LIMIT, {"t_response_s": 30.0})
    assert (settings.games, settings.deals, settings.seed) == (("limit",), 500, SEEDS[BenchmarkGame.LIMIT])
    assert [bot.bot for bot in settings.bots] == ["./mine", "cfr"]
    assert (settings.seating, settings.t_response_s) == (Seating.ROTATIONS, 30.0)
    shorter = benchmark_settings("./mine", BenchmarkGame.LIMIT, {"deals": 20, "seed": 3})
    assert (shorter.deals, shorter.seed) == (20, 3)
    check_benchmark(shorter, "runs/x")


@pytest.mark.parametrize("change", [{"games": ("kuhn",)}, {"seating": Seating.SINGLE}, {"bots": ()}])
def test_other_runs_are_no_benchmark(change: dict[str, object]) -> None:
    settings = benchmark_settings("calling", BenchmarkGame.NOLIMIT, {})
    fields = {name: getattr(settings, name) for name in RunSettings.__dataclass_fields__}
    with pytest.raises(ConfigError, match="the run in runs/x is no benchmark; 'arena resume runs/x' continues it"):
        check_benchmark(RunSettings(**fields | change), "runs/x")


def rate(mean: float, half_width: float, estimator: Estimator = Estimator.AIVAT) -> WinRateEstimate:
    return WinRateEstimate(
        estimator=estimator,
        known=["cfr"] if estimator is Estimator.AIVAT else [],
        is_fitted=False,
        mbb_per_game=mean,
        half_width_95=half_width,
        guaranteed_half_width=4000.0,
        standard_error=half_width / 2,
        hands=1000,
        deals=500,
        worth_raw_hands=9000.0,
        warning=None,
    )


def benchmark_data(*, is_corrected: bool = True, **changes: object) -> BenchmarkData:
    """Benchmark of a bot that loses 400 mbb/g by AIVAT and 250 by chips."""
    chips = rate(-250.0, 600.0, Estimator.DUPLICATE)
    players = [PlayerEstimates(player="mine", estimates=[chips])]
    result = contest(
        player("mine", chips=-25_000.0, won=winnings(Estimate(-250.0, 600.0))),
        player("cfr", chips=25_000.0, won=winnings(Estimate(250.0, 600.0))),
        game="holdem.nolimit.2p.reverse_blinds",
        duplicates=500,
        hands_counted=1000,
        estimates=GameEstimates(game="no-limit", hands=1000, deals=500, players=players, omitted=[]),
    )
    corrected = Estimate(-400.0, 80.0) if is_corrected else None
    part = WinningsPart(name="flop", hands=900, raw=Estimate(-250.0, 600.0), corrected=corrected)
    data: dict[str, object] = {
        "benchmark": VERSION,
        "is_standard": True,
        "arena": "0.1.0",
        "command": "arena benchmark mine",
        "strategy": "4c54e841",
        "settings": {},
        "result": result,
        "rate": rate(-400.0, 80.0),
        "problem": None,
        "streets": [part],
        "positions": [part.model_copy(update={"name": "SB"})],
    }
    return BenchmarkData.model_validate(data | changes)


def test_document_shows_both_rates_parts_and_times() -> None:
    data = benchmark_data()
    document = benchmark_document(data)
    page = markdown(document)
    assert document.sentences == (
        "By AIVAT, cfr beats mine by 400 ± 80 mbb/g (95 %) over 500 deals of nolimit in 2 seatings each. For any "
        "distribution of winnings: ± 4,000. By the chips alone: mine over cfr -250 ± 600 mbb/g.",
    )
    assert "benchmark: version 1" in page
    for cells in (
        "| AIVAT, cfr known | -400.0 ± 80.0 |",
        "| duplicate | -250.0 ± 600.0 |",
        "| flop | 900 | -400.0 ± 80.0 | -250.0 ± 600.0 |",
        "| SB | 900 | -400.0 ± 80.0 | -250.0 ± 600.0 |",
    ):
        assert cells in page
    assert "50 µs" in page
    assert document.data is data


def test_document_labels_uncorrected_rates() -> None:
    page = markdown(benchmark_document(benchmark_data(is_corrected=False, is_standard=False)))
    assert "| flop | 900 | -250.0 ± 600.0 |" in page
    assert "There are no values of cfr's strategy" in page
    assert "version 1, with other deals" in page
    data = benchmark_data(rate=None, problem="cfr plays f in hand 1, to which its policy gives no chance")
    sentences = benchmark_document(data).sentences
    assert sentences[1] == (
        "There is no win rate by AIVAT: cfr plays f in hand 1, to which its policy gives no chance."
    )


def test_document_has_guaranteed_intervals_and_data_both_kinds() -> None:
    data = benchmark_data()
    document = benchmark_document(data, ShownInterval.GUARANTEED)
    assert "-400.0 ± 4,000.0" in markdown(document)
    assert document.notes == (NOTE,)
    assert document.data is data


def test_interrupted_benchmark_is_resumed_by_its_folder() -> None:
    result: ContestResult = benchmark_data().result.model_copy(
        update={"outcome": Outcome.INTERRUPTED, "resume": "arena benchmark runs/x"}
    )
    data = benchmark_data(result=result, rate=None, problem="the benchmark was interrupted", streets=[], positions=[])
    assert benchmark_document(data).sentences == (result.sentence, "Resume with:\n    arena benchmark runs/x")
