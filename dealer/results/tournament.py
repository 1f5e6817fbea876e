"""The result of a tournament: its contests, and the rankings in each game."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.contest.contest import Contest
from dealer.contest.ending import INTERRUPTED, Outcome
from dealer.contest.tournament import Tournament
from dealer.results.contest import contest_result
from dealer.results.schema import ContestResult, CrosstableCell, GameStandings, Rank, TournamentResult
from dealer.results.sentences import count_of
from logs.estimation import RankedContest, Ranking, Rate, bootstrap, instant_runoff, mean_rate, total_bankroll

__all__ = ["tournament_result"]


def tournament_result(tournament: Tournament, *, resume: str | None) -> TournamentResult:
    """The result of a tournament that has ended or was interrupted.

    Args:
        tournament: after `Tournament.play`.
        resume: the command that resumes it, if it is not complete.
    """
    plan = tournament.plan
    results = [contest_result(contest, resume=None) for contest in tournament.contests]
    standings = [_standings(tournament, results, named.name) for named in plan.settled.games]
    outcome = tournament.outcome
    incomplete = sum(not result.outcome.is_complete for result in results)
    interrupted = [one.reason for one in results if one.outcome is Outcome.INTERRUPTED]
    reasons = {
        # Some were waiting for somebody, others had not begun.
        Outcome.INTERRUPTED: next((one for one in interrupted if one != INTERRUPTED.reason), INTERRUPTED.reason),
        Outcome.FAILED: f"{count_of(incomplete, 'contest')} of {len(results)} ended early.",
    }
    reason = reasons.get(outcome, "all contests were played.")
    return TournamentResult(
        format=plan.settled.format,
        outcome=outcome,
        reason=reason,
        players=list(plan.settled.names),
        contests=results,
        standings=standings,
        seconds=tournament.seconds,
        folder=str(plan.folder),
        resume=None if outcome.is_complete else resume,
        sentence=_sentence(standings, reason),
    )


def _standings(tournament: Tournament, results: Sequence[ContestResult], game: str) -> GameStandings:
    """Everything about one game; contests without a whole deal are left out."""
    plan = tournament.plan
    names = plan.settled.names
    counted = [
        index
        for index, contest in enumerate(plan.contests)
        if contest.record.game_name == game and results[index].duplicates
    ]
    ranked = [_ranked(tournament.contests[index], plan.entrants[index]) for index in counted]
    rates: dict[str, list[Rate]] = {name: [] for name in names}
    for index in counted:
        for player in results[index].players:
            rate = results[index].rate(player.name)
            rates[player.name] += [] if rate is None else [rate]
    bankrolls = total_bankroll(ranked, len(names)) if ranked else []
    runoff = instant_runoff(ranked, len(names)) if ranked else []
    return GameStandings(
        game=game,
        mbb_per_game={names[standing.player]: standing.mbb_per_game for standing in bankrolls},
        half_width_95={
            names[standing.player]: mean_rate(rates[names[standing.player]], "the field").half_width
            for standing in bankrolls
        },
        crosstable=_cells([results[index] for index in counted]),
        total_bankroll=_ranks(
            [standing.player for standing in bankrolls], ranked, names, Ranking.TOTAL_BANKROLL, plan.settled.seed
        ),
        instant_runoff=_ranks(runoff, ranked, names, Ranking.INSTANT_RUNOFF, plan.settled.seed),
    )


def _ranked(contest: Contest, entrants: tuple[int, ...]) -> RankedContest:
    import numpy as np

    scores = np.array(list(contest.scores.in_order()), dtype=np.float64)
    return RankedContest(entrants, scores)


def _cells(results: Sequence[ContestResult]) -> list[CrosstableCell]:
    """What each bot won in the contests it shared with each other bot; with several contests, the mean over them."""
    shared: dict[tuple[str, str], list[tuple[ContestResult, Rate]]] = {}
    for result in results:
        for player in result.players:
            rate = result.rate(player.name)
            for other in result.players:
                if other is not player and rate is not None:
                    shared.setdefault((player.name, other.name), []).append((result, rate))
    cells = []
    for (name, opponent), found in shared.items():
        mean = mean_rate([rate for _, rate in found], opponent)
        cells.append(
            CrosstableCell(
                player=name,
                opponent=opponent,
                mbb_per_game=mean.mbb,
                half_width_95=mean.half_width,
                hands=sum(result.hands_counted for result, _ in found),
            )
        )
    return cells


def _ranks(
    order: Sequence[int], ranked: Sequence[RankedContest], names: Sequence[str], ranking: Ranking, seed: int
) -> list[Rank]:
    if not order:
        return []
    chances = bootstrap(ranked, len(names), ranking, seed=seed)
    return [
        Rank(place=place + 1, player=names[player], confidence=float(chances[place, player]))
        for place, player in enumerate(order)
    ]


def _sentence(standings: Sequence[GameStandings], reason: str) -> str:
    """Who is first in each game, and how sure that is."""
    parts = []
    for ranking in standings:
        if not ranking.total_bankroll:
            parts.append(f"No deal of {ranking.game} was finished.")
            continue
        best, survivor = ranking.total_bankroll[0], ranking.instant_runoff[0]
        if best.player == survivor.player:
            parts.append(
                f"{best.player} is first in {ranking.game} by total bankroll ({best.confidence:.0%} of bootstrap "
                f"samples) and by instant run-off ({survivor.confidence:.0%})."
            )
        else:
            parts.append(
                f"In {ranking.game} {best.player} is first by total bankroll ({best.confidence:.0%} of bootstrap "
                f"samples), {survivor.player} by instant run-off ({survivor.confidence:.0%})."
            )
    return " ".join([*parts, reason[:1].upper() + reason[1:]])
