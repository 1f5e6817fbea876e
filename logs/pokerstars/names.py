"""Names in hand histories, of players, tables and hands at the showdown.

Trackers find players by text searches, each in its own way. So a name is at most twelve of the characters
``A-Z a-z 0-9 _ . -``, and contains no word that an importer takes for something else.

A name depends on the player's name alone if possible, so that a bot is one player in the tracker against every
opponent. Long names end in a digest of the whole name. Only names that would still be equal at one table get the
numbers of their seats.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from engine import Card, Category, category

_MAX_NAME_LENGTH: Final = 12
_MAX_TABLE_LENGTH: Final = 30
_DIGEST_LENGTH: Final = 3
# FPDB reads a national site out of the hero's name.
_SITES: Final = re.compile(r"[._](?=fr|it|es|pt|eu|de|com)", re.IGNORECASE)
# FPDB takes a hand with "dealer" for one that was converted from another room, and corrects its money. PokerKit finds
# actions in the lines of the seats, by "posts" anywhere in a name and by the other verbs at its beginning.
_INNER_WORDS: Final = re.compile(
    r"(?<=deal)(?=er)|(?<=post)(?=s)|(?:(?<=^bet)|(?<=^call|^fold|^muck|^show)|(?<=^check|^raise))(?=s)", re.IGNORECASE
)
# Lines that are not about players begin with these words.
_WHOLE_WORDS: Final = frozenset(
    {"board", "collected", "dealt", "hand", "pokerstars", "pot", "rake", "said", "seat", "table", "total", "uncalled"}
)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_NOT_IN_TABLES: Final = re.compile(r"[^A-Za-z0-9_. -]+")


def screen_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the players' names for a history, distinct from each other even without regard to case."""
    screen = [_short(name, _allowed(name)) for name in names]
    counts = Counter(name.casefold() for name in screen)
    # An unchanged name stays, so that it is the same against every opponent. Names that were changed into it give way.
    for seat, name in enumerate(names):
        if counts[screen[seat].casefold()] > 1 and screen[seat] != name:
            screen[seat] = _digested(name, _allowed(name))
    counts = Counter(name.casefold() for name in screen)
    for seat, name in enumerate(screen):
        if counts[name.casefold()] > 1:
            screen[seat] = _numbered(name, seat, screen)
    return tuple(screen)


def table_name(name: str) -> str:
    """Return a table's name for a history and its file name; ``table`` if no character of it is allowed."""
    return _NOT_IN_TABLES.sub("_", name)[:_MAX_TABLE_LENGTH].strip() or "table"


def _allowed(name: str) -> str:
    allowed = _NOT_IN_NAMES.sub("_", name)
    allowed = _SITES.sub("-", allowed)
    allowed = _INNER_WORDS.sub("-", allowed)
    if not allowed:
        return "player"
    if allowed.casefold() in _WHOLE_WORDS:
        return f"{allowed}-"
    return allowed


def _short(name: str, allowed: str) -> str:
    if len(allowed) <= _MAX_NAME_LENGTH:
        return allowed
    return _digested(name, allowed)


def _digested(name: str, allowed: str) -> str:
    digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=5).digest()
    ending = b32encode(digest).decode().lower()[:_DIGEST_LENGTH]
    return f"{allowed[: _MAX_NAME_LENGTH - 1 - _DIGEST_LENGTH]}-{ending}"


def _numbered(name: str, seat: int, names: Sequence[str]) -> str:
    taken = {other.casefold() for other in names}
    number = seat + 1
    while True:
        ending = f"-{number}"
        numbered = name[: _MAX_NAME_LENGTH - len(ending)] + ending
        if numbered.casefold() not in taken:
            return numbered
        number += len(names)


_SINGULAR: Final = (
    *("Deuce", "Three", "Four", "Five", "Six", "Seven", "Eight"),
    *("Nine", "Ten", "Jack", "Queen", "King", "Ace"),
)
_PLURAL: Final = (
    *("Deuces", "Threes", "Fours", "Fives", "Sixes", "Sevens", "Eights"),
    *("Nines", "Tens", "Jacks", "Queens", "Kings", "Aces"),
)
_ACE: Final = 12
_FIVE: Final = 3
_NO_RUN: Final = -1


