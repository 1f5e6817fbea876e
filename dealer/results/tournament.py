"""The result of a tournament: its contests, and who stands where in each game."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dealer.contest.contest import Contest
from dealer.contest.tournament import Tournament
from dealer.results.contest import contest_result
from dealer.results.schema import ContestResult, CrosstableCell, GameStandings, PlayerResult, Rank, TournamentResult
from dealer.results.sentences import count_of
from logs.estimation import RankedContest, Ranking, bootstrap, instant_runoff, total_bankroll

__all__ = ["tournament_result"]


def tournament_result(tournament: Tournament, *, resume: str) -> TournamentResult:
    """The result of a tournament that has ended or was interrupted.

    Args:
        tournament: after `Tournament.play`.
        resume: the command that goes on with it.
    """
    plan = tournament.plan
    results = [contest_result(contest, resume=None) for contest in tournament.contests]
    games = list(dict.fromkeys(contest.game_name for contest in plan.contests))
    standings = [_standings(tournament, results, game) for game in games]
    outcome = tournament.outcome
    ended = [result for result in results if result.outcome in ("finished", "stopped")]
    reason = {
        "interrupted": "it was interrupted.",
        "failed": f"{count_of(len(results) - len(ended), 'contest')} of {len(results)} ended early.",
    }.get(outcome, "all contests were played.")
    return TournamentResult(
        format=plan.config.format,
        outcome=outcome,
        reason=reason,
        players=list(plan.names),
        contests=results,
        standings=standings,
        seconds=tournament.seconds,
        folder=str(plan.folder),
        resume=resume if outcome in ("interrupted", "failed") else None,
        sentence=_sentence(standings, reason),
    )


def _standings(tournament: Tournament, results: Sequence[ContestResult], game: str) -> GameStandings:
    """Everything about one game; contests without a whole deal are left out."""
    plan = tournament.plan
    names = plan.names
    counted = [
        index for index, contest in enumerate(plan.contests) if contest.game_name == game and results[index].duplicates
    ]
    ranked = [_ranked(tournament.contests[index], plan.entrants[index]) for index in counted]
    halves: dict[str, list[float | None]] = {name: [] for name in names}
    for index in counted:
        for player in results[index].players:
            halves[player.name].append(player.half_width_95)
    bankrolls = total_bankroll(ranked, len(names)) if ranked else []
    runoff = instant_runoff(ranked, len(names)) if ranked else []
    seed = plan.config.seed or 0
    return GameStandings(
        game=game,
        mbb_per_game={names[standing.player]: standing.mbb_per_game for standing in bankrolls},
        half_width_95={names[standing.player]: _of_mean(halves[names[standing.player]]) for standing in bankrolls},
        crosstable=_cells([results[index] for index in counted]),
        total_bankroll=_ranks([standing.player for standing in bankrolls], ranked, names, Ranking.TOTAL_BANKROLL, seed),
        instant_runoff=_ranks(runoff, ranked, names, Ranking.INSTANT_RUNOFF, seed),
    )


def _ranked(contest: Contest, entrants: tuple[int, ...]) -> RankedContest:
    import numpy as np

    scores = np.array(list(contest.scores.in_order()), dtype=np.float64)
    return RankedContest(entrants, scores)


def _of_mean(half_widths: Sequence[float | None]) -> float | None:
    """Half the interval of a mean over contests that are independent of each other."""
    known = [half for half in half_widths if half is not None]
    if len(known) < len(half_widths) or not known:
        return None
    return math.hypot(*known) / len(known)


def _cells(results: Sequence[ContestResult]) -> list[CrosstableCell]:
    """What each bot won in the contests it shared with each other; at larger tables, the mean over those contests."""
    shared: dict[tuple[str, str], list[tuple[ContestResult, PlayerResult]]] = {}
    for result in results:
        for player in result.players:
            for other in result.players:
                if other is not player:
                    shared.setdefault((player.name, other.name), []).append((result, player))
    cells = []
    for (name, opponent), found in shared.items():
        means = [player.mbb_per_game for _, player in found if player.mbb_per_game is not None]
        cells.append(
            CrosstableCell(
                player=name,
                opponent=opponent,
                mbb_per_game=math.fsum(means) / len(means),
                half_width_95=_of_mean([player.half_width_95 for _, player in found]),
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
    for of_game in standings:
        if not of_game.total_bankroll:
            parts.append(f"No deal of {of_game.game} was finished.")
            continue
        best, survivor = of_game.total_bankroll[0], of_game.instant_runoff[0]
        if best.player == survivor.player:
            parts.append(
                f"{best.player} is first in {of_game.game} by total bankroll ({best.confidence:.0%} of bootstrap "
                f"samples) and by instant run-off ({survivor.confidence:.0%})."
            )
        else:
            parts.append(
                f"In {of_game.game} {best.player} is first by total bankroll ({best.confidence:.0%} of bootstrap "
                f"samples), {survivor.player} by instant run-off ({survivor.confidence:.0%})."
            )
    return " ".join([*parts, reason[:1].upper() + reason[1:]])
