"""What a format of hand histories is, which games card rooms hold, and what formats need of a hand: money, its number,
its steps, the winners of each pot, the order of showing.

A format is a value (`ExportFormat`): its name, and the functions that check whether it has a game, write a match and
read a file. Adding one takes a module that makes such a value and a line in `logs.export.FORMATS`.

**Money.** Chips as amounts of money: exact, and without more decimals than money has.

The ACPC counts whole chips and splits pots into exact parts; card rooms count cents. A `Scale` gives what a chip is
worth and turns chips into units, the smallest coin: whole numbers, so that what is paid out sums to the chips put in.

    Rake(per_cent=5, step="0.25", cap=3)     # a quarter for every five, three at most; nothing without a flop

A `Rake` is what is taken of a pot, and is what the writers of card-room formats take as their `rake`: it is called
with the chips in the pot and whether a flop was dealt, and returns chips. Any function of that shape will do in place
of a schedule. All of its amounts are in chips; where a chip is worth a cent, a cap of three dollars is 300.

**Hand numbers.** Twelve digits identify a hand of a match in every export. Trackers go by the number and drop
every other hand of the same number, in a database that holds all matches. So a hand must get the same number whenever
it is exported, and no other hand of any match may get it. It is

    a digest of the match * 1000 + the hand's own number, within 400000000000 to 999999999999

Why twelve digits: genuine numbers have as many today, and there are importers that find things in the first line by
their places. Why from 4 on: genuine numbers begin with 1 or 2, so our hands and those of an account can share a
database.

Why a digest of the match rather than of each hand: within a match no two numbers are then ever the same, while a
million digests of that size would collide somewhere with a chance of four in seven. Why only three digits are kept free
for the hand's number: matches of one size overlap the less, the more digits distinguish them. A longer match
just runs on into the thousands behind its own, which is no worse than having reserved them. With n matches of h hands
some two of them overlap with a chance of about n * n * max(1, 2 * h / 1000 - 1) / 1.2e9: 1 in 1,200 for a thousand
matches of a thousand hands, 1 in 60 for a hundred matches of a million. Five digits for the match and seven for the
hand would make that all but certain, and 1 in 12.

What identifies a match: its name, its players by seat, its game, and its first hand that is written (number, cards,
betting, results): all that a dealer and a log both know. Two matches of the same name differ in their first hand.
Callers that may write a match from a later hand on (it was resumed, its log is damaged, only some hands are wanted)
pass a `match_id` with every export: the seed, say, which the header of a log has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

from engine import ActionKind, BettingState, Game, Move, Position, rank_hand
from engine.betting import Step, betting_steps
from engine.game import DEFAULT_STACK
from engine.hand import Pot, uncalled
from engine.holdem import Blinds, card_room_difference, holdem_blinds
from logs.acpc_log.writer import format_state_line
from logs.errors import LogError, LogProblem, LogsError, ProblemReporter, UnsupportedGameError
from logs.files import lines_of, opened
from logs.record import PLAY_MONEY, HandRecord

MOST_DECIMALS: Final = 6
"""Of what a chip is worth."""


def amount_text(amount: Fraction) -> str:
    """An amount without decimals or with two: ``5``, ``0.50``."""
    return str(amount.numerator) if amount.denominator == 1 else f"{float(amount):.2f}"


class Scale:
    """What chips are worth, in units: cents, or smaller coins if a chip is not a whole number of cents."""

    def __init__(self, chip_value: Decimal | float | str = 1) -> None:
        """Take the value of a chip in money.

        Raises:
            ValueError: it is not above 0, or has more than six decimals.
        """
        value = Decimal(str(chip_value))
        if not value.is_finite() or value <= 0:
            raise ValueError(f"the value of a chip must be above 0, not {chip_value}")
        decimals = max(2, -int(value.normalize().as_tuple().exponent))
        if decimals > MOST_DECIMALS:
            raise ValueError(f"the value of a chip has at most six decimals, not {decimals}: {chip_value}")
        self.chip_value = value
        self.unit = Decimal(1).scaleb(-decimals)
        self._units_per_chip = int(value / self.unit)
        self._per_one = int(10**decimals)

    def units(self, chips: int) -> int:
        """Whole chips in units."""
        return chips * self._units_per_chip

    def rounded_units(self, chips: float | Fraction) -> int:
        """A part of chips in units, to the nearest."""
        return round(Fraction(chips) * self._units_per_chip)

    def number(self, units: int) -> int | float:
        """Units as an amount of money: an int where it is whole."""
        whole, rest = divmod(units, self._per_one)
        return units / self._per_one if rest else whole

    def amount(self, chips: int) -> int | float:
        """Whole chips as an amount of money."""
        return self.number(self.units(chips))

    def chips(self, amount: Decimal | int) -> int | None:
        """An amount of money in chips; None where that is not a whole number."""
        chips = Fraction(amount) * self._per_one / self._units_per_chip
        return int(chips) if chips.denominator == 1 else None


def equal_shares(units: int, count: int) -> list[int]:
    """An amount in units split into equal shares; the first shares get the odd units."""
    share, rest = divmod(units, count)
    return [share + (i < rest) for i in range(count)]


def split_by_weight(units: int, weights: Sequence[int]) -> list[int]:
    """An amount in units split in proportion to weights; no part exceeds its weight if the amount does not exceed all.

    Cumulative sums are rounded down, so that roundings do not add up in any single part.
    """
    total = sum(weights)
    ends = [units * part // total for part in accumulate(weights)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


RakeFunction: TypeAlias = Callable[[int, bool], float]
"""The rake of a pot, in chips, from its chips and whether a flop was dealt."""


@dataclass(frozen=True, slots=True)
class Rake:
    """A schedule. Numbers may be given as texts; they are kept exact.

    A cap often depends on the number of players dealt in; that is the same in all hands of a match, so one cap will do.

    Attributes:
        per_cent: the share of the pot, 0 to 100.
        step: the rake is a multiple of this many chips, rounded down; 0 leaves it to the smallest coin.
        cap: the most chips taken; None means no cap.
        no_flop_no_drop: whether a pot that ends before the flop is not raked.

    Raises:
        ValueError: a number is out of its range; the sentence names it.
    """

    per_cent: Decimal | float | str
    step: Decimal | float | str = 0
    cap: Decimal | float | str | None = None
    no_flop_no_drop: bool = True

    def __post_init__(self) -> None:
        for name in ("per_cent", "step", "cap"):
            given = getattr(self, name)
            if given is None:
                continue
            number = Decimal(str(given))
            if not number.is_finite() or number < 0 or (name == "per_cent" and number > 100):
                wanted = "0 to 100" if name == "per_cent" else "0 or more"
                raise ValueError(f"the {name} of a rake is {wanted}, not {given}")
            object.__setattr__(self, name, number)

    def in_chips(self, chip_value: Decimal | float | str) -> Rake:
        """The schedule in chips, of one in money."""
        value = Decimal(str(chip_value))
        cap = None if self.cap is None else Decimal(self.cap) / value
        return replace(self, step=Decimal(self.step) / value, cap=cap)

    def __call__(self, pot_chips: int, saw_flop: bool) -> float:
        """The chips taken from a pot, never more than the pot."""
        if self.no_flop_no_drop and not saw_flop:
            return 0.0
        step, cap = Decimal(self.step), self.cap
        taken = pot_chips * Decimal(self.per_cent) / 100
        if step:
            taken = (taken / step).to_integral_value(ROUND_FLOOR) * step
        return float(taken if cap is None else min(taken, Decimal(cap)))


_SMALLEST: Final = 400_000_000_000
_SPAN: Final = 600_000_000_000
_PER_MATCH: Final = 1000


class HandNumbers:
    def __init__(self, match_id: str | None) -> None:
        self._match_id = match_id
        self._base: int | None = None

    def number(self, record: HandRecord) -> int:
        """The number of a hand; the first one asked for identifies the match where nothing else does."""
        if self._base is None:
            self._base = match_base(record, self._match_id)
        return exported_number(self._base, record.hand_number)


def is_next_of_match(record: HandRecord, before: HandRecord | None) -> bool:
    return (
        before is not None
        and record.hand_number > before.hand_number
        and record.names_by_seat == before.names_by_seat
        and record.match_name == before.match_name
        and record.currency == before.currency
        and record.game == before.game
    )


def match_base(record: HandRecord, match_id: str | None) -> int:
    """What the numbers of a match, from its first hand that is written, are counted from; see `exported_number`.

    `match_id` distinguishes the match from others of its name, players and game; None takes the hand.
    """
    game = record.game
    rules = (
        game.betting.value,
        game.stacks,
        game.blinds,
        game.raise_sizes,
        game.max_raises,
    )
    identity = f"{match_id}\n" if match_id is not None else format_state_line(record)
    text = f"{record.match_name}\0{'|'.join(record.names_by_seat)}\0{rules}\0{identity}"
    digest = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest) % (_SPAN // _PER_MATCH) * _PER_MATCH


def exported_number(base: int, number: int) -> int:
    """The number of a hand, twelve digits. `base`: see `match_base`."""
    return _SMALLEST + (base + number) % _SPAN


def is_exported_number(number: int) -> bool:
    """Whether a hand number is in the range of those written here."""
    return _SMALLEST <= number < _SMALLEST + _SPAN


_DEEP_BIG_BLINDS: Final = 10_000


def check_holdem(game: Game, format_name: str) -> None:
    """Do nothing if the game is the hold'em of card rooms.

    Raises:
        UnsupportedGameError: it is not; the sentence names the difference and a format that holds the game.
    """
    difference = card_room_difference(game)
    if difference is not None:
        raise UnsupportedGameError(format_name, f"{format_name} cannot hold a game with {difference}; an ACPC log can")


def usual_blinds(game: Game, format_name: str) -> Blinds:
    """Who posts the blinds in a game of hold'em.

    Raises:
        UnsupportedGameError: it is not hold'em, or has other blinds than a small and a big one in their usual places.
    """
    check_holdem(game, format_name)
    blinds = holdem_blinds(game)
    if blinds is None:
        raise UnsupportedGameError(
            format_name,
            f"{format_name} wants one small and one big blind, and the blinds by position are "
            f"{', '.join(map(str, game.blinds))}; PHH and an ACPC log hold the game",
        )
    return blinds


def shown_stacks(game: Game) -> tuple[int, ...]:
    """The stacks of a game of hold'em as hand histories have them, in chips by position.

    A limit game may give no stacks: they are then deeper than any pot, and as a number (2147483647) deeper than a
    tracker that counts cents in 32 bits can hold. Every format writes 10,000 big blinds for them, or more where the
    game's raises could use that up.
    """
    if not game.is_limit:
        return game.stacks
    raises = sum(most * size for most, size in zip(game.max_raises, game.raise_sizes, strict=True))
    deep = max(_DEEP_BIG_BLINDS, (max(game.blinds) + raises) // game.big_blind + 1) * game.big_blind
    return tuple([deep if stack == DEFAULT_STACK else stack for stack in game.stacks])


_YEAR_2000_US: Final = 946_684_800_000_000


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How hands are written, in every format.

    Attributes:
        hero: a player's name: its cards are dealt face up, the others' are seen at the showdown. None shows what a
            format can show of every player's.
        chip_value: what a chip is worth in money; PokerStars histories want whole cents.
        currency: the code of the money of hands whose file names none, in PokerStars histories USD, EUR or GBP; None is
            play money.
        rake: in chips; None takes nothing. See `logs.formats`.
        seed: of the match's cards, or the fingerprint of their key, where it is known.
        begin_us: when the match began, in microseconds of Unix time; None if unknown. Hands without
            times are taken to follow each other by one second from then on, or from the first second of 2000.
        table: the name of the table; None is the name of the match.
        match_id: distinguishes the match from others with its name, players and game; None takes the first hand that is
            written. See `logs.formats`.
        crlf: whether the lines of a PokerStars history end as on Windows, as genuine ones do.
        site: the name of the site and its network in an Open Hand History.
        default_hero: the hero where none is asked for, in the files of formats that are made for one (`wants_hero`).
        keeps_currency: whether hands keep the currency that their file names; `currency` is for all hands otherwise.
    """

    hero: str | None = None
    chip_value: Decimal | float | str = Decimal(1)
    currency: str | None = "USD"
    rake: RakeFunction | None = None
    seed: int | str | None = None
    begin_us: int | None = None
    table: str | None = None
    match_id: str | None = None
    crlf: bool = True
    site: str = "acpc-arena"
    default_hero: str | None = None
    keeps_currency: bool = True

    def currency_of(self, record: HandRecord) -> str | None:
        """The currency in which a hand is written; None is play money."""
        if not self.keeps_currency or record.currency is None:
            return self.currency
        return None if record.currency == PLAY_MONEY else record.currency

    def hand_time_us(self, record: HandRecord) -> int:
        """When a hand began, in microseconds of Unix time, if known."""
        if record.start_us is not None:
            return record.start_us
        begin_us = _YEAR_2000_US if self.begin_us is None else self.begin_us
        return begin_us + record.hand_number * 1_000_000


