"""Running means of the players of a contest, for the live line, for pages and for the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from logs.estimation.mean import TAIL_95, Estimate, Rate, RunningMean


def opponent_of(player: str, names: Iterable[str]) -> str:
    """Return the opponent named in a player's rate: the only other player, or "the table"."""
    opponents = [name for name in names if name != player]
    return opponents[0] if len(opponents) == 1 else "the table"


def estimate_of_best(mean: RunningMean, players: int) -> Estimate:
    """Return a player's mean with the interval of a claim about the winner."""
    # Each player can be first by luck on one side, so that the error probabilities of all players add up.
    return mean.estimate_at(2 * TAIL_95 / players)


class Scoreboard:
    """Means of the players' scores over complete deals.

    Attributes:
        deals: number of deals counted.
    """

    def __init__(self, new_mean: Callable[[], RunningMean], names: Iterable[str] = ()) -> None:
        """Start without a deal.

        Args:
            new_mean: constructor of a player's mean.
            names: players known before the first deal; all others are added with their first score.
        """
        self.deals = 0
        self._new_mean = new_mean
        self._means = {name: new_mean() for name in names}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._means)

    def add(self, scores: Iterable[tuple[str, float]]) -> None:
        """Count a deal, given the score in mbb per game of each player."""
        self.deals += 1
        for name, score in scores:
            mean = self._means.get(name)
            if mean is None:
                mean = self._means[name] = self._new_mean()
            mean.add(score)

    def mean(self, player: str) -> RunningMean:
        return self._means[player]

    def rate(self, player: str) -> Rate | None:
        """Return the rate of a player with its 95 % interval over deals; None before its first deal."""
        mean = self._means.get(player)
        if mean is None:
            return None
        return mean.rate(player, opponent_of(player, self._means))

    def rate_of_best(self, player: str) -> Rate:
        """Return the rate of a player with at least one deal, with the interval of a claim about the winner."""
        best = estimate_of_best(self._means[player], len(self._means))
        return Rate.from_estimate(best, player, opponent_of(player, self._means))
