"""``arena equity``: the chances of every player at a showdown of hold'em."""

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
    """A player's chances, as JSON has them.

    Attributes:
        holding: cards, a class of starting hands, or ``random``.
        holdings: how many pairs of cards it covers.
        win: the chance of having the best hand alone.
        tie: the chance of having it together with others.
        equity: the share of the pot, on average.
        half_width_95: half the 95 % interval of the equity; None if all showdowns are enumerated.
        standard_error: of the equity.
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
    """The chances of all players, as ``arena equity --json`` prints them.

    Attributes:
        is_exact: whether the showdowns are all that are possible, otherwise a sample.
        seed: of the sample.
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
            help="What each player holds: two cards (AhKd), a class (QQ, AKs, AKo, AK) or random. Three to five cards "
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
        f"{DEFAULT_SHOWDOWNS:,} are drawn where counting takes too long.",
        Wording("N"),
    ] = None,
    seed: Annotated[int, "Seed of the draws.", Interval(0)] = 0,
    *,
    output: DocumentOptions,
) -> None:
    """Show each player's chances at a showdown of hold'em: to win, to tie, and its share of the pot.

    All showdowns are counted where that takes seconds; else showdowns are drawn, and every share comes with its
    interval.
    """
    fields, table = _parsed(words, _cards(board, "--board"), players)
    holdings = [of_player for _, of_player in fields]
    with showing_progress(terminal, "counting" if trials is None else "drawing") as progress:
        found = chances(holdings, table, dead=_cards(dead, "--dead"), trials=trials, seed=seed, progress=progress)
    output.show(terminal, equity_document(fields, table, found, seed))


_Field = tuple[str, Sequence[Holding]]
"""The name of a player's cards, and the holdings that it covers."""


def _parsed(words: Sequence[str], board: Sequence[Card], players: int | None) -> tuple[list[_Field], Sequence[Card]]:
    """The players, filled up with random ones, and the board."""
    fields: list[_Field] = []
    for word in words:
        if word.lower() in _UNKNOWN:
            fields.append(("random", ANY_HOLDING))
        elif (name := _CLASS.fullmatch(word)) is not None:
            fields.append(_class_named(word, *name.groups()))
        else:
            cards = _cards(word)
            if len(cards) < 2:
                abort(f"{quoted(word)} is one card: a player holds two, and a board has three to five")
            if len(cards) == 2:
                fields.append((word, [cards]))
            elif board:
                abort(f"{quoted(word)}: the board is given twice")
            else:
                board = cards
    if not fields:
        abort("no player's cards are given: give at least one player's, such as AhKd")
    number = max(2, len(fields)) if players is None else players
    if not 2 <= number <= MAX_PLAYERS:
        abort(f"a showdown has 2 to {MAX_PLAYERS} players, not {number}")
    if len(fields) > number:
        abort(f"--players {number}: {len(fields)} players are named")
    return fields + [("random", ANY_HOLDING)] * (number - len(fields)), board


def _class_named(word: str, one: str, other: str, ending: str) -> _Field:
    """A class of starting hands, or both of two ranks."""
    high, low = sorted((one, other), key=RANKS.index, reverse=True)
    name = high + low
    if high == low and ending:
        abort(f"{quoted(word)}: a pair is neither suited nor offsuit, write {name}")
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
        abort(f"{error}; a class of starting hands is AKs, AKo, AK or AA, and any hand is random")


def equity_document(fields: Sequence[_Field], board: Sequence[Card], found: Chances, seed: int) -> Document:
    columns = (
        Column("player"),
        Column("win", ".3%", meaning="the chance of having the best hand alone", rank=1),
        Column("tie", ".3%", meaning="the chance of having the best hand together with others", rank=2),
        Column("equity", ".3%", meaning="the share of the pot, on average"),
    )
    rows = []
    players = []
    for (name, holdings), player, error in zip(fields, found.players, found.standard_errors, strict=True):
        share = Estimate(player.equity)
        if not found.is_exact:
            share = Estimate(player.equity, Z_95 * error, error)
        holding = _in_words(holdings[0]) if len(holdings) == 1 else name
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
    showdowns = count_of(found.showdowns, "showdown")
    sentence = f"{showdowns}, enumerated."
    if not found.is_exact:
        sentence = f"{showdowns}, drawn with seed {seed}. ± is half the 95 % interval."
    facts = (Fact("board", _in_words(board), TEXT),) if board else ()
    table = Table("", columns, tuple(rows))
    data = EquityData(
        board=tuple(CARD_TEXTS[card] for card in board),
        showdowns=found.showdowns,
        is_exact=found.is_exact,
        seed=None if found.is_exact else seed,
        players=tuple(players),
    )
    return Document("Chances at the showdown", (sentence,), facts, (Section("", (table,)),), data=data)


def _in_words(cards: Sequence[Card]) -> str:
    return " ".join(CARD_TEXTS[card] for card in cards)
