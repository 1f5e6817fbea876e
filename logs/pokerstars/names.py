"""Names as card rooms have them: of players, and of hands at the showdown.

Trackers find players by text searches, each in its own way, so a name here is at most twelve of the characters
``A-Z a-z 0-9 _ . -`` and holds none of the words that some importer takes for something else:

- ``.fr``, ``_it`` and their like: FPDB reads a national site out of the hero's name;
- ``dealer``: FPDB takes the hand for one converted from another room, and corrects its money;
- ``posts``, and what actions are called (``folds``) at the beginning: PokerKit finds actions in the lines of the seats;
- no other word that lines begin with, as a whole name.

A name depends on the player's name alone wherever possible, so that a bot is one player in the tracker against every
opponent: a name that is too long ends in a digest of the whole, and only names that would still be equal at one table
get the numbers of their seats.

A hand is called ``two pair, Kings and Nines``. One that is called the same as the best shown before adds what the
difference is: ``- Ace+Queen kicker`` names its kickers down to the one that wins, ``- lower kicker`` loses. The first
shown needs no such ending, nor does the summary.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from engine import Card, Category, category

_LONGEST_NAME: Final = 12
_LONGEST_TABLE: Final = 30
_DIGEST_CHARACTERS: Final = 3
_SITES: Final = re.compile(r"[._](?=fr|it|es|pt|eu|de|com)", re.IGNORECASE)
_INNER_WORDS: Final = re.compile(
    r"(?<=deal)(?=er)|(?<=post)(?=s)|(?:(?<=^bet)|(?<=^call|^fold|^muck|^show)|(?<=^check|^raise))(?=s)", re.IGNORECASE
)
_WHOLE_WORDS: Final = frozenset(
    {"board", "collected", "dealt", "hand", "pokerstars", "pot", "rake", "said", "seat", "table", "total", "uncalled"}
)
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_NO_TABLE: Final = re.compile(r"[^A-Za-z0-9_. -]+")


def screen_names(names: Sequence[str]) -> tuple[str, ...]:
    """Players' names as the format has them, different from each other without regard to case."""
    chosen = [_short(name, _allowed(name)) for name in names]
    seats_of = Counter(name.casefold() for name in chosen)
    for seat, name in enumerate(names):
        if seats_of[chosen[seat].casefold()] > 1 and chosen[seat] != name:
            chosen[seat] = _digested(name, _allowed(name))
    seats_of = Counter(name.casefold() for name in chosen)
    for seat, name in enumerate(chosen):
        if seats_of[name.casefold()] > 1:
            chosen[seat] = _numbered(name, seat, chosen)
    return tuple(chosen)


def table_name(name: str) -> str:
    """A table's name as the format and a file name have it; ``table`` where nothing is left of it."""
    return _NO_TABLE.sub("_", name)[:_LONGEST_TABLE].strip() or "table"


def _allowed(name: str) -> str:
    allowed = _INNER_WORDS.sub("-", _SITES.sub("-", _NO_NAME.sub("_", name))) or "player"
    if allowed.casefold() in _WHOLE_WORDS:
        return f"{allowed}-"
    return allowed


def _short(name: str, allowed: str) -> str:
    if len(allowed) <= _LONGEST_NAME:
        return allowed
    return _digested(name, allowed)


def _digested(name: str, allowed: str) -> str:
    digest = b32encode(blake2b(name.encode("utf-8", "surrogateescape"), digest_size=5).digest()).decode().lower()
    return f"{allowed[: _LONGEST_NAME - 1 - _DIGEST_CHARACTERS]}-{digest[:_DIGEST_CHARACTERS]}"


def _numbered(name: str, seat: int, others: Sequence[str]) -> str:
    taken = {other.casefold() for other in others}
    number = seat + 1
    while True:
        ending = f"-{number}"
        numbered = name[: _LONGEST_NAME - len(ending)] + ending
        if numbered.casefold() not in taken:
            return numbered
        number += len(others)


