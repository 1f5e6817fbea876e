"""Kuhn poker, and the same with three sizes of bets, with one raise, and with both.

Two players have one chip each in the pot and one of three cards J < Q < K. Each decision is a question with the answers
no and yes, which has a row:

    B     bet? (no is a check)                               NF    stay in against a bet?
    B>1   bet more than 1?                                   R     raise the bet by its own size?
    B10   bet 10? (no is 2)                                  C     call a bet, or a raise of one's own bet?

In games with several sizes, rows about a bet end with its size, as in ``C10``. The genes of a strategy are the
probabilities of yes by row and card. Both seats have the same rows, and a seat reaches each row at most once in a hand.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from bots.errors import BotFileError, EvolutionError
from engine.errors import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from bots.solving.sequence_form import Node, PublicGame, SequenceForm

CARDS: Final = ("J", "Q", "K")
Genes: TypeAlias = tuple[float, ...]
"""Probabilities of yes by row and card, row by row."""
_Answers: TypeAlias = tuple[tuple[int, bool], ...]
"""Rows of a player's decisions in order, each with its answer, True for yes."""
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
        """Bets are 1, 2 or 10, otherwise always 1."""
        return self in (Variant.BREADTH, Variant.BOTH)

    @property
    def has_raise(self) -> bool:
        """A bet can be raised once, by its own size."""
        return self in (Variant.DEPTH, Variant.BOTH)


class BettingLine(NamedTuple):
    """Complete betting of a hand.

    Attributes:
        name: betting as in a match state, such as ``cr10rf``; a bet has its size if there are several sizes.
        answers: answers of each seat.
        chips: winnings of player 0, or in a showdown of the player with the higher card.
    """

    name: str
    answers: tuple[_Answers, _Answers]
    chips: int
    is_showdown: bool


@dataclass(frozen=True, slots=True)
class KuhnGame:
    """One of the four games.

    Attributes:
        tens_as_twos: the second player answers a bet of 10 by the row C2, like a bet of 2. The thesis does not state
            this, but its results for the game with sizes and without a raise require it.

    Raises:
        EvolutionError: `tens_as_twos` is set in another game.
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
        """Names of the rows."""
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
        """Questions of the rows in words."""
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
        """Names of the genes by row and card, such as ``B J``."""
        return tuple([f"{row} {card}" for row, card in itertools.product(self.rows, CARDS)])

    def require_genes(self, genes: Sequence[float]) -> Genes:
        """Return the genes as floats.

        Raises:
            EvolutionError: the number of genes is wrong, or a gene is not a probability.
        """
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
        """Return all bettings of a hand, in the order of the tree's leaves."""
        from bots.solving.sequence_form import ChanceNode, DecisionNode, Leaf

        lines: list[BettingLine] = []
        rows = self.rows

        def walk(node: Node, answers: tuple[_Answers, _Answers]) -> None:
            match node:
                case Leaf(name, matrix, chips):
                    lines.append(BettingLine(name, answers, int(chips), matrix == _WON))
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
        return tuple(lines)

    def tree(self) -> Node:
        """Return the betting tree, whose decision nodes have the names of their rows."""
        from bots.solving.sequence_form import DecisionNode, Leaf

        def question(row: str, player: int, no: Node, yes: Node) -> DecisionNode:
            return DecisionNode(row, player, _ANSWERS, (no, yes))

        def folded(name: str, player: int, chips: int) -> Leaf:
            # Leaf payoffs are those of player 0.
            if player == 0:
                chips = -chips
            return Leaf(name, _DEALT, chips)

        def showdown(name: str, chips: int) -> Leaf:
            return Leaf(name, _WON, chips)

        def bet(player: int, before: str, check: Node) -> Node:
            if not self.variant.has_sizes:
                return question("B", player, check, answered(1 - player, before + "r", 1, ""))
            bets = [answered(1 - player, f"{before}r{size}", size, str(size)) for size in _SIZES]
            larger = question("B>1", player, bets[0], question("B10", player, bets[1], bets[2]))
            return question("B", player, check, larger)

        def answered(player: int, before: str, size: int, about: str) -> Node:
            """Return the node of a player who faces a bet; `about` is the end of the row names."""
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
        winner = np.sign(cards[:, None] - cards)
        chance = 1 / (len(CARDS) * (len(CARDS) - 1))
        # By the cards of both players: the chance of a deal, 0 on the diagonal, and the same with the winner's sign.
        matrices = np.stack([abs(winner) * chance, winner * chance])
        return PublicGame(self.tree(), (CARDS, CARDS), matrices)


