"""Results in words: who is ahead, by how much, how sure that is, and why play ended."""

from __future__ import annotations

import math

from dealer.match.faults import Fault, line_text
from dealer.match.writers import remedy_text
from dealer.run.choices import Score
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult, PlayerResult, TrainingReport, public_sentence
from engine import Game
from engine.text import capitalized, count_of, listed
from logs.estimation import FEWEST_UNITS, Estimate, IntervalWidth, Monitor, Rate, score_bounds
from protocol.game_definition import short_name

_LEVEL_CHIPS = 1e-6
"""Sums of split pots leave remainders far smaller than this."""
_CORRECTED = "without the luck of the cards"
_MANY_DEALS = 10_000
"""A width needs at least as many; the sentence gives the reason."""
_SPREAD_OF_ONE_SEATING = 0.7
_SPREAD_OF_ALL_SEATINGS = 0.25


def contest_sentence(result: ContestResult, *, shows_output: bool = True) -> str:
    """Who won, from whose point of view, by how much, how sure that is, and why it ended.

    Args:
        shows_output: whether what players sent and wrote is quoted.
    """
    reason = result.reason
    if result.outcome is Outcome.FAILED and not shows_output:
        reason = public_sentence(result.cause)
    if not result.duplicates:
        what = "No deal was finished in every seating" if result.hands_played else "No hand was finished"
        return f"{what}: {reason}"
    deals = count_of(result.duplicates, "hand" if result.seatings == 1 else "deal") + f" of {short_name(result.game)}"
    if result.seatings > 1:
        deals += f" in {result.seatings} seatings each"
    if result.verdict is not None:
        rate = result.rate() if result.score is Score.RAW else f"{result.corrected_rate()}, {_CORRECTED}"
        return f"{capitalized(reason.rstrip('.'))}, known after {deals}: {rate} (95 %)."
    endings = {Outcome.FINISHED: "", Outcome.STOPPED: f" It stopped because {reason}"}
    learnt = "".join([f" {_learnt(one)}" for one in result.training])
    return _comparison(result, deals) + learnt + endings.get(result.outcome, f" It ended early: {reason}")


def _comparison(result: ContestResult, deals: str) -> str:
    """Who is ahead in chips, then without luck, from one point of view; what alone decides comes first."""
    best = max(result.players, key=lambda player: player.chips)
    chips = _rate_of_best(result, best, None if best.won is None else best.won.best)
    leader = max(result.players, key=_corrected_mean)
    if leader.won is not None and leader.won.corrected_best is not None and not _decides(chips):
        corrected = _rate_of_best(result, leader, leader.won.corrected_best)
        if _decides(corrected):
            won = result.rate(leader.name)
            return (
                f"{_beats(corrected, result)}, {_CORRECTED}, over {deals}. "
                f"The chips alone do not decide: {won}{_level(won)}."
            )
    same = result.corrected_rate(best.name)
    also = "" if same is None else f" {_CORRECTED.capitalize()}: {same}{_level(same)}."
    return _standing(result, chips, deals) + also


def _rate_of_best(result: ContestResult, player: PlayerResult, estimate: Estimate | None) -> Rate:
    return Rate.from_estimate(estimate or Estimate(0.0), player.name, result.opponent_of(player.name))


def _corrected_mean(player: PlayerResult) -> float:
    if player.won is None or player.won.corrected is None:
        return 0.0
    return player.won.corrected.mean


def _decides(rate: Rate) -> bool:
    return rate.low is not None and rate.low > 0


def _beats(rate: Rate, result: ContestResult) -> str:
    return f"{rate.player} beats {rate.opponent} by {_measured(rate, result)}"


def _measured(rate: Rate, result: ContestResult) -> str:
    picked = "" if len(result.players) == 2 else f", as the best of {len(result.players)}"
    return f"{rate.text().removeprefix('+')} (95 %{picked})"


def _level(rate: Rate | None) -> str:
    return "" if rate is None or rate.half_width is None else " (95 %)"


