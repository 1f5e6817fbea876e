"""Winnings of one of two players by street and by position.

With the values of a strategy, a hand is what the player's choices win beyond them, so that a corrected part has the
choices of one street. Without values, a street has the chips of the hands that ended on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from dealer.run.results.result_values import JsonEstimate
from engine import Game
from engine.holdem import position_names, round_names
from logs.estimation import RunningMean
from logs.record import HandRecord


class WinningsPart(BaseModel):
    """Winnings on one street or in one position."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="name of the street or the position")
    hands: int = Field(description="hands with betting on the street, or hands in the position")
    raw: JsonEstimate = Field(
        description="chips won: of a street those of hands that ended on it, divided by all hands; of a position those "
        "per hand in it"
    )
    corrected: JsonEstimate | None = Field(
        description="by AIVAT: of a street what choices on it win beyond the values of the strategy, divided by all "
        "hands; of a position the estimate per hand in it; null without values"
    )


class WinningsBreakdown:
    """Count hands of two players by street and by position, for one of them.

    A unit is a deal, in all its seatings. The streets sum to the win rate.
    """

    def __init__(self, game: Game, player: str) -> None:
        self._game = game
        self._player = player
        self._to_mbb = 1000 / game.big_blind
        self._streets = _Means(game.num_rounds)
        self._positions = _Means(game.num_players)
        self._deal: list[tuple[HandRecord, Sequence[float] | None]] = []
        self._is_corrected = True

    def add(self, record: HandRecord, gains: Sequence[float] | None = None) -> None:
        """Count a hand; those of a deal must be consecutive.

        Args:
            gains: chips by round that the player's choices win beyond the values of a strategy, the first with the
                value of the position. The parts are corrected if all hands have them.
        """
        if self._deal and self._deal[0][0].hand_number != record.hand_number:
            self._count_deal()
        self._deal.append((record, gains))
        if gains is None:
            self._is_corrected = False

    def _count_deal(self) -> None:
        hands = len(self._deal)
        raw = [0.0] * self._game.num_rounds
        corrected = [0.0] * self._game.num_rounds
        for record, gains in self._deal:
            position = record.names.index(self._player)
            won = record.values[position] * self._to_mbb
            self._positions.hands[position] += 1
            self._positions.raw[position].add(won)
            last = 0
            for round_, actions in enumerate(record.betting.rounds):
                if actions:
                    self._streets.hands[round_] += 1
                    last = round_
            raw[last] += won / hands
            if gains is not None:
                self._positions.corrected[position].add(sum(gains) * self._to_mbb)
                for round_, gain in enumerate(gains):
                    corrected[round_] += gain * self._to_mbb / hands
        for round_ in range(self._game.num_rounds):
            self._streets.raw[round_].add(raw[round_])
            self._streets.corrected[round_].add(corrected[round_])
        self._deal = []

    def streets(self) -> list[WinningsPart]:
        return self._parts(round_names(self._game), self._streets)

    def positions(self) -> list[WinningsPart]:
        return self._parts(position_names(self._game), self._positions)

    def _parts(self, names: Sequence[str], means: _Means) -> list[WinningsPart]:
        if self._deal:
            self._count_deal()
        parts = []
        for index, name in enumerate(names):
            corrected = means.corrected[index].estimate if self._is_corrected else None
            parts.append(
                WinningsPart(name=name, hands=means.hands[index], raw=means.raw[index].estimate, corrected=corrected)
            )
        return parts


class _Means:
    """Hands and means of several parts, in mbb/g."""

    def __init__(self, parts: int) -> None:
        self.hands = [0] * parts
        self.raw = [RunningMean() for _ in range(parts)]
        self.corrected = [RunningMean() for _ in range(parts)]
