"""Estimate the winnings of best responses to a strategy of hold'em over drawn boards (`bots.cfr.best_responses`).

Each board follows from the seed and its number. Workers compute boards, and the results are kept in a folder, from
which the computation resumes, also with more boards.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from bots.cfr.best_responses import Responses
from bots.cfr.bot import CfrBot
from bots.cfr.endgames import RIVER, RIVERS, TURN
from bots.cfr.strategy_values import strategy_checksum
from bots.errors import SolvingError
from bots.long_run import ResultJournal, ShowProgress, result_journal, show_nothing
from bots.sdk.registry import make_bot
from bots.workers import Workers, each_result
from engine import Game
from engine.holdem import is_dealt_as_holdem
from engine.text import count_of
from logs.document import NAME, Document, Fact, text_of
from logs.estimation import RunningMean
from protocol import find_game
from protocol.game_definition import short_name

JOURNAL: Final = "responses.jsonl"
Won: TypeAlias = dict[int, float]
"""Winnings of the best responses by number of the board, in mbb/g."""


Street: TypeAlias = Literal["turn", "river"]
"""Round from which on a player plays a best response."""
_ROUNDS: Final = {"turn": TURN, "river": RIVER}


class ResponseSettings(NamedTuple):
    """Settings of an estimate. Estimates with equal settings have equal winnings on the same boards.

    Attributes:
        street: round from which on a player plays a best response.
        rivers: drawn after each turn, None for all.
    """

    game: str
    bot: str
    street: Street
    seed: int
    rivers: int | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Settings as JSON, with a checksum of the strategy."""
        checksum = strategy_checksum(_cfr_bot(self.bot).strategy(find_game(self.game)[1]))
        data = {
            "game": self.game,
            "bot": self.bot,
            "strategy": checksum,
            "from": self.street,
            "seed": self.seed,
        }
        if self.rivers is not None:
            data["rivers"] = self.rivers
        return data

    @property
    def solves_all_rivers(self) -> bool:
        """Return whether all rivers after a turn are solved, the slowest of these computations."""
        return self.street == "turn" and self.rivers is None and _cfr_bot(self.bot).solves_rivers


def response_settings(game: str, bot: str, street: Street, seed: int, rivers: int | None = None) -> ResponseSettings:
    """Check the settings of an estimate.

    Raises:
        SolvingError: the bot is not a fixed strategy of cfr for hold'em of two players, or solves no rivers to draw.
    """
    rules: Game = find_game(game)[1]
    if not is_dealt_as_holdem(rules) or rules.num_players != 2:
        raise SolvingError(f"{short_name(game)}: best responses from the {street} on are for hold'em of two")
    if _cfr_bot(bot).is_learning:
        raise SolvingError(f"{bot} answers its opponent, so no strategy of it is fixed: leave out exploit")
    if rivers is not None and not (street == "turn" and _cfr_bot(bot).solves_rivers):
        raise SolvingError(f"{bot} solves no rivers from the {street} on of which some can be drawn: leave out rivers")
    return ResponseSettings(game, bot, street, seed, rivers)


def _cfr_bot(bot: str) -> CfrBot:
    cfr_bot = make_bot(bot)
    if not isinstance(cfr_bot, CfrBot):
        raise SolvingError(f"{bot}: in hold'em only strategies of cfr have an exact best response from a round on")
    return cfr_bot


@lru_cache(4)
def _responses(settings: ResponseSettings) -> Responses:
    # Cached, so that a worker loads a strategy once for all boards.
    game = find_game(settings.game)[1]
    bot = _cfr_bot(settings.bot)
    return Responses(bot.strategy(game), bot.endgames(game), _ROUNDS[settings.street], settings.rivers or RIVERS)


def won_on_board(settings: ResponseSettings, number: int) -> float:
    """Return an unbiased estimate of the winnings of best responses on a board, in mbb/g, the mean of both seats."""
    chance = np.random.Generator(np.random.PCG64([settings.seed, number]))
    responses = _responses(settings)
    return 1000 / responses.strategy.game.big_blind * responses.draw(chance)


