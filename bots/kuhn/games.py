"""Kuhn poker, and the same with three sizes of bets, with one raise, and with both.

Two players, three cards J < Q < K, one chip each in the pot. Every decision is a question with the answers no and yes:

    B     whether to bet; no is a check                      NF    whether not to fold to a bet
    B>1   whether the bet is more than 1                     R     whether to raise it by as much again
    B10   whether it is 10; no is 2                          C     whether to call: a bet, or a raise of one's own bet

The game has a row for each question, and one more for each further size of the bet that it is about (``C1``, ``C2``,
``C10``). A strategy answers each row with the probability of yes for each card: these are its genes, row by row. Both
seats have the same rows, and each comes to every row at one point of its game at most.

Models, the players that the thesis plays against. Shy checks and calls with a king; Safe bets its king as well;
Rational plays a queen as often one way as the other; Bluffer bets and raises with weak cards, too. Folder and Caller
are extremes that the thesis has in the classic game only: Folder never puts in a chip. Caller bets and calls whatever
it holds; in the larger games, where they are ours, it bets the most and never raises.

Equilibria of the classic game are those of Kuhn (1950), "A simplified two-person poker".
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from bots.errors import EvolutionError
from engine.errors import quoted

if TYPE_CHECKING:
    from bots.solving.sequence_form import Node, PublicGame, SequenceForm

CARDS: Final = ("J", "Q", "K")
Genes: TypeAlias = tuple[float, ...]
"""A strategy: the probability of yes by row and card, row by row."""
_Answers: TypeAlias = tuple[tuple[int, bool], ...]
_DEALT = 0
_WON = 1
_SIZES: Final = (1, 2, 10)
_ANSWERS: Final = ("no", "yes")


class Variant(enum.Enum):
    CLASSIC = "classic"
    BREADTH = "breadth"
    DEPTH = "depth"
    BOTH = "both"

    @property
    def has_sizes(self) -> bool:
        """Bets are 1, 2 or 10; they are 1 otherwise."""
        return self in (Variant.BREADTH, Variant.BOTH)

    @property
    def has_raise(self) -> bool:
        """A bet can be raised once, by its own size."""
        return self in (Variant.DEPTH, Variant.BOTH)


class BettingLine(NamedTuple):
    """One way through the betting.

    Attributes:
        name: the betting as in a match state, such as ``cr10rf``; a size follows a bet where there are several.
        answers: what each seat answered on the way, as rows and whether yes, in its order.
        chips: what player 0 wins, or with a showdown what the better card wins.
    """

    name: str
    answers: tuple[_Answers, _Answers]
    chips: int
    is_showdown: bool


@dataclass(frozen=True, slots=True)
class KuhnGame:
    """One of the four games.

    Attributes:
        tens_as_twos: with sizes and without a raise, the second player answers a bet of 10, like a bet of 2, by the
            row C2. There is no such rule, but the printed results of that game require it.

    Raises:
        EvolutionError: `tens_as_twos` in another game.
    """

    variant: Variant = Variant.CLASSIC
    tens_as_twos: bool = False

    def __post_init__(self) -> None:
        if self.tens_as_twos and self.variant is not Variant.BREADTH:
            raise EvolutionError(
                f"a bet of 10 is answered as one of 2 in the game {Variant.BREADTH.value} only, "
                f"not in {self.variant.value}"
            )

    @property
    def rows(self) -> tuple[str, ...]:
        """The questions by number."""
        rows = ["B"]
        sizes = [""]
        if self.variant.has_sizes:
            rows += ["B>1", "B10"]
            sizes = [str(size) for size in _SIZES]
        answers = ["C"]
        if self.variant.has_raise:
            answers = ["NF", "R", "C"]
        for answer in answers:
            for size in sizes:
                rows.append(answer + size)
        return tuple(rows)

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions in words, by number."""
        return tuple(self._question(row) for row in self.rows)

    def _question(self, row: str) -> str:
        if row.startswith("B"):
            return {"B": "bet?", "B>1": "bet more than 1?", "B10": "bet 10, not 2?"}[row]
        kind = row.rstrip("0123456789")
        bet = "a bet"
        if self.variant.has_sizes:
            bet = f"a bet of {row.removeprefix(kind)}"
        if kind == "NF":
            return f"stay in against {bet}?"
        if kind == "R":
            return f"and raise {bet}?"
        if self.variant.has_raise:
            return f"call a raise of {bet}?"
        return f"call {bet}?"

    @property
    def gene_names(self) -> tuple[str, ...]:
        """Row and card of each gene, such as ``B J``."""
        return tuple([f"{row} {card}" for row, card in itertools.product(self.rows, CARDS)])

    def require_genes(self, genes: Sequence[float]) -> Genes:
        """Return the genes; raise an `EvolutionError` for a wrong number, or for one that is not a probability."""
        names = self.gene_names
        if len(genes) != len(names):
            raise EvolutionError(
                f"a strategy for the game {self.variant.value} has {len(names)} genes, "
                f"{len(self.rows)} rows of {len(CARDS)}, not {len(genes)}"
            )
        for name, gene in zip(names, genes, strict=True):
            if not 0 <= gene <= 1:
                raise EvolutionError(f"the gene {name} is {gene:g}: a gene is a probability, 0 to 1")
        return tuple(map(float, genes))

    def lines(self) -> tuple[BettingLine, ...]:
        from bots.solving.sequence_form import ChanceNode, DecisionNode, Leaf

        found: list[BettingLine] = []
        rows = self.rows

        def walk(node: Node, answers: tuple[_Answers, _Answers]) -> None:
            match node:
                case Leaf(name, matrix, chips):
                    found.append(BettingLine(name, answers, int(chips), matrix == _WON))
                case DecisionNode(name, player, _, children):
                    for answer, child in enumerate(children):
                        answer_path = (*answers[player], (rows.index(name), bool(answer)))
                        if player == 0:
                            walk(child, (answer_path, answers[1]))
                        else:
                            walk(child, (answers[0], answer_path))
                case ChanceNode():
                    raise AssertionError("no cards are dealt after the first")

        walk(self.tree(), ((), ()))
        return tuple(found)

    def tree(self) -> Node:
        from bots.solving.sequence_form import DecisionNode, Leaf

        def question(row: str, player: int, no: Node, yes: Node) -> DecisionNode:
            return DecisionNode(row, player, _ANSWERS, (no, yes))

        def folded(name: str, player: int, chips: int) -> Leaf:
            return Leaf(name, _DEALT, chips if player else -chips)

        def showdown(name: str, chips: int) -> Leaf:
            return Leaf(name, _WON, chips)

        def bet(player: int, before: str, check: Node) -> Node:
            if not self.variant.has_sizes:
                return question("B", player, check, answered(1 - player, before + "r", 1, ""))
            bets = [answered(1 - player, f"{before}r{size}", size, str(size)) for size in _SIZES]
            larger = question("B>1", player, bets[0], question("B10", player, bets[1], bets[2]))
            return question("B", player, check, larger)

        def answered(player: int, before: str, size: int, about: str) -> Node:
            """A player that may answer a bet; `about` ends the names of its rows."""
            if self.tens_as_twos and player == 1 and size == 10:
                about = "2"
            fold = folded(before + "f", player, 1)
            call = showdown(before + "c", 1 + size)
            if not self.variant.has_raise:
                return question("C" + about, player, fold, call)
            give_up = folded(before + "rf", 1 - player, 1 + size)
            raised = question("C" + about, 1 - player, give_up, showdown(before + "rc", 1 + 2 * size))
            return question("NF" + about, player, fold, question("R" + about, player, call, raised))

        return bet(0, "", bet(1, "c", showdown("cc", 1)))

    def public_game(self) -> PublicGame:
        import numpy as np

        from bots.solving.sequence_form import PublicGame

        cards = np.arange(len(CARDS))
        ahead = np.sign(cards[:, None] - cards)
        chance = 1 / (len(CARDS) * (len(CARDS) - 1))
        return PublicGame(self.tree(), (CARDS, CARDS), np.stack([abs(ahead) * chance, ahead * chance]))


