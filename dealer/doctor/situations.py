"""Situations in which the doctor examines a bot.

A situation is a few hands, with a policy of the opponents for each and a way to transmit the dealer's lines. Most
situations can follow one another in a match. Those of the start or the end of a match, such as a resumed match or a
dealer that disappears, need a connection of their own.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Final, TypeAlias

from bots.sdk.options import Interval, Wording
from dealer.run.run_settings import NO_ADDRESS, Host
from engine import CALL, FOLD, RAISE, Action, ActionKind, BettingState, Game, betting_start, raise_to
from engine.errors import quoted
from engine.game import MAX_ACTIONS_PER_ROUND

_FEW: Final = 3
"""Number of hands of a situation that need not be tried in every position."""
_RESUMED_AT: Final = 999_998
"""First hand of a resumed match. Two hands later, the number has one more digit."""


# ---- opponents


Policy: TypeAlias = Callable[[BettingState, int, Random], Action]
"""Chooses an opponent's action from the betting, the position of the bot and random numbers, but not from cards."""


def smallest_raise(betting: BettingState) -> Action:
    """Return the minimum raise, or a call if no raise is legal."""
    return _raise_or_call(betting, betting.legal_actions().raise_min)


def largest_raise(betting: BettingState) -> Action:
    """Return the largest raise, which is all-in in no-limit games, or a call if no raise is legal."""
    return _raise_or_call(betting, betting.legal_actions().raise_max)


def _raise_or_call(betting: BettingState, size: int) -> Action:
    if not betting.legal_actions().can_raise:
        return CALL
    if betting.game.is_limit:
        return RAISE
    return raise_to(size)


def call(betting: BettingState, bot: int, chance: Random) -> Action:
    return CALL


def fold(betting: BettingState, bot: int, chance: Random) -> Action:
    """Fold as soon as that is legal, perhaps before the bot has acted."""
    if betting.legal_actions().can_fold:
        return FOLD
    return CALL


def bet_once(betting: BettingState, bot: int, chance: Random) -> Action:
    """Make a minimum bet in a round without a bet, else call."""
    for _, action in betting.rounds[-1]:
        if action.kind is ActionKind.RAISE:
            return CALL
    return smallest_raise(betting)


def raise_always(betting: BettingState, bot: int, chance: Random) -> Action:
    """Make a minimum raise whenever it is legal, up to the cap or the longest chain that the protocol allows."""
    return smallest_raise(betting)


def shove_in_round(round_: int) -> Policy:
    """Make a policy that checks and calls before this round, 0-based, and then makes the largest raise."""

    def policy(betting: BettingState, bot: int, chance: Random) -> Action:
        if betting.round < round_:
            return CALL
        return largest_raise(betting)

    return policy


def _short_stack_all_in(betting: BettingState, bot: int, chance: Random) -> Action:
    stacks = betting.game.stacks
    opponents = [position for position in range(len(stacks)) if position != bot]
    shortest = min(opponents, key=lambda position: stacks[position])
    if betting.acting_position == shortest:
        return largest_raise(betting)
    if betting.is_able(shortest) or betting.round == 0:
        return CALL
    return bet_once(betting, bot, chance)


def draw(betting: BettingState, bot: int, chance: Random) -> Action:
    """Draw an action, seldom a fold, and its size among all legal sizes, often the smallest or the largest."""
    legal = betting.legal_actions()
    number = chance.random()
    if legal.can_fold and number < 0.08:
        return FOLD
    if not legal.can_raise or number < 0.6:
        return CALL
    if betting.game.is_limit:
        return RAISE
    smallest = legal.raise_min
    largest = legal.raise_max
    if number <= 0.97:
        # Uniform sizes would end most hands in their first round.
        largest = min(largest, smallest + 3 * betting.pot)
    return raise_to(chance.choice((smallest, chance.randint(smallest, largest), largest)))


# ---- the parts of a situation


class Delivery(enum.Enum):
    """Way in which the dealer's lines are transmitted."""

    PLAIN = "each line in a segment of its own"
    JOINED = "all lines up to the next question in one segment"
    STRADDLED = "all lines up to the next question in segments of a few bytes, whatever the lines"
    BYTEWISE = "each question byte by byte, other lines in two parts, cut at every place in turn"
    WAITING = "a long wait between two lines, and another within a line"
    COMMENTED = "comment lines among the states"

    @property
    def is_cut(self) -> bool:
        """The bot may read part of a line before the rest."""
        return self in (Delivery.STRADDLED, Delivery.BYTEWISE, Delivery.WAITING)


