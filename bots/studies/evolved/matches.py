"""The player against other bots, by the rules of the arena: each deal is played in every rotation of the seats.

Unlike at the tables of the training everybody plays as it likes before the flop, too, and there is no rake.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from bots.errors import SpecError
from bots.evolved.bot import EvolvedBot
from bots.findings import Bar, BarChart, TableView
from bots.sdk.registry import builtin_names, make_bot
from bots.sdk.selfplay import self_play
from bots.workers import Workers
from logs.estimation import Rate, RunningMean
from logs.estimation.rate import signed
from protocol import find_game

__all__ = ["FIELDS", "Opponent", "Result", "effort", "opponents", "play_matches", "results_chart", "results_table"]

FIELDS: Final = ("random", "calling", "raising")
"""What the player has to beat at a table of ten."""
_FIELDS_TIMES: Final = 5
"""So many times the deals of other matches are played against these: they have to be told from zero."""
_LEFT_OUT: Final = ("learner", "lbr")
"""One plays by what it has played before, so that deals are no units; the other knows the policy of an opponent of its
own."""
_PARTS: Final = 4
_US: Final = "evolved"


@dataclass(frozen=True, slots=True)
class Opponent:
    """A match.

    Attributes:
        bot: that the others are.
        game: ``limit`` with one of them, ``limit10`` with nine.
        deals: how many, each in every rotation.
    """

    bot: str
    game: str
    deals: int


@dataclass(frozen=True, slots=True)
class Result:
    """What a match brought.

    Attributes:
        opponent: the match.
        rate: the player's winnings.
    """

    opponent: Opponent
    rate: Rate


@dataclass(frozen=True, slots=True)
class _Part:
    chromosome: str
    odds: str
    opponent: Opponent
    first: int
    deals: int
    seed: int


def opponents(deals: int) -> list[Opponent]:
    """Every built-in bot that plays limit hold'em, but for two: nine of each at a table of ten, and one alone."""
    found = []
    for game in ("limit10", "limit"):
        definition = find_game(game)[1]
        for name in builtin_names():
            if name in _LEFT_OUT:
                continue
            try:
                bot = make_bot(name, 1)
            except SpecError:
                # A bot that needs options of its own is nobody to compare with.
                continue
            if not isinstance(bot, EvolvedBot) and bot.refusal(definition) is None:
                is_field = name in FIELDS and game == "limit10"
                found.append(Opponent(name, game, _FIELDS_TIMES * deals if is_field else deals))
    return found


def effort(opponent: Opponent) -> int:
    """How much work a match is beside others: all players of all rotations have to be asked."""
    return (1 if opponent.game == "limit" else 8) * opponent.deals


def play_matches(
    chromosome: str,
    odds: str,
    matches: Sequence[Opponent],
    seed: int,
    workers: Workers | None,
    played: Callable[[Opponent], None] = lambda _: None,
) -> list[Result]:
    """Play them all; the result does not depend on who plays.

    Args:
        chromosome: the path of the player's.
        odds: by which it decides; empty for those of its training.
        matches: what is played.
        seed: of the cards, and of the samples of all bots.
        workers: who plays; this process by default.
        played: told after each match.
    """
    results = []
    for opponent in matches:
        count = min(_PARTS, opponent.deals)
        bounds = [opponent.deals * part // count for part in range(count + 1)]
        parts = [_Part(chromosome, odds, opponent, first, end - first, seed) for first, end in pairwise(bounds)]
        scores = list(map(_play, parts)) if workers is None else workers.map(_play, parts)
        # Without bounds: a limit hand moves so little that the normal interval covers what it says.
        won = RunningMean(score for part in scores for score in part)
        rate = won.rate(_US, opponent.bot)
        assert rate is not None
        results.append(Result(opponent, rate))
        played(opponent)
    return results


def _play(part: _Part) -> list[float]:
    """The player's mean of each deal, in mbb per hand."""
    game = find_game(part.opponent.game)[1]
    others = game.num_players - 1
    bots = [
        EvolvedBot(chromosome=part.chromosome, odds=part.odds, seed=part.seed),
        *(make_bot(part.opponent.bot, part.seed + number) for number in range(1, others + 1)),
    ]
    for bot in bots:
        bot.prepare_for_many_hands()
    names = (_US, *(f"{part.opponent.bot} {number}" for number in range(1, others + 1)))
    found, of_deal = [], 0.0
    hands = self_play(game, bots, hands=part.deals, seed=part.seed, first_hand=part.first, names=names)
    for number, record in enumerate(hands, 1):
        of_deal += next(value for name, value in zip(record.names, record.values, strict=True) if name == _US)
        if number % game.num_players == 0:
            found.append(1000 * of_deal / game.num_players / game.big_blind)
            of_deal = 0.0
    return found


def results_table(results: Sequence[Result]) -> TableView:
    """What was won from whom."""
    return TableView(
        "Against the built-in bots",
        (("others", ""), ("players", ""), ("deals", ""), ("hands", ""), ("mbb/g", ""), ("95 % interval", "")),
        tuple(
            (
                result.opponent.bot,
                str(_players(result)),
                f"{result.opponent.deals:,}",
                f"{_players(result) * result.opponent.deals:,}",
                signed(result.rate.mbb),
                "too few deals" if result.rate.half_width is None else f"± {result.rate.half_width:,.0f}",
            )
            for result in results
        ),
        "Thousandths of a big blind per hand, each deal in every rotation over the seats; deals are the units of the "
        "normal intervals. Everybody plays by its own rules before the flop, too, and there is no rake.",
    )


def results_chart(results: Sequence[Result]) -> BarChart:
    """The same as bars."""
    return BarChart(
        title="Against the built-in bots",
        label="mbb/g",
        bars=tuple(
            Bar(
                name=f"{result.opponent.bot}, {_players(result)} players",
                height=result.rate.mbb,
                low=result.rate.low,
                high=result.rate.high,
            )
            for result in results
        ),
    )


def _players(result: Result) -> int:
    return find_game(result.opponent.game)[1].num_players
