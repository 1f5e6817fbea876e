"""``arena equity``: compute the chances of each player at a showdown of hold'em."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.shell.progress import showing_progress
from engine import CARD_TEXTS, STARTING_HANDS, Card, CardError, parse_cards
from engine.cards import RANKS, holdings_of
from engine.equity import ANY_HOLDING, DEFAULT_SHOWDOWNS, MAX_PLAYERS, Chances, Holding, chances
from engine.errors import quoted
from engine.text import count_of
from logs.document import TEXT, Column, Document, Fact, Section, Table
from logs.estimation import Estimate
from logs.estimation.mean import Z_95

_UNKNOWN = ("random", "??")
_CLASS = re.compile(f"([{RANKS}])([{RANKS}])([so]?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerChances:
    """Chances of a player, for JSON.

    Attributes:
        holding: cards, a class of starting hands, or ``random``.
        holdings: number of pairs of cards that it covers.
        win: probability of the best hand, 0 to 1.
        tie: probability of sharing the best hand with others, 0 to 1.
        equity: mean share of the pot, 0 to 1.
        half_width_95: half the 95 % interval of the equity; None if all showdowns are enumerated.
        standard_error: standard error of the equity; None if all showdowns are enumerated.
    """

    holding: str
    holdings: int
    win: float
    tie: float
    equity: float
    half_width_95: float | None
    standard_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EquityData:
    """Result of ``arena equity --json``.

    Attributes:
        is_exact: whether all possible showdowns are enumerated, or a sample is drawn.
        seed: seed of the sample; None for an enumeration.
    """

    schema_version: int = 1
    board: tuple[str, ...]
    showdowns: int
    is_exact: bool
    seed: int | None
    players: tuple[PlayerChances, ...]


def equity(
    terminal: Terminal,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="CARDS...",
            help="Cards of each player: two cards (AhKd), a class (QQ, AKs, AKo, AK) or random. Three to five cards "
            "are the board.",
        ),
    ],
    board: Annotated[str, "The board, up to five cards.", Wording("CARDS")] = "",
    dead: Annotated[str, "Cards out of play, such as folded ones.", Wording("CARDS")] = "",
    players: Annotated[
        int | None,
        "Number of players, 2 to 10; players without cards hold random ones.",
        Wording("N", otherwise="one for each CARDS, at least 2"),
    ] = None,
    trials: Annotated[
        int | None,
        "Draw this number of showdowns instead of counting all; by default "
        f"{DEFAULT_SHOWDOWNS:,} are drawn if counting takes too long.",
        Wording("N"),
    ] = None,
    seed: Annotated[int, "Seed of the draws.", Interval(0)] = 0,
    *,
    output: DocumentOptions,
) -> None:
    """Compute each player's chances and pot share at a hold'em showdown.

    All showdowns are counted if that takes seconds. Otherwise showdowns are drawn, and each share has an interval.
    """
    hands, board_cards = _parse_arguments(words, _cards(board, "--board"), players)
    holdings = [hand_holdings for _, hand_holdings in hands]
    activity = "counting" if trials is None else "drawing"
    with showing_progress(terminal, activity) as progress:
        result = chances(
            holdings, board_cards, dead=_cards(dead, "--dead"), trials=trials, seed=seed, progress=progress
        )
    output.show(terminal, _equity_document(hands, board_cards, result, seed))


_Hand = tuple[str, Sequence[Holding]]
"""Name of a player's cards, and the holdings that it covers."""


def _parse_arguments(
    words: Sequence[str], board: Sequence[Card], players: int | None
) -> tuple[list[_Hand], Sequence[Card]]:
    """Parse the cards of the players, add players with random cards, and find the board."""
    hands: list[_Hand] = []
    for word in words:
        if word.lower() in _UNKNOWN:
            hands.append(("random", ANY_HOLDING))
        elif (name := _CLASS.fullmatch(word)) is not None:
            hands.append(_parse_class(word, *name.groups()))
        else:
            cards = _cards(word)
            if len(cards) < 2:
                abort(f"{quoted(word)} is one card; a player holds two, and a board has three to five")
            if len(cards) == 2:
                hands.append((word, [cards]))
            elif board:
                abort(f"{quoted(word)}: the board is given twice")
            else:
                board = cards
    if not hands:
        abort("no player has cards; name those of at least one player, such as AhKd")
    number = max(2, len(hands)) if players is None else players
    if not 2 <= number <= MAX_PLAYERS:
        abort(f"a showdown has 2 to {MAX_PLAYERS} players, not {number}")
    if len(hands) > number:
        abort(f"--players {number}: {len(hands)} players are named")
    hands += [("random", ANY_HOLDING)] * (number - len(hands))
    return hands, board


def _parse_class(word: str, first_rank: str, second_rank: str, ending: str) -> _Hand:
    """Find the holdings of a class such as AKs; AK is suited or offsuit."""
    high, low = sorted((first_rank, second_rank), key=RANKS.index, reverse=True)
    name = high + low
    if high == low and ending:
        abort(f"{quoted(word)}: a pair is neither suited nor offsuit; write {name}")
    if high == low or ending:
        classes = [name + ending]
    else:
        classes = [f"{name}s", f"{name}o"]
    holdings: list[tuple[Card, ...]] = []
    for class_ in classes:
        holdings += holdings_of(STARTING_HANDS.index(class_))
    return name + ending, holdings


def _cards(text: str, option: str = "") -> tuple[Card, ...]:
    try:
        return parse_cards(text)
    except CardError as error:
        if option:
            abort(f"{option}: {error}")
        abort(f"{error}; write a class of starting hands as AKs, AKo, AK or AA, and any hand as random")


def _equity_document(hands: Sequence[_Hand], board: Sequence[Card], result: Chances, seed: int) -> Document:
    columns = (
        Column("player"),
        Column("win", ".3%", meaning="chance of having the best hand alone", rank=1),
        Column("tie", ".3%", meaning="chance of sharing the best hand with others", rank=2),
        Column("equity", ".3%", meaning="mean share of the pot"),
    )
    rows = []
    players = []
    for (name, holdings), player, error in zip(hands, result.players, result.standard_errors, strict=True):
        share = Estimate(player.equity)
        if not result.is_exact:
            share = Estimate(player.equity, Z_95 * error, error)
        holding = name
        if len(holdings) == 1:
            holding = _cards_text(holdings[0])
        rows.append((holding, player.win, player.tie, share))
        players.append(
            PlayerChances(
                holding=holding,
                holdings=len(holdings),
                win=player.win,
                tie=player.tie,
                equity=share.mean,
                half_width_95=share.half_width,
                standard_error=share.error,
            )
        )
    showdowns = count_of(result.showdowns, "showdown")
    sentence = f"{showdowns}, enumerated."
    if not result.is_exact:
        sentence = f"{showdowns}, drawn with seed {seed}. ± is half the 95 % interval."
    facts = (Fact("board", _cards_text(board), TEXT),) if board else ()
    table = Table("", columns, tuple(rows))
    data = EquityData(
        board=tuple([CARD_TEXTS[card] for card in board]),
        showdowns=result.showdowns,
        is_exact=result.is_exact,
        seed=None if result.is_exact else seed,
        players=tuple(players),
    )
    return Document("Chances at the showdown", (sentence,), facts, (Section("", (table,)),), data=data)


def _cards_text(cards: Sequence[Card]) -> str:
    return " ".join([CARD_TEXTS[card] for card in cards])
