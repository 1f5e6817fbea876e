"""Compute the results of contests and tournaments from the counts of their matches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, permutations
from pathlib import Path

from dealer.match.faults import FaultKind
from dealer.run.choices import Score
from dealer.run.contest import Contest
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import INTERRUPTED, Outcome
from dealer.run.match_files import exchanges_path
from dealer.run.results import (
    ContestResult,
    CrosstableCell,
    DealerReport,
    FailureReport,
    GameStandings,
    MatchSummary,
    ModelUse,
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
from logs.acpc_log.exchanges import ACTION, Exchange, read_exchanges
from logs.estimation import (
    MIN_UNITS,
    Bounds,
    Estimate,
    RankedContest,
    Ranking,
    RunningMean,
    Scoreboard,
    estimate_of_best,
    largest_loss_mbb,
    ranking,
)
from protocol.game_definition import short_name


def contest_result(contest: Contest, *, resume: str | None) -> ContestResult:
    """Compute the result of a contest so far. A contest without an ending counts as interrupted.

    Args:
        resume: command that resumes it, if it is not complete.
    """
    plan, scores, ending = contest.plan, contest.scores, contest.ending or INTERRUPTED
    raw = _counted(plan, scores.in_order())
    corrected = _counted_without_luck(contest)
    aivat = _counted_by_aivat(contest)
    has_known = plan.run.score is not Score.RAW
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
        score=Score.RAW if plan.run.score is Score.BOTH else plan.run.score,
        known=[player.name for player in plan.known] if has_known else [],
        valuation_s=plan.valuation_s(duplicates * plan.seatings) if has_known else None,
        verdict=contest.monitor.verdict,
        interval=plan.interval,
        largest_loss=largest_loss_mbb(plan.game),
        seconds=contest.seconds,
        hands_per_second=hands / contest.seconds if contest.seconds else 0.0,
        folder=str(plan.record.folder),
        resume=None if ending.outcome.is_complete else resume,
        players=[
            _player_result(
                contest,
                player,
                raw.mean(name),
                corrected=None if corrected is None else corrected.mean(name),
                aivat=None if aivat is None else aivat.mean(name),
            )
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
    """Count the scores without the luck of the cards; return None if they are not computed."""
    if contest.plan.run.score is Score.CORRECTED:
        return _counted(contest.plan, contest.judged.in_order(), Score.CORRECTED)
    deals = contest.deals_without_luck()
    if deals is None:
        return None
    return _counted(contest.plan, deals.tolist(), Score.CORRECTED)


def _counted_by_aivat(contest: Contest) -> Scoreboard | None:
    """Count the AIVAT scores; return None unless all hands have been valued."""
    scores = contest.aivat_scores
    return None if scores is None else _counted(contest.plan, scores.in_order(), Score.AIVAT)


def _player_result(
    contest: Contest,
    player: int,
    mean: RunningMean,
    *,
    corrected: RunningMean | None,
    aivat: RunningMean | None,
) -> PlayerResult:
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
        if first_fault is None:
            first_fault = tally.first_faults.get(seat)
        if exit_code is None:
            exit_code = tally.exit_codes.get(seat)
    order = {kind.value: place for place, kind in enumerate(FaultKind)}
    paths = [
        exchanges_path(plan.record.folder, match_plan.name, match_plan.players.index(player))
        for match_plan in contest.match_plans
    ]
    return PlayerResult(
        name=plan.names[player],
        player=plan.players[player].text,
        chips=contest.scores.chips()[player],
        won=player_winnings(mean, corrected, len(plan.players), aivat),
        standard_deviation=mean.standard_deviation,
        faults=dict(sorted(faults.items(), key=lambda item: order[item[0]])),
        first_fault=None if first_fault is None else fault_phrase(first_fault),
        restarts=restarts,
        actions=times.count,
        thinking_s=times.total_us / 1e6,
        median_us=times.quantile_us(0.5),
        p99_us=times.quantile_us(0.99),
        exit_code=exit_code,
        model=model_use(chain.from_iterable(map(read_exchanges, paths))),
    )


def model_use(exchanges: Iterable[Exchange]) -> ModelUse | None:
    """Count the exchanges of a player with a language model; return None without any."""
    counts: Counter[str] = Counter()
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    times_s = []
    for exchange in exchanges:
        times_s.append(exchange.seconds)
        counts["repeats"] += exchange.repeats
        if exchange.kind == ACTION:
            counts["decisions"] += exchange.attempt == 1
            counts["asked_again"] += exchange.attempt == 2
            counts["fell_back"] += exchange.fell_back
        if exchange.tokens_in is not None:
            tokens_in = (tokens_in or 0) + exchange.tokens_in
        if exchange.tokens_out is not None:
            tokens_out = (tokens_out or 0) + exchange.tokens_out
        if exchange.cost is not None:
            cost = (cost or 0.0) + exchange.cost
    if not times_s:
        return None
    times_s.sort()
    return ModelUse(
        exchanges=len(times_s),
        decisions=counts["decisions"],
        asked_again=counts["asked_again"],
        fell_back=counts["fell_back"],
        repeats=counts["repeats"],
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost,
        median_s=_quantile(times_s, 0.5),
        p99_s=_quantile(times_s, 0.99),
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that at least a share of the values does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def player_winnings(
    mean: RunningMean, corrected: RunningMean | None, players: int, aivat: RunningMean | None = None
) -> PlayerWinnings | None:
    """Return the winnings of one of several players; None before a deal is complete."""
    if not mean.count:
        return None
    return PlayerWinnings(
        raw=mean.estimate,
        corrected=None if corrected is None else corrected.estimate,
        aivat=None if aivat is None else aivat.estimate,
        best=estimate_of_best(mean, players),
        corrected_best=None if corrected is None else estimate_of_best(corrected, players),
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
    """Compute the result of a tournament.

    Args:
        tournament: tournament that has ended or was interrupted.
        folder: folder of the run.
        resume: command that resumes it, if it is not complete.
    """
    plan = tournament.contests[0].plan.run
    results = [contest_result(contest, resume=None) for contest in tournament.contests]
    standings = [_standings(tournament, results, named.name) for named in plan.games]
    outcome = tournament.outcome
    reason = _tournament_reason(outcome, results)
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


def _tournament_reason(outcome: Outcome, results: Sequence[ContestResult]) -> str:
    if outcome is Outcome.FAILED:
        incomplete = sum(not result.outcome.is_complete for result in results)
        return f"{count_of(incomplete, 'contest')} of {len(results)} ended early."
    if outcome is Outcome.INTERRUPTED:
        # A contest that was waiting for a player says more than those that had not begun.
        for result in results:
            if result.outcome is Outcome.INTERRUPTED and result.reason != INTERRUPTED.reason:
                return result.reason
        return INTERRUPTED.reason
    return "all contests were played."


def _standings(tournament: Tournament, results: Sequence[ContestResult], game: str) -> GameStandings:
    """Compute the standings of a game over its contests with at least one complete deal."""
    # Imported here, because a play does not need it.
    import numpy as np

    finished: set[str] = set()
    contests = []
    corrected = []
    first_plan: ContestPlan | None = None
    for contest, result in zip(tournament.contests, results, strict=True):
        plan = contest.plan
        if plan.record.game_name != game:
            continue
        first_plan = first_plan or plan
        if result.outcome.is_complete:
            finished.update(plan.names)
        if not result.duplicates:
            continue
        contests.append(RankedContest(plan.entrants, np.array(list(contest.scores.in_order()), np.float64)))
        deals = contest.deals_without_luck()
        if deals is not None:
            corrected.append(RankedContest(plan.entrants, deals))
    assert first_plan is not None, "every game has a contest"
    run = first_plan.run
    return standings_of(
        game,
        contests,
        run.names,
        first_plan.bounds,
        corrected=corrected if len(corrected) == len(contests) else (),
        is_sequential=first_plan.is_sequential,
        seatings=first_plan.seatings,
        seed=run.seed if isinstance(run.seed, int) else run.seed.number(),
        unfinished=[name for name in run.names if name not in finished],
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
    """Compute the crosstable of a game, and its rankings by raw winnings.

    Args:
        game: name of the game.
        contests: scores of contests over the same deals.
        names: names of the bots, by the indices of the contests.
        bounds: lowest and highest possible score of a deal, in mbb/g.
        corrected: scores without the luck of the cards; empty unless all contests have them.
        is_sequential: whether intervals have to hold at any time.
        seatings: number of seatings of each deal.
        seed: seed of the bootstrap samples.
        unfinished: names of bots without a finished contest.
        has_confidence: whether to compute the confidence in places, which takes seconds with many bots.
    """

    def shared(scores: Sequence[RankedContest], player: int, opponent: int) -> list[RankedContest]:
        return [contest for contest in scores if player in contest.players and opponent in contest.players]

    def estimate(scores: Sequence[RankedContest], player: int, opponent: int) -> Estimate | None:
        """Return the player's mean over the contests that include the opponent; None without any."""
        shared_contests = shared(scores, player, opponent)
        if not shared_contests:
            return None
        return ranking.mean_of_contests(shared_contests, player, bounds, is_sequential=is_sequential)

    def winnings(player: int, opponent: int) -> Winnings:
        raw = estimate(contests, player, opponent)
        assert raw is not None, "every pair has met"
        return Winnings(raw=raw, corrected=estimate(corrected, player, opponent))

    pairs = dict.fromkeys(pair for contest in contests for pair in permutations(contest.players, 2))
    cells = [
        CrosstableCell(
            player=names[player],
            opponent=names[opponent],
            won=winnings(player, opponent),
            hands=seatings * sum(len(contest.scores) for contest in shared(contests, player, opponent)),
        )
        for player, opponent in pairs
    ]
    ranks_seed = seed if has_confidence else None
    bankroll = _ranks(contests, Ranking.TOTAL_BANKROLL, names, ranks_seed)
    runoff = _ranks(contests, Ranking.INSTANT_RUNOFF, names, ranks_seed)
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
    """Rank the bots. With a seed and enough deals, compute the confidence in each place."""
    has_enough_deals = min((len(contest.scores) for contest in contests), default=0) >= MIN_UNITS
    shares = None
    # With a single contest, its interval says more than the confidence.
    if seed is not None and len(contests) > 1 and has_enough_deals:
        shares = ranking.bootstrap(contests, len(names), order, seed=seed)
    ranks = []
    for place, player in ranking.ranked(contests, len(names), order):
        confidence = None if shares is None else float(shares[place - 1, player])
        ranks.append(Rank(place=place, player=names[player], confidence=confidence))
    return ranks


