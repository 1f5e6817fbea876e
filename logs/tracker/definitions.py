"""Definitions of the statistics, for help texts, tables and reports, and the classes of style.

Definitions on which tracking programs agree are used, so that figures can be compared with those published about
people. Where trackers differ, the definition is PokerTracker 4's and says so. `logs.tracker.hand_facts` and
`logs.tracker.hand_counts` count them.

The classes of style, their order and their thresholds are those of a table for limit hold'em with full tables, printed
in a thesis on evolved limit players (Universidad Carlos III de Madrid, 2012, section 5.5) after G. García-Pelayo and
others. At short tables every player plays more hands, so that the classes are only indicative there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from logs.document import CHIPS, DIGITS, NAME, Spec
from logs.estimation import MIN_UNITS

# PokerTracker 4's definitions follow from the expressions of its columns, which its users publish: cnt_p_ccall_opp
# (faced a 2-bet, no blind, no limp; a 3-bet has columns of its own), flg_t_cbet_opp (bet the flop and was not raised),
# cnt_f_check_raise_opp (checked, then raised, called or folded), flg_steal_opp, flg_won_hand (W$SD: of the hands with
# flg_showdown; W$WSF: of those with flg_f_saw). FPDB (DerivedStats) differs in VPIP, whose chances include walks and
# leave out a blind that is posted and folded, and in AF, which counts a street with bets and raises once.

_LOOSE_ABOVE_VPIP: Final = 40
"""Per cent. The printed table leaves the bounds to no class; they are semi-loose here, as both other signs are
strict."""
_TIGHT_BELOW_VPIP: Final = 25
"""Per cent."""
_AGGRESSIVE_FROM_PFR: Final = 7
"""Per cent. By it the thesis's own player (VPIP 21.91, PFR 9.07, AF 1.34), which it calls a mouse, is dangerous."""
_AGGRESSIVE_FROM_AF: Final = 2


STYLES: Final = {
    ("loose", "passive", "passive"): "fish",
    ("semi-loose", "passive", "passive"): "telephone",
    ("loose", "aggressive", "passive"): "dice",
    ("loose", "aggressive", "aggressive"): "maniac",
    ("tight", "passive", "passive"): "mouse",
    ("loose", "passive", "aggressive"): "elephant",
    ("semi-loose", "aggressive", "passive"): "bomb",
    ("tight", "passive", "aggressive"): "rock",
    # The source prints it with the words of "bomb". It must be the class that is missing there, as it comes between
    # rock and cheerful, which are aggressive after the flop.
    ("semi-loose", "passive", "aggressive"): "sad",
    ("semi-loose", "aggressive", "aggressive"): "cheerful",
    ("tight", "aggressive", "passive"): "dangerous",
    ("tight", "aggressive", "aggressive"): "shark",
}
"""Classes by looseness and by aggression before and after the flop, from the worst to the best.

In the source: pez, teléfono, dado, maníaco, ratón, elefante, bomba, roca, triste, alegre, peligroso, tiburón.
"""


def classify(
    hands: int, vpip_percent: float | None, pfr_percent: float | None, raises: int, calls: int
) -> tuple[str | None, str]:
    """Classify the style of a player.

    Args:
        hands: number of hands dealt in.
        vpip_percent: None without a chance.
        pfr_percent: None without a chance.
        raises: bets and raises after the flop.
        calls: calls after the flop.

    Returns:
        The class, or None if there is too little to judge by, and the reason, as a sentence without a full stop.
    """
    if hands < MIN_UNITS:
        return None, f"too few hands: {hands} of {MIN_UNITS}"
    if vpip_percent is None:
        return None, "never had to decide before the flop"
    if pfr_percent is None:
        return None, "could never raise before the flop"
    if not raises and not calls:
        return None, "never bet, raised or called after the flop"
    looseness, vpip_reason = _looseness(vpip_percent)
    before, sign = _aggression(pfr_percent >= _AGGRESSIVE_FROM_PFR)
    pfr_reason = f"PFR {pfr_percent:.4g} % {sign} {_AGGRESSIVE_FROM_PFR} %: {before} before the flop"
    # Not a quotient: a player that never calls but bets or raises is aggressive.
    after, sign = _aggression(raises >= _AGGRESSIVE_FROM_AF * calls)
    if calls:
        af_reason = f"AF {raises / calls:.4g} {sign} {_AGGRESSIVE_FROM_AF}: {after} after it"
    else:
        af_reason = f"never calls, {raises} bets and raises: {after} after it"
    style = STYLES[looseness, before, after]
    return style, f"{vpip_reason}; {pfr_reason}; {af_reason}: {style}"