class HandName(NamedTuple):
    """Name of a hand, such as ``two pair, Kings and Nines``.

    Attributes:
        text: the name without its ending.
        kickers: ranks (0..12, highest first) of the cards that the text does not name.
    """

    text: str
    kickers: tuple[int, ...]
    is_flush: bool


def name_hand(cards: Sequence[Card], rank: int) -> HandName:
    """Name the best five of five to seven cards.

    Args:
        cards: hole cards and board.
        rank: rank of the cards by `engine.rank_hand`.
    """
    hand_category = category(rank)
    if hand_category == Category.STRAIGHT:
        return HandName(_straight(cards), (), False)
    if hand_category == Category.STRAIGHT_FLUSH:
        return HandName(_straight_flush(cards), (), False)
    if hand_category == Category.FLUSH:
        suits = [card & 3 for card in cards]
        suit = max(suits, key=suits.count)
        first, *rest = sorted([card >> 2 for card in cards if card & 3 == suit], reverse=True)[:5]
        return HandName(f"a flush, {_SINGULAR[first]} high", tuple(rest), True)
    ranks = sorted([card >> 2 for card in cards], reverse=True)
    # Of two sets the lower one counts as a pair; of three pairs the lowest can only be a kicker.
    (_, first), (_, second), *_ = sorted([(ranks.count(own), own) for own in set(ranks)], reverse=True)
    if hand_category == Category.FOUR_OF_A_KIND:
        return HandName(f"four of a kind, {_PLURAL[first]}", _kickers(ranks, 1, first), False)
    if hand_category == Category.FULL_HOUSE:
        return HandName(f"a full house, {_PLURAL[first]} full of {_PLURAL[second]}", (), False)
    if hand_category == Category.THREE_OF_A_KIND:
        return HandName(f"three of a kind, {_PLURAL[first]}", _kickers(ranks, 2, first), False)
    if hand_category == Category.TWO_PAIR:
        return HandName(f"two pair, {_PLURAL[first]} and {_PLURAL[second]}", _kickers(ranks, 1, first, second), False)
    if hand_category == Category.PAIR:
        return HandName(f"a pair of {_PLURAL[first]}", _kickers(ranks, 3, first), False)
    return HandName(f"high card {_SINGULAR[first]}", _kickers(ranks, 4, first), False)


def name_ending(name: HandName, rank: int, best: HandName, best_rank: int) -> str:
    """Return the ending that distinguishes a hand from the best one shown before it; empty if none is needed.

    The winner of two hands of one name names its kickers down to the one that decides (``- Ace+Queen kicker``); the
    loser has a ``- lower kicker``.
    """
    if rank == best_rank or name.text != best.text:
        return ""
    if rank < best_rank:
        if name.is_flush:
            return " - lower cards"
        return " - lower kicker"
    if name.is_flush:
        return ""
    kickers: list[str] = []
    for own, other in zip(name.kickers, best.kickers, strict=True):
        kickers.append(_SINGULAR[own])
        if own != other:
            break
    return f" - {'+'.join(kickers)} kicker"


def _kickers(ranks: Sequence[int], count: int, *named: int) -> tuple[int, ...]:
    kickers = [rank for rank in dict.fromkeys(ranks) if rank not in named]
    return tuple(kickers[:count])


def _straight(cards: Sequence[Card]) -> str:
    highest = _top_of_run({card >> 2 for card in cards})
    return f"a straight, {_run_text(highest)}"


def _straight_flush(cards: Sequence[Card]) -> str:
    highest = _NO_RUN
    for suit in range(4):
        highest = max(highest, _top_of_run({card >> 2 for card in cards if card & 3 == suit}))
    if highest == _ACE:
        return "a Royal Flush"
    return f"a straight flush, {_run_text(highest)}"


def _run_text(highest: int) -> str:
    lowest = highest - 4
    if highest == _FIVE:
        lowest = _ACE
    return f"{_SINGULAR[lowest]} to {_SINGULAR[highest]}"


def _top_of_run(ranks: set[int]) -> int:
    """Return the top rank of the best five in a row, or `_NO_RUN`; the ace is also below the deuce."""
    for top in range(_ACE, _FIVE - 1, -1):
        if all((rank % 13) in ranks for rank in range(top - 4, top + 1)):
            return top
    return _NO_RUN
