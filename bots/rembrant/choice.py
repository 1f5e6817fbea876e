"""Which of the two moves of a slash cell: ``call/re-raise``, ``check/raise``, ``call/fold``.

The work says what the slashes are for, not what decides: play passively when the hand is hard to beat, aggressively
when it is good but vulnerable, probe on the flop with weak hands, and pay nothing when one card makes a straight. There
are two readings of that; each gives the probability of the more aggressive move.

deterministic, by the first rule that applies:

1. a weak hand that nobody has bet against (``check/raise``): bet on the flop, to learn what the opponent has; check
   later;
2. four cards to a straight on the board and a hand that does not beat a straight: the more passive move;
3. a cell with a fold: stay in, unless there are four cards to a flush on the board and the bot has no flush;
4. any other cell: the more aggressive move on a board that invites draws, the more passive one otherwise.

probabilistic, by the board alone. A cell with a fold has the probabilities reversed, because one can stay in on a quiet
board: `chance_danger` on a dry board, `chance_dry` where rule 2 or 3 would fold, `chance` otherwise. Any other
cell: `chance_danger` on a board that invites draws, `chance_dry` on a dry one or where rule 2 applies, `chance`
otherwise.

The work names three kinds of board. Two cards of a suit, or three ranks in a row, make the bot aggressive: a drawing
opponent has to pay. Four cards to a straight make it stop paying. `Danger` counts what decides which board it is; the
rest (three or more of a suit, three ranks within a straight) separates quiet boards from dry ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from bots.rembrant.cells import Cell, Move
from bots.rembrant.kinds import BEATS_STRAIGHTS, WEAK, Kind
from engine import Card
from engine.cards import rank_of, suit_of

__all__ = ["Danger", "Style", "chance_of_aggression", "read_danger"]


def chance_of_aggression(cell: Cell, kind: Kind, danger: Danger, style: Style) -> float:
    """The probability of the more aggressive move of a cell with a slash after the flop."""
    is_beatable = kind not in BEATS_STRAIGHTS
    straight_threat = is_beatable and danger.is_four_to_straight
    flush_threat = is_beatable and danger.is_four_to_flush
    invites_draws = danger.invites_draws(on_river=style.river_danger)
    can_fold = cell.passive is Move.FOLD

    if style.reading == DETERMINISTIC:
        if kind in WEAK and cell.passive is Move.CHECK:
            return float(danger.cards == 3)
        if straight_threat:
            return 0.0
        return float(not flush_threat if can_fold else invites_draws)

    if straight_threat or (can_fold and flush_threat):
        return style.chance_dry
    is_dry = danger.is_dry and not invites_draws
    if can_fold:
        return style.chance_danger if is_dry else style.chance
    if invites_draws:
        return style.chance_danger
    return style.chance_dry if is_dry else style.chance


_Value = TypeVar("_Value")
DETERMINISTIC: Final = "deterministic"
PROBABILISTIC: Final = "probabilistic"
_CHANCES: Final = ("chance", "chance_danger", "chance_dry")
_SIZES: Final = ("open_bb", "reraise_times", "bet_pot", "bet_pot_danger", "raise_times")
_LARGEST_SIZE: Final = 1e6
"""Any larger size is all-in in every game."""


def _option(default: _Value, decides: str) -> _Value:
    """A field whose metadata say what it decides."""
    chosen: _Value = field(default=default, metadata={"decides": decides})
    return chosen


@dataclass(frozen=True, slots=True)
class Style:
    """How to play where the work is silent; the metadata of each field say what it decides.

    Raises:
        ValueError: a value is out of range; the sentence names it.
    """

    reading: str = _option(
        DETERMINISTIC,
        "how the board chooses between the two moves of a cell with a slash: deterministic, by fixed rules; "
        "probabilistic, by the three chances",
    )
    chance: float = _option(
        0.5,
        "0 to 1, probabilistic reading: the probability of the more aggressive move on a board that is neither dry nor "
        "invites draws",
    )
    chance_danger: float = _option(0.8, "like chance, on a board that invites draws")
    chance_dry: float = _option(0.2, "like chance, on a dry board, and where one card makes a straight")
    river_danger: bool = _option(
        False, "whether two cards of a suit count as danger on the river, where no draw is left"
    )
    four_straight: str = _option(
        "fold",
        "what four cards to a straight on the board mean for a hand below a straight: fold, no bet is paid, in the "
        "work's own words; slash, they decide only the cells with a slash",
    )
    complete: int = _option(
        8, "7, 8 or 9: the last group with which a bot that has posted a blind calls where the table says check"
    )
    open_bb: float = _option(4.0, "the first raise before the flop, in big blinds; the work says 3 to 5")
    reraise_times: float = _option(
        3.5, "a re-raise before the flop, as a multiple of the opponent's raise; the work says 3 to 4"
    )
    bet_pot: float = _option(0.667, "a bet after the flop, as a fraction of the pot")
    bet_pot_danger: float = _option(1.0, "like bet_pot, on a board that invites draws")
    raise_times: float = _option(3.5, "a re-raise after the flop, as a multiple of the opponent's bet or raise")

    def __post_init__(self) -> None:
        _require("reading", self.reading, (DETERMINISTIC, PROBABILISTIC))
        _require("four_straight", self.four_straight, ("slash", "fold"))
        _require("complete", self.complete, (7, 8, 9))
        for name in _CHANCES:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be a probability from 0 to 1, not {getattr(self, name)}")
        for name in _SIZES:
            if not 0 < getattr(self, name) <= _LARGEST_SIZE:
                raise ValueError(f"{name} must be above 0 and at most {_LARGEST_SIZE:g}, not {getattr(self, name)}")


def _require(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        *others, last = map(str, allowed)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, not {value}")


_RIVER_CARDS: Final = 5


class Danger(NamedTuple):
    """The threats of three to five board cards.

    Attributes:
        cards: how many cards the board has.
        suited: the largest number of cards in one suit.
        run: the longest run of consecutive ranks; the ace is above the king and below the deuce.
        within_straight: the largest number of ranks that fit into one straight.
    """

    cards: int
    suited: int
    run: int
    within_straight: int

    @property
    def is_flush_possible(self) -> bool:
        """Whether two hole cards can make a flush with the board."""
        return self.suited >= 3

    @property
    def is_straight_possible(self) -> bool:
        """Whether two hole cards can make a straight with the board."""
        return self.within_straight >= 3

    @property
    def is_four_to_flush(self) -> bool:
        """Whether one hole card makes a flush with the board."""
        return self.suited >= 4

    @property
    def is_four_to_straight(self) -> bool:
        """Whether one hole card makes a straight with the board, or the board is one."""
        return self.within_straight >= 4

    def invites_draws(self, *, on_river: bool = False) -> bool:
        """Whether the work plays aggressively on this board: two cards of a suit or three ranks in a row.

        Args:
            on_river: count two of a suit on the river too, where every board has them and no card is to come.
        """
        return self.run >= 3 or (self.suited >= 2 and (on_river or self.cards < _RIVER_CARDS))

    @property
    def is_dry(self) -> bool:
        """Whether nobody has a flush or a straight and nobody draws to a flush."""
        return not (self.invites_draws() or self.is_flush_possible or self.is_straight_possible)

    def describe(self) -> str:
        """The threats in words."""
        words = [word for word, is_so in zip(_WORDS, self._facts(), strict=True) if is_so]
        return ", ".join(words) if words else "dry"

    def _facts(self) -> tuple[bool, ...]:
        return (
            self.is_four_to_flush,
            self.suited == 3,
            self.suited == 2 and self.cards < _RIVER_CARDS,
            self.is_four_to_straight,
            self.run >= 3,
            self.within_straight == 3 and self.run < 3,
        )


_WORDS: Final = (
    "four to a flush",
    "three of a suit",
    "two of a suit",
    "four to a straight",
    "three in a row",
    "straight possible",
)
_STRAIGHTS: Final = tuple([0b11111 << low for low in range(10)])
"""Each straight as bits: bit 0 is the ace below the deuce, bit 13 the ace above the king."""


def read_danger(board: tuple[Card, ...]) -> Danger:
    """The threats of a board of three to five cards."""
    suits = [suit_of(card) for card in board]
    bits = 0
    for card in board:
        bits |= 2 << rank_of(card)
    bits |= bits >> 13
    row, run = bits, 0
    while row:
        row &= row >> 1
        run += 1
    return Danger(
        len(board),
        max([suits.count(suit) for suit in range(4)]),
        run,
        max([(bits & straight).bit_count() for straight in _STRAIGHTS]),
    )
