"""Open Hand History, checked against the published fields, with money recounted from the text."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from engine import CARD_TEXTS
from logs import HandRecord, Times
from logs.errors import LogsError
from logs.export import match_texts
from logs.formats.export_format import ExportOptions
from logs.ohh import OHH
from logs.phh import format_phh, format_phhs, read_phh
from logs.pokerstars import format_pokerstars_file
from tests.logs.acpc_log.test_writer import record
from tests.logs.hands import HOLDEM, T0, format_ohh, random_hands, recorded_hands

# ---- the fields as defined at hh-specs.handhistory.org (1.4.7)

Check = Callable[[Any], bool]


def is_integer(value: Any) -> bool:
    return type(value) is int


def is_decimal(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e12


def is_text(value: Any) -> bool:
    return type(value) is str


def is_flag(value: Any) -> bool:
    return type(value) is bool


def one_of(*choices: str) -> Check:
    return lambda value: value in choices


def list_of(check: Check) -> Check:
    return lambda value: type(value) is list and all(map(check, value))


def table(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """Return a check for an object with exactly these fields."""
    known = required | (optional or {})

    def check(value: Any) -> bool:
        assert type(value) is dict
        assert set(required) <= set(value) <= set(known), set(value) ^ set(required)
        for key, field in value.items():
            assert known[key](field), (key, field)
        return True

    return check


def matches(pattern: str) -> Check:
    return lambda value: type(value) is str and re.fullmatch(pattern, value) is not None


CARDS = list_of(lambda card: card in CARD_TEXTS)
ACTION = table(
    {
        "action_number": is_integer,
        "player_id": is_integer,
        "action": one_of("Dealt Cards", "Shows Cards", "Post SB", "Post BB", "Fold", "Check", "Bet", "Raise", "Call"),
        "amount": is_decimal,
        "is_allin": is_flag,
    },
    {"cards": CARDS},
)
HAND = table(
    {
        "spec_version": one_of("1.4.7"),
        "site_name": is_text,
        "network_name": is_text,
        "internal_version": matches(r"[0-9]+\.[0-9]+\.[0-9]+"),
        "tournament": is_flag,
        "game_number": is_text,
        "start_date_utc": matches(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
        "table_name": is_text,
        "game_type": one_of("Holdem"),
        "bet_limit": table({"bet_type": one_of("NL", "FL"), "bet_cap": is_decimal}),
        "table_size": is_integer,
        "currency": matches("[A-Z]{3}"),
        "dealer_seat": is_integer,
        "small_blind_amount": is_decimal,
        "big_blind_amount": is_decimal,
        "ante_amount": is_decimal,
        "hero_player_id": lambda value: value is None or is_integer(value),
        "flags": list_of(one_of("Observed")),
        "players": list_of(
            table({"id": is_integer, "seat": is_integer, "name": is_text, "starting_stack": is_decimal})
        ),
        "rounds": list_of(
            table(
                {
                    "id": is_integer,
                    "street": one_of("Preflop", "Flop", "Turn", "River", "Showdown"),
                    "cards": CARDS,
                    "actions": list_of(ACTION),
                }
            )
        ),
        "pots": list_of(
            table(
                {
                    "number": is_integer,
                    "amount": is_decimal,
                    "rake": is_decimal,
                    "player_wins": list_of(table({"player_id": is_integer, "win_amount": is_decimal})),
                }
            )
        ),
    }
)


def parse_hand(text: str) -> dict[str, Any]:
    """Parse a hand with exact numbers."""
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert text.isascii()
    assert table({"ohh": HAND})(json.loads(text))
    hand = json.loads(text, parse_float=Decimal)["ohh"]
    assert isinstance(hand, dict)
    return hand


def hand_of(hand: HandRecord, **options: Any) -> dict[str, Any]:
    return parse_hand(format_ohh(hand, ExportOptions(**options)))


# ---- the money, recounted from the text


def results(hand: dict[str, Any]) -> dict[int, Decimal]:
    """Return each player id's net chips; check every betting rule."""
    stacks = {player["id"]: Decimal(player["starting_stack"]) for player in hand["players"]}
    seats = {player["seat"]: player["id"] for player in hand["players"]}
    size = len(seats)
    order = [seats[(hand["dealer_seat"] + i) % size + 1] for i in range(size)]
    put_in = dict.fromkeys(stacks, Decimal(0))
    folded: set[int] = set()
    dealt: dict[int, list[str]] = {}
    for round_ in hand["rounds"]:
        street = dict.fromkeys(stacks, Decimal(0))
        assert [action["action_number"] for action in round_["actions"]] == list(range(1, len(round_["actions"]) + 1))
        last = order[-1]
        for action in round_["actions"]:
            player, name, amount = action["player_id"], action["action"], Decimal(action["amount"])
            highest = max(street.values())
            if name in ("Dealt Cards", "Shows Cards"):
                assert dealt.setdefault(player, action["cards"]) == action["cards"]
                assert player not in folded
                continue
            if name.startswith("Post"):
                assert round_["street"] == "Preflop"
                assert amount == hand["small_blind_amount" if name == "Post SB" else "big_blind_amount"]
            else:
                # Players who can act must not be skipped.
                waiting = order[order.index(last) + 1 :] + order[: order.index(last) + 1]
                assert player == next(p for p in waiting if p not in folded and put_in[p] < stacks[p])
            last = player
            owed = min(highest - street[player], stacks[player] - put_in[player])
            if name == "Fold":
                assert owed > 0
                assert amount == 0
                folded.add(player)
            elif name == "Check":
                assert (owed, amount) == (0, 0)
            elif name == "Call":
                assert owed == amount > 0
            elif name == "Bet":
                assert round_["street"] != "Preflop"
                assert highest == 0 < amount
            elif name == "Raise":
                assert street[player] + amount > highest
            street[player] += amount
            put_in[player] += amount
            assert put_in[player] <= stacks[player]
            assert action["is_allin"] == (put_in[player] == stacks[player] and amount > 0)
    assert len(folded) < size
    amounts = sorted(put_in.values())
    uncalled = amounts[-1] - amounts[-2]
    total = sum(put_in.values()) - uncalled
    won = {player: -chips for player, chips in put_in.items()}
    won[max(put_in, key=lambda player: put_in[player])] += uncalled
    assert [pot["number"] for pot in hand["pots"]] == list(range(len(hand["pots"])))
    assert sum(Decimal(pot["amount"]) for pot in hand["pots"]) == total
    for pot in hand["pots"]:
        wins = [Decimal(win["win_amount"]) for win in pot["player_wins"]]
        assert wins
        assert sum(wins) + Decimal(pot["rake"]) == Decimal(pot["amount"]) > 0
        assert max(wins) - min(wins) <= Decimal("0.01")
        for win in pot["player_wins"]:
            assert win["player_id"] not in folded
            won[win["player_id"]] += Decimal(win["win_amount"])
    showdown = [round_ for round_ in hand["rounds"] if round_["street"] == "Showdown"]
    shown = {action["player_id"] for round_ in showdown for action in round_["actions"]}
    assert shown in (set(), set(stacks) - folded)
    cards = [card for round_ in hand["rounds"] for card in round_["cards"]]
    cards += [card for of_player in dealt.values() for card in of_player]
    assert len(set(cards)) == len(cards)
    return won


