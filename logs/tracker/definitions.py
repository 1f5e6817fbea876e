"""What the statistics are called and what they mean: the one table that help texts, tables and reports show.

Wherever tracking programs agree on a definition, it is theirs, so that a bot's figures can be compared with what is
published about people; where they differ, it is PokerTracker 4's, and the definition says so. PokerTracker's are known
by the expressions of its columns, which its users publish: ``cnt_p_ccall_opp`` (faced a 2-bet, no blind, no limp; a
3-bet has columns of its own), ``flg_t_cbet_opp`` (bet the flop and was not raised), ``cnt_f_check_raise_opp`` (checked,
then raised, called or folded), ``flg_steal_opp``. FPDB (``DerivedStats``)
differs in its VPIP, whose chances leave out a blind that is posted and folded and include walks, and in its AF, which
counts a street with bets and raises once, however many there were. `logs.tracker.hand_facts` and
`logs.tracker.hand_counts` say how each is counted.
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


def _any_game(key: str, short: str, name: str, definition: str) -> Statistic:
    return Statistic(key, short, name, definition, is_holdem_only=False)


STATISTICS: Final = (
    _any_game("hands", "hands", "hands", "Hands dealt in. A hand played again in another seating counts again."),
    _any_game("net_chips", "net", "net chips", "Chips won less chips lost, over all hands."),
    _any_game(
        "mbb_per_game",
        "mbb/g",
        "milli-big-blinds per game",
        "Thousandths of a big blind won per hand, with the 95 % interval over deals: hands that share their cards, one "
        "per seating or per contest of a tournament, are one unit. With too few deals there is no interval.",
    ),
    _any_game(
        "bb_per_100",
        "bb/100",
        "big blinds per 100 hands",
        "Big blinds won per 100 hands, as trackers count them: a tenth of mbb/g.",
    ),
    _any_game(
        "adjusted",
        "adj mbb/g",
        "all-in adjusted winnings per game",
        "mbb/g with every hand in which no more betting was possible before the last card counted at its expectation "
        "over all boards that could have come, main pot and side pots, instead of what the cards happened to bring. "
        "A log shows folded cards, so they cannot come; trackers, which do not see them, leave them in the deck.",
    ),
    Statistic(
        "vpip",
        "VPIP",
        "voluntarily put money in pot",
        "Hands in which the player called or raised before the flop, of those in which it had a turn there. Posting a "
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
        "Raises before the flop where exactly two had been made, by anybody, of the times the player could have.",
    ),
    Statistic(
        "squeeze",
        "squeeze",
        "squeeze",
        "Three-bets against a raise that somebody had called, of the chances to three-bet there.",
    ),
    Statistic(
        "cold_call",
        "cold call",
        "cold call",
        "Calls of a raise before the flop, the only one so far, by a player that had put no chips in yet, of the times "
        "it faced one so (PokerTracker 4: a 2-bet). Whoever posted a blind has chips in.",
    ),
    Statistic(
        "steal",
        "steal",
        "attempt to steal the blinds",
        "Raises from the cutoff, the button or the small blind after everybody before had folded, of the times it was "
        "folded to the player there (FPDB, PokerTracker 4). Heads-up the button is the small blind.",
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
        "Bets on the flop by the player that raised last before it, of the times it had a turn there and nobody had "
        "bet. An earlier bet of another player takes the chance.",
    ),
    Statistic(
        "fold_to_continuation_bet",
        "fold FCBet",
        "fold to a continuation bet on the flop",
        "Folds to a continuation bet on the flop, of the times the player faced one that nobody had raised.",
    ),
    Statistic(
        "turn_continuation_bet",
        "T CBet",
        "continuation bet on the turn",
        "Bets on the turn by the player that had made a continuation bet on the flop which nobody raised, of the times "
        "it had a turn there and nobody had bet (PokerTracker 4; FPDB goes by the last raiser on the flop).",
    ),
    Statistic(
        "fold_to_turn_continuation_bet",
        "fold TCBet",
        "fold to a continuation bet on the turn",
        "Folds to a continuation bet on the turn, of the times the player faced one that nobody had raised.",
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
        "Hands in which the player won (part of) the pot, of those in which it had not folded when the flop was dealt. "
        "Chips that nobody called are no pot.",
    ),
    Statistic(
        "went_to_showdown",
        "WTSD",
        "went to showdown",
        "Hands in which the player was in the showdown, of those in which it had not folded when the flop was dealt.",
    ),
    _any_game(
        "won_at_showdown",
        "W$SD",
        "won at showdown",
        "Showdowns in which the player won (part of) the pot, of those it was in.",
    ),
    _any_game(
        "showdown",
        "net SD",
        "winnings with showdown",
        "mbb per hand dealt that came from hands in which the player was in the showdown.",
    ),
    _any_game(
        "no_showdown",
        "net non-SD",
        "winnings without showdown",
        "mbb per hand dealt that came from all other hands: those in which it folded, or everybody else did.",
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
    _any_game(
        "timing",
        "ms/action",
        "time per action",
        "Mean time between a question and its answer, where the log has the times.",
    ),
    _any_game("comments", "comments", "comments", "Comment lines the bot sent."),
)
"""In the order in which they are shown."""

STATISTIC_OF_KEY: Final = {statistic.key: statistic for statistic in STATISTICS}