_SINGULAR: Final = (
    *("Deuce", "Three", "Four", "Five", "Six", "Seven", "Eight"),
    *("Nine", "Ten", "Jack", "Queen", "King", "Ace"),
)
_PLURAL: Final = tuple("Sixes" if name == "Six" else f"{name}s" for name in _SINGULAR)
_ACE: Final = 12
_FIVE: Final = 3


class HandName(NamedTuple):
    """What a hand is called, without its ending, and the ranks (0..12, highest first) of the cards that the text does
    not name.
    """

    text: str
    kickers: tuple[int, ...]
    is_flush: bool


def name_hand(cards: Sequence[Card], rank: int) -> HandName:
    """What the best five of five to seven cards (hole cards and board) are called; `rank` is theirs by
    `engine.rank_hand`.
    """
    kind = category(rank)
    if kind in (Category.STRAIGHT, Category.STRAIGHT_FLUSH):
        return HandName(_straight(cards, kind), (), False)
    ranks = sorted([card >> 2 for card in cards], reverse=True)
    if kind == Category.FLUSH:
        suits = [card & 3 for card in cards]
        suit = max(suits, key=suits.count)
        first, *rest = sorted([card >> 2 for card in cards if card & 3 == suit], reverse=True)[:5]
        return HandName(f"a flush, {_SINGULAR[first]} high", tuple(rest), True)
    # Of two sets the lower one counts as a pair; of three pairs the lowest is no more than a kicker.
    (_, first), (_, second), *_ = sorted([(ranks.count(of), of) for of in set(ranks)], reverse=True)
    if kind == Category.FOUR_OF_A_KIND:
        return HandName(f"four of a kind, {_PLURAL[first]}", _kickers(ranks, 1, first), False)
    if kind == Category.FULL_HOUSE:
        return HandName(f"a full house, {_PLURAL[first]} full of {_PLURAL[second]}", (), False)
    if kind == Category.THREE_OF_A_KIND:
        return HandName(f"three of a kind, {_PLURAL[first]}", _kickers(ranks, 2, first), False)
    if kind == Category.TWO_PAIR:
        return HandName(f"two pair, {_PLURAL[first]} and {_PLURAL[second]}", _kickers(ranks, 1, first, second), False)
    if kind == Category.PAIR:
        return HandName(f"a pair of {_PLURAL[first]}", _kickers(ranks, 3, first), False)
    return HandName(f"high card {_SINGULAR[first]}", _kickers(ranks, 4, first), False)


def name_ending(name: HandName, rank: int, best: HandName, best_rank: int) -> str:
    """What a hand's name ends in, given the best hand that was shown before it; often nothing."""
    if rank == best_rank or name.text != best.text:
        return ""
    if rank < best_rank:
        if name.is_flush:
            return " - lower cards"
        return " - lower kicker"
    if name.is_flush:
        return ""
    needed = next(i for i, (own, other) in enumerate(zip(name.kickers, best.kickers, strict=True)) if own != other) + 1
    return f" - {'+'.join(_SINGULAR[of] for of in name.kickers[:needed])} kicker"


def _kickers(ranks: Sequence[int], wanted: int, *named: int) -> tuple[int, ...]:
    return tuple([of for of in dict.fromkeys(ranks) if of not in named][:wanted])


def _straight(cards: Sequence[Card], kind: Category) -> str:
    """What a straight or a straight flush is called: the best run of five ranks, of one suit if it is a flush."""
    suits = range(4) if kind == Category.STRAIGHT_FLUSH else (None,)
    highest = max(_highest_of_run({card >> 2 for card in cards if suit in (None, card & 3)}) for suit in suits)
    if highest == _ACE and kind == Category.STRAIGHT_FLUSH:
        return "a Royal Flush"
    lowest = _ACE if highest == _FIVE else highest - 4
    noun = "a straight flush" if kind == Category.STRAIGHT_FLUSH else "a straight"
    return f"{noun}, {_SINGULAR[lowest]} to {_SINGULAR[highest]}"


def _highest_of_run(ranks: set[int]) -> int:
    """The highest rank of the best five in a row, the ace also below the deuce; -1 if there are none."""
    runs = (top for top in range(_ACE, _FIVE - 1, -1) if all((of % 13) in ranks for of in range(top - 4, top + 1)))
    return next(runs, -1)