@dataclass(frozen=True, slots=True)
class Situation:
    """A situation in which a bot is examined.

    Attributes:
        name: name on the command line.
        what: description for people.
        policies: returns the policy of the opponents for each hand of a game.
        advice: remark added to every finding, or with an opening to those in its hand.
        needs_connection: it cannot follow another situation in the same match.
        first_hand: number of the first hand of its connection.
        opening: returns the betting of the first state for a game; None if no player has acted.
        breaks_off: the dealer closes in the middle of a hand, after an answer of the bot.
        missing_in: returns why the situation does not occur in a game, or an empty text.
        has_strong_cards: the bot gets good hole cards.
        is_mild: findings count as warnings at most.
    """

    name: str
    what: str
    policies: Callable[[Game], Sequence[Policy]] = lambda game: []
    delivery: Delivery = Delivery.PLAIN
    advice: str = ""
    needs_connection: bool = False
    first_hand: int = 0
    opening: Callable[[Game], BettingState] | None = None
    breaks_off: bool = False
    missing_in: Callable[[Game], str] = lambda game: ""
    has_strong_cards: bool = False
    is_mild: bool = False


def _every_position(policy: Policy) -> Callable[[Game], Sequence[Policy]]:
    return lambda game: [policy] * game.num_players


def _few(policy: Policy, max_hands: int = _FEW) -> Callable[[Game], Sequence[Policy]]:
    return lambda game: [policy] * min(game.num_players, max_hands)


def _all_in_in_every_round(game: Game) -> Sequence[Policy]:
    rounds = sorted({0, min(1, game.num_rounds - 1), game.num_rounds - 1})
    return [shove_in_round(round_) for round_ in rounds for _ in range(2)]


def _why_no_all_in(game: Game) -> str:
    if not game.is_limit:
        return ""
    raises = [min(count, MAX_ACTIONS_PER_ROUND) for count in game.max_raises]
    max_total = game.big_blind + sum(count * size for count, size in zip(raises, game.raise_sizes, strict=True))
    if max_total < min(game.stacks):
        return "bets never reach the stacks"
    return ""


def _why_no_side_pot(game: Game) -> str:
    if game.num_players < 3:
        return "two players have no side pots"
    if len(set(game.stacks)) == 1:
        return "all stacks are equal; give a .game file in which they are not"
    return _why_no_all_in(game)


def _why_no_action(game: Game) -> str:
    if betting_start(game).finished:
        return "the blinds put every player all-in"
    return ""


def middle_of_a_hand(game: Game) -> BettingState:
    """Return betting in the middle of a hand, in the second round if there is one, with a bet to answer."""
    betting = betting_start(game)
    last_round = min(1, game.num_rounds - 1)
    while not betting.finished and betting.round < last_round:
        betting = betting.after(CALL)
    if betting.finished:
        return betting
    after = betting.after(smallest_raise(betting))
    if after.finished:
        return betting
    return after


def middle_of_a_long_hand(game: Game) -> BettingState:
    """Return the longest betting after which a player is to act, with minimum raises up to the last round."""
    betting = longest = betting_start(game)
    while not betting.finished:
        longest = betting
        legal = betting.legal_actions()
        action = smallest_raise(betting)
        if legal.can_raise and legal.raise_min == legal.raise_max and not game.is_limit:
            # The only raise is all-in, which would end the hand.
            action = CALL
        betting = betting.after(action)
    return longest


# ---- the situations

_COLLECT: Final = "collect bytes until LF, and take lines from the collected bytes"

HANDSHAKE: Final = Situation("handshake", "the bot connects and sends the version of the protocol")
END_OF_MATCH: Final = Situation(
    "end-of-match", "the dealer closes the connection after the last hand, and the bot exits"
)