DEFAULT_OPTIONS: Final = ExportOptions()


class MatchWriter(NamedTuple):
    """Writes the hands of one match.

    Attributes:
        write: makes the text of a hand, given the number of hands that the file already holds; raises `LogsError`
            for a hand that the format cannot express.
        ahead_s: takes how many seconds after its real time the last hand is dated.
    """

    file_name: str
    write: Callable[[HandRecord, int], str]
    ahead_s: Callable[[], int] = lambda: 0


@dataclass(frozen=True, slots=True)
class HandReader:
    """Reads the hands of a file in its order, one by one.

    Attributes:
        read: the hands of lines with their ends, given what takes its problems and what chips are worth.
        most_characters: what a line has beyond them is dropped.
        chip_value: what a chip is worth in the file's money, unless the caller overrides it.
        find_chip_value: finds it in the lines of a file instead; raises nothing.
    """

    read: Callable[[Iterator[str], ProblemReporter, Scale], Iterator[HandRecord]]
    most_characters: int
    chip_value: Decimal
    find_chip_value: Callable[[Iterator[str]], Decimal] | None = None

    def chip_value_in(self, path: str) -> Decimal:
        """What a chip is worth in the money of a file: as `find_chip_value` finds it, as far as it can be read.

        Raises:
            OSError: the file cannot be read.
        """
        if self.find_chip_value is None:
            return self.chip_value
        try:
            return self.find_chip_value(
                lines_of(opened(path, newline=None), self.most_characters, ProblemReporter(path))
            )
        except LogError:
            return self.chip_value

    def __call__(
        self,
        source: str | os.PathLike[str] | Iterable[str],
        *,
        strict: bool = False,
        on_problem: Callable[[LogProblem], None] | None = None,
        chip_value: Decimal | float | None = None,
    ) -> Iterator[HandRecord]:
        """The hands.

        Args:
            source: the path of a file, or its lines with their ends.
            strict: stop at the first problem, except for a half-written last hand.
            on_problem: called with every problem in order.
            chip_value: what a chip is worth in the file's money: 0.01 reads a file in dollars as one of cents. None is
                `chip_value_in` the file, and the `chip_value` of the reader for lines.

        Raises:
            LogError: there is no hand in the file.
            DamagedLogError: a problem was met while reading strictly.
            OSError: the file cannot be read.
        """
        if not isinstance(source, str | os.PathLike):
            scale = Scale(self.chip_value if chip_value is None else chip_value)
            yield from self.read(iter(source), ProblemReporter("<lines>", strict, on_problem), scale)
            return
        path = os.fspath(source)
        problems = ProblemReporter(path, strict, on_problem)
        scale = Scale(self.chip_value_in(path) if chip_value is None else chip_value)
        yield from self.read(lines_of(opened(path, newline=None), self.most_characters, problems), problems, scale)


