"""Leaks from files of hands: deals put together, players counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from engine import Game
from engine.errors import quoted
from engine.holdem import is_holdem
from logs.errors import LeaksRefused
from logs.hand_source import HandSource
from logs.leaks.counting import Found, PlayerCount
from logs.leaks.found import Leaks
from logs.record import HandRecord

__all__ = ["all_leaks_of", "check_game", "deals_in", "leaks_of"]

_PROGRESS_HANDS: Final = 500


def deals_in(source: HandSource, on_hands: Callable[[int], None] | None = None) -> Iterator[list[Found]]:
    """The hands of a source deal by deal, each with its path; copies of files count once, and are reported as problems.

    Args:
        source: of the hands.
        on_hands: takes now and then how many hands have been read.

    Raises:
        LogsError: a file cannot be read.
        OSError: a file cannot be read.
    """
    hands = 0
    for deal in source.without_copies().deals():
        yield deal
        before, hands = hands, hands + len(deal)
        if on_hands is not None and before // _PROGRESS_HANDS < hands // _PROGRESS_HANDS:
            on_hands(hands)


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