SITUATIONS: Final[Sequence[Situation]] = (
    HANDSHAKE,
    Situation(
        "check-down",
        "opponents check and call, in every position and up to the showdown",
        _every_position(call),
    ),
    Situation(
        "folds", "opponents fold at once, so that some hands end before the bot has acted", _every_position(fold)
    ),
    Situation("bets", "opponents make one minimum bet per round, and call", _few(bet_once)),
    Situation(
        "raises",
        "opponents make minimum raises whenever possible, up to the cap or in long chains",
        _few(raise_always),
    ),
    Situation(
        "all-in",
        "an opponent goes all-in in an early or late round, and no player is left to act",
        _all_in_in_every_round,
        missing_in=_why_no_all_in,
        has_strong_cards=True,
    ),
    Situation(
        "side-pots",
        "the shortest stack is all-in and is skipped while the others continue to bet",
        _every_position(_short_stack_all_in),
        missing_in=_why_no_side_pot,
        has_strong_cards=True,
    ),
    Situation("mixed", "opponents draw among all legal actions and sizes", lambda game: [draw] * 6),
    Situation(
        "joined",
        "several states arrive in one segment, including the last of a hand and the first of the next",
        _few(bet_once),
        Delivery.JOINED,
        f"several lines arrive in one segment, so {_COLLECT}",
    ),
    Situation(
        "straddled",
        "segments of seven bytes end anywhere, also across lines",
        _few(bet_once),
        Delivery.STRADDLED,
        f"segments end in the middle of lines, so {_COLLECT}",
    ),
    Situation(
        "bytewise",
        "questions arrive byte by byte, and other lines in two parts",
        _few(call, 2),
        Delivery.BYTEWISE,
        f"lines arrive byte by byte, so {_COLLECT}",
    ),
    Situation(
        "long-wait",
        "the dealer pauses between two lines and within a line",
        _few(call, 2),
        Delivery.WAITING,
        "the dealer pauses, so wait without a time limit of your own, because an opponent may be human",
    ),
    END_OF_MATCH,
    Situation(
        "resumed-match",
        "the first hand has a large number instead of 0",
        lambda game: [bet_once] * _FEW,
        advice="the match resumes at a later hand, so read the hand number from the states",
        first_hand=_RESUMED_AT,
        needs_connection=True,
    ),
    Situation(
        "resumed-hand",
        "the first state is in the middle of a hand, with a bet to answer",
        _few(call, 2),
        advice="the match resumes in the middle of a hand, so read all earlier actions from the state",
        first_hand=41,
        opening=middle_of_a_hand,
        missing_in=_why_no_action,
        needs_connection=True,
    ),
    Situation(
        "long-line",
        "the first state has as many actions as the game allows",
        _few(call, 2),
        advice="the first state is the longest of its game, so make room for 4095 bytes, the protocol's limit "
        "for a line",
        first_hand=7,
        opening=middle_of_a_long_hand,
        missing_in=_why_no_action,
        needs_connection=True,
    ),
    Situation(
        "comments",
        "the dealer sends comment lines, which a bot must ignore (warnings only, because few dealers do this)",
        _few(bet_once, 2),
        advice="the dealer sends comments, so ignore lines that begin with '#' or ';'",
        delivery=Delivery.COMMENTED,
        is_mild=True,
        needs_connection=True,
    ),
    Situation(
        "empty-match",
        "the dealer closes the connection before the first hand, and the bot exits",
        needs_connection=True,
    ),
    Situation(
        "cut-off",
        "the dealer closes the connection in the middle of a hand, and the bot exits",
        _few(call, 2),
        breaks_off=True,
        needs_connection=True,
    ),
)
"""All situations, in the order of the examination."""


def find_situation(name: str) -> Situation:
    """Return a situation by its name.

    Raises:
        ValueError: there is no such situation; the message lists the names.
    """
    for situation in SITUATIONS:
        if situation.name == name:
            return situation
    names = ", ".join(situation.name for situation in SITUATIONS)
    raise ValueError(f"there is no situation {quoted(name)}; the situations are {names}")


@dataclass(frozen=True, slots=True)
class DoctorSettings:
    """Settings of an examination.

    Raises:
        ValueError: a situation or an address does not exist.
    """

    game: Annotated[str, "A game (see 'arena games') or a .game file.", Wording(flags="-g", group="Examination")] = (
        "limit"
    )
    situations: Annotated[
        list[str] | None, "Play only this situation; may be repeated.", Wording("NAME", flags="--situation")
    ] = None
    timeout_s: Annotated[
        float,
        "Seconds for one answer. They also limit the exit of the bot after the dealer has closed the connection.",
        Interval(0.001, 1e6),
        Wording("SECONDS"),
    ] = 10.0
    wait_s: Annotated[
        float, "Seconds of silence in the situation 'long-wait'.", Interval(0.0, 1e6), Wording("SECONDS")
    ] = 2.0
    start_timeout_s: Annotated[
        float | None,
        "Seconds for the bot to connect and send the version; 0 waits forever.",
        Interval(0, 1e9),
        Wording("SECONDS", otherwise="30; tcp: 300"),
    ] = None
    seed: Annotated[int, "Seed of the cards, the opponents and a built-in bot.", Interval(0, 2**32 - 1)] = 0
    host: Annotated[Host, Wording(group="A client that connects by itself")] = "127.0.0.1"
    port: Annotated[int, "Port to listen on; 0 takes a free one.", Interval(0, 65535)] = 0
    reconnect: Annotated[bool, "Wait for the client to reconnect; some situations need a connection of their own."] = (
        False
    )

    def __post_init__(self) -> None:
        for name in self.situations or ():
            find_situation(name)
        if not self.host:
            raise ValueError(f"--host: {NO_ADDRESS}")

    @property
    def selected(self) -> Sequence[Situation]:
        """Situations of the examination, in their order."""
        return [situation for situation in SITUATIONS if not self.situations or situation.name in self.situations]