def first_places(standings: GameStandings) -> str:
    """Compose the sentence about the first places of a game."""
    game = short_name(standings.game)
    if not standings.total_bankroll:
        return f"No deal of {game} was finished."
    best = _first(standings.total_bankroll, " of bootstrap samples")
    survivors = _first(standings.instant_runoff)
    if best[0] == survivors[0]:
        sentence = f"{best[0]} in {game} by total bankroll{best[1]} and by instant run-off{survivors[1]}."
    else:
        sentence = f"In {game} {best[0]} by total bankroll{best[1]}, {' by instant run-off'.join(survivors)}."
    if any(won.raw.guaranteed_half_width is None for won in standings.won.values()):
        sentence += f" This is no evidence of strength: at least {MIN_UNITS} deals per contest are needed."
    return sentence


def _first(ranks: Sequence[Rank], unit: str = "") -> tuple[str, str]:
    """Return the clause about the first place, and its confidence in parentheses."""
    first = [rank for rank in ranks if rank.place == 1]
    if len(first) == 1:
        clause = f"{first[0].player} is first"
    else:
        clause = f"{listed([rank.player for rank in first])} share the first place"
    shares = dict.fromkeys(f"{rank.confidence:.0%}" for rank in first if rank.confidence is not None)
    confidence = ""
    if shares:
        confidence = f" ({listed(list(shares))}{unit})"
    return clause, confidence
