"""Results in words: who is ahead, by how much, how sure that is, and why play ended."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dealer.match.faults import Fault, decode_line
from dealer.match.writers import format_remedy
from dealer.run.choices import Interval, Score
from dealer.run.contest_plan import ContestPlan
from dealer.run.ending import Outcome
from dealer.run.results import ContestResult, PlayerResult, TrainingReport, public_sentence
from engine import Game
from engine.text import capitalized, count_of, listed
from logs.estimation import MIN_UNITS, Estimate, IntervalWidth, Monitor, Rate, score_bounds
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
    deals = played_text(result.duplicates, result.seatings, short_name(result.game))
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
                f"{_beats(corrected, len(result.players))}, {_CORRECTED}, over {deals}. "
                f"The chips alone do not decide: {won}{_level(won)}."
            )
    same = result.corrected_rate(best.name)
    also = "" if same is None else f" {_CORRECTED.capitalize()}: {same}{_level(same)}."
    standing = Standing(
        chips={player.name: player.chips for player in sorted(result.players, key=lambda player: -player.chips)},
        lead=chips,
        deals=result.duplicates,
        played=deals,
        interval=result.interval,
        is_over=True,
    )
    return standing.sentence() + also


def _rate_of_best(result: ContestResult, player: PlayerResult, estimate: Estimate | None) -> Rate:
    return Rate.from_estimate(estimate or Estimate(0.0), player.name, result.opponent_of(player.name))


def _corrected_mean(player: PlayerResult) -> float:
    if player.won is None or player.won.corrected is None:
        return 0.0
    return player.won.corrected.mean


def _decides(rate: Rate) -> bool:
    return rate.low is not None and rate.low > 0


def _beats(rate: Rate, players: int) -> str:
    return f"{rate.player} beats {rate.opponent} by {_measured(rate, players)}"


def _measured(rate: Rate, players: int) -> str:
    picked = "" if players == 2 else f", as the best of {players}"
    return f"{rate.text(has_plus=False)} (95 %{picked})"


def _level(rate: Rate | None) -> str:
    return "" if rate is None or rate.half_width is None else " (95 %)"


def played_text(deals: int, seatings: int, game: str = "") -> str:
    """The deals played so far in words, with the short name of the game if it is known."""
    text = count_of(deals, "hand" if seatings == 1 else "deal")
    if game:
        text += f" of {game}"
    if seatings > 1:
        text += f" in {seatings} seatings each"
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Score of a contest with at least one complete deal.

    Attributes:
        chips: net chips by player.
        lead: winnings of a player with the most chips, with the interval of a claim about the winner.
        deals: number of complete deals.
        played: these deals in words, see `played_text`.
        interval: kind of the interval of `lead`.
        is_over: whether no more deals will be played.
    """

    chips: Mapping[str, float]
    lead: Rate
    deals: int
    played: str
    interval: Interval
    is_over: bool

    def sentence(self) -> str:
        """Who is ahead, by how much and how certain that is."""
        lead = self.lead
        highest = max(self.chips.values())
        level = [name for name, chips in self.chips.items() if highest - chips < _LEVEL_CHIPS]
        is_level = len(level) > 1
        ahead = f"{lead.player} is ahead of {lead.opponent} by {lead.text(has_plus=False)} after {self.played}"
        if is_level:
            ahead = f"{listed(level)} are level after {self.played}"
            if len(level) < len(self.chips):
                ahead += ", ahead of the others"
        if self.interval == "none":
            return f"{ahead}, in training: a learning player changes from hand to hand, so this measures no player."
        if lead.half_width is None:
            return (
                f"{ahead}, too few for a conclusion about strength (at least {MIN_UNITS} are needed for an interval)."
            )
        measured = _measured(lead, len(self.chips))
        if is_level:
            return f"{ahead}: {measured}."
        # An interval for a fixed number of deals proves nothing before all of them are played.
        if _decides(lead) and (self.is_over or self.interval == "any time"):
            return f"{_beats(lead, len(self.chips))} over {self.played}."
        ahead = f"{lead.player} is ahead of {lead.opponent} by {measured} after {self.played}"
        if not self.is_over:
            return f"{ahead}."
        luck = f"{ahead}: that may be luck."
        if lead.mean <= 0:
            # Chips can be lost to nobody; see `engine.hand.hand_values`.
            return luck
        needed = count_of(rounded_up(self.deals * (lead.half_width / lead.mean) ** 2), "deal")
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
    line = decode_line(fault.line)
    quoted = f": {line!r}" if fault.line else ""
    return f"{fault.kind.value}{where}{quoted}, {format_remedy(fault)}"


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
