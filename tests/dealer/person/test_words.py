"""Sentences about whole hands."""

from __future__ import annotations

from dealer.person.seat import Scene, in_words
from tests.dealer.person.scenes import scene_of


def sentences(scene: Scene) -> list[str]:
    return [in_words(event, scene) for event in scene.history]


def test_sentences_of_a_hand_to_its_showdown() -> None:
    scene = scene_of("limit", "0:0:rc/rrc/cc/crc:AhKs|AdQd/Ac7d9h/2s/3c")
    assert sentences(scene) == [
        "Bob posts the small blind of 5",
        "You post the big blind of 10",
        "Bob raises to 20",
        "You call 10",
        "Flop: Ac 7d 9h (pot 40)",
        "You bet 10",
        "Bob raises to 20",
        "You call 10",
        "Turn: 2s (pot 80)",
        "You check",
        "Bob checks",
        "River: 3c (pot 80)",
        "You check",
        "Bob bets 20",
        "You call 20",
        "You show Ah Ks, a pair of Aces",
        "Bob shows Ad Qd, a pair of Aces",
        "You win 120",
    ]
    assert scene.score.yours == 60


def test_uncalled_chips_are_returned_after_a_fold() -> None:
    assert sentences(scene_of("nolimit3", "1:0:r300fr900f:|AhKs|"))[-5:] == [
        "Cid folds",
        "You raise to 900",
        "Bob folds",
        "You get 600 back, uncalled",
        "You win 650",
    ]


def test_board_is_completed_after_an_all_in() -> None:
    scene = scene_of("nolimit", "0:0:r20000c///:AhKs|AdKd/Ac7d9h/2s/3c")
    assert sentences(scene)[2:] == [
        "Bob raises to 20,000, all-in",
        "You call 19,900, all-in",
        "Flop: Ac 7d 9h (pot 40,000)",
        "Turn: 2s (pot 40,000)",
        "River: 3c (pot 40,000)",
        "You show Ah Ks, a pair of Aces",
        "Bob shows Ad Kd, a pair of Aces",
        "You win 20,000",
        "Bob wins 20,000",
    ]


def test_rounds_without_names_are_numbered() -> None:
    assert sentences(scene_of("leduc", "1:0:cc/rc:Ks|Kh/Qs")) == [
        "Bob posts 1",
        "You post 1",
        "Bob checks",
        "You check",
        "Round 2: Qs (pot 2)",
        "Bob bets 4",
        "You call 4",
        "Bob shows Ks",
        "You show Kh",
        "Bob wins 5",
        "You win 5",
    ]


def test_odd_chips_are_shown_as_fractions() -> None:
    scene = scene_of("limit3", "1:0:cfc/cc/cc/cc:|AhKs|AdKd/Ac7d9h/2s/3c")
    assert sentences(scene)[-2:] == ["You win 12.5", "Bob wins 12.5"]


def test_control_characters_in_names_are_replaced() -> None:
    scene = scene_of("kuhn", "0:0:r:Ks|", names=("Ann", "B\x1b[2Jb"))
    assert sentences(scene)[1] == "B\ufffd[2Jb posts 1"
