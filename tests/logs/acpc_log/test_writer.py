"""ACPC logs compared with lines that the reference dealer wrote."""

from __future__ import annotations

import pytest

from engine import Position, Seat, deal_hand, hand_values
from logs import HandRecord, format_score_line, format_state_line
from logs.acpc_log.writer import format_value
from protocol import find_game
from protocol.match_state import betting_after


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1e-9, "0"),
        (1 / 3, "0.333333"),
        (20.0, "20"),
        (99.9999999, "100"),
        (0.000001, "0.000001"),
        (1e17, "100000000000000000"),
    ],
)
def test_numbers_are_printed_as_by_the_reference(value: float, text: str) -> None:
    assert format_value(value) == text


def record(name: str, seed: int, number: int, betting: str, names: tuple[str, ...], first_seat: int) -> HandRecord:
    """Deal and play a hand of a recorded match again."""
    game = find_game(name)[1]
    deal, end = deal_hand(game, seed, number), betting_after(game, betting)
    return HandRecord(
        game=game,
        match_name="match",
        hand_number=number,
        names_by_seat=names,
        seats=tuple(Seat((p + first_seat) % game.num_players) for p in range(game.num_players)),
        deal=deal,
        betting=end,
        values=tuple(hand_values(end, deal)),
    )


TWO, THREE = ("Ann", "Bob"), ("Ann", "Bob", "Cat")


@pytest.mark.parametrize(
    ("name", "seed", "number", "betting", "names", "line"),
    [
        ("limit", 0, 1, "cc/rc/cc/rc", TWO, "STATE:1:cc/rc/cc/rc:6sKs|5dJd/2sTh2h/Qh/8h:40|-40:Bob|Ann"),
        ("nolimit", 0, 0, "r19686r20000c///", ("p1", "p2"),
         "STATE:0:r19686r20000c///:5d5c|9hQd/8dAs8s/4h/6d:20000|-20000:p1|p2"),
        ("nolimit", 0, 1, "cc/r520r940c/r20000f", TWO,
         "STATE:1:cc/r520r940c/r20000f:6sKs|5dJd/2sTh2h/Qh:940|-940:Bob|Ann"),
        ("limit3", 0, 2, "ccc/rcrrrcf/rc/rc", ("p1", "p2", "p3"),
         "STATE:2:ccc/rcrrrcf/rc/rc:Jh7c|Kd7d|Kh3h/8d2c9h/Ts/Kc:-40|20|20:p3|p1|p2"),
        ("kuhn3", 42, 4, "rcc", THREE, "STATE:4:rcc:Ks|Js|Qs:4|-2|-2:Bob|Cat|Ann"),
        ("leduc", 42, 0, "crrc/crc", TWO, "STATE:0:crrc/crc:Qh|Ah/As:-9|9:Ann|Bob"),
    ],
)  # fmt: skip
def test_hands_are_written_as_recorded(
    name: str, seed: int, number: int, betting: str, names: tuple[str, ...], line: str
) -> None:
    hand = record(name, seed, number, betting, names, number % len(names))
    assert format_state_line(hand) == line + "\n"


def test_every_hole_card_is_shown_and_the_board_only_as_far_as_seen() -> None:
    hand = record("nolimit3", 0, 1, "r247cc/r347ff", THREE, 1)
    assert format_state_line(hand).startswith("STATE:1:r247cc/r347ff:Ks6h|Qs5d|Tc4d/Ah3dTd:")
    assert hand.board_by_round == ((), hand.deal.board[:3])
    assert hand.name_at(Position(0)) == "Bob"
    assert hand.name_at(Position(2)) == "Ann"


def test_the_score_is_written_by_seat() -> None:
    assert format_score_line([-21101.0, 21101.0], TWO) == "SCORE:-21101|21101:Ann|Bob\n"
    assert format_score_line([1 / 3, -2 / 3, 1 / 3], THREE) == "SCORE:0.333333|-0.666667|0.333333:Ann|Bob|Cat\n"
    assert format_score_line([0.0, -1e-12], TWO) == "SCORE:0|-0:Ann|Bob\n"
