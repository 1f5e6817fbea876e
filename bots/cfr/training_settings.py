"""Settings of a training of ``cfr``, which the command line shows as options.

The module does not import numpy, because help must be fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from bots.errors import SolvingError
from bots.sdk.options import Interval, Wording, check_options

MAX_BUCKETS: Final = 10_000
"""Maximum number of buckets of a round. Clustering into more would take an hour."""
_MAX_COPIES: Final = 64
"""Maximum number of copies, all of which are held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CfrSettings:
    """Settings of a training. Trainings with equal settings have equal results."""

    game: Annotated[
        str, "a game: limit, nolimit, limit3, leduc, kuhn or another of hold'em", Wording(group="Training")
    ] = "limit"
    buckets: Annotated[
        str, "buckets of hold'em on flop, turn and river: one number for all of them, or FLOP/TURN/RIVER"
    ] = "1000/1000/500"
    sizes: Annotated[
        str,
        "bets and raises of a no-limit game, in pots: 0.5,1,all:1,all is what the first in a round bets "
        "and what the second raises; / separates rounds; half a pot, a pot and all-in by default",
    ] = ""
    raises: Annotated[
        str,
        "maximum number of bets and raises in a round of a limit game: a number for all rounds, or one for each like "
        "3/2/2/2; all for two players, two after the first round for more by default",
    ] = ""
    deals: Annotated[int, "deals of hold'em drawn in each iteration", Interval(1, 1_000_000)] = 4096
    copies: Annotated[
        int,
        "copies that learn from separate deals, one for each worker; the strategy is their mean",
        Interval(1, _MAX_COPIES),
    ] = 1
    gains: Annotated[float, "power of the discount of regrets above 0", Interval(0, 10)] = 1.5
    losses: Annotated[float, "power of the discount of regrets below 0", Interval(0, 10)] = 1.0
    average: Annotated[float, "power of the weight of an iteration in the average", Interval(0, 10)] = 2.0
    seed: Annotated[int, "of the deals"] = 1

    def __post_init__(self) -> None:
        check_options(self, SolvingError)

    @property
    def bucket_counts(self) -> tuple[int, int, int]:
        return bucket_counts(self.buckets)


def bucket_counts(text: str) -> tuple[int, int, int]:
    """Parse the numbers of buckets on flop, turn and river.

    Raises:
        SolvingError: the text has another format, or a number is out of range.
    """
    words = text.split("/")
    if len(words) not in (1, 3) or not all(word.isascii() and word.isdigit() for word in words):
        raise SolvingError(f"buckets are one number, or three such as 1000/1000/500, not {text!r}")
    if len(words) == 1:
        words *= 3
    flop, turn, river = map(int, words)
    for name, buckets in (("flop", flop), ("turn", turn), ("river", river)):
        if not 1 <= buckets <= MAX_BUCKETS:
            raise SolvingError(f"there are 1 to {MAX_BUCKETS:,} buckets on the {name}, not {buckets}")
    return flop, turn, river
