"""The screens of a person at the table, as they were last agreed on, in windows of three widths and in ASCII.

After a wanted change write them anew and look at the difference before committing it:

    ARENA_UPDATE_SNAPSHOTS=1 pytest tests/dealer/person/test_screen.py && git diff tests/dealer/person
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.text import Text

from bots.human import MatchScore, Scene
from dealer.person.screen import (
    all_cards_lines,
    event_line,
    hand_heading,
    help_lines,
    prompt_lines,
    replay_lines,
    result_lines,
    score_lines,
    table_lines,
    wrapped,
)
from dealer.person.sentences import game_sentence
from dealer.person.styles import Styles
from engine import Deal, Game, Hand, Seat, parse_cards
from logs import HandRecord, PlayerComment
from logs.estimation import Rate
from protocol import find_game, parse_match_state, shipped_games
from tests.bots.human.scenes import NAMES, scene_of

SNAPSHOTS = Path(__file__).parent / "snapshots"
INKS = {
    "40": Styles(40),
    "80": Styles(80),
    "120": Styles(120),
    "80-ascii": Styles(80, is_ascii=True),
}
SCENES = {
    "limit, facing a bet": ("limit", "1:16:rc/r:|AhKs/2c7d9h"),
    "limit, checked to, on the river": ("limit", "0:16:rc/cc/cc/:AhTs|/2c7dAd/Th/3s"),
    "limit, lost at the showdown": ("limit", "0:16:rc/crc/cc/cc:AhKs|9c9d/2c7d9h/Th/3s"),
    "no-limit, six players, before the flop": ("nolimit6", "3:2:r300:|||QhQs||"),
    "no-limit, six players, all-in on the turn": (
        "nolimit6",
        "3:2:fr300ffcc/ccr900cf/r20000:|||QhQs||/2c7d9h/Qd",
    ),
    "Kuhn": ("kuhn", "1:0:c:|Ks"),
    "Kuhn, three players, folded": ("kuhn3", "2:4:rff:||As"),
    "Leduc": ("leduc", "0:1:rc/:Ks|/Qh"),
    "ten players": ("nolimit10", "1:0:ffr250fffccc:|8d8s||||||||"),
}
LONG = ("A-very-long-name-that-no-table-has-room-for", "B", *NAMES[2:])


def drawn(name: str, styles: Styles) -> list[Text]:
    """Everything that is shown of a scene."""
    game, *states = SCENES[name]
    scene = scene_of(game, *states, names=LONG if name == "ten players" else NAMES)
    lines = hand_heading(scene, styles)
    for one in scene.history:
        lines += event_line(one, scene, styles)
    if scene.is_your_turn:
        lines += table_lines(scene, styles)
    lines += result_lines(scene, styles) if scene.finished else prompt_lines(scene, styles)
    return lines


def record() -> HandRecord:
    """A hand with a fold that hides cards, and with words of both players."""
    game = find_game("limit3")[1]
    hand = Hand(game, Deal(tuple(map(parse_cards, ("AhKs", "2c2d", "9s9d"))), parse_cards("2h7d9hTh3s")))
    state = parse_match_state("MATCHSTATE:0:3:crfc/cc/cc/cc:AhKs||9s9d/2h7d9h/Th/3s", game)
    for actions in state.rounds:
        for action in actions:
            hand.apply(action)
    comments = (
        PlayerComment(Seat(0), 0, "# I have nines, and CHANCE 51.0, POT 1.5, ODDS 3, so I call; c"),
        PlayerComment(Seat(2), 2, "; folding \x1b[31mred"),
    )
    return HandRecord(
        game,
        "match",
        3,
        ("Ann", "Bob", "Cid"),
        (Seat(1), Seat(2), Seat(0)),
        hand.deal,
        hand.betting,
        tuple(hand.values()),
        comments=comments,
    )


def section(title: str, lines: Sequence[Text], styles: Styles) -> list[str]:
    assert all(len(line) <= styles.width for line in lines), title
    return [f"== {title}", *(line.plain for line in lines), ""]


@pytest.mark.parametrize("name", INKS)
def test_the_screens_are_those_agreed_on(name: str) -> None:
    styles = INKS[name]
    parts = []
    for title in SCENES:
        parts += section(title, drawn(title, styles), styles)
    ended = scene_of("kuhn3", "2:4:rff:||As")
    parts += section("between two hands", prompt_lines(ended, styles), styles)
    parts += section("after the last hand", prompt_lines(ended, styles, is_last=True), styles)
    parts += section("help, limit", help_lines(find_game("limit")[1], styles), styles)
    parts += section("help, no-limit", help_lines(find_game("nolimit")[1], styles), styles)
    parts += section("a hand again", replay_lines(record(), styles), styles)
    parts += section("all cards", all_cards_lines(record(), styles), styles)
    for score in (
        MatchScore(0, (0, 0), Seat(0)),
        MatchScore(1, (0.5, -0.5), Seat(0)),
        MatchScore(250, (-1250, 1250), Seat(1), Rate(500.0, 700.0, player="Bob", opponent="Ann")),
        MatchScore(90_000, (-45_000, 45_000), Seat(1), Rate(500.0, 30.0, player="Bob", opponent="Ann")),
    ):
        parts += section(f"score after {score.hands}", score_lines(NAMES[:2], score, styles), styles)
    for game in shipped_games():
        parts += section(game, wrapped(game_sentence(find_game(game)[1]), styles), styles)
    text = "\n".join(parts)
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert not styles.is_ascii or text.isascii()
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize("is_ascii", [False, True])
def test_no_line_is_wider_than_the_window(is_ascii: bool) -> None:
    for styles in (Styles(width, is_ascii) for width in (*range(30, 120, 9), 59, 60, 99, 100, 120)):
        lines = [line for title in SCENES for line in drawn(title, styles)]
        lines += [*replay_lines(record(), styles), *help_lines(find_game("limit")[1], styles)]
        assert all(len(line) <= styles.width for line in lines)
        assert not is_ascii or all(line.plain.isascii() for line in lines)


def test_a_stack_matters_where_it_can_be_lost() -> None:
    def shown(game: Game) -> str:
        return game_sentence(game)

    assert shown(find_game("nolimit")[1]).endswith("stacks 20,000")
    assert "stacks" not in shown(find_game("limit")[1])


def test_a_scene_has_no_card_that_the_person_has_not_seen() -> None:
    scene: Scene = scene_of("limit", "1:16:rc/r:|AhKs/2c7d9h")
    text = "\n".join(line.plain for line in drawn("limit, facing a bet", Styles(80)))
    assert scene.all_hole_cards[0] == ()
    assert sum(text.count(symbol) for symbol in "♠♥♦♣") == 2 + 3 + 2 + 3
