"""Plans of a run, its contests and their matches, with every default resolved.

    for match_plan in contest.match_plans:
        contest.setup_of(match_plan)

A *seating* assigns the players to the seats. A match of a contest is one seating over one slice of the hands. The cards
follow from the seed of the seating and the hand number, whatever the number of seatings and slices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from string import ascii_lowercase
from typing import Final, NamedTuple

from bots.hand_values import KnownPlayer, known_player
from bots.sdk.bot import bot_seed
from bots.sdk.registry import is_builtin
from dealer.match import MatchSetup
from dealer.match.faults import FaultPolicy
from dealer.match.setup import TimeLimits
from dealer.run.choices import Affinity, Command, Format, Interval, Score, Seating
from dealer.run.match_files import RecordPlan
from dealer.table.players import Player
from engine import DealKey, Game, Seed, derived_seed
from engine.equity import shares_refusal
from engine.holdem import is_holdem
from logs.estimation import (
    AnyTimeMean,
    Better,
    Bounds,
    FixedDeals,
    PlainMean,
    RunningMean,
    StopRule,
    largest_loss,
    opponent_of,
    score_bounds,
)
from logs.formats.export_format import ExportFormat, ExportOptions
from protocol import format_game_definition, shipped_games
from protocol.game_definition import short_name

MAX_CORRECTED_HANDS: Final = 100_000
"""Hands times players up to which results are corrected by default, in seconds. See docs/variance-reduction.md."""
MIN_CORRECTED_DEALS: Final = 80
"""Fewer deals are not enough to fit the weights of a correction."""
_MAX_VALUED_S: Final = 30
"""Processor time for which hands are valued by default."""
_NO_LIMIT_S: Final = 0.06
_LIMIT_S: Final = 0.05
_SMALL_GAME_S: Final = 0.005
"""Processor time to value a hand, see docs/variance-reduction.md."""
_MAX_IDLE_LINES_PER_HAND: Final = 10_000
"""Far more lines than a bot sends that corrects itself, and far fewer than would keep the dealer busy."""


@dataclass(frozen=True, slots=True)
class NamedGame:
    """Game of a run.

    Attributes:
        name: canonical name.
        exports: formats of its hand histories.
        chip_value: value of a chip in hand histories.
    """

    name: str
    game: Game
    exports: tuple[ExportFormat, ...]
    chip_value: Decimal = Decimal(1)

    @property
    def shown(self) -> str:
        """Name for users."""
        return short_name(self.name)


@dataclass(frozen=True, slots=True)
class Plan:
    """Run with every setting resolved.

    Attributes:
        command: kind of the run.
        format: contests of a tournament.
        games: at least one; exactly one unless the run is a tournament.
        players: players in the order given, which is that of the seats.
        names: names of the players, all different.
        deals: maximum number of deals, each played once in every seating.
        seed: number or key of the cards. Built-in bots get seeds that are derived from it.
        seating: seatings of each deal.
        stop: stop rule.
        score: scores of the stop rule and the result.
        workers: number of matches played at a time.
        affinity: sharing of cores.
        in_process: play Python bots inside this process.
        fixed_seats: do not move the button.
        limits: time limits of players without limits of their own.
        on_fault: policy for faults of players.
        host: address to listen on.
        ports: ports by seat of a single match; empty for free ports.
        coalesce_s: maximum time for which lines for a player that is not to act are held.
        histories: folder for the hand histories of all runs; None for a folder per format in that of the run.
        export_options: options of hand histories for a contest of all players.
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
        """Write definitions of games that are not shipped to the folder of the run.

        Raises:
            OSError: a definition cannot be written.
        """
        for named in self.games:
            if named.name not in shipped_games():
                (folder / named.name).write_text(format_game_definition(named.game), "ascii")


class MatchPlan(NamedTuple):
    """Match of a contest.

    Attributes:
        name: name of the match and of its files.
        seating: index of its seating.
        players: index of the player by seat.
        first_hand: number of the first hand.
        hands: number of hands.
    """

    name: str
    seating: int
    players: tuple[int, ...]
    first_hand: int
    hands: int


