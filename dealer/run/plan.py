"""From settled settings to contests: who plays whom, in which seats and slices, in which folders."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bots.sdk.registry import is_builtin
from dealer.run.record import RecordPlan
from dealer.run.resolve import NamedGame, SettledConfig
from dealer.run.schedule import Seating, Slot, number_of_seatings, pairings, slots
from dealer.run.scores import bounds_of
from dealer.run.settings import Command, Conditions, Score
from dealer.table.players import Player
from engine import DealKey, Game, Seed, derived_seed
from logs.estimation import AnyTimeMean, Better, Bounds, FixedHands, PlainMean, RunningMean, StopRule
from logs.formats import ExportOptions


@dataclass(frozen=True, slots=True)
class ContestPlan:
    """A contest to be played.

    Attributes:
        game: the game.
        record: what is kept of its matches, and where; the folder must exist.
        players: who plays.
        names: of the players, all different.
        hands: the most deals to play, each once in every seating.
        seed: of the cards, a number or a key; built-in bots get seeds of their own that follow from it.
        seating: which seatings.
        slices: into how many matches the hands of a seating are cut; 1 where a player learns.
        stop: when to stop.
        score: what that looks at.
        conditions: how every match is played.
    """

    game: Game
    record: RecordPlan
    players: tuple[Player, ...]
    names: tuple[str, ...]
    hands: int
    seed: Seed
    seating: Seating
    slices: int
    stop: StopRule
    score: Score
    conditions: Conditions

    @property
    def slots(self) -> list[Slot]:
        """All matches."""
        return slots(self.seating, self.game.num_players, self.hands, self.slices)

    @property
    def seatings(self) -> int:
        """How many seatings each deal is played in."""
        return number_of_seatings(self.seating, self.game.num_players)

    @property
    def has_own_cards(self) -> bool:
        """Whether every seating has cards of its own: those of a key, where a player could remember them.

        Other players than built-in ones are programs of somebody's, and what such a program has seen in one match it
        can use in the next.
        """
        if not isinstance(self.seed, DealKey) or self.seatings == 1:
            return False
        return not all(is_builtin(player.text) and not player.learns for player in self.players)

    def seed_of(self, slot: Slot) -> Seed:
        """The seed of a match."""
        return derived_seed(self.seed, slot.seating) if self.has_own_cards else self.seed

    def bot_seed(self, slot: Slot, player: int) -> int:
        """The seed of a player's own draws: the same in every slice, so that it does not matter how hands are cut."""
        if isinstance(self.seed, DealKey):
            return self.seed.number(slot.seating, player)
        return (self.seed * 1000003 + slot.seating * 1009 + player) % 2**32

    @property
    def learners(self) -> tuple[int, ...]:
        """The players that learn; with one of them, the contest is training (`dealer.run.training`)."""
        return tuple(index for index, player in enumerate(self.players) if player.learns)

    @property
    def opponent(self) -> str:
        """Whom the first player's results are against."""
        return self.names[1] if len(self.names) == 2 else "the table"

    @property
    def is_sequential(self) -> bool:
        """Whether a sequential test decides, so that intervals have to hold at every moment."""
        return isinstance(self.stop, Better)

    @property
    def bounds(self) -> Bounds:
        """The lowest and the highest possible score of a deal that the stop rule looks at, in mbb/g."""
        return bounds_of(self.score, self.stop, self.game)

    def new_mean(self, score: Score = Score.RAW) -> RunningMean:
        """A mean of scores whose interval is the one that the stop rule needs; without one in training."""
        bounds = bounds_of(score, self.stop, self.game)
        if self.learners:
            return PlainMean((), bounds)
        return AnyTimeMean((), bounds) if self.is_sequential else RunningMean((), bounds)

    @property
    def looks(self) -> bool:
        """Whether the stop rule needs to look at the scores."""
        return not isinstance(self.stop, FixedHands)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All contests of a run.

    Attributes:
        settled: the settings.
        folder: of the run.
        contests: what is played.
        entrants: by contest, its players as indices into those of the run.
    """

    settled: SettledConfig
    folder: Path
    contests: tuple[ContestPlan, ...]
    entrants: tuple[tuple[int, ...], ...]


def plan_run(settled: SettledConfig, folder: Path) -> RunPlan:
    """All contests of a run.

    Args:
        settled: the settings.
        folder: of the run.
    """
    is_play = settled.command is not Command.TOURNAMENT
    tables = [
        (named, entrants)
        for named in settled.games
        for entrants in pairings(settled.format, len(settled.players), named.game.num_players)
    ]
    contests = []
    histories = settled.histories
    for number, (named, entrants) in enumerate(tables, 1):
        names = tuple(settled.names[entrant] for entrant in entrants)
        seatings = number_of_seatings(settled.seating, named.game.num_players)
        own = folder if is_play else folder / _label(number, len(tables), named.name, names)
        contests.append(
            ContestPlan(
                named.game,
                RecordPlan(own, named.name, named.exports, _export_options(settled, named, names), histories.folder),
                tuple(settled.players[entrant] for entrant in entrants),
                names,
                settled.hands,
                settled.seed,
                settled.seating,
                # A tournament has enough matches to keep its workers busy.
                -(-settled.workers // seatings) if is_play and not any(one.learns for one in settled.players) else 1,
                settled.stop,
                settled.score,
                settled.conditions,
            )
        )
    return RunPlan(settled, folder, tuple(contests), tuple(entrants for _, entrants in tables))


def _export_options(settled: SettledConfig, named: NamedGame, names: Sequence[str]) -> ExportOptions:
    """How the hand histories of a contest are written."""
    hero, is_observed, currency, _ = settled.histories
    return ExportOptions(
        hero=hero if hero in names else None,
        default_hero=None if is_observed or hero is not None else names[0],
        chip_value=named.chip_value,
        currency=currency,
    )


def _label(number: int, of: int, game: str, names: Sequence[str]) -> str:
    """The folder of one contest of a tournament."""
    digits = len(str(of))
    short = os.path.basename(game).removesuffix(".game")
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", f"{number:0{digits}}-{short}-{'-vs-'.join(names)}")[:100]