@dataclass(frozen=True, slots=True)
class ExportWarning:
    """Something that importers will not like about a game and options.

    Attributes:
        problem: what it is, as a sentence without its stop.
        better: the nearest stakes that they take, as SMALL/BIG, where stakes are the problem and there are any.
        lacks_begin: whether the problem is that the beginning of the match is unknown.
    """

    problem: str
    better: str | None = None
    lacks_begin: bool = False


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format.

    Attributes:
        check: raises `UnsupportedGameError` for a game that the format does not have.
        start: begins to write a match with its first hand.
        endings: what the names of its files end in, the last that of files written here; of a format that is read, in
            lower case.
        first_words: what its files begin with, for formats whose file names are ambiguous.
        read: None for a format that is only written.
        wants_hero: whether its programs look at hands from one player's side, as trackers do.
    """

    name: str
    label: str
    check: Callable[[Game], object]
    start: Callable[[HandRecord, ExportOptions], MatchWriter]
    warning: Callable[[Game, ExportOptions], ExportWarning | None] = lambda game, options: None
    endings: tuple[str, ...] = ()
    first_words: tuple[str, ...] = ()
    read: HandReader | None = None
    wants_hero: bool = False


def file_stem(match_name: str) -> str:
    """A match's name as a file name on any system: ASCII, no separators."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._- ") else "_" for char in match_name)
    return kept.strip(" .") or "match"


