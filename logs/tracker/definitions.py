"""What the statistics are called and what they mean: the one table that help texts, tables and reports show.

Wherever tracking programs agree on a definition, it is theirs, so that a bot's figures can be compared with what is
published about people; where they differ, it is PokerTracker 4's, and the definition says so. FPDB differs in two: its
VPIP has other chances (posting a blind and folding it is none, a walk is one), and its AF counts a street with bets and
raises once, however many there were. `logs.tracker.hand_facts` and `logs.tracker.hand_counts` say how each is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from logs.tracker.playing_style import AGGRESSIVE_FROM_AF, AGGRESSIVE_FROM_PFR, LOOSE_ABOVE_VPIP, TIGHT_BELOW_VPIP

__all__ = ["STATISTICS", "STATISTIC_OF_KEY", "Statistic"]


@dataclass(frozen=True, slots=True)
class Statistic:
    """One statistic.

    Attributes:
        key: the name of its field in `BotStatistics`.
        short: the head of its column.
        name: its name in words.
        definition: what it is, in a sentence or two.
        is_holdem_only: whether other games lack it.
    """

    key: str
    short: str
    name: str
    definition: str
    is_holdem_only: bool = True


STATISTICS: Final = (
    Statistic(
        "hands",
        "hands",
        "hands",
        "Hands dealt in. A hand played again in another seating counts again.",
        is_holdem_only=False,
    ),
    Statistic("net_chips", "net", "net chips", "Chips won less chips lost, over all hands.", is_holdem_only=False),
    Statistic(
        "mbb_per_game",
        "mbb/g",
        "milli-big-blinds per game",
        "Thousandths of a big blind won per hand, with the normal 95 % interval over hands; no interval below 100 "
        "hands. Where hands were played again in other seatings it is wider than it need be: the result of the run "
        "has the interval over duplicates.",
        is_holdem_only=False,
    ),
    Statistic(
        "bb_per_100",
        "bb/100",
        "big blinds per 100 hands",
        "Big blinds won per 100 hands, as trackers count them: a tenth of mbb/g.",
        is_holdem_only=False,
    ),
    Statistic(
        "adjusted",
        "adj mbb/g",
        "all-in adjusted winnings per game",
        "mbb/g with every hand in which no more betting was possible before the last card counted at its expectation "
        "over all boards that could have come, main pot and side pots, instead of what the cards happened to bring. "
        "A log shows folded cards, so they cannot come; trackers, which do not see them, leave them in the deck.",
        is_holdem_only=False,
    ),
    Statistic(
        "vpip",
        "VPIP",
        "voluntarily put money in pot",
        "How often the player called or raised before the flop, of the hands in which it had a turn there. Posting a "
        "blind and checking it is not voluntary; a walk is no chance (PokerTracker 4: hands less walks).",
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
        "How often the player raised before the flop, of the hands in which the rules ever allowed it to "
        "(PokerTracker 4: not walks, not where only an all-in could be called; Hold'em Manager: all hands).",
    ),
    Statistic(
        "three_bet",
        "3-bet",
        "three-bet",
        "How often the player re-raised before the flop where exactly one raise had been made, of the times it faced "
        "one and could have raised again.",
    ),
    Statistic(
        "aggression_factor",
        "AF",
        "aggression factor",
        "Bets and raises after the flop was dealt, divided by calls. Checks and folds do not count.",
    ),
    Statistic(
        "aggression_frequency",
        "AFq",
        "aggression frequency",
        "Bets and raises after the flop was dealt, of all bets, raises, calls and folds there. Checks do not count.",
    ),
    Statistic(
        "won_when_saw_flop",
        "W$WSF",
        "won when saw flop",
        "How often the player won (part of) the pot, of the hands in which it had not folded when the flop was dealt. "
        "Chips that nobody called are no pot.",
    ),
    Statistic(
        "went_to_showdown",
        "WTSD",
        "went to showdown",
        "How often the player was in the showdown, of the hands in which it had not folded when the flop was dealt.",
    ),
    Statistic(
        "won_at_showdown",
        "W$SD",
        "won at showdown",
        "How often the player won (part of) the pot, of the showdowns it was in.",
        is_holdem_only=False,
    ),
    Statistic(
        "showdown",
        "net SD",
        "winnings with showdown",
        "mbb per hand dealt that came from hands in which the player was in the showdown.",
        is_holdem_only=False,
    ),
    Statistic(
        "no_showdown",
        "net non-SD",
        "winnings without showdown",
        "mbb per hand dealt that came from all other hands: those in which it folded, or everybody else did.",
        is_holdem_only=False,
    ),
    Statistic(
        "style",
        "style",
        "style of play",
        "One of twelve classes from fish to shark. VPIP above "
        f"{LOOSE_ABOVE_VPIP} % is loose, below {TIGHT_BELOW_VPIP} % tight, between them semi-loose; PFR from "
        f"{AGGRESSIVE_FROM_PFR} % on is aggressive before the flop, AF from {AGGRESSIVE_FROM_AF} on after it. The "
        "thresholds are those of full tables.",
    ),
    Statistic(
        "timing",
        "ms/action",
        "time per action",
        "Mean time between a question and its answer, where the log has the times.",
        is_holdem_only=False,
    ),
    Statistic("comments", "comments", "comments", "Comment lines the bot sent.", is_holdem_only=False),
)
"""In the order in which they are shown."""

STATISTIC_OF_KEY: Final = {statistic.key: statistic for statistic in STATISTICS}
