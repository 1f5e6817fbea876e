"""How long a bot takes for its decisions, as rows: the median, and what 99 of 100 stay within."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from bots.sdk.selfplay import decision_times
from dealer.bench.rows import Row
from engine import Game
from engine.text import count_of

_SEED = 20_241
_PART_WITHIN = 0.99


def measure(spec: str, game: Game, hands: int = 500) -> list[Row]:
    """Milliseconds of processor time of a bot's decisions, by round and together.

    Args:
        spec: the bot.
        game: what is played.
        hands: how many deals, each played by the bot in every seat.

    Raises:
        SpecError: there is no such bot.
        GameRefused: it does not play the game.
        BotFailure: its own code failed, or its answer was illegal.
    """
    spent_ms = decision_times(spec, game, hands=hands, seed=_SEED)
    together = [ms for of_round in spent_ms.values() for ms in of_round]
    return [_row(spec, name, of) for name, of in {**spent_ms, "all": together}.items() if of]


def _row(spec: str, round_name: str, spent_ms: Sequence[float]) -> Row:
    ordered = sorted(spent_ms)
    within_ms = ordered[int(_PART_WITHIN * (len(ordered) - 1))]
    return Row(
        group=f"decisions of {spec}",
        who=round_name,
        rate_median=statistics.median(ordered),
        rate_low=ordered[0],
        rate_high=ordered[-1],
        unit="ms",
        ratio=None,
        note=f"{count_of(len(ordered), 'decision')}, {_PART_WITHIN:.0%} of them within {within_ms:.2f} ms",
    )
