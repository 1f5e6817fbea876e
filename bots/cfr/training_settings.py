"""What a training is made of. Nothing here needs numpy: the command line shows it as options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from bots.errors import SolvingError
from bots.sdk.options import Interval, Wording, check_options

MAX_BUCKETS: Final = 10_000
"""In a round: the clusters of more would take an hour."""
_MOST_COPIES: Final = 64
"""Each is held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CfrSettings:
    """The settings of a training, which decide it: two with the same settings are the same."""

    game: Annotated[
        str, "a game: limit, nolimit, limit3, leduc, kuhn or another of hold'em", Wording(group="Training")
    ] = "limit"
    buckets: Annotated[
        str, "buckets of hold'em on flop, turn and river: one number for all of them, or FLOP/TURN/RIVER"
    ] = "1000/1000/500"
    sizes: Annotated[
        str,
        "bets and raises of a no-limit game, in pots: 0.5,1,all:1,all is what the first in a round bets "
        "and what the second raises; rounds are parted by /; half a pot, a pot and all-in by default",
    ] = ""
    raises: Annotated[
        str,
        "bets and raises that a round of a limit game has at most: one number for all rounds, or one for each such as "
        "3/2/2/2; all for two players, two after the first round for more by default",
    ] = ""
    deals: Annotated[int, "deals of hold'em drawn in each iteration", Interval(1, 1_000_000)] = 4096
    copies: Annotated[
        int,
        "copies that learn apart, one for each worker: from deals of their own; the strategy is their mean",
        Interval(1, _MOST_COPIES),
    ] = 1
    gains: Annotated[float, "power by which regrets above 0 are kept", Interval(0, 10)] = 1.5
    losses: Annotated[float, "power by which regrets below 0 are kept", Interval(0, 10)] = 1.0
    average: Annotated[float, "power of an iteration's number in the average", Interval(0, 10)] = 2.0
    seed: Annotated[int, "of the deals"] = 1

    def __post_init__(self) -> None:
        check_options(self, SolvingError)

    @property
    def bucket_counts(self) -> tuple[int, int, int]:
        return bucket_counts(self.buckets)


def bucket_counts(text: str) -> tuple[int, int, int]:
    """The buckets on flop, turn and river; a `SolvingError` if they cannot be read or are out of range."""
    words = text.split("/")
    if len(words) not in (1, 3) or not all(word.isascii() and word.isdigit() for word in words):
        raise SolvingError(f"buckets are one number, or three such as 1000/1000/500, not {text!r}")
    flop, turn, river = map(int, words * 3 if len(words) == 1 else words)
    for name, buckets in (("flop", flop), ("turn", turn), ("river", river)):
        if not 1 <= buckets <= MAX_BUCKETS:
            raise SolvingError(f"there are 1 to {MAX_BUCKETS:,} buckets on the {name}, not {buckets}")
    return flop, turn, river