@cache
def sequence_form_of(game: KuhnGame) -> SequenceForm:
    from bots.solving.sequence_form import sequence_form

    return sequence_form(game.public_game())


# The players that the thesis plays against. It has Folder and Caller in the classic game only; in the larger games they
# are ours. There Caller bets the maximum and never raises.
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
    """Return the strategies of all models by name."""
    rows = KuhnGame(variant).rows
    strategies = {}
    for name in MODEL_NAMES:
        genes: list[float] = []
        for row in rows:
            genes += _row(name, row, variant)
        strategies[name] = tuple(genes)
    return MappingProxyType(strategies)


def model(name: str, variant: Variant) -> Genes:
    """Return the strategy of a model.

    Raises:
        EvolutionError: there is no model of this name.
    """
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
"""Opponent of the thesis's counter-strategies in the game with sizes and a raise, as they suggest it. No best response
to the printed Bluffer resembles them."""
MAX_BLUFF: Final = 1 / 3
"""Maximum probability in an equilibrium with which the first player bets its worst card."""
_SECOND_PLAYER: Final[Genes] = (1 / 3, 0.0, 1.0, 0.0, 1 / 3, 1.0)


def kuhn_equilibrium(bluff: float) -> tuple[Genes, Genes]:
    """Return the strategies of both players in an equilibrium of the classic game.

    They are those of Kuhn (1950), "A simplified two-person poker". The first player bets its worst card with
    probability `bluff` and its best card three times as often, and calls with the middle one with `bluff` + 1/3. The
    second player has a single strategy.
    """
    if not 0 <= bluff <= MAX_BLUFF:
        raise ValueError(f"bluff must be 0 to 1/3, not {quoted(f'{bluff:g}')}: no equilibrium bluffs that often")
    first_player = (bluff, 0.0, min(1.0, 3 * bluff), 0.0, min(1.0, bluff + 1 / 3), 1.0)
    return first_player, _SECOND_PLAYER


_MAX_CHARACTERS: Final = 100_000


def read_genes(path: Path, game: KuhnGame | None = None) -> Genes:
    """Read a strategy from a file.

    Args:
        game: by default the game with as many genes and without `tens_as_twos`.

    Raises:
        BotFileError: the file is unreadable or has no strategy for the game.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MAX_CHARACTERS)
    except UnicodeDecodeError as error:
        raise BotFileError(str(path), "it is not a text") from error
    except OSError as error:
        raise BotFileError(str(path), f"it cannot be read: {error.strerror or error}") from error
    genes = []
    for number, line in enumerate(text.splitlines(), 1):
        numbers, _, _ = line.partition("#")
        for word in numbers.replace(",", " ").split():
            try:
                genes.append(float(word))
            except ValueError:
                raise BotFileError(
                    str(path), f"line {number}: {quoted(word)} is not a number; a gene is a probability, 0 to 1"
                ) from None
    try:
        return (game or game_of_genes(genes)).require_genes(genes)
    except EvolutionError as error:
        raise BotFileError(str(path), str(error)) from error


def game_of_genes(genes: Sequence[float]) -> KuhnGame:
    """Return the game whose strategies have as many genes.

    Raises:
        EvolutionError: no game has as many genes.
    """
    sizes = {len(KuhnGame(variant).gene_names): variant for variant in Variant}
    if len(genes) not in sizes:
        numbers = ", ".join(f"{size} ({variant.value})" for size, variant in sizes.items())
        raise EvolutionError(f"a strategy has one of these numbers of genes: {numbers}; not {len(genes)}")
    return KuhnGame(sizes[len(genes)])


def format_genes(genes: Genes, game: KuhnGame) -> str:
    """Format a strategy as the text of a file for `read_genes`."""
    cards = len(CARDS)
    heading = "  ".join(CARDS)
    lines = [f"# {heading}"]
    for index, row in enumerate(game.rows):
        row_genes = genes[cards * index : cards * (index + 1)]
        numbers = " ".join([f"{gene:.6g}" for gene in row_genes])
        lines.append(f"{numbers}  # {row}")
    return "\n".join(lines) + "\n"
