"""Text of tables and seats."""

from __future__ import annotations

import pytest

from engine import Game
from engine.game import DEFAULT_STACK
from logs.formats.card_room_games import usual_blinds
from logs.formats.export_format import ExportOptions
from logs.pokerstars.plans import TableText
from logs.pokerstars.stakes import FORMAT_NAME, Money
from protocol import find_game
from tests.logs.hands import NAMES


def table_with_seats(game: Game, seats: tuple[int, ...], **options: str | None) -> TableText:
    return TableText(
        game,
        usual_blinds(game, FORMAT_NAME),
        seats,  # type: ignore[arg-type]
        NAMES,
        first_line="Hand #%s at %s",
        table_name="T",
        money=Money(ExportOptions(**options)),  # type: ignore[arg-type]
        line_end="\n",
    )


def test_seats_need_not_be_in_the_order_of_positions() -> None:
    table = table_with_seats(find_game("nolimit3")[1], (1, 2, 0), chip_value="0.01", currency=None)
    assert table.seat_texts == ("Seat 2: Bob (small blind) ", "Seat 3: Cat (big blind) ", "Seat 1: Ann (button) ")
    assert table.head.splitlines()[1:] == [
        "Table 'T' 3-max (Play Money) Seat #1 is the button",
        "Seat 1: Ann (200 in chips) ",
        "Seat 2: Bob (200 in chips) ",
        "Seat 3: Cat (200 in chips) ",
        "Bob: posts small blind 0.50",
        "Cat: posts big blind 1",
        "*** HOLE CARDS ***",
    ]


@pytest.mark.parametrize(
    ("players", "size"), [(2, 2), (3, 3), (4, 6), (5, 6), (6, 6), (7, 9), (8, 9), (9, 9), (10, 10)]
)
def test_tables_are_of_genuine_sizes(players: int, size: int) -> None:
    two = players == 2
    game = find_game("nolimit")[1]._replace(
        num_players=players,
        stacks=(20000,) * players,
        blinds=(100, 50) if two else (50, 100) + (0,) * (players - 2),
        first_players=(1 if two else 2 % players, 0, 0, 0),
    )
    assert f"Table 'T' {size}-max Seat #" in table_with_seats(game, tuple(range(players))).head


def test_stacks_that_nobody_gave_are_deep_enough() -> None:
    limit, no_limit = find_game("limit")[1], find_game("nolimit")[1]
    assert limit.stacks == (DEFAULT_STACK,) * 2
    assert "Ann ($100000 in chips)" in table_with_seats(limit, (0, 1)).head
    mixed = limit._replace(stacks=(1000, DEFAULT_STACK))
    assert "Ann ($1000 in chips)" in table_with_seats(mixed, (0, 1)).head
    assert "Bob ($100000 in chips)" in table_with_seats(mixed, (0, 1)).head
    endless = limit._replace(max_raises=(255,) * 4, raise_sizes=(10, 10, 1000, 1000))
    assert "Ann ($515120 in chips)" in table_with_seats(endless, (0, 1)).head
    deep = no_limit._replace(stacks=(DEFAULT_STACK,) * 2)
    assert "Ann ($2147483647 in chips)" in table_with_seats(deep, (0, 1)).head
