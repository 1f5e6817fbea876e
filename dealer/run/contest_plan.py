"""A run and its contests with every default resolved, and the matches of a contest.

    for match_plan in contest.match_plans:
        contest.setup_of(match_plan)

A *seating* assigns the players to the seats. A match of a contest is one seating over one slice of the hands; the cards
follow from the seed of the seating and the hand number alone, so neither the number of seatings nor that of slices
changes a card.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from bots.sdk.registry import is_builtin
from dealer.match import MatchSetup
from dealer.match.faults import FaultPolicy
from dealer.match.setup import TimeLimits
from dealer.run.choices import Affinity, Command, Format, Interval, Score, Seating
from dealer.run.match_files import RecordPlan
from dealer.table.players import Player
from engine import DealKey, Game, Seed, derived_seed
from engine.equity import shares_refusal
from logs.estimation import (
    AnyTimeMean,
    Better,
    Bounds,
    FixedDeals,
    PlainMean,
    RunningMean,
    StopRule,
    opponent_of,
    score_bounds,
)
from logs.formats.export_format import ExportFormat, ExportOptions
from protocol import format_game_definition, shipped_games
from protocol.game_definition import short_name

MOST_CORRECTED_HANDS: Final = 100_000
"""The hands times players up to which a result is corrected unasked: some seconds (docs/variance.md has the rates)."""
MIN_CORRECTED_DEALS: Final = 80
"""The deals from which weights of a correction can be fitted."""
_MAX_IDLE_LINES_PER_HAND: Final = 10_000
"""Far more than a bot that corrects itself sends, far fewer than would keep the dealer busy."""


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game to be played.

    Attributes:
        name: the canonical one.
        exports: the formats in which its hand histories are written.
    """

    name: str
    game: Game
    exports: tuple[ExportFormat, ...]
    chip_value: Decimal = Decimal(1)

    @property
    def shown(self) -> str:
        """The name to show."""
        return short_name(self.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run with nothing left open.

    Attributes:
        games: at least one; exactly one unless it is a tournament.
        players: who plays; in a match, by seat.
        names: of the players, all different.
        deals: the most to play, each once in every seating.
        seed: of the cards, a number or a key; built-in bots get seeds of their own that follow from it.
        workers: how many matches are played at a time.
        limits: of all players that have none of their own.
        ports: by seat, of a single match over TCP; any free ports if it is empty.
        coalesce_s: how long lines for a player that is not to act may be held.
        histories: the folder for the hand histories of all runs; None for a folder per format in the run's own.
        export_options: of hand histories of a contest between all players, with its hero or default hero.
    """

    command: Command
    format: Format
    games: tuple[NamedGame, ...]
    players: tuple[Player, ...]
    names: tuple[str, ...]
    deals: int
    seed: Seed
    seating: Seating
    stop: StopRule
    score: Score
    workers: int
    affinity: Affinity
    in_process: bool
    fixed_seats: bool
    limits: TimeLimits
    on_fault: FaultPolicy
    host: str
    ports: tuple[int, ...]
    coalesce_s: float
    histories: Path | None
    export_options: ExportOptions

    def keep_games(self, folder: Path) -> None:
        """Write the definitions of games that are not shipped next to the file of the run.

        Raises:
            OSError: they cannot be written.
        """
        for named in self.games:
            if named.name not in shipped_games():
                (folder / named.name).write_text(format_game_definition(named.game), "ascii")


class MatchPlan(NamedTuple):
    """One match of a contest.

    Attributes:
        players: by seat, the index of its player.
        first_hand: number of the first hand.
    """

    name: str
    seating: int
    players: tuple[int, ...]
    first_hand: int
    hands: int


@dataclass(frozen=True, slots=True)
class ContestPlan:
    """A contest to be played.

    Attributes:
        entrants: who plays, as indices into the players of the run.
        record: what is kept of its matches, and where; the folder must exist.
        slices: into how many matches the hands of a seating are cut.
    """

    run: Plan
    game: Game
    entrants: tuple[int, ...]
    record: RecordPlan
    slices: int = 1

    @property
    def players(self) -> tuple[Player, ...]:
        """Who plays."""
        return tuple([self.run.players[entrant] for entrant in self.entrants])

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names, all different."""
        return tuple([self.run.names[entrant] for entrant in self.entrants])

    @property
    def match_plans(self) -> list[MatchPlan]:
        """All matches, slice by slice; the slices are as equal as possible, and never more than there are deals."""
        found = []
        deals = self.run.deals
        slices = min(self.slices, deals)
        orders = self.run.seating.orders(self.game.num_players)
        for slice_ in range(slices):
            first = deals * slice_ // slices
            end = deals * (slice_ + 1) // slices
            for seating, order in enumerate(orders):
                name = "match"
                if slices > 1:
                    name += f".{slice_ + 1}"
                if len(orders) > 1:
                    name += f".{'abcdefghijklmnopqrstuvwxyz'[seating]}" if len(orders) <= 26 else f".p{seating + 1}"
                found.append(MatchPlan(name, seating, order, first, end - first))
        return found

    @property
    def seatings(self) -> int:
        """How many seatings each deal is played in."""
        return self.run.seating.order_count(self.game.num_players)

    @property
    def has_own_cards(self) -> bool:
        """Whether every seating has cards of its own: those of a key, where a player could remember them.

        Players that are not built in are foreign programs, and what such a program has seen in one match it
        can use in the next.
        """
        if not isinstance(self.run.seed, DealKey) or self.seatings == 1:
            return False
        return not all(is_builtin(player.text) and not player.learns for player in self.players)

    def seed_of(self, match_plan: MatchPlan) -> Seed:
        """The seed of a match."""
        return derived_seed(self.run.seed, match_plan.seating) if self.has_own_cards else self.run.seed

    def setup_of(self, match_plan: MatchPlan) -> MatchSetup:
        """What one of its matches is given."""
        run = self.run
        return MatchSetup(
            game=self.game,
            name=match_plan.name,
            hands=match_plan.hands,
            seed=self.seed_of(match_plan),
            names=tuple([self.names[player] for player in match_plan.players]),
            fixed_seats=run.fixed_seats,
            first_hand=match_plan.first_hand,
            limits=run.limits,
            on_fault=run.on_fault,
            max_idle_lines_per_hand=_MAX_IDLE_LINES_PER_HAND,
            own_limits=tuple([self.players[player].limits for player in match_plan.players]),
        )

    def bot_seed(self, match_plan: MatchPlan, player: int) -> int:
        """The seed of a player's own draws: the same in every slice, so that it does not matter how hands are cut."""
        if isinstance(self.run.seed, DealKey):
            return self.run.seed.number(match_plan.seating, player)
        return (self.run.seed * 1000003 + match_plan.seating * 1009 + player) % 2**32

    @property
    def learners(self) -> tuple[int, ...]:
        """The players that learn; with one of them, the contest is training (`dealer.run.learning_contest`)."""
        return tuple(index for index, player in enumerate(self.players) if player.learns)

    @property
    def opponent(self) -> str:
        """Whom the first player's results are against."""
        return opponent_of(self.names[0], self.names)

    @property
    def is_sequential(self) -> bool:
        """Whether a sequential test decides, so that intervals have to hold at every moment."""
        return isinstance(self.run.stop, Better)

    @property
    def interval(self) -> Interval:
        """The kind of the intervals of its scores."""
        if self.learners:
            return "none"
        return "any time" if self.is_sequential else "fixed"

    @property
    def is_corrected(self) -> bool:
        """Whether win rates without the luck of the cards are computed once all is played.

        They are not where a player learns, or where a sequential test decides about the chips: its scores may not
        depend on later ones.
        """
        score = self.run.score
        return score is Score.CORRECTED or (score is Score.BOTH and not self.learners and not self.is_sequential)

    def corrects_unasked(self, hands: int) -> bool:
        """Whether the result of so many hands is corrected; the same run gives the same result on every machine."""
        game = self.game
        return (
            self.run.score is Score.BOTH
            and self.is_corrected
            and shares_refusal(game) is None
            and hands // self.seatings >= MIN_CORRECTED_DEALS
            and hands * game.num_players <= MOST_CORRECTED_HANDS
        )

    @property
    def bounds(self) -> Bounds:
        """The lowest and the highest possible score of a deal that the stop rule looks at, in mbb/g."""
        return bounds_of(self.run.score, self.run.stop, self.game)

    def new_mean(self, score: Score = Score.RAW) -> RunningMean:
        """A mean of scores whose interval is the one that the stop rule needs; without one in training."""
        bounds = bounds_of(score, self.run.stop, self.game)
        match self.interval:
            case "none":
                return PlainMean((), bounds)
            case "any time":
                return AnyTimeMean((), bounds)
            case "fixed":
                return RunningMean((), bounds)

    @property
    def looks(self) -> bool:
        """Whether the stop rule needs to look at the scores."""
        return not isinstance(self.run.stop, FixedDeals)


def bounds_of(score: Score, stop: StopRule, game: Game) -> Bounds:
    """The lowest and the highest score of a deal that a stop rule reckons with, in mbb/g.

    A sequential test has to know how far scores can reach; an interval allows for the largest hands, and corrected
    scores beyond these would take a player who folds the best hand in the largest pot.
    """
    if score is Score.CORRECTED and isinstance(stop, Better):
        # Not loaded by a dealer that needs no such scores.
        from logs.variance.correction import corrected_bounds

        return corrected_bounds(game)
    return score_bounds(game)
