"""Leaks from files of hands: deals put together, players counted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Unpack

from engine import Game
from engine.errors import quoted
from engine.holdem import is_holdem
from logs.errors import LeaksRefused
from logs.leaks.counting import Found, PlayerCount
from logs.leaks.found import Leaks
from logs.reading import ReadingOptions, by_deal, files_of_hands, group_by_cards, hands_of
from logs.record import HandRecord

__all__ = ["all_leaks_of", "check_game", "deals_in", "find_all_leaks", "find_leaks", "leaks_of"]

_PROGRESS_HANDS: Final = 500


def find_leaks(
    paths: Iterable[str | os.PathLike[str]],
    player: str | None = None,
    *,
    worst: int = 10,
    on_hands: Callable[[int], None] | None = None,
    **options: Unpack[ReadingOptions],
) -> Leaks:
    """Where a player loses, from files and folders of duplicate matches of hold'em.

    Args:
        paths: of files and folders; copies of files count once, and are reported as problems.
        player: whose leaks; None for the first player of the first hand.
        worst: how many of the dearest partings are kept.
        on_hands: is told now and then how many hands have been read.
        **options: how the files are read.

    Raises:
        LeaksRefused: leaks cannot be told from these hands; the sentence says why.
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    return leaks_of(deals_in(paths, on_hands, options), player, worst=worst)


def find_all_leaks(
    paths: Iterable[str | os.PathLike[str]],
    *,
    worst: int = 10,
    on_hands: Callable[[int], None] | None = None,
    **options: Unpack[ReadingOptions],
) -> tuple[Leaks, ...]:
    """Where each player loses that leaks can be told of; arguments as for `find_leaks`.

    Raises:
        LeaksRefused: leaks of nobody can be told from these hands; the sentence says why.
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    return all_leaks_of(deals_in(paths, on_hands, options), worst=worst)


def deals_in(
    paths: Iterable[str | os.PathLike[str]], on_hands: Callable[[int], None] | None, options: ReadingOptions
) -> Iterator[list[Found]]:
    """The hands of files, deal by deal, each with its path; arguments as for `find_leaks`.

    Raises:
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    files = files_of_hands(paths, options)
    hands = 0
    for group in group_by_cards(files):
        known: dict[int, str] = {}

        def told(path: str, records: Iterator[HandRecord], known: dict[int, str] = known) -> Iterator[HandRecord]:
            for record in records:
                known[id(record)] = path
                yield record

        sources = [told(file.path, hands_of(file, has_others=len(files) > 1, **options)) for file in group]
        deal: list[Found] = []
        for record in by_deal(sources):
            if deal and deal[0][1].hand_number != record.hand_number:
                yield deal
                deal = []
            deal.append((known.pop(id(record)), record))
            hands += 1
            if on_hands is not None and not hands % _PROGRESS_HANDS:
                on_hands(hands)
        if deal:
            yield deal


def leaks_of(deals: Iterable[Sequence[Found]], player: str | None = None, *, worst: int = 10) -> Leaks:
    """Where a player loses.

    Args:
        deals: of each, all its hands with the paths they come from.
        player: whose leaks; None for the first player of the first hand.
        worst: how many of the dearest partings are kept.

    Raises:
        LeaksRefused: leaks cannot be told from these hands; the sentence says why.
    """
    names: dict[str, None] = {}
    game: Game | None = None
    count: PlayerCount | None = None
    for hands in deals:
        for _, record in hands:
            names |= dict.fromkeys(record.names_by_seat)
            count = count or PlayerCount(record.names_by_seat[0] if player is None else player, worst)
            if count.player in record.names_by_seat:
                game = game or record.game
                check_game(record, game)
        if count is not None:
            count.add(hands)
    if count is None:
        raise LeaksRefused("there is no finished hand")
    if count.player not in names:
        raise LeaksRefused(f"no player is called {quoted(count.player)}; there are {', '.join(names)}")
    return count.leaks()


def all_leaks_of(deals: Iterable[Sequence[Found]], *, worst: int = 10) -> tuple[Leaks, ...]:
    """Where each player loses that leaks can be told of, in the order met.

    Args:
        deals: of each, all its hands with the paths they come from.
        worst: how many of the dearest partings of each are kept.

    Raises:
        LeaksRefused: leaks of nobody can be told from these hands; the sentence says why.
    """
    counts: dict[str, PlayerCount] = {}
    game: Game | None = None
    for hands in deals:
        for _, record in hands:
            game = game or record.game
            check_game(record, game)
            for name in record.names_by_seat:
                counts.setdefault(name, PlayerCount(name, worst))
        for count in counts.values():
            count.add(hands)
    found, refusals = [], [LeaksRefused("there is no finished hand")]
    for count in reversed(counts.values()):
        try:
            found.append(count.leaks())
        except LeaksRefused as error:
            refusals.append(error)
    if not found:
        raise refusals[-1]
    return tuple(reversed(found))


def check_game(record: HandRecord, game: Game) -> None:
    """Do nothing if leaks can be told from a hand.

    Raises:
        LeaksRefused: they cannot.
    """
    if record.game != game:
        raise LeaksRefused("the hands are of different games: give those of one")
    if not is_holdem(game):
        raise LeaksRefused("leaks are told in hold'em only: hands and boards of other games have no classes here")
    if not all(record.deal.hole_cards):
        raise LeaksRefused(
            f"hand {record.hand_number} of {record.match_name} does not show all hole cards, and leaks are told from "
            "the same cards played twice"
        )