@dataclass(frozen=True, slots=True)
class ContestPlan:
    """Contest of a run.

    Attributes:
        run: plan of the run.
        entrants: indices of its players among those of the run.
        record: files of its matches.
        slices: number of matches into which the hands of a seating are cut.
    """

    run: Plan
    game: Game
    entrants: tuple[int, ...]
    record: RecordPlan
    slices: int = 1

    @property
    def players(self) -> tuple[Player, ...]:
        return tuple([self.run.players[entrant] for entrant in self.entrants])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the players, all different."""
        return tuple([self.run.names[entrant] for entrant in self.entrants])

    @property
    def match_plans(self) -> list[MatchPlan]:
        """Matches of the contest, slice by slice. The slices have equal sizes, give or take a deal."""
        plans = []
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
                if len(orders) > len(ascii_lowercase):
                    name += f".p{seating + 1}"
                elif len(orders) > 1:
                    name += f".{ascii_lowercase[seating]}"
                plans.append(MatchPlan(name, seating, order, first, end - first))
        return plans

    @property
    def seatings(self) -> int:
        """Number of seatings in which each deal is played."""
        return self.run.seating.order_count(self.game.num_players)

    @property
    def has_own_cards(self) -> bool:
        """Every seating has cards of its own, because a player could recognise those of an earlier match."""
        if not isinstance(self.run.seed, DealKey) or self.seatings == 1:
            return False
        # A key means secret cards. Programs that are not built in could remember them from one seating to the next.
        return not all(is_builtin(player.text) and not player.learns for player in self.players)

    def seed_of(self, match_plan: MatchPlan) -> Seed:
        """Return the seed of a match's cards."""
        return derived_seed(self.run.seed, match_plan.seating) if self.has_own_cards else self.run.seed

    def setup_of(self, match_plan: MatchPlan) -> MatchSetup:
        """Return the setup of a match."""
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
        """Return the seed of a built-in bot's random numbers."""
        # Without the slice, so that a bot plays a hand the same way however the hands are cut.
        if isinstance(self.run.seed, DealKey):
            return self.run.seed.number(match_plan.seating, player)
        return bot_seed(self.run.seed, match_plan.seating, player)

    @property
    def learners(self) -> tuple[int, ...]:
        """Indices of players that learn. A contest with one is training, see `dealer.run.learning_contest`."""
        return tuple(index for index, player in enumerate(self.players) if player.learns)

    @property
    def opponent(self) -> str:
        """Opponent named in the first player's rate."""
        return opponent_of(self.names[0], self.names)

    @property
    def is_sequential(self) -> bool:
        """The stop rule is a sequential test, for which intervals have to hold at any time."""
        return isinstance(self.run.stop, Better)

    @property
    def interval(self) -> Interval:
        """Kind of the intervals of its scores."""
        if self.learners:
            return "none"
        return "any time" if self.is_sequential else "fixed"

    @property
    def is_corrected(self) -> bool:
        """The result may have win rates without the luck of the cards."""
        if self.run.score is Score.BOTH:
            # The weights of a correction are fitted on all deals, but scores of a sequential test may not depend on
            # later ones.
            return not self.learners and not self.is_sequential
        return self.run.score is Score.CORRECTED

    def corrects_by_default(self, hands: int) -> bool:
        """Return whether the result of this number of hands has corrected scores under `Score.BOTH`."""
        # Decided by counts and not by time, so that the same run has the same result on every machine.
        game = self.game
        return (
            self.run.score is Score.BOTH
            and self.is_corrected
            and shares_refusal(game) is None
            and hands // self.seatings >= MIN_CORRECTED_DEALS
            and hands * game.num_players <= MAX_CORRECTED_HANDS
        )

    @property
    def known(self) -> tuple[KnownPlayer, ...]:
        """Players for which AIVAT can value hands, in the order given; empty unless the game is for two."""
        return known_players(self.game, self.names, self.players)

    @property
    def max_correction(self) -> float:
        """Largest difference between the AIVAT value of a hand and a possible result, in chips."""
        # Only a sequential test needs bounds, and few hands reach this one. With half of it, close bounds of no-limit
        # hold'em take more deals, because large pots keep their luck; twice as much helps only very close ones.
        return float(largest_loss(self.game)) if self.is_sequential else math.inf

    def valuation_s(self, hands: int) -> float | None:
        """Estimate the processor time to value hands by AIVAT; None if it is unknown or no player is known."""
        known = self.known
        if not known or not all(player.is_plain for player in known):
            return None
        return hands * len(known) * valuation_s_per_hand(self.game)

    @property
    def is_valued_by_default(self) -> bool:
        """The result has AIVAT scores under `Score.BOTH`."""
        hands = self.run.deals * self.seatings
        needed_s = self.valuation_s(hands)
        return (
            self.run.score is Score.BOTH
            and self.run.deals >= MIN_CORRECTED_DEALS
            and needed_s is not None
            and needed_s <= _MAX_VALUED_S
        )

    @property
    def bounds(self) -> Bounds:
        """Lowest and highest score of a deal for the stop rule, in mbb/g."""
        return bounds_of(self.run.score, self.run.stop, self.game)

    def new_mean(self, score: Score = Score.RAW) -> RunningMean:
        """Create a mean of scores with the kind of interval that the contest needs."""
        bounds = bounds_of(score, self.run.stop, self.game)
        match self.interval:
            case "none":
                return PlainMean((), bounds)
            case "any time":
                return AnyTimeMean((), bounds)
            case "fixed" | "guaranteed":
                return RunningMean((), bounds)

    @property
    def looks(self) -> bool:
        """The stop rule looks at scores."""
        return not isinstance(self.run.stop, FixedDeals)


def known_players(game: Game, names: Sequence[str], players: Sequence[Player]) -> tuple[KnownPlayer, ...]:
    """Return the players for which AIVAT can value hands, in the order given; empty unless the game is for two."""
    if game.num_players != 2:
        return ()
    known = []
    for name, player in zip(names, players, strict=True):
        if player.source is None and not player.learns:
            known.append(known_player(name, player.text, player.directory))
    return tuple([player for player in known if player is not None])


def valuation_s_per_hand(game: Game) -> float:
    """Return the processor time to value a hand of a game for two, with one known player."""
    if not is_holdem(game):
        return _SMALL_GAME_S
    return _LIMIT_S if game.is_limit else _NO_LIMIT_S


def bounds_of(score: Score, stop: StopRule, game: Game) -> Bounds:
    """Return the lowest and highest score of a deal for a stop rule, in mbb/g."""
    # Corrected scores can exceed the largest pot, but only if a player folds the best hand in it. A sequential test is
    # invalid if scores exceed its bounds, while for an interval the largest pot is enough.
    if score is Score.CORRECTED and isinstance(stop, Better):
        # Imported here, because few runs need it.
        from logs.variance.correction import corrected_bounds

        return corrected_bounds(game)
    if score is Score.AIVAT and isinstance(stop, Better):
        # A possible result of the hand, and the correction of `ContestPlan.max_correction` on both sides.
        lowest, highest = score_bounds(game)
        correction = 1000 * largest_loss(game) / game.big_blind
        return lowest - correction, highest + correction
    return score_bounds(game)