def _standing(result: ContestResult, rate: Rate, deals: str) -> str:
    ranked = sorted(result.players, key=lambda player: -player.chips)
    level = [player.name for player in ranked if ranked[0].chips - player.chips < _LEVEL_CHIPS]
    is_level = len(level) > 1
    ahead = f"{rate.player} is ahead of {rate.opponent} by {rate.text().removeprefix('+')} after {deals}"
    if is_level:
        ahead = f"{listed(level)} are level after {deals}{'' if len(level) == len(ranked) else ', ahead of the others'}"
    if result.interval == "none":
        return f"{ahead}, in training: a learning player changes from hand to hand, so this measures no player."
    if rate.half_width is None:
        return f"{ahead}, too few for a conclusion about strength (at least {FEWEST_UNITS} are needed for an interval)."
    if is_level:
        return f"{ahead}: {_measured(rate, result)}."
    if _decides(rate):
        return f"{_beats(rate, result)} over {deals}."
    luck = f"{rate.player} is ahead of {rate.opponent} by {_measured(rate, result)} after {deals}: that may be luck."
    if rate.mean <= 0:
        # Chips can be lost to nobody; see `engine.hand.hand_values`.
        return luck
    needed = count_of(rounded_up(result.duplicates * (rate.half_width / rate.mean) ** 2), "deal")
    return f"{luck} If the lead is real, about {needed} would show it."


def _learnt(one: TrainingReport) -> str:
    files = [one.memory] if one.own_file is None or one.problem else [one.memory, one.own_file]
    sentence = f"What {one.player} learnt from {count_of(one.hands, 'hand')} is in {listed(files)}."
    return f"{sentence} {one.problem}" if one.problem else sentence


def rounded_up(number: float) -> int:
    """Rounded up to two digits: an estimate should not look like a measurement."""
    if number < 1:
        return 1
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def fault_phrase(fault: Fault) -> str:
    """What a player did wrong, where, with the offending line, and what was done about it."""
    where = f" in hand {fault.hand_number}" if fault.hand_number >= 0 else ""
    line = line_text(fault.line)
    quoted = f": {line!r}" if fault.line else ""
    return f"{fault.kind.value}{where}{quoted}, {remedy_text(fault)}"


def expectation(plan: ContestPlan) -> str | None:
    """How many deals a stop rule is likely to need, stated before the first hand; None for a fixed number of deals."""
    if not plan.looks:
        return None
    run, spread = plan.run, typical_spread_mbb(plan.game, plan.seatings)
    deals = rounded_up(Monitor(run.stop, plan.bounds).likely_units(spread))
    more = f", more than the {run.deals:,} that will be played" if deals > run.deals else ""
    return (
        f"{run.stop}: likely to need up to {count_of(deals, 'deal')}{more}, if the standard deviation of a deal is "
        f"{spread:,.0f} mbb as between simple bots; the estimate is updated during play.{_unseen_loss(plan)}"
    )


def _unseen_loss(plan: ContestPlan) -> str:
    """Why a width takes many deals however little scores vary, and what would take fewer; empty where it does not."""
    least = Monitor(plan.run.stop, plan.bounds).likely_units(0.0) if isinstance(plan.run.stop, IntervalWidth) else 0
    if least < _MANY_DEALS:
        return ""
    return (
        f" At least {count_of(rounded_up(least), 'deal')} are needed however little the scores vary: a hand can lose "
        f"{-plan.bounds[0]:,.0f} mbb, and the interval allows for such a loss that has not been seen yet. A wider ci= "
        "or smaller stacks need fewer."
    )


def typical_spread_mbb(game: Game, seatings: int) -> float:
    """The standard deviation of a deal's score to expect before anything is known of the players, in mbb/g.

    Measured between the simplest bots (raising and calling against random), in thousandths of the most a hand can lose:

                            one seating    all rotations
        limit, 2 players     170 - 540         50 - 250
        no-limit, 2 players  720 - 870        230 - 340
        Kuhn, 2 players      800 - 960        180 - 220
        Leduc                310 - 710        110 - 230

    Bots that play well risk less: for them the figures used are a bound rather than an estimate.

    Args:
        seatings: in how many seatings each deal is played.
    """
    lowest, _ = score_bounds(game)
    return -lowest * (_SPREAD_OF_ONE_SEATING if seatings == 1 else _SPREAD_OF_ALL_SEATINGS)