_TOLERANCE_CHIPS: Final = 1e-3


def street_actions(betting: BettingState) -> list[Step]:
    """The steps of a hand, in order.

    Raises:
        LogsError: a short stack's raise lowered the bet, which only limit games of the ACPC allow.
    """
    steps = betting_steps(betting)
    for step in steps if betting.game.is_limit else ():
        if step.action.kind == ActionKind.RAISE and step.raised_by <= 0:
            before = step.before
            raise LogsError(
                f"position {step.position} raises to {before.spent[step.position] + step.added} where "
                f"{before.max_spent} is bet already, as a short stack of a limit game may: only an ACPC log can "
                "express that"
            )
    return steps


def hand_ranks(record: HandRecord) -> list[int | None]:
    """The rank of each hand at the end, higher is better; None for players who folded.

    Where hole cards are not known, the values show who won; that is enough as long as all play for the same pot.

    Raises:
        LogsError: hole cards are missing that side pots were decided by.
    """
    betting, holes = record.betting, record.deal.hole_cards
    in_pot = betting.in_pot
    ranks: list[int | None] = [None] * len(holes)
    if len(in_pot) > 1 and not all(holes[position] for position in in_pot):
        if len({betting.spent[position] for position in in_pot}) > 1:
            raise LogsError(f"hand {record.hand_number}: hole cards are missing that decided its side pots")
        best = max(record.values[position] for position in in_pot)
        for position in in_pot:
            ranks[position] = int(record.values[position] == best)
        return ranks
    board = record.deal.board[: betting.game.board_cards_by_round[betting.round]]
    for position in in_pot:
        ranks[position] = rank_hand(holes[position] + board) if len(in_pot) > 1 else 0
    return ranks