def assert_counts(hand: HandRecord, **options: Any) -> None:
    """Check that the text has the record's results to the cent."""
    chip_value = Decimal(str(options.get("chip_value", 1)))
    won = results(hand_of(hand, **options))
    assert sum(won.values()) == 0
    for seat, value in zip(hand.seats, hand.values, strict=True):
        assert abs(won[seat] - Decimal(value) * chip_value) <= Decimal("0.0101") * len(hand.seats)


@pytest.mark.sampled
@pytest.mark.parametrize("fold", [0.15, 0.0, 0.4])
@pytest.mark.parametrize("name", HOLDEM)
def test_random_hands_of_every_shipped_game(name: str, fold: float) -> None:
    for hand in random_hands(name, 50, seed=2, with_notes=True, fold=fold):
        assert_counts(hand)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["sidepots.nolimit.3p.wild", "sidepots.nolimit.3p.s0", "sidepots.nolimit.3p.s42"])
def test_side_pots(name: str) -> None:
    pots = 0
    for hand in recorded_hands(name):
        assert_counts(hand)
        pots = max(pots, len(hand_of(hand)["pots"]))
    assert pots == 2


@pytest.mark.parametrize("chip_value", [0.01, "0.001", 7])
def test_chips_as_money(chip_value: Any) -> None:
    for hand in random_hands("nolimit3", 40):
        assert_counts(hand, chip_value=chip_value, currency="EUR")


# ---- a complete hand


