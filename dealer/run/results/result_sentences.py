"""Sentences about results: the leader, the margin with its interval, and the ending."""

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
from logs.estimation import MIN_UNITS, Estimate, IntervalWidth, LargestLoss, Monitor, Rate, score_bounds
from protocol.game_definition import short_name

_LEVEL_CHIPS = 1e-6
"""Chips of equal players differ by less than this, because of rounding in split pots."""
_NUMBERS = ("one", "two", "three")
_MANY_DEALS = 10_000
"""A stop rule that needs at least this many deals is explained."""
_SPREAD_OF_ONE_SEATING = 0.7
_SPREAD_OF_ALL_SEATINGS = 0.25


def contest_sentence(result: ContestResult, *, shows_output: bool = True) -> str:
    """Compose the sentence of a contest.

    Args:
        shows_output: whether to quote lines and output of players.
    """
    reason = result.reason
    if result.outcome is Outcome.FAILED and not shows_output:
        reason = public_sentence(result.cause)
    if not result.duplicates:
        if result.hands_played:
            return f"No deal was finished in every seating: {reason}"
        return f"No hand was finished: {reason}"
    deals = played_text(result.duplicates, result.seatings, short_name(result.game))
    if result.verdict is not None:
        rate = str(result.judged_rate())
        if result.score is Score.CORRECTED:
            rate += f", {_correction(result)}"
        if result.score is Score.AIVAT:
            rate += f", {_correction(result, is_aivat=True)}"
        return f"{capitalized(reason.rstrip('.'))}, known after {deals}: {rate} ({_level(result.interval)})."
    sentences = [_comparison(result, deals)]
    sentences += [_training_sentence(report) for report in result.training]
    if result.outcome is Outcome.STOPPED:
        sentences.append(f"It stopped because {reason}")
    elif result.outcome is not Outcome.FINISHED:
        sentences.append(f"It ended early: {reason}")
    return " ".join(sentences)


def _comparison(result: ContestResult, deals: str) -> str:
    """Compare the players by chips and by corrected scores. If only the latter decide, they come first.

    The corrected scores are those by AIVAT if there are any.
    """
    best = max(result.players, key=lambda player: player.chips)
    chips = _rate_of_best(result, best, None if best.won is None else best.won.best)
    is_aivat = result.aivat_rate() is not None
    method = _correction(result, is_aivat=is_aivat)
    leader = max(result.players, key=_corrected_mean)
    leading = None
    if leader.won is not None:
        # Between two players, the interval of the best one is that of any.
        leading = leader.won.aivat if is_aivat else leader.won.corrected_best
    if leading is not None and not _decides(chips):
        corrected = _rate_of_best(result, leader, leading)
        if _decides(corrected):
            won = result.rate(leader.name)
            measured = _measured(corrected, len(result.players), result.interval)
            return (
                f"{corrected.player} beats {corrected.opponent} by {measured}, {method}, over {deals}."
                f"{_guarantee(corrected, result.hands_counted, result.largest_loss)} "
                f"The chips alone do not decide: {won}{_level_of(won, result.interval)}."
            )
    players = sorted(result.players, key=lambda player: -player.chips)
    standing = Standing(
        chips={player.name: player.chips for player in players},
        lead=chips,
        deals=result.duplicates,
        hands=result.hands_counted,
        largest_loss=result.largest_loss,
        played=deals,
        interval=result.interval,
        is_over=True,
    )
    corrected_rate = result.aivat_rate(best.name) if is_aivat else result.corrected_rate(best.name)
    if corrected_rate is None:
        return standing.sentence()
    level = _level_of(corrected_rate, result.interval)
    return f"{standing.sentence()} {capitalized(method)}: {corrected_rate}{level}."


def _correction(result: ContestResult, *, is_aivat: bool = False) -> str:
    if not is_aivat:
        return "without the luck of the cards"
    return f"by AIVAT with {listed(result.known)} known"


def _rate_of_best(result: ContestResult, player: PlayerResult, estimate: Estimate | None) -> Rate:
    return Rate.from_estimate(estimate or Estimate(0.0), player.name, result.opponent_of(player.name))


def _corrected_mean(player: PlayerResult) -> float:
    if player.won is None:
        return 0.0
    corrected = player.won.aivat or player.won.corrected
    return 0.0 if corrected is None else corrected.mean


def _decides(rate: Rate) -> bool:
    return rate.low is not None and rate.low > 0


def _measured(rate: Rate, players: int, interval: Interval) -> str:
    # The interval is wider for a player who was chosen because it is ahead of several.
    level = _level(interval) if players == 2 else f"{_level(interval)}, as the best of {players}"
    return f"{rate.text(has_plus=False)} ({level})"


def _level(interval: Interval) -> str:
    return "95 %, guaranteed" if interval == "guaranteed" else "95 %"


def _level_of(rate: Rate | None, interval: Interval) -> str:
    return "" if rate is None or rate.half_width is None else f" ({_level(interval)})"


def _guarantee(lead: Rate, hands: int, largest_loss: LargestLoss | None) -> str:
    """Compose the sentence about the guaranteed interval; empty if it excludes 0, too, or is unknown.

    Args:
        lead: rate of a leader whose 95 % interval excludes 0 or does not exist.
        hands: number of hands of the rate.
    """
    half_width = lead.guaranteed_half_width
    if half_width is None or not 0 < lead.mean <= half_width:
        return ""
    sentence = f"For any distribution of winnings: ± {half_width:,.0f}"
    if largest_loss is not None:
        # With so many more hands, each lost at the largest loss, the player would be behind.
        losses = math.floor(lead.mean * hands / largest_loss.mbb) + 1
        if losses <= len(_NUMBERS):
            loss = "unseen lost stack" if largest_loss.is_stack else "unseen largest loss"
            if losses > 1:
                loss += "s" if largest_loss.is_stack else "es"
            sentence += f"; {_NUMBERS[losses - 1]} {loss} could still turn it"
    return f" {sentence}."


