"""Constructed hands, each with one feature that is easy to write wrongly, and their text."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from engine import Deal, Game, Seat, hand_values, parse_cards
from logs import HandRecord, Times
from logs.formats.export_format import ExportOptions
from logs.formats.money import Rake
from protocol import find_game
from protocol.match_state import betting_after

NOON_US = 1_767_373_200_000_000
"""2026/01/02 12:00:00 in New York."""


def make_record(
    game: Game | str,
    betting: str,
    holes: str,
    board: str = "",
    *,
    number: int = 0,
    names: Sequence[str] = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gus", "Hal", "Ivy", "Jim"),
    stacks: tuple[int, ...] | None = None,
) -> HandRecord:
    """Return a hand of a match with a moving button; hole cards by position, ``?`` for unknown cards."""
    game = find_game(game)[1] if isinstance(game, str) else game
    if stacks is not None:
        game = game._replace(stacks=stacks)
    end = betting_after(game, betting)
    assert end.finished
    players = game.num_players
    cards = tuple(() if hole == "?" else parse_cards(hole) for hole in holes.split())
    assert len(cards) == players
    deal = Deal(cards, parse_cards(board.replace(" ", "")))
    return HandRecord(
        game=game,
        match_name="match",
        hand_number=number,
        names_by_seat=tuple(names[:players]),
        seats=tuple(Seat((position + number) % players) for position in range(players)),
        deal=deal,
        betting=end,
        values=tuple(hand_values(end, deal)) if all(cards) else (),
        times=(Times(NOON_US, NOON_US + 10),),
    )


class HandCase(NamedTuple):
    """A hand and the options it is written with."""

    record: HandRecord
    options: ExportOptions = ExportOptions(crlf=False)


PLAIN = ExportOptions(crlf=False)

HAND_CASES = {
    "limit-heads-up-showdown": HandCase(
        make_record("limit", "rc/crc/rrc/cc", "8s7s KdQc", "7hAdTd 4s Kc", number=7),
        dataclasses.replace(PLAIN, hero="Ann"),
    ),
    "limit-heads-up-fold": HandCase(make_record("limit", "rrf", "8s7s KdQc")),
    "limit-heads-up-walk": HandCase(make_record("limit", "f", "8s7s KdQc", number=1)),
    "limit-three-walk": HandCase(make_record("limit3", "ff", "8s7s KdQc 2c2d", number=2)),
    "limit-three-river-bluff": HandCase(make_record("limit3", "ccc/ccc/ccc/crff", "8s7s KdQc 2c2d", "7hAdTd 4s Kc")),
    "nolimit-heads-up-all-in": HandCase(
        make_record("nolimit", "cr300c/r900r2700c/r20000c/", "AsAd KdKc", "2h7dKs 4s Ac", stacks=(20000, 15000)),
        dataclasses.replace(PLAIN, chip_value="0.01", table="High roller #1"),
    ),
    "nolimit-heads-up-short-blind": HandCase(
        make_record("nolimit", "c///", "9s9d AdKc", "2h7d3s 4s Qc", stacks=(20000, 50)),
    ),
    "nolimit-three-side-pot": HandCase(
        make_record("nolimit3", "r300r500cc/r2000c//", "AsAd KdKc QsQd", "2h7d8s 4s 9c", stacks=(2000, 3000, 500)),
    ),
    "nolimit-four-two-side-pots-raked": HandCase(
        make_record(
            find_game("nolimit6")[1]._replace(
                num_players=4,
                blinds=(50, 100, 0, 0),
                stacks=(777, 1500, 333, 4001),
                first_players=(2, 0, 0, 0),
            ),
            "r333r4001cc///",
            "AsQd AcQh 9h9c KsKh",
            "2h7d9s Ad 3c",
        ),
        dataclasses.replace(PLAIN, rake=Rake(per_cent=5, step="0.25", cap=150)),
    ),
    "limit-six-odd-cents": HandCase(
        make_record("limit6", "rcffcf/ccc/ccc/ccc", "AsKd 2c2d AcKs AhKc 9c9h 8h7h", "QdJsTd 3c 3d"),
        dataclasses.replace(PLAIN, chip_value="0.05", currency="EUR"),
    ),
    "nolimit-six-kickers": HandCase(
        make_record("nolimit6", "ffcccc/cccc/cccc/cccc", "4cTc QcTh 3d4h 2s2d 6dKs 6cJh", "7h5h8h Ac 8s", number=3),
    ),
    "nolimit-ten-multiway": HandCase(
        make_record(
            "nolimit10",
            "r300fcfccffff/r900cff/r2700r7900c/cc",
            "2c3c 4c5c AsAd 6c7c KsKd 8c9c QsQd JsJd 2d3d 4d5d",
            "QhTh4h 2h Kh",
            number=12,
        ),
        dataclasses.replace(PLAIN, hero="Eve", begin_us=NOON_US),
    ),
    "limit-play-money": HandCase(
        make_record("limit", "cc/cc/cc/cc", "AsKs KdKc", "QsJsTs 4s Kh", number=1),
        dataclasses.replace(PLAIN, currency=None, hero="Bob"),
    ),
}