@cache
def sequence_form_of(game: KuhnGame) -> SequenceForm:
    from bots.solving.sequence_form import sequence_form

    return sequence_form(game.public_game())


MODEL_NAMES: Final = ("shy", "safe", "rational", "bluffer", "folder", "caller")
_KING: Final = (0.0, 0.0, 1.0)
_NEVER: Final = (0.0, 0.0, 0.0)
_ALWAYS: Final = (1.0, 1.0, 1.0)
_HALF_OF_QUEENS: Final = (0.0, 0.5, 1.0)
_QUEEN_AND_KING: Final = (0.0, 1.0, 1.0)
_BLUFFER: Final[Mapping[Variant, Mapping[str, Genes]]] = {
    Variant.CLASSIC: {"B": (0.5, 0.7, 1.0), "C": (0.0, 0.7, 1.0)},
    Variant.BREADTH: {
        "B": _ALWAYS,
        "B>1": (0.5, 1.0, 1.0),
        "B10": (0.3, 0.5, 1.0),
        "C1": _QUEEN_AND_KING,
        "C2": _HALF_OF_QUEENS,
        "C10": _KING,
    },
    Variant.DEPTH: {"B": (0.5, 0.7, 1.0), "NF": (0.5, 0.7, 1.0), "R": (1.0, 0.5, 1.0), "C": (0.0, 0.7, 1.0)},
    Variant.BOTH: {
        "B": _ALWAYS,
        "B>1": (0.5, 1.0, 1.0),
        "B10": (0.5, 0.5, 1.0),
        "NF1": (0.5, 1.0, 1.0),
        "NF2": (0.5, 0.7, 1.0),
        "NF10": (0.5, 0.5, 1.0),
        "R1": _ALWAYS,
        "R2": (1.0, 0.7, 1.0),
        "R10": (1.0, 0.5, 1.0),
        "C1": _QUEEN_AND_KING,
        "C2": _HALF_OF_QUEENS,
        "C10": _KING,
    },
}


