"""Estimate the win rate of a benchmark's player, with the policy of its opponent known.

AIVAT by the values of the opponent's strategy is what the player's choices win beyond them, so that it can be assigned
to streets. Without values, the estimate is that of `arena luck`, and the streets have chips.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, TypeAlias

from bots.cfr import value_terms
from bots.cfr.bot import CfrBot
from bots.cfr.strategy_values import strategy_checksum
from bots.errors import PolicyError
from bots.evaluation.hypothetical_hands import ActionTerms
from bots.sdk.bot import Bot
from dealer.reports.benchmark_data import DEALS, SEEDS, VERSION, BenchmarkData, BenchmarkGame
from dealer.reports.winnings_parts import WinningsBreakdown
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult
from dealer.run.run_settings import RunSettings, adapter
from engine import Game, Position
from logs.hand_source import find
from logs.record import HandRecord
from logs.variance.estimates import Estimator, GameEstimates, WinRateEstimate
from logs.variance.reduction import Reduction
from protocol import find_game
from protocol.game_definition import short_name

OnPart: TypeAlias = Callable[[float | None], None]
"""Called with the finished part of the hands."""


def measure_benchmark(
    result: ContestResult, settings: RunSettings, on_progress: OnPart = lambda part: None
) -> BenchmarkData:
    """Estimate the win rate of the first player of a finished run from its logs.

    Args:
        result: result of the run, with its folder.
        settings: settings of the run, with all defaults resolved.

    Raises:
        LogsError: a log is damaged.
        OSError: a log cannot be read.
    """
    game = find_game(result.game)[1]
    opponent, checksum = _opponent_of(game)
    breakdown = WinningsBreakdown(game, result.players[0].name)
    estimates: GameEstimates | None = None
    rate: WinRateEstimate | None = None
    problem: str | None = None
    if result.outcome is Outcome.INTERRUPTED or not result.duplicates:
        problem = "no deal was finished" if not result.duplicates else "the benchmark was interrupted"
    else:
        try:
            opponent.prepare(game)
            estimates = _count(result, game, opponent, breakdown, on_progress)
            rate = _rate_by_aivat(estimates, result.players[0].name)
        except PolicyError as error:
            problem = str(error)
            breakdown = WinningsBreakdown(game, result.players[0].name)
            estimates = _count(result, game, None, breakdown, on_progress)
    kind = BenchmarkGame(short_name(result.game))
    written = adapter(RunSettings).dump_python(settings, exclude_none=True, mode="json")
    return BenchmarkData(
        benchmark=VERSION,
        is_standard=(settings.deals, settings.seed) == (DEALS, SEEDS[kind]),
        arena=version("acpc-arena"),
        command=_command(written, kind),
        strategy=checksum,
        settings=written,
        result=result.model_copy(update={"estimates": estimates or result.estimates}),
        rate=rate,
        problem=problem,
        streets=breakdown.streets() if estimates else [],
        positions=breakdown.positions() if estimates else [],
    )


def _opponent_of(game: Game) -> tuple[Bot, str]:
    """Return the opponent, not yet prepared, and the checksum of its strategy."""
    opponent = CfrBot()
    return opponent, strategy_checksum(opponent.strategy(game))


def _command(settings: Mapping[str, Any], game: BenchmarkGame) -> str:
    """Return the command that repeats a benchmark with these settings, as written in a file."""
    player = settings["bots"][0]
    if not isinstance(player, str):
        player = player["bot"]
    options = ["--game", game.value, "--deals", str(settings["deals"]), "--seed", str(settings["seed"])]
    return shlex.join(["arena", "benchmark", player, *options])


def _count(
    result: ContestResult, game: Game, opponent: Bot | None, breakdown: WinningsBreakdown, on_progress: OnPart
) -> GameEstimates:
    """Count the deals that were played in all seatings, for all estimators and the breakdown.

    Args:
        opponent: policy of the second player; None counts without it.

    Raises:
        PolicyError: the second player's actions are not those of the policy.
    """
    assert result.folder is not None
    corrections: ActionTerms | None = None
    is_valued = False
    hands = 0

    def take(record: HandRecord, _: Position, estimate: value_terms.HandEstimate) -> None:
        # A reduction corrects its hands in batches, so that progress is that of the estimates.
        nonlocal hands
        hands += 1
        on_progress(hands / result.hands_counted)
        breakdown.add(record, (estimate.start + estimate.gains[0], *estimate.gains[1:]))

    if opponent is not None:
        player = result.players[1]
        doubts = {player.name: player.policy_doubt} if player.policy_doubt else {}
        terms = value_terms.value_terms(game, {player.name: opponent})
        valued = None if terms is None else value_terms.ValuedHands(terms, take)
        is_valued = valued is not None and bool(valued.names)
        corrections = ActionTerms(game, {player.name: opponent}, doubts, valued=valued)
    reduction = Reduction(None if corrections is None else lambda _: corrections)
    on_progress(0.0)
    for deal in find([result.folder]).deals():
        if len(deal) < result.seatings:
            continue
        for _, record in deal:
            reduction.add(record)
            if not is_valued:
                breakdown.add(record)
    (estimates,) = reduction.estimates().games
    return estimates


def _rate_by_aivat(estimates: GameEstimates, player: str) -> WinRateEstimate:
    """Return the estimate without fitted weights."""
    for row in estimates.players:
        for estimate in row.estimates:
            if row.player == player and estimate.estimator is Estimator.AIVAT and not estimate.is_fitted:
                return estimate
    raise AssertionError("the logs of a run have all cards")