def _aggression(is_aggressive: bool) -> tuple[str, str]:
    if is_aggressive:
        return ("aggressive", ">=")
    return ("passive", "<")


def _looseness(vpip_percent: float) -> tuple[str, str]:
    shown = f"VPIP {vpip_percent:.4g} %"
    if vpip_percent > _LOOSE_ABOVE_VPIP:
        return "loose", f"{shown} > {_LOOSE_ABOVE_VPIP} %: loose"
    if vpip_percent < _TIGHT_BELOW_VPIP:
        return "tight", f"{shown} < {_TIGHT_BELOW_VPIP} %: tight"
    return "semi-loose", f"{shown} between {_TIGHT_BELOW_VPIP} % and {_LOOSE_ABOVE_VPIP} %: semi-loose"


@dataclass(frozen=True, slots=True)
class Statistic:
    """A statistic.

    Attributes:
        key: field in `BotStatistics`.
        short: heading of its column.
        format: format of its column.
    """

    key: str
    short: str
    name: str
    definition: str
    format: Spec = ".1%"


STATISTICS: Final = (
    Statistic("hands", "hands", "hands", "Hands dealt in. A hand played again in another seating counts again.", ","),
    Statistic("net_chips", "net chips", "net chips", "Chips won less chips lost, over all hands.", CHIPS),
    Statistic(
        "mbb_per_game",
        "mbb/g",
        "milli-big-blinds per game",
        "Thousandths of a big blind won per hand, with the 95 % interval over deals: hands that share their cards, one "
        "per seating or per contest of a tournament, are one unit. With too few deals there is no interval.",
        "+,.1f",
    ),
    Statistic(
        "bb_per_100",
        "bb/100",
        "big blinds per 100 hands",
        "Big blinds won per 100 hands, as trackers count them: a tenth of mbb/g.",
        "+,.1f",
    ),
    Statistic(
        "adjusted",
        "adj mbb/g",
        "all-in adjusted winnings per game",
        "mbb/g with every hand in which no more betting was possible before the last card counted at its expectation "
        "over all boards that could have come, main pot and side pots, instead of what the cards happened to bring. "
        "A log shows folded cards, so they cannot come; trackers, which do not see them, leave them in the deck.",
        "+,.1f",
    ),
    Statistic(
        "vpip",
        "VPIP",
        "voluntarily put money in pot",
        "Hands in which the player called or raised before the flop, of those in which it had a turn before the flop. "
        "Posting a blind and checking it is not voluntary; a walk is not an opportunity (PokerTracker 4: hands less "
        "walks).",
    ),
    Statistic(
        "vpip_small_blind",
        "VPIP SB",
        "VPIP from the small blind",
        "VPIP of the hands in which the player posted the small blind; heads-up that is the button.",
    ),
    Statistic(
        "pfr",
        "PFR",
        "preflop raise",
        "Hands in which the player raised before the flop, of those in which the rules ever allowed it to "
        "(PokerTracker 4: not walks, not where only an all-in could be called; Hold'em Manager: all hands).",
    ),
    Statistic(
        "three_bet",
        "3-bet",
        "three-bet",
        "Re-raises before the flop where exactly one raise had been made, of the times the player faced one and could "
        "have raised again.",
    ),
    Statistic(
        "four_bet",
        "4-bet",
        "four-bet",
        "Raises before the flop where exactly two had been made, by any player, of the opportunities.",
    ),
    Statistic(
        "squeeze",
        "squeeze",
        "squeeze",
        "Three-bets against a raise with a caller, of the opportunities to make one.",
    ),
    Statistic(
        "cold_call",
        "cold call",
        "cold call",
        "Calls of the first raise before the flop by a player without chips in the pot, of its opportunities "
        "(PokerTracker 4: a 2-bet). A posted blind counts as chips in the pot.",
    ),
    Statistic(
        "steal",
        "steal",
        "attempt to steal the blinds",
        "Raises from the cutoff, the button or the small blind after all players before had folded, of the times it "
        "was folded to the player (FPDB, PokerTracker 4). Heads-up the button is the small blind.",
    ),
    Statistic(
        "fold_to_steal",
        "fold steal",
        "fold to a steal",
        "Folds of a blind to an attempt to steal, of the times the player faced one in the blinds, with no caller or "
        "raiser between (FPDB).",
    ),
    Statistic(
        "continuation_bet",
        "F CBet",
        "continuation bet on the flop",
        "Bets on the flop by the player that raised last before it, of its turns on the flop without an earlier bet.",
    ),
    Statistic(
        "fold_to_continuation_bet",
        "fold FCBet",
        "fold to a continuation bet on the flop",
        "Folds to a continuation bet on the flop, of the times the player faced one that was not raised.",
    ),
    Statistic(
        "turn_continuation_bet",
        "T CBet",
        "continuation bet on the turn",
        "Bets on the turn by the player whose continuation bet on the flop was not raised, of its turns without an "
        "earlier bet (PokerTracker 4; FPDB uses the last raiser on the flop).",
    ),
    Statistic(
        "fold_to_turn_continuation_bet",
        "fold TCBet",
        "fold to a continuation bet on the turn",
        "Folds to a continuation bet on the turn, of the times the player faced one that was not raised.",
    ),
    Statistic(
        "check_raise",
        "check-raise",
        "check-raise",
        "Raises after a check in the same round, after the flop was dealt, of the times the player had checked, then "
        "faced a bet and could have raised (PokerTracker 4: also where only a call or a fold was left).",
    ),
    Statistic(
        "donk_bet",
        "donk bet",
        "donk bet",
        "Bets on the flop before the player that raised last preflop had its turn, of the chances to make one.",
    ),
    Statistic(
        "aggression_factor",
        "AF",
        "aggression factor",
        "Bets and raises after the flop was dealt, divided by calls. Checks and folds do not count.",
        ",.2f",
    ),
    Statistic(
        "aggression_frequency",
        "AFq",
        "aggression frequency",
        "Bets and raises after the flop was dealt, of all bets, raises, calls and folds. Checks do not count.",
    ),
    Statistic(
        "won_when_saw_flop",
        "W$WSF",
        "won when saw flop",
        "Hands in which the player won (part of) the pot, of those in which it had not folded when the flop was dealt. "
        "Uncalled chips are not part of the pot. A split pot counts as won for all who get part of it (FPDB, "
        "PokerTracker 4).",
    ),
    Statistic(
        "went_to_showdown",
        "WTSD",
        "went to showdown",
        "Hands in which the player was in the showdown, of those in which it had not folded when the flop was dealt.",
    ),
    Statistic(
        "won_at_showdown",
        "W$SD",
        "won at showdown",
        "Showdowns in which the player won (part of) the pot, of those it was in. A split pot counts as won for all "
        "who get part of it (FPDB, PokerTracker 4), so two players who only split have 100 % both.",
        ".1%",
    ),
    Statistic(
        "showdown",
        "net SD mbb/g",
        "winnings with showdown",
        "mbb per hand dealt that came from hands in which the player was in the showdown.",
        "+,.1f",
    ),
    Statistic(
        "no_showdown",
        "net non-SD mbb/g",
        "winnings without showdown",
        "mbb per hand dealt that came from all other hands: those in which it or all other players folded.",
        "+,.1f",
    ),
    Statistic(
        "style",
        "style",
        "style of play",
        "One of twelve classes from fish to shark. VPIP above "
        f"{_LOOSE_ABOVE_VPIP} % is loose, below {_TIGHT_BELOW_VPIP} % tight, between them semi-loose; PFR from "
        f"{_AGGRESSIVE_FROM_PFR} % on is aggressive before the flop, AF from {_AGGRESSIVE_FROM_AF} on after it. The "
        "thresholds are those of full tables.",
        NAME,
    ),
    Statistic(
        "timing",
        "ms/action",
        "time per action",
        "Mean time between a question and its answer, where the log has the times.",
        DIGITS,
    ),
    Statistic("comments", "comments", "comments", "Comment lines the bot sent.", ","),
)
"""All statistics, in the order in which they are shown."""
STATISTIC_OF_KEY: Final = {statistic.key: statistic for statistic in STATISTICS}
