"""The results of contests and tournaments, made from what their matches counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path

from dealer.match.faults import FaultKind
from dealer.run.choices import Score
from dealer.run.contest import Contest
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import INTERRUPTED, Outcome
from dealer.run.results import (
    ContestResult,
    CrosstableCell,
    DealerReport,
    FailureReport,
    GameStandings,
    MatchSummary,
    PlayerResult,
    PlayerWinnings,
    Rank,
    TournamentResult,
    Winnings,
)
from dealer.run.results.result_sentences import contest_sentence, fault_phrase
from dealer.run.tally import ResponseTimes
from dealer.run.tournament_run import Tournament
from engine import Seat, logged_seed
from engine.text import capitalized, count_of, listed
from logs.estimation import (
    MIN_UNITS,
    Bounds,
    Estimate,
    RankedContest,
    Ranking,
    RunningMean,
    Scoreboard,
    estimate_of_best,
    ranking,
)
from protocol.game_definition import short_name


def contest_result(contest: Contest, *, resume: str | None) -> ContestResult:
    """The result of a contest so far; one that has not ended counts as interrupted.

    Args:
        resume: the command that resumes it, if it is not complete.
    """
    plan, scores, ending = contest.plan, contest.scores, contest.ending or INTERRUPTED
    raw = _counted(plan, scores.in_order())
    corrected = _counted_without_luck(contest)
    duplicates = scores.duplicates
    hands = scores.hands_played - contest.hands_before
    result = ContestResult(
        game=plan.record.game_name,
        seed=logged_seed(plan.run.seed),
        seating=plan.run.seating,
        seatings=plan.seatings,
        deals_asked=plan.run.deals,
        duplicates=duplicates,
        hands_counted=duplicates * plan.seatings,
        hands_played=scores.hands_played,
        outcome=ending.outcome,
        reason=ending.sentence,
        cause=None if ending.failure is None else FailureReport.of(ending.failure),
        stop=str(plan.run.stop),
        score=Score.CORRECTED if plan.run.score is Score.CORRECTED else Score.RAW,
        verdict=contest.monitor.verdict,
        interval=plan.interval,
        seconds=contest.seconds,
        hands_per_second=hands / contest.seconds if contest.seconds else 0.0,
        folder=str(plan.record.folder),
        resume=None if ending.outcome.is_complete else resume,
        players=[
            _player_result(contest, player, raw.mean(name), None if corrected is None else corrected.mean(name))
            for player, name in enumerate(plan.names)
        ],
        matches=[
            MatchSummary(
                name=match_plan.name,
                seats=[plan.names[player] for player in match_plan.players],
                first_hand=match_plan.first_hand,
                hands=tally.hands,
                chips=tally.chips,
            )
            for match_plan, tally in zip(contest.match_plans, contest.tallies, strict=False)
        ],
        training=list(contest.trained),
        dealer=_dealer_report(contest),
        sentence="",
    )
    return result.model_copy(update={"sentence": contest_sentence(result)})


def _counted(plan: ContestPlan, deals: Iterable[Sequence[float]], score: Score = Score.RAW) -> Scoreboard:
    names = plan.names
    board = Scoreboard(partial(plan.new_mean, score), names)
    for scores in deals:
        board.add(zip(names, scores, strict=True))
    return board


def _counted_without_luck(contest: Contest) -> Scoreboard | None:
    """The scores without the luck of the cards; None where they are not computed."""
    if contest.plan.run.score is Score.CORRECTED:
        return _counted(contest.plan, contest.judged.in_order(), Score.CORRECTED)
    fitted = contest.deals_without_luck()
    return None if fitted is None else _counted(contest.plan, fitted.tolist(), Score.CORRECTED)


def _player_result(contest: Contest, player: int, mean: RunningMean, corrected: RunningMean | None) -> PlayerResult:
    plan = contest.plan
    faults: Counter[str] = Counter()
    times = ResponseTimes()
    restarts = 0
    first_fault = exit_code = None
    for match_plan, tally in zip(contest.match_plans, contest.tallies, strict=False):
        seat = Seat(match_plan.players.index(player))
        faults.update(tally.faults[seat])
        times.include(tally.times[seat])
        restarts += tally.restarts[seat]
        first_fault = first_fault or tally.first_faults.get(seat)
        exit_code = tally.exit_codes.get(seat) if exit_code is None else exit_code
    order = {kind.value: place for place, kind in enumerate(FaultKind)}
    return PlayerResult(
        name=plan.names[player],
        player=plan.players[player].text,
        chips=contest.scores.chips()[player],
        won=player_winnings(mean, corrected, len(plan.players)),
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


def player_winnings(mean: RunningMean, corrected: RunningMean | None, players: int) -> PlayerWinnings | None:
    """Winnings of one of several players; None before a deal is complete."""
    if not mean.count:
        return None
    best = estimate_of_best(mean, players)
    if corrected is None:
        return PlayerWinnings(raw=mean.estimate, best=best)
    return PlayerWinnings(
        raw=mean.estimate,
        corrected=corrected.estimate,
        best=best,
        corrected_best=estimate_of_best(corrected, players),
    )


def _dealer_report(contest: Contest) -> DealerReport:
    questions = sum(tally.questions for tally in contest.tallies)
    overhead_ns = sum(tally.overhead_ns for tally in contest.tallies)
    actions = sum(times.count for tally in contest.tallies for times in tally.times)
    timeouts = sum(counts[FaultKind.TIMEOUT.value] for tally in contest.tallies for counts in tally.faults)
    return DealerReport(
        actions=actions,
        us_per_action=overhead_ns / 1000 / questions if questions else None,
        timeouts_per_million_actions=1e6 * timeouts / actions if actions else None,
        pauses=sum(tally.pauses for tally in contest.tallies),
        paused_s=sum(tally.paused_ns for tally in contest.tallies) / 1e9,
        turned_away=sum(tally.strays for tally in contest.tallies),
    )


def tournament_result(tournament: Tournament, folder: Path, *, resume: str | None) -> TournamentResult:
    """The result of a tournament that has ended or was interrupted.

    Args:
        tournament: after `Tournament.play`.
        resume: the command that resumes it, if it is not complete.
    """
    plan = tournament.contests[0].plan.run
    results = [contest_result(contest, resume=None) for contest in tournament.contests]
    standings = [_standings(tournament, results, named.name) for named in plan.games]
    outcome = tournament.outcome
    incomplete = sum(not result.outcome.is_complete for result in results)
    interrupted = [one.reason for one in results if one.outcome is Outcome.INTERRUPTED]
    reasons = {
        # Some were waiting for a player, others had not begun.
        Outcome.INTERRUPTED: next((one for one in interrupted if one != INTERRUPTED.reason), INTERRUPTED.reason),
        Outcome.FAILED: f"{count_of(incomplete, 'contest')} of {len(results)} ended early.",
    }
    reason = reasons.get(outcome, "all contests were played.")
    return TournamentResult(
        format=plan.format,
        outcome=outcome,
        reason=reason,
        players=list(plan.names),
        contests=results,
        standings=standings,
        seconds=tournament.seconds,
        folder=str(folder),
        resume=None if outcome.is_complete else resume,
        sentence=" ".join([*map(first_places, standings), capitalized(reason)]),
    )


def _standings(tournament: Tournament, results: Sequence[ContestResult], game: str) -> GameStandings:
    """Everything about one game; contests without a whole deal are left out."""
    import numpy as np

    of_game = [
        (contest, result)
        for contest, result in zip(tournament.contests, results, strict=True)
        if contest.plan.record.game_name == game
    ]
    finished = {name for contest, result in of_game if result.outcome.is_complete for name in contest.plan.names}
    played = [contest for contest, result in of_game if result.duplicates]
    contests = [RankedContest(one.plan.entrants, np.array(list(one.scores.in_order()), np.float64)) for one in played]
    fitted = [(one.deals_without_luck(), one.plan.entrants) for one in played]
    corrected = [RankedContest(entrants, deals) for deals, entrants in fitted if deals is not None]
    of_first = of_game[0][0].plan
    plan = of_first.run
    return standings_of(
        game,
        contests,
        plan.names,
        of_first.bounds,
        corrected=corrected if len(corrected) == len(played) else (),
        is_sequential=of_first.is_sequential,
        seatings=of_first.seatings,
        seed=seed if isinstance(seed := plan.seed, int) else seed.number(),
        unfinished=[name for name in plan.names if name not in finished],
    )


def standings_of(
    game: str,
    contests: Sequence[RankedContest],
    names: Sequence[str],
    bounds: Bounds,
    *,
    corrected: Sequence[RankedContest] = (),
    is_sequential: bool = False,
    seatings: int = 1,
    seed: int = 0,
    unfinished: Sequence[str] = (),
    has_confidence: bool = True,
) -> GameStandings:
    """The rankings and the crosstable of one game. The rankings go by what was won.

    Args:
        contests: the same deals were played in all.
        bounds: the lowest and the highest possible score of a deal, in mbb/g.
        corrected: the contests without the luck of the cards; empty where not all of them have that.
        has_confidence: whether places have theirs, which takes seconds with many bots.
    """

    def estimate(some: Sequence[RankedContest], player: int, opponent: int) -> Estimate | None:
        """The player's mean over the contests in which the opponent sat, too; None without any."""
        shared = [one for one in some if {player, opponent} <= set(one.players)]
        if not shared:
            return None
        return ranking.mean_of_contests(shared, player, bounds, is_sequential=is_sequential)

    def winnings(player: int, opponent: int) -> Winnings:
        raw = estimate(contests, player, opponent)
        assert raw is not None, "every pair has met"
        return Winnings(raw=raw, corrected=estimate(corrected, player, opponent))

    cells = [
        CrosstableCell(
            player=names[player],
            opponent=names[opponent],
            won=winnings(player, opponent),
            hands=seatings * sum(len(one.scores) for one in contests if {player, opponent} <= set(one.players)),
        )
        for player, opponent in dict.fromkeys(pair for one in contests for pair in permutations(one.players, 2))
    ]
    bankroll, runoff = (_ranks(contests, order, names, seed if has_confidence else None) for order in Ranking)
    ranked_players = [names.index(rank.player) for rank in bankroll]
    return GameStandings(
        game=game,
        won={names[player]: winnings(player, player) for player in ranked_players},
        crosstable=cells,
        total_bankroll=bankroll,
        instant_runoff=runoff,
        unfinished=list(unfinished),
    )


