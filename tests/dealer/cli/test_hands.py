"""``arena hands``: selection and output of hands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from logs.contest_scores import largest_losses
from logs.hand_source import find
from tests.dealer.cli.conftest import Arena

PLAY = ("play", "leduc", "random", "calling", "-n", "60", "--seed", "3", "--in-process", "--quiet")


@pytest.fixture
def run(finished_runs: Callable[..., Path]) -> Path:
    return finished_runs(*PLAY)


@pytest.mark.parametrize("player", ["random", "calling"])
def test_worst_hands_have_the_greatest_losses(run: Path, player: str) -> None:
    records = list(find([run]).hands())
    losses = sorted(record.values[record.names.index(player)] for record in records)
    worst = largest_losses(find([run]), player, count=7)
    assert [loss.chips for loss in worst] == losses[:7]
    for loss in worst:
        hand, other = loss.hands
        assert hand.values[hand.names.index(player)] == loss.chips
        assert hand.match_name != other.match_name
        assert (other.hand_number, other.deal.hole_cards) == (hand.hand_number, hand.deal.hole_cards)
        assert other.names == hand.names[::-1]


def test_only_losses_count(run: Path) -> None:
    assert len(largest_losses(find([run]), count=10_000)) == sum(
        record.values[record.names.index("random")] < 0 for record in find([run]).hands()
    )


def test_worst_hands_have_the_same_deal_in_the_other_seating(arena_here: Arena, run: Path) -> None:
    worst = largest_losses(find([run]), "calling", count=1)[0]
    result = arena_here("hands", str(run), "--worst", "1", "--player", "calling")
    assert (result.code, result.err) == (0, "")
    lines = [line for line in result.out.splitlines() if line]
    hand, other = worst.hands
    assert lines[1] == f"1. calling {worst.chips:+,.10g}"
    assert lines[2] == f"{hand.match_name}, hand {hand.hand_number}"
    value = other.values[other.names.index("calling")]
    assert f"The same deal in another seating: calling {value:+,.10g}" in lines
    assert result.out.count(f", hand {hand.hand_number}\n") == 2


def test_hand_is_printed_by_its_number(arena_here: Arena, run: Path) -> None:
    result = arena_here("hands", str(run / "match.a.log"), "--hand", "5")
    (record,) = [record for record in find([run / "match.a.log"]).hands() if record.hand_number == 5]
    assert result.code == 0
    assert "match.a, hand 5\n" in result.out
    for name, value in zip(record.names, record.values, strict=True):
        assert any(name in line and f"{value:+,.10g}" in line for line in result.out.splitlines())


def test_hands_are_printed_as_json(arena_here: Arena, run: Path) -> None:
    worst = largest_losses(find([run]), "calling", count=1)[0]
    (loss_json,) = json.loads(arena_here("hands", str(run), "--worst", "1", "--player", "calling", "--json").out)[
        "losses"
    ]
    assert (loss_json["player"], loss_json["chips"]) == ("calling", worst.chips)
    assert (loss_json["hand"]["match"], loss_json["hand"]["number"]) == (
        worst.hands[0].match_name,
        worst.hands[0].hand_number,
    )
    assert [other["names"] for other in loss_json["others"]] == [loss_json["hand"]["names"][::-1]]
    hands = json.loads(arena_here("hands", str(run), "--hand", "5", "--json").out)["hands"]
    lines = [line for name in "ab" for line in (run / f"match.{name}.log").read_text("utf-8").splitlines()]
    for hand in hands:
        values = "|".join(f"{value:g}" for value in hand["values"])
        assert f"STATE:{hand['state']}:{values}:{'|'.join(hand['names'])}" in lines
    assert [hand["match"] for hand in hands] == ["match.a", "match.b"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--hand", "999"), "there is no hand 999; there are 120 hands, with numbers from 0 to 59"),
        (("--player", "Zoe"), "no player is called 'Zoe'; there are random, calling"),
    ],
)
def test_unknown_hand_or_player_is_refused(arena_here: Arena, run: Path, words: tuple[str, ...], sentence: str) -> None:
    result = arena_here("hands", str(run), *words)
    assert (result.code, result.sentence) == (2, sentence)
