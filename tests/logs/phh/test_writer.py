"""PHH as text, and hands that no PHH can hold."""

from __future__ import annotations

import dataclasses
import tomllib
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from engine import Game, Position
from logs import HandRecord, PlayerComment, Times
from logs.errors import LogsError, UnsupportedGameError
from logs.formats.export_format import ExportOptions
from logs.phh import format_phh, format_phhs
from logs.phh.writer import NO_CAP
from protocol import find_game
from tests.logs.acpc_log.test_writer import record
from tests.logs.hands import HOLDEM, T0, random_hands

LINE = "r300c/cr900c/cc/r2700f"


def heads_up(betting: str = LINE, **changes: Any) -> HandRecord:
    return dataclasses.replace(record("nolimit", 0, 7, betting, ("Ann", "Bob"), 1), **changes)


def test_a_no_limit_hand() -> None:
    """Heads-up, the file has blinds in reverse order of posting: p1 is the big blind."""
    assert (
        format_phh(heads_up(), ExportOptions(currency=None))
        == """\
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [20000, 20000]
actions = [
  "d dh p1 Ah6c",
  "d dh p2 2c3d",
  "p2 cbr 300",
  "p1 cc",
  "d db 5d6hTc",
  "p1 cc",
  "p2 cbr 600",
  "p1 cc",
  "d db 6d",
  "p1 cc",
  "p2 cc",
  "d db Td",
  "p1 cbr 1800",
  "p2 f",
]
event = "match"
hand = 7
seats = [2, 1]
seat_count = 2
players = ["Bob", "Ann"]
finishing_stacks = [20900, 19100]
"""
    )


def test_a_limit_hand() -> None:
    hand = record("limit3", 0, 2, "ccc/rcrrrcf/rc/rc", ("p1", "p2", "p3"), 2)
    assert (
        format_phh(hand, ExportOptions(seed=0, currency=None))
        == """\
variant = "FT"
antes = [0, 0, 0]
blinds_or_straddles = [5, 10, 0]
small_bet = 10
big_bet = 20
starting_stacks = [100000, 100000, 100000]
actions = [
  "d dh p1 Jh7c",
  "d dh p2 Kd7d",
  "d dh p3 Kh3h",
  "p3 cc",
  "p1 cc",
  "p2 cc",
  "d db 8d2c9h",
  "p1 cbr 10",
  "p2 cc",
  "p3 cbr 20",
  "p1 cbr 30",
  "p2 cbr 40",
  "p3 cc",
  "p1 f",
  "d db Ts",
  "p2 cbr 20",
  "p3 cc",
  "d db Kc",
  "p2 cbr 20",
  "p3 cc",
  "p2 sm Kd7d",
  "p3 sm Kh3h",
]
event = "match"
hand = 2
seats = [3, 1, 2]
seat_count = 3
players = ["p3", "p1", "p2"]
finishing_stacks = [99960, 100020, 100020]
_has_stacks = false
_max_raises = [3, 4, 4, 4]
_seed = 0
"""
    )


def actions_of(hand: HandRecord, options: ExportOptions = ExportOptions()) -> list[str]:  # noqa: B008
    actions = tomllib.loads(format_phh(hand, options))["actions"]
    assert isinstance(actions, list)
    return actions


def test_all_in_players_show_before_the_rest_of_the_board() -> None:
    assert actions_of(heads_up("r300c/r20000c//"))[-7:] == [
        "d db 5d6hTc",
        "p1 cbr 19700",
        "p2 cc",
        "p1 sm Ah6c",
        "p2 sm 2c3d",
        "d db 6d",
        "d db Td",
    ]


def test_a_hero_sees_what_is_shown_only() -> None:
    shown, hidden = heads_up("cc/cc/cc/cc"), heads_up()
    assert actions_of(shown, ExportOptions(hero="Ann"))[:2] == ["d dh p1 ????", "d dh p2 2c3d"]
    assert actions_of(shown, ExportOptions(hero="Ann"))[-2:] == ["p1 sm Ah6c", "p2 sm 2c3d"]
    assert actions_of(hidden, ExportOptions(hero="Bob"))[:2] == ["d dh p1 Ah6c", "d dh p2 ????"]
    with pytest.raises(LogsError, match="no player of hand 7 is called 'Eve'"):
        format_phh(hidden, ExportOptions(hero="Eve"))