def _rational(row: str, variant: Variant) -> Genes:
    if not variant.has_sizes or row in ("B>1", "NF2", "R2", "C2"):
        return _HALF_OF_QUEENS
    if row.endswith("10"):
        return _KING
    return _QUEEN_AND_KING


def _row(name: str, row: str, variant: Variant) -> Genes:
    is_raise = row.startswith("R")
    is_bet = row.startswith("B")
    match name:
        case "shy" if is_bet or is_raise:
            return _NEVER
        case "shy" | "safe":
            return _KING
        case "rational":
            return _rational(row, variant)
        case "bluffer":
            return _BLUFFER[variant][row]
        case "caller" if not is_raise:
            return _ALWAYS
    return _NEVER


@cache
def models(variant: Variant) -> Mapping[str, Genes]:
    rows = KuhnGame(variant).rows
    strategies = {}
    for name in MODEL_NAMES:
        genes: list[float] = []
        for row in rows:
            genes += _row(name, row, variant)
        strategies[name] = tuple(genes)
    return MappingProxyType(strategies)


def model(name: str, variant: Variant) -> Genes:
    """Return one of the models, or raise an `EvolutionError` that names them."""
    if name not in MODEL_NAMES:
        raise EvolutionError(f"there is no model {quoted(name)}; there are: {', '.join(MODEL_NAMES)}")
    return models(variant)[name]


def _conjectured_bluffer() -> Genes:
    genes: list[float] = []
    for row in KuhnGame(Variant.BOTH).rows:
        if row == "NF10":
            genes += (0.5, 0.5, 1.0)
        elif row == "R10":
            genes += _HALF_OF_QUEENS
        else:
            genes += _KING
    return tuple(genes)


CONJECTURED_BLUFFER: Final = _conjectured_bluffer()
"""Opponent against which the thesis's counter-strategies in the game with sizes and a raise seem to have evolved: no
answer to the printed Bluffer looks like them."""
_VALUE: Final = -1 / 18
"""Mean winnings of the first player, in chips."""
MOST_BLUFFS: Final = 1 / 3
"""Highest probability with which the first player bets its worst card."""
_SECOND: Final[Genes] = (1 / 3, 0.0, 1.0, 0.0, 1 / 3, 1.0)


def kuhn_equilibrium(bluff: float) -> tuple[Genes, Genes]:
    """The strategies of both players.

    The first player bets its worst card with the chance `bluff`, the best three times as often, and calls with the
    middle one more often by 1/3. The second player has one strategy.
    """
    if not 0 <= bluff <= MOST_BLUFFS:
        raise ValueError(f"bluff must be 0 to 1/3, not {quoted(f'{bluff:g}')}: no equilibrium bluffs that often")
    return (bluff, 0.0, min(1.0, 3 * bluff), 0.0, min(1.0, bluff + 1 / 3), 1.0), _SECOND