def test_a_hand_is_written_whole() -> None:
    hand = record("nolimit", 0, 7, "r300c/cr900c/cc/r2700f", ("Ann", "Bob"), 1)
    hand = dataclasses.replace(hand, times=(Times(T0, T0 + 5),) * 9)
    assert json.loads(format_ohh(hand, ExportOptions(hero="Ann", chip_value=0.01, currency="USD"))) == {
        "ohh": {
            "spec_version": "1.4.7",
            "site_name": "acpc-arena",
            "network_name": "acpc-arena",
            "internal_version": "1.0.0",
            "tournament": False,
            "game_number": "660096239007",
            "start_date_utc": "2026-11-21T02:18:05Z",
            "table_name": "match",
            "game_type": "Holdem",
            "bet_limit": {"bet_type": "NL", "bet_cap": 0},
            "table_size": 2,
            "currency": "USD",
            "dealer_seat": 1,
            "small_blind_amount": 0.5,
            "big_blind_amount": 1,
            "ante_amount": 0,
            "hero_player_id": 0,
            "flags": [],
            "players": [
                {"id": 0, "seat": 1, "name": "Ann", "starting_stack": 200},
                {"id": 1, "seat": 2, "name": "Bob", "starting_stack": 200},
            ],
            "rounds": [
                {
                    "id": 0,
                    "street": "Preflop",
                    "cards": [],
                    "actions": [
                        act(1, 0, "Post SB", 0.5),
                        act(2, 1, "Post BB", 1),
                        act(3, 0, "Dealt Cards", 0) | {"cards": ["2c", "3d"]},
                        act(4, 0, "Raise", 2.5),
                        act(5, 1, "Call", 2),
                    ],
                },
                {
                    "id": 1,
                    "street": "Flop",
                    "cards": ["5d", "6h", "Tc"],
                    "actions": [act(1, 1, "Check", 0), act(2, 0, "Bet", 6), act(3, 1, "Call", 6)],
                },
                {
                    "id": 2,
                    "street": "Turn",
                    "cards": ["6d"],
                    "actions": [act(1, 1, "Check", 0), act(2, 0, "Check", 0)],
                },
                {
                    "id": 3,
                    "street": "River",
                    "cards": ["Td"],
                    "actions": [act(1, 1, "Bet", 18), act(2, 0, "Fold", 0)],
                },
            ],
            "pots": [{"number": 0, "amount": 18, "rake": 0, "player_wins": [{"player_id": 1, "win_amount": 18}]}],
        }
    }


def act(number: int, player: int, name: str, amount: float) -> dict[str, Any]:
    return {"action_number": number, "player_id": player, "action": name, "amount": amount, "is_allin": False}