def _ranks(contests: Sequence[RankedContest], order: Ranking, names: Sequence[str], seed: int | None) -> list[Rank]:
    """The places; with a seed also the share of bootstrap samples that have each, given enough deals and contests."""
    are_few = min((len(contest.scores) for contest in contests), default=0) < MIN_UNITS
    # The interval of a single contest says as much as the shares would, and more.
    shares = None
    if seed is not None and len(contests) > 1 and not are_few:
        shares = ranking.bootstrap(contests, len(names), order, seed=seed)
    return [
        Rank(place=place, player=names[player], confidence=None if shares is None else float(shares[place - 1, player]))
        for place, player in ranking.ranked(contests, len(names), order)
    ]


def first_places(standings: GameStandings) -> str:
    """Who is first in a game, and how sure that is."""
    game = short_name(standings.game)
    if not standings.total_bankroll:
        return f"No deal of {game} was finished."
    best, survivors = _first(standings.total_bankroll, " of bootstrap samples"), _first(standings.instant_runoff)
    if best[0] == survivors[0]:
        sentence = f"{best[0]} in {game} by total bankroll{best[1]} and by instant run-off{survivors[1]}."
    else:
        sentence = f"In {game} {best[0]} by total bankroll{best[1]}, {' by instant run-off'.join(survivors)}."
    if any(won.raw.half_width is None for won in standings.won.values()):
        sentence += f" This is no evidence of strength: at least {MIN_UNITS} deals per contest are needed."
    return sentence


def _first(ranks: Sequence[Rank], unit: str = "") -> tuple[str, str]:
    first = [rank for rank in ranks if rank.place == 1]
    who = (
        f"{first[0].player} is first"
        if len(first) == 1
        else f"{listed([rank.player for rank in first])} share the first place"
    )
    shares = dict.fromkeys(f"{rank.confidence:.0%}" for rank in first if rank.confidence is not None)
    return who, f" ({listed(list(shares))}{unit})" if shares else ""
