"""Screens of a person at a table, compared with snapshots for three widths and for ASCII.

After an intended change, update the snapshots and review the difference:

    ARENA_UPDATE_SNAPSHOTS=1 pytest tests/dealer/person/test_screen.py && git diff tests/dealer/person
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dealer.person.screen import Screen
from dealer.person.seat import MatchScore, Scene
from dealer.person.table_sentences import game_sentence, result_sentence
from dealer.person.terminal_table import (
    show_again,
    show_event,
    show_heading,
    show_keys,
    show_players,
    show_position,
    show_prompt,
    show_score,
)
from engine import Deal, Hand, Seat, parse_cards
from logs import HandRecord, PlayerComment
from logs.estimation import Rate
from protocol import find_game, parse_match_state, shipped_games
from tests.dealer.person.scenes import NAMES, scene_of

SNAPSHOTS = Path(__file__).parent / "snapshots"
WINDOWS = {"40": (40, False), "80": (80, False), "120": (120, False), "80-ascii": (80, True)}
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


class Page:
    """Window with its output."""

    def __init__(self, width: int, *, is_ascii: bool = False) -> None:
        self._bytes = io.BytesIO()
        file = io.TextIOWrapper(self._bytes, encoding="ascii" if is_ascii else "utf-8", write_through=True)
        self.screen = Screen(Console(file=file, force_terminal=True, color_system=None, width=width))

    @property
    def text(self) -> str:
        return self._bytes.getvalue().decode()

    def draw(self, name: str) -> None:
        """Print all parts of a scene."""
        game, *states = SCENES[name]
        scene = scene_of(game, *states, names=LONG if name == "ten players" else NAMES)
        show_heading(scene, self.screen)
        for event in scene.history:
            show_event(event, scene, self.screen)
        if scene.is_your_turn:
            show_position(scene, self.screen)
        else:
            self.screen.say(result_sentence(scene))
        show_prompt(scene, self.screen, is_last=False)
        show_players(scene, self.screen)


def record() -> HandRecord:
    """Record of a hand with a fold that hides cards and with comments of two players."""
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


@pytest.mark.parametrize("name", WINDOWS)
def test_screens_equal_their_snapshots(name: str) -> None:
    width, is_ascii = WINDOWS[name]
    page = Page(width, is_ascii=is_ascii)
    screen = page.screen

    def section(title: str) -> None:
        screen.console.print(f"\n== {title}", soft_wrap=True)

    for title in SCENES:
        section(title)
        page.draw(title)
    section("after the last hand")
    show_prompt(scene_of(*SCENES["limit, lost at the showdown"]), screen, is_last=True)
    for game in ("limit", "nolimit"):
        section(f"help, {game}")
        show_keys(find_game(game)[1], screen)
    section("a hand again")
    show_again(record(), screen)
    scene = scene_of(*SCENES["Kuhn"])
    for score in (
        MatchScore(0, (0, 0), Seat(0)),
        MatchScore(1, (0.5, -0.5), Seat(0)),
        MatchScore(250, (-1250, 1250), Seat(1), Rate(500.0, 700.0, player="Bob", opponent="Ann")),
        MatchScore(90_000, (-45_000, 45_000), Seat(1), Rate(500.0, 30.0, player="Bob", opponent="Ann")),
    ):
        section(f"score after {score.hands}")
        show_score(NAMES[:2], replace(scene, score=score), screen)
    for game in shipped_games():
        section(game)
        screen.say(game_sentence(find_game(game)[1]))
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
        path.write_text(page.text, "utf-8")
    assert page.text == path.read_text("utf-8")


@pytest.mark.parametrize("is_ascii", [False, True])
def test_no_line_is_wider_than_the_window(is_ascii: bool) -> None:
    for width in (36, 59, 100):
        page = Page(width, is_ascii=is_ascii)
        for title in SCENES:
            page.draw(title)
        show_again(record(), page.screen)
        show_keys(find_game("limit")[1], page.screen)
        assert max(map(len, page.text.splitlines())) <= width


def printed_cards(*cards: str, **console: Any) -> str:
    """Output of a console for a line of cards."""
    file = io.StringIO()
    screen = Screen(Console(file=file, width=80, **console), has_four_colours="color_system" in console)
    screen.say(" ".join(cards))
    return file.getvalue()


def test_suits_have_colours() -> None:
    coloured = printed_cards("2c", "Td", "Kh", "As", force_terminal=True, color_system="standard", no_color=False)
    assert coloured == "\x1b[1;32m2♣\x1b[0m \x1b[1;94mT♦\x1b[0m \x1b[1;91mK♥\x1b[0m \x1b[1mA♠\x1b[0m\n"
    assert printed_cards("2c", "Td", "Kh", "As") == "2♣ T♦ K♥ A♠\n"
    line = Screen(Console(file=io.StringIO())).painted("You show As Td, a pair")
    assert [(span.start, span.end, span.style) for span in line.spans] == [(12, 14, "bold bright_red"), (9, 11, "bold")]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_encoding_without_suits_has_letters(encoding: str) -> None:
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=50)
    assert Screen(console).painted("Ah, +5 ± 1 é").plain == "Ah, +5 +/- 1 ?"


@pytest.mark.parametrize(("width", "drawn"), [(5, 36), (40, 40), (100, 100), (300, 120)])
def test_width_is_that_of_the_window_within_limits(width: int, drawn: int) -> None:
    assert Screen(Console(file=io.StringIO(), force_terminal=True, width=width)).width == drawn
    assert Screen(Console(file=io.StringIO(), width=width)).width == 80


def test_stacks_are_mentioned_if_they_can_be_lost() -> None:
    assert game_sentence(find_game("nolimit")[1]).endswith("stacks 20,000")
    assert "stacks" not in game_sentence(find_game("limit")[1])


def test_scene_has_only_cards_that_the_person_has_seen() -> None:
    scene: Scene = scene_of("limit", "1:16:rc/r:|AhKs/2c7d9h")
    page = Page(80)
    page.draw("limit, facing a bet")
    assert scene.all_hole_cards[0] == ()
    assert sum(page.text.count(symbol) for symbol in "♠♥♦♣") == 2 + 3 + 2 + 3