def entries(hand: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Return the actions of a name."""
    return (action for of_round in hand["rounds"] for action in of_round["actions"] if action["action"] == name)


# ---- visible cards


def test_a_hero_is_dealt_face_up_and_the_others_at_the_showdown() -> None:
    hand = record("nolimit", 0, 7, "cc/cc/cc/cr300c", ("Ann", "Bob"), 1)
    seen = hand_of(hand, hero="Bob")
    assert seen["hero_player_id"] == 1
    assert seen["flags"] == []
    assert [(entry["player_id"], entry["cards"]) for entry in entries(seen, "Dealt Cards")] == [(1, ["Ah", "6c"])]
    assert [(entry["player_id"], entry["cards"]) for entry in entries(seen, "Shows Cards")] == [
        (0, ["2c", "3d"]),
        (1, ["Ah", "6c"]),
    ]
    with pytest.raises(LogsError, match="no player of hand 7 is called 'Eve'"):
        hand_of(hand, hero="Eve")


def test_without_a_hero_the_hand_is_observed_with_all_cards() -> None:
    seen = hand_of(record("nolimit3", 0, 1, "r247cc/r347ff", ("Ann", "Bob", "Cat"), 1))
    assert (seen["hero_player_id"], seen["flags"]) == (None, ["Observed"])
    assert [entry["player_id"] for entry in entries(seen, "Dealt Cards")] == [1, 2, 0]
    assert [of_round["street"] for of_round in seen["rounds"]] == ["Preflop", "Flop"]


def test_the_button_is_the_small_blind_heads_up_and_the_last_position_otherwise() -> None:
    assert hand_of(record("limit", 0, 0, "f", ("Ann", "Bob"), 0))["dealer_seat"] == 2
    assert hand_of(record("limit3", 0, 0, "ff", ("Ann", "Bob", "Cat"), 0))["dealer_seat"] == 3
    assert hand_of(record("limit3", 0, 1, "ff", ("Ann", "Bob", "Cat"), 1))["dealer_seat"] == 1


# ---- names, numbers, times


def test_game_numbers_are_stable_and_unique() -> None:
    """Numbers of a live hand, its log and its PHH are equal, with times and without."""
    hands = random_hands("nolimit3", 30, with_notes=True)
    numbers = numbers_of(hands)
    assert len(set(numbers)) == 30
    assert numbers == re.findall(r"PokerStars Hand #(\d+):", "".join(format_pokerstars_file(hands)))
    assert numbers == numbers_of([dataclasses.replace(hand, times=(), comments=()) for hand in hands])
    assert numbers == numbers_of(read_phh("".join(format_phhs(hands)).splitlines(keepends=True), strict=True))
    others = numbers_of([dataclasses.replace(hand, match_name="other") for hand in hands])
    others += numbers_of([dataclasses.replace(hand, names_by_seat=("Ann", "Bob", "Dan")) for hand in hands])
    assert not set(numbers) & set(others)
    assert numbers_of(hands[:1], chip_value=0.01, hero="Ann") == numbers[:1]


def numbers_of(hands: Iterable[HandRecord], **options: Any) -> list[str]:
    hands = list(hands)
    writer = OHH.start(hands[0], ExportOptions(**options))
    return [json.loads(writer.write(hand, 0))["ohh"]["game_number"] for hand in hands]


def test_hands_without_times_follow_each_other_by_a_second() -> None:
    hands = random_hands("nolimit3", 3)
    assert [hand_of(hand)["start_date_utc"] for hand in hands] == [
        "2000-01-01T00:00:00Z", "2000-01-01T00:00:01Z", "2000-01-01T00:00:02Z",
    ]  # fmt: skip
    assert hand_of(hands[2], begin_us=T0)["start_date_utc"] == "2026-11-21T02:18:07Z"
    with pytest.raises(LogsError, match="hand 0 was played at an impossible time"):
        hand_of(dataclasses.replace(hands[0], times=(Times(10**18, 10**18),)))


def test_texts_are_given_or_taken_from_the_match() -> None:
    (hand,) = random_hands("nolimit", 1, names=('Zoë "Z"', "\udcff"))
    seen = hand_of(hand, currency=None)
    assert [player["name"] for player in seen["players"]] == ['Zoë "Z"', "�"]
    assert (seen["table_name"], seen["site_name"], seen["currency"]) == ("match", "acpc-arena", "XPM")
    seen = hand_of(hand, table="T 1", site="S", currency="USD")
    assert (seen["table_name"], seen["site_name"], seen["network_name"], seen["currency"]) == ("T 1", "S", "S", "USD")


def test_a_file_has_one_blank_line_between_hands() -> None:
    hands = random_hands("nolimit", 4)
    same = ExportOptions(match_id="m")
    text = "".join(match_texts(OHH, hands, same))
    assert text == "".join(format_ohh(hand, same) + "\n" for hand in hands)
    assert [json.loads(part)["ohh"]["game_number"][-1] for part in text.removesuffix("\n\n").split("\n\n")] == [
        "0",
        "1",
        "2",
        "3",
    ]


# ---- rake


def test_rake_of_side_pots_is_shared_out() -> None:
    for hand in recorded_hands("sidepots.nolimit.3p.s0"):
        text = hand_of(hand, rake=lambda pot_chips, _: pot_chips / 7)
        total = sum(Decimal(pot["amount"]) for pot in text["pots"])
        assert sum(results(text).values()) == -sum(Decimal(pot["rake"]) for pot in text["pots"])
        for pot in text["pots"]:
            assert abs(Decimal(pot["rake"]) - Decimal(pot["amount"]) / 7) <= Decimal("0.02")
        assert total > 0


# ---- refused hands


# ---- unknown cards


def test_winners_with_unknown_cards_follow_from_the_values() -> None:
    for hand in random_hands("nolimit3", 80, fold=0.05):
        if hand.betting.folded.bit_count() == 1:
            hidden = read_phh(format_phh(hand, ExportOptions(hero="Bob")).splitlines(keepends=True), strict=True)
            assert results(hand_of(next(hidden))) == results(hand_of(hand))
            bare = dataclasses.replace(hand, deal=hand.deal._replace(hole_cards=((), (), ())))
            text = hand_of(bare)
            assert results(text) == results(hand_of(hand))
            assert not list(entries(text, "Dealt Cards"))
            assert not list(entries(text, "Shows Cards"))