def played_text(deals: int, seatings: int, game: str = "") -> str:
    """Describe a number of deals.

    Args:
        game: short name of the game, if known.
    """
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
        hands: their number of hands.
        largest_loss: the most that a player can lose in one hand, if known.
        played: these deals in words, see `played_text`.
        interval: kind of the interval of `lead`.
        is_over: whether no more deals will be played.
    """

    chips: Mapping[str, float]
    lead: Rate
    deals: int
    hands: int
    largest_loss: LargestLoss | None
    played: str
    interval: Interval
    is_over: bool

    def sentence(self) -> str:
        """Compose the sentence about the leader, the margin and its interval."""
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
            return f"{ahead}, in training (no interval, because the learning player changes from hand to hand)."
        if lead.half_width is None:
            if self.deals < MIN_UNITS:
                return f"{ahead}, too few for an interval (at least {MIN_UNITS} are needed)."
            return self._sentence_of_equal_scores(ahead, is_level=is_level)
        measured = _measured(lead, len(self.chips), self.interval)
        if is_level:
            return f"{ahead}: {measured}."
        # An interval for a fixed number of deals proves nothing before all of them are played.
        if _decides(lead) and (self.is_over or self.interval == "any time"):
            sentence = f"{lead.player} beats {lead.opponent} by {measured} over {self.played}."
            return sentence + _guarantee(lead, self.hands, self.largest_loss)
        ahead = f"{lead.player} is ahead of {lead.opponent} by {measured} after {self.played}"
        if not self.is_over:
            return f"{ahead}."
        not_significant = f"{ahead}, which is not significant"
        if lead.mean <= 0:
            # Odd chips of split pots are lost, so that every player can have lost chips; see `engine.hand.hand_values`.
            return f"{not_significant}."
        needed = count_of(rounded_up(self.deals * (lead.half_width / lead.mean) ** 2), "deal")
        return f"{not_significant}; about {needed} would be needed."

    def _sentence_of_equal_scores(self, ahead: str, *, is_level: bool) -> str:
        """Compose the sentence about a lead that has no interval but the guaranteed one."""
        lead = self.lead.guaranteed
        equal = "with the same score in all deals"
        if is_level or not self.is_over:
            return f"{ahead}, {equal}."
        if _decides(lead):
            measured = _measured(lead, len(self.chips), "guaranteed")
            return f"{lead.player} beats {lead.opponent} by {measured} over {self.played}, {equal}."
        return f"{ahead}, {equal}.{_guarantee(lead, self.hands, self.largest_loss)}"


def _training_sentence(report: TrainingReport) -> str:
    files = [report.memory]
    if report.own_file is not None and not report.problem:
        files.append(report.own_file)
    sentence = f"What {report.player} learnt from {count_of(report.hands, 'hand')} is in {listed(files)}."
    if report.problem:
        sentence += f" {report.problem}"
    return sentence


def rounded_up(number: float) -> int:
    """Round up to two digits, so that an estimate does not look like a measurement."""
    if number < 1:
        return 1
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit


def fault_phrase(fault: Fault) -> str:
    """Describe a fault with its hand, line and remedy."""
    phrase = fault.kind.value
    if fault.hand_number >= 0:
        phrase += f" in hand {fault.hand_number}"
    if fault.line:
        phrase += f": {decode_line(fault.line)!r}"
    return f"{phrase}, {format_remedy(fault)}"


def expectation(plan: ContestPlan) -> str | None:
    """Estimate the deals that a stop rule needs, before the first hand; return None for a fixed number of deals."""
    if not plan.looks:
        return None
    run = plan.run
    spread = _typical_spread_mbb(plan.game, plan.seatings)
    deals = rounded_up(Monitor(run.stop, plan.bounds).likely_units(spread))
    needed = count_of(deals, "deal")
    if deals > run.deals:
        needed += f", more than the {run.deals:,} that will be played"
    return (
        f"{run.stop}: likely to need up to {needed}, if the standard deviation of a deal is {spread:,.0f} mbb as "
        f"between simple bots; the estimate is updated during play.{_unseen_loss(plan)}"
    )


def _unseen_loss(plan: ContestPlan) -> str:
    """Explain a width that needs many deals however little the scores vary; return an empty text for others."""
    if not isinstance(plan.run.stop, IntervalWidth):
        return ""
    min_deals = Monitor(plan.run.stop, plan.bounds).likely_units(0.0)
    if min_deals < _MANY_DEALS:
        return ""
    return (
        f" At least {count_of(rounded_up(min_deals), 'deal')} are needed however little the scores vary: a hand can "
        f"lose {-plan.bounds[0]:,.0f} mbb, and the interval allows for such a loss that has not been seen yet. A wider "
        "ci= or smaller stacks need fewer."
    )


def _typical_spread_mbb(game: Game, seatings: int) -> float:
    """Return a typical standard deviation of a deal's score between simple bots, in mbb/g.

    Measured for raising and calling against random, in thousandths of the largest loss of a hand:

                            one seating    all rotations
        limit, 2 players     170 - 540         50 - 250
        no-limit, 2 players  720 - 870        230 - 340
        Kuhn, 2 players      800 - 960        180 - 220
        Leduc                310 - 710        110 - 230

    Strong bots risk less, so that the figures are an upper bound for them.
    """
    lowest, _ = score_bounds(game)
    if seatings == 1:
        return -lowest * _SPREAD_OF_ONE_SEATING
    return -lowest * _SPREAD_OF_ALL_SEATINGS
