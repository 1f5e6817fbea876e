"""The result of a contest, made from what its matches counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dealer.match.faults import FaultKind
from dealer.results.schema import ContestResult, DealerReport, Interval, MatchSummary, PlayerResult, TrainingReport
from dealer.results.sentences import contest_sentence, fault_phrase
from dealer.run.contest import Contest
from dealer.run.ending import INTERRUPTED
from dealer.run.plan import ContestPlan
from dealer.run.record import ResponseTimes
from dealer.run.settings import Score
from engine import logged_seed
from logs.estimation import TAIL_95, RunningMean


def contest_result(contest: Contest, *, resume: str | None) -> ContestResult:
    """The result of a contest so far; one that has not ended counts as interrupted.

    Args:
        contest: the contest.
        resume: the command that resumes it, if it is not complete.
    """
    plan, scores, ending = contest.plan, contest.scores, contest.ending or INTERRUPTED
    means = [plan.new_mean() for _ in plan.players]
    for deal_scores in scores.in_order():
        for mean, score in zip(means, deal_scores, strict=True):
            mean.add(score)
    corrected = _corrected_means(contest)
    duplicates = scores.duplicates
    hands = scores.hands_played - contest.hands_before
    result = ContestResult(
        game=plan.record.game_name,
        seed=logged_seed(plan.seed),
        seating=plan.seating,
        seatings=plan.seatings,
        hands_asked=plan.hands,
        duplicates=duplicates,
        hands_counted=duplicates * plan.seatings,
        hands_played=scores.hands_played,
        outcome=ending.outcome,
        reason=ending.reason,
        stop=str(plan.stop),
        score=Score.CORRECTED if plan.score is Score.CORRECTED else Score.RAW,
        verdict=None if contest.monitor is None else contest.monitor.verdict,
        interval=_interval(plan),
        seconds=contest.seconds,
        hands_per_second=hands / contest.seconds if contest.seconds else 0.0,
        folder=str(plan.record.folder),
        resume=None if ending.outcome.is_complete else resume,
        players=[
            _player_result(contest, player, mean, corrected[player] if corrected else None)
            for player, mean in enumerate(means)
        ],
        matches=[
            MatchSummary(
                name=slot.name,
                seats=[plan.names[player] for player in slot.players],
                first_hand=slot.first_hand,
                hands=run.tally.hands,
                chips=run.tally.chips,
            )
            for slot, run in zip(contest.slots, contest.runs, strict=False)
        ],
        training=[
            TrainingReport(
                player=one.player,
                hands=one.hands,
                memory=str(one.memory),
                own_file=one.own_file,
                problem=one.problem or None,
            )
            for one in contest.trained
        ],
        dealer=_dealer_report(contest),
        sentence="",
    )
    return result.model_copy(update={"sentence": contest_sentence(result)})


def _corrected_means(contest: Contest) -> list[RunningMean]:
    """The players' means without the luck of the cards; none where they are not counted."""
    plan = contest.plan
    if plan.score is Score.CORRECTED:
        deals: Iterable[Sequence[float]] = contest.judged.in_order()
    else:
        fitted = contest.deals_without_luck()
        if fitted is None:
            return []
        deals = fitted.tolist()
    means = [plan.new_mean(Score.CORRECTED) for _ in plan.players]
    for scores in deals:
        for mean, score in zip(means, scores, strict=True):
            mean.add(score)
    return means


def _interval(plan: ContestPlan) -> Interval:
    if plan.learners:
        return Interval.NONE
    return Interval.ANY_TIME if plan.is_sequential else Interval.FIXED


def _player_result(contest: Contest, player: int, mean: RunningMean, corrected: RunningMean | None) -> PlayerResult:
    """One player over all its seats."""
    plan = contest.plan
    faults: Counter[str] = Counter()
    times = ResponseTimes()
    restarts = 0
    first_fault = exit_code = None
    for slot, run in zip(contest.slots, contest.runs, strict=False):
        seat = slot.players.index(player)
        tally = run.tally
        faults.update(tally.faults[seat])
        times.include(tally.times[seat])
        restarts += tally.restarts[seat]
        first_fault = first_fault or tally.first_faults[seat]
        if exit_code is None:
            exit_code = next((code for failed, code in run.exit_codes.items() if failed == seat), None)
    order = {kind.value: place for place, kind in enumerate(FaultKind)}
    return PlayerResult(
        name=plan.names[player],
        player=plan.players[player].text,
        chips=contest.scores.chips()[player],
        mbb_per_game=mean.mean if mean.count else None,
        half_width_95=mean.half_width_95,
        standard_error=mean.standard_error,
        # Each player may come out best by luck on one side, so the errors of all add up.
        half_width_of_best_95=mean.half_width(2 * TAIL_95 / len(plan.players)),
        corrected_mbb_per_game=corrected.mean if corrected is not None and corrected.count else None,
        corrected_half_width_95=None if corrected is None else corrected.half_width_95,
        corrected_standard_error=None if corrected is None else corrected.standard_error,
        standard_deviation=mean.standard_deviation,
        faults=dict(sorted(faults.items(), key=lambda item: order[item[0]])),
        first_fault=None if first_fault is None else fault_phrase(first_fault),
        restarts=restarts,
        actions=times.count,
        thinking_s=times.total_us / 1e6,
        median_us=times.quantile_us(0.5),
        p99_us=times.quantile_us(0.99),
        exit_code=exit_code,
    )


def _dealer_report(contest: Contest) -> DealerReport:
    runs = contest.runs
    questions = sum(run.questions for run in runs)
    overhead_ns = sum(run.overhead_ns for run in runs)
    actions = sum(times.count for run in runs for times in run.tally.times)
    timeouts = sum(run.tally.timeouts for run in runs)
    return DealerReport(
        actions=actions,
        us_per_action=overhead_ns / 1000 / questions if questions else None,
        timeouts_per_million_actions=1e6 * timeouts / actions if actions else None,
        turned_away=sum(run.tally.strays for run in runs),
    )
