"""The result of a tournament: its contests, and the rankings in each game."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dealer.results.contest import contest_result
from dealer.results.schema import ContestResult, CrosstableCell, GameStandings, Rank, TournamentResult
from dealer.results.sentences import listed
from dealer.run.ending import INTERRUPTED, Outcome
from dealer.run.tournament import Tournament
from engine.text import count_of
from logs.estimation import FEWEST_UNITS, Bounds, MeanOfContests, RankedContest, Ranking, ranking


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
        sentence=" ".join([*map(first_places, standings), reason[:1].upper() + reason[1:]]),
    )


def _standings(tournament: Tournament, results: Sequence[ContestResult], game: str) -> GameStandings:
    """Everything about one game; contests without a whole deal are left out."""
    import numpy as np

    plan = tournament.plan
    played = [
        (contest, entrants)
        for contest, entrants, result in zip(tournament.contests, plan.entrants, results, strict=True)
        if contest.plan.record.game_name == game and result.duplicates
    ]
    contests = [
        RankedContest(entrants, np.array(list(contest.scores.in_order()), np.float64)) for contest, entrants in played
    ]
    fitted = [(contest.deals_without_luck(), entrants) for contest, entrants in played]
    corrected = [RankedContest(entrants, deals) for deals, entrants in fitted if deals is not None]
    if not played:
        return GameStandings(
            game=game, mbb_per_game={}, half_width_95={}, crosstable=[], total_bankroll=[], instant_runoff=[]
        )
    first = played[0][0].plan
    return standings_of(
        game,
        contests,
        plan.settled.names,
        first.bounds,
        corrected=corrected if len(corrected) == len(played) else (),
        is_sequential=first.is_sequential,
        seatings=first.seatings,
        seed=seed if isinstance(seed := plan.settled.seed, int) else seed.number(),
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
) -> GameStandings:
    """The rankings and the crosstable of one game. The rankings go by what was won.

    Args:
        game: its name.
        contests: at least one; the same deals were played in all.
        names: of the bots.
        bounds: the lowest and the highest possible score of a deal, in mbb/g.
        corrected: the contests without the luck of the cards; empty where not all of them have that.
        is_sequential: whether a sequential test ended the contests.
        seatings: how many hands a deal has.
        seed: of the bootstrap.
    """
    n = len(names)
    bankrolls, runoff = ranking.total_bankroll(contests, n), ranking.instant_runoff(contests, n)

    def mean_of(some: Sequence[RankedContest], player: int, opponent: int) -> MeanOfContests | None:
        """A player's mean over the contests in which the other one sat, too; None without any."""
        among = [contest for contest in some if {player, opponent} <= set(contest.players)]
        return ranking.mean_of_contests(among, player, bounds, is_sequential=is_sequential) if among else None

    cells = []
    for player, opponent in dict.fromkeys(
        pair for contest in contests for pair in itertools.permutations(contest.players, 2)
    ):
        mean, without_luck = (mean_of(some, player, opponent) for some in (contests, corrected))
        assert mean is not None
        cells.append(
            CrosstableCell(
                player=names[player],
                opponent=names[opponent],
                mbb_per_game=mean.mbb,
                half_width_95=mean.half_width_95,
                standard_error=mean.standard_error,
                corrected_mbb_per_game=None if without_luck is None else without_luck.mbb,
                corrected_half_width_95=None if without_luck is None else without_luck.half_width_95,
                corrected_standard_error=None if without_luck is None else without_luck.standard_error,
                hands=seatings
                * sum(len(contest.scores) for contest in contests if {player, opponent} <= set(contest.players)),
            )
        )
    means, corrected_means = (
        {
            names[standing.player]: mean
            for standing in bankrolls
            if (mean := mean_of(some, standing.player, standing.player)) is not None
        }
        for some in (contests, corrected)
    )
    return GameStandings(
        game=game,
        mbb_per_game={name: mean.mbb for name, mean in means.items()},
        half_width_95={name: mean.half_width_95 for name, mean in means.items()},
        standard_error={name: mean.standard_error for name, mean in means.items()},
        corrected_mbb_per_game={name: mean.mbb for name, mean in corrected_means.items()},
        corrected_half_width_95={name: mean.half_width_95 for name, mean in corrected_means.items()},
        corrected_standard_error={name: mean.standard_error for name, mean in corrected_means.items()},
        crosstable=cells,
        total_bankroll=_ranks(bankrolls, Ranking.TOTAL_BANKROLL, contests, names, seed),
        instant_runoff=_ranks(runoff, Ranking.INSTANT_RUNOFF, contests, names, seed),
    )


def _ranks(
    standings: Sequence[ranking.Standing],
    order: Ranking,
    contests: Sequence[RankedContest],
    names: Sequence[str],
    seed: int,
) -> list[Rank]:
    """The places with how sure they are, where there are deals enough to say."""
    are_few = min(len(contest.scores) for contest in contests) < FEWEST_UNITS
    shares = None if are_few else ranking.bootstrap(contests, len(names), order, seed=seed)
    return [
        Rank(place=place, player=names[player], confidence=None if shares is None else float(shares[place - 1, player]))
        for place, player, _ in standings
    ]


def first_places(standings: GameStandings) -> str:
    """Who is first in a game, and how sure that is."""
    if not standings.total_bankroll:
        return f"No deal of {standings.game} was finished."
    best, survivors = _first(standings.total_bankroll, " of bootstrap samples"), _first(standings.instant_runoff)
    if best[0] == survivors[0]:
        said = f"{best[0]} in {standings.game} by total bankroll{best[1]} and by instant run-off{survivors[1]}."
    else:
        said = f"In {standings.game} {best[0]} by total bankroll{best[1]}, {' by instant run-off'.join(survivors)}."
    if any(rank.confidence is None for rank in standings.total_bankroll):
        said += f" That says nothing about strength: at least {FEWEST_UNITS} deals per contest are needed."
    return said


def _first(ranks: Sequence[Rank], unit: str = "") -> tuple[str, str]:
    """Who is first, and how sure that is."""
    first = [rank for rank in ranks if rank.place == 1]
    who = (
        f"{first[0].player} is first"
        if len(first) == 1
        else f"{listed([rank.player for rank in first])} share the first place"
    )
    shares = dict.fromkeys(f"{rank.confidence:.0%}" for rank in first if rank.confidence is not None)
    return who, f" ({listed(list(shares))}{unit})" if shares else ""