def test_chips_as_money() -> None:
    table = tomllib.loads(format_phh(heads_up(), ExportOptions(chip_value=0.01, currency="USD")), parse_float=Decimal)
    assert table["blinds_or_straddles"] == [Decimal("0.5"), 1]
    assert table["starting_stacks"] == [200, 200]
    assert table["finishing_stacks"] == [209, 191]
    assert table["currency"] == "USD"
    assert [action for action in table["actions"] if "cbr" in action] == ["p2 cbr 3", "p2 cbr 6", "p1 cbr 18"]
    odd = record("nolimit", 0, 7, "r333f", ("Ann", "Bob"), 1)
    assert "p2 cbr 3.33" in actions_of(odd, ExportOptions(chip_value=Decimal("0.01")))


def test_times_and_comments_have_fields_of_their_own() -> None:
    times = tuple(Times(T0 + 10 * i, T0 + 10 * i + 7) for i in range(8))
    comments = (PlayerComment(heads_up().seats[0], 3, '# "quoted" \\ \t \x7f \x00 é \udcff'),)
    table = tomllib.loads(format_phh(heads_up(times=times, comments=comments)))
    assert f"{table['year']}-{table['month']:02}-{table['day']:02}" == "2026-11-21"
    assert (table["time"].isoformat(), table["time_zone"]) == ("02:18:05.694648", "UTC")
    assert table["_times"] == [list(pair) for pair in times]
    assert table["_comments"] == [[1, 3, '# "quoted" \\ \t \x7f \x00 é �']]
    assert "time" not in tomllib.loads(format_phh(heads_up(times=(Times(10**18, 10**18),) * 8)))


def test_many_hands_are_numbered_tables() -> None:
    hands = random_hands("nolimit3", 5)
    tables = tomllib.loads("".join(format_phhs(hands)))
    assert list(tables) == ["1", "2", "3", "4", "5"]
    assert [table["hand"] for table in tables.values()] == [0, 1, 2, 3, 4]
    assert list(tomllib.loads("".join(format_phhs(hands, first_table=8)))) == ["8", "9", "10", "11", "12"]
    assert "".join(format_phhs([])) == ""


@pytest.mark.parametrize("name", HOLDEM)
def test_every_text_is_toml(name: str) -> None:
    for hand in random_hands(name, 40, with_notes=True):
        table = tomllib.loads(format_phh(hand))
        assert table["players"] == [hand.name_at(Position(p)) for p in range(hand.game.num_players)]
        assert set(hand.game.max_raises) == {NO_CAP} or table["_max_raises"] == list(hand.game.max_raises)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"num_hole_cards": 3}, "3 hole cards per player"),
        ({"num_hole_cards": 1}, "1 hole card per player"),
        ({"num_board_cards": (0, 3, 2, 1)}, "a board of 0 + 3 + 2 + 1 cards"),
        ({"first_players": (0, 0, 0, 0)}, "another first player before the flop than the one behind the blinds"),
        ({"first_players": (2, 1, 0, 0)}, "another first player after the flop than the one left of the button"),
        (
            {"blinds": (5, 5, 0), "first_players": (1, 0, 0, 0)},
            "PHH cannot hold a game with a second big blind, of a player who joins the table and acts in turn; an ACPC "
            "log can",
        ),
        ({"raise_sizes": (10, 20, 20, 20)}, "bets of 10, 20, 20, 20 chips in the four rounds"),
        ({"blinds": (0, 0, 0), "first_players": (0, 0, 0, 0)}, "no blinds"),
    ],
)
def test_games_that_are_nearly_holdem_are_refused_too(changes: dict[str, Any], what: str) -> None:
    game: Game = find_game("limit3")[1]._replace(**changes)
    with pytest.raises(UnsupportedGameError, match=what.replace("+", r"\+")):
        format_phh(random_hands(game, 1)[0])


def test_a_raise_that_lowers_the_bet_is_refused() -> None:
    """A short stack of a limit game may raise to less than the current bet; card rooms have no such action."""
    game = find_game("limit3")[1]._replace(stacks=(100, 12, 100))
    hands = random_hands(game, 100, fold=0.0)
    sentences = Counter(sentence for hand in hands if (sentence := refusal(hand)))
    assert all("raises to 12 where" in sentence for sentence in sentences)
    assert 0 < sentences.total() < len(hands)


def refusal(hand: HandRecord) -> str:
    """Return the message of a hand that cannot be written."""
    try:
        format_phh(hand)
    except LogsError as error:
        return str(error)
    return ""