def paid_values(betting: BettingState, pots: Sequence[Pot], winners: Sequence[Sequence[Position]]) -> tuple[float, ...]:
    """The net chips of each position, given who shares each pot."""
    won = [float(-chips) for chips in betting.spent]
    returned_to, returned = uncalled(betting.spent)
    won[returned_to] += returned
    for pot, sharing in zip(pots, winners, strict=True):
        for position in sharing:
            won[position] += pot.amount / len(sharing)
    return tuple(won)


def check_values(record: HandRecord, pots: Sequence[Pot], winners: Sequence[Sequence[Position]]) -> None:
    """Do nothing if the values of a hand are what its pots pay to their winners.

    Raises:
        LogsError: they are not: its cards or its values are those of another hand.
    """
    won = paid_values(record.betting, pots, winners)
    if won != record.values and any(
        abs(one - other) > _TOLERANCE_CHIPS for one, other in zip(won, record.values, strict=True)
    ):
        raise LogsError(f"hand {record.hand_number}: its values are not those of its cards and its betting")


def rake_units(rake: RakeFunction | None, record: HandRecord, pots: Sequence[Pot], scale: Scale) -> int:
    """The rake of a hand in units.

    Raises:
        LogsError: it is not between 0 and the pot.
    """
    total = sum(pot.amount for pot in pots)
    units = 0 if rake is None else scale.rounded_units(rake(total, record.betting.round > 0))
    if not 0 <= units <= scale.units(total):
        raise LogsError(
            f"hand {record.hand_number}: a rake of {scale.number(units)} from a pot of {scale.amount(total)}"
        )
    return units


def showdown_order(record: HandRecord, actions: Sequence[Step]) -> list[Position]:
    """Who shows, in order; empty if all but one folded.

    The last to bet or raise in the last round that had actions begins; if no player did, who acted first there.
    """
    last = [action for action in actions if action.round == actions[-1].round]
    return order_of_showing(record.betting, first_to_show(last) if last else Position(0))


def first_to_show(actions: Sequence[Step]) -> Position:
    """Who shows first, given the actions of the last round that had any: the last to raise, or who acted first."""
    for action in reversed(actions):
        if action.move >= Move.BET:
            return action.position
    return actions[0].position


def order_of_showing(betting: BettingState, first: Position) -> list[Position]:
    """Who shows, in order from a position on; empty if all but one folded."""
    if not betting.is_showdown:
        return []
    in_pot = betting.in_pot
    return [p for p in in_pot if p >= first] + [p for p in in_pot if p < first]
