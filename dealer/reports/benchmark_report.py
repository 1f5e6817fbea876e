"""Document of a benchmark: win rate, where the money goes, decision times and faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dealer.reports.benchmark_data import BenchmarkData
from dealer.reports.guaranteed import NOTE, with_guaranteed_intervals
from dealer.reports.result_documents import contest_title, faults_table
from dealer.reports.winnings_parts import WinningsPart
from dealer.run.choices import ShownInterval
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import Standing, played_text
from logs.document import CODE, NAME, Column, Document, Fact, Section, Table
from logs.estimation import Estimate, Rate
from logs.variance.estimates import Estimator, WinRateEstimate
from protocol.game_definition import short_name


def benchmark_document(data: BenchmarkData, interval: ShownInterval = ShownInterval.USUAL) -> Document:
    """Create the document of a benchmark.

    Args:
        interval: interval that the document shows.
    """
    if interval is ShownInterval.GUARANTEED:
        document = benchmark_document(with_guaranteed_intervals(data))
        return replace(document, notes=(*document.notes, NOTE), data=data)
    result = data.result
    version = f"version {data.benchmark}"
    if not data.is_standard:
        version += ", with other deals"
    facts = (
        Fact("benchmark", version, NAME),
        Fact("seed", str(result.seed), NAME),
        Fact("strategy of cfr", data.strategy, NAME),
        Fact("files", result.folder, CODE),
    )
    sections = []
    if data.streets:
        sections.append(Section("Win rate", (_win_rates(data),)))
        parts = (
            _parts_table("By street", "street", data.streets),
            _parts_table("By position", "position", data.positions),
        )
        sections.append(Section("Where the money goes", parts))
    sections.append(Section("Faults and thinking times", (faults_table([result], everyone=True),)))
    title = f"Benchmark, {contest_title(result)}"
    return Document(title, _sentences(data), facts, tuple(sections), data=data)


def _sentences(data: BenchmarkData) -> tuple[str, ...]:
    result = data.result
    if data.rate is None:
        sentences = [result.sentence]
        if result.duplicates and result.outcome is not Outcome.INTERRUPTED:
            sentences.append(f"There is no win rate by AIVAT: {data.problem}.")
        if result.resume is not None:
            sentences.append(f"Resume with:\n    {result.resume}")
        return tuple(sentences)
    sentence = f"By AIVAT, {_standing(result, data.rate).sentence()} By the chips alone: {result.rate()}."
    if result.outcome is not Outcome.FINISHED:
        sentence += f" It ended early: {result.reason}"
    return (sentence,)


def _standing(result: ContestResult, estimate: WinRateEstimate) -> Standing:
    """Return the standing by an estimate of the first player's winnings."""
    player, opponent = result.players[0].name, result.players[1].name
    won = Estimate(
        estimate.mbb_per_game, estimate.half_width_95, estimate.standard_error, estimate.guaranteed_half_width
    )
    rate = Rate.from_estimate(won, player, opponent)
    return Standing(
        chips={player: rate.mean, opponent: -rate.mean},
        lead=rate if rate.mean >= 0 else -rate,
        deals=result.duplicates,
        hands=result.hands_counted,
        largest_loss=result.largest_loss,
        played=played_text(result.duplicates, result.seatings, short_name(result.game)),
        interval=result.interval,
        is_over=True,
    )


def _win_rates(data: BenchmarkData) -> Table:
    """Create a table of the first player's win rates, by AIVAT and by chips."""
    player, opponent = data.result.players[0].name, data.result.players[1].name
    estimates = [] if data.rate is None else [data.rate]
    if data.result.estimates is not None:
        for row in data.result.estimates.players:
            for estimate in row.estimates:
                if row.player == player and estimate.estimator is Estimator.DUPLICATE:
                    estimates.append(estimate)
    columns = (
        Column("estimator", NAME),
        Column("mbb/g ± 95 %", "+,.1f", meaning=f"winnings of {player} per hand, with half their 95 % interval"),
        Column("deals", ",", rank=1),
        Column("worth raw hands", ",.0f", meaning="number of raw hands with the same standard error", rank=3),
        Column("times", ",.1f", meaning="raw hands for each hand played", rank=2),
    )
    title = f"{player} over {opponent}"
    note = "Duplicate is the mean of the chips won over the seatings of each deal."
    return Table(title, columns, tuple([estimate.cells for estimate in estimates]), note)


def _parts_table(title: str, kind: str, parts: Sequence[WinningsPart]) -> Table:
    """Create a table of winnings by street or by position.

    Args:
        kind: name of a part.
    """
    is_street = kind == "street"
    columns = (
        Column(kind, NAME),
        Column("hands", ",", meaning="hands with betting on it" if is_street else "hands in it", rank=1),
        Column("by AIVAT", "+,.1f", meaning="mbb/g ± 95 %, without the luck of the cards and of cfr's choices"),
        Column("chips alone", "+,.1f", meaning="mbb/g ± 95 %, as won", rank=2),
    )
    rows = [(part.name, part.hands, part.corrected, part.raw) for part in parts]
    note = "mbb/g in hands of the position."
    if is_street:
        note = "mbb/g in all hands, so that the streets sum to the win rate. Chips are those of hands that ended there."
        if parts[0].corrected is not None:
            note += " By AIVAT, a street has what choices on it win beyond the values of cfr's strategy."
    if parts[0].corrected is None:
        note += " There are no values of cfr's strategy, by which parts could be corrected."
    return Table(title, columns, tuple(rows), note).without_empty()