def estimate_responses(
    settings: ResponseSettings,
    boards: int,
    *,
    folder: Path | None = None,
    workers: Workers | None = None,
    show: ShowProgress = show_nothing,
) -> RunningMean:
    """Compute the winnings on boards with the numbers from 0, as a mean in mbb/g.

    Args:
        folder: keeps the results, and supplies those of an earlier computation with the same settings.

    Raises:
        BotFileError: the folder holds results of other settings, is in use, or cannot be written.
    """
    won: Won = {}
    with nullcontext() if folder is None else result_journal(folder / JOURNAL, settings.data) as journal:
        if journal is not None:
            won = _stored(journal, boards)
        show(len(won) / boards)
        numbers = [number for number in range(boards) if number not in won]
        for index, value in each_result(workers, won_on_board, [settings] * len(numbers), numbers):
            if journal is not None:
                journal.add([numbers[index], value])
            won[numbers[index]] = value
            show(len(won) / boards, partial(_format_progress, won))
    return _mean(won)


def _stored(journal: ResultJournal, boards: int) -> Won:
    try:
        stored = {int(number): float(value) for number, value in journal.rows}
    except (TypeError, ValueError) as error:
        raise journal.damaged() from error
    return {number: value for number, value in stored.items() if number < boards}


def _mean(won: Won) -> RunningMean:
    # In the order of the boards: sums of floats must not depend on the order in which workers finish.
    return RunningMean(won[number] for number in sorted(won))


def _format_progress(won: Won) -> str:
    return f"{text_of(_mean(won).estimate, '+,.1f')} mbb/g on {count_of(len(won), 'board')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseData:
    """Output of ``arena exploit exact --from --json``.

    Attributes:
        strategy: checksum of the strategy.
        from_round: round from which on one player plays a best response, ``turn`` or ``river``.
        boards: number of boards drawn.
        rivers: number of rivers drawn after each turn, None for all.
        mbb_per_game: winnings of the best response, the mean of both seats.
        half_width_95: half the 95 % interval over boards, None with too few.
    """

    schema_version: int = 1
    game: str
    bot: str
    strategy: str
    from_round: str
    boards: int
    rivers: int | None
    seed: int
    mbb_per_game: float
    half_width_95: float | None


def response_document(settings: ResponseSettings, won: RunningMean) -> Document:
    """Describe the winnings of best responses that `estimate_responses` computed."""
    street = settings.street
    counted = "all holdings"
    if street == "turn":
        counted = "all holdings and all 48 rivers"
    exactness = f"It is exact, over {counted}, on"
    if settings.rivers is not None:
        exactness = (
            "It chooses its actions on the turn with classes of holdings on the rivers, and is exact on "
            f"{count_of(settings.rivers, 'drawn river')} of each of"
        )
    sentences = (
        f"From the {street} on, a best response wins {text_of(won.estimate, '+,.1f')} mbb/g from {settings.bot}, the "
        f"mean of both seats. {exactness} {won.count:,} drawn boards with one drawn betting before the {street} each.",
        f"Up to the {street} both play as {settings.bot}. A response that deviates earlier wins at least as much, so "
        "this is a lower bound of the exploitability.",
    )
    data = settings.data
    return Document(
        f"Best responses to {settings.bot} in {short_name(settings.game)}",
        sentences,
        (
            Fact("game", short_name(settings.game)),
            Fact("bot", settings.bot),
            Fact("from", street),
            Fact("boards", won.count),
            Fact("seed", settings.seed, NAME),
        ),
        data=ResponseData(
            game=settings.game,
            bot=settings.bot,
            strategy=data["strategy"],
            from_round=street,
            boards=won.count,
            rivers=settings.rivers,
            seed=settings.seed,
            mbb_per_game=won.mean,
            half_width_95=won.half_width(),
        ),
    )
