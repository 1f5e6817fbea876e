"""What a person at the table sees, as lines of a terminal. Nothing is printed here, no line is wider than the window.

The screen scrolls: what happens is printed line by line, and whenever the person is to act, the table is drawn below
it. So a transcript of a match reads like its history.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from rich.text import Text

from bots.human import MOVED, MatchScore, Scene, in_words, possible
from dealer.person.sentences import result_sentence, score_remark, score_text, signed_chips
from dealer.person.styles import Styles
from engine import Game, Move
from engine.text import count_of, shown
from logs import HandRecord
from logs.poker_table.faces import with_symbols
from logs.view import Acted, Dealt, HandEvent, PlayerView, views_of

_BOXED_FROM: Final = 60
"""Cards are drawn as boxes from this width on,"""
_BESIDE_FROM: Final = 100
"""and next to the players from this one."""
_INDENT: Final = "  "


def wrapped(text: str, styles: Styles, indent: str = "") -> list[Text]:
    """A sentence in lines, broken between words, the cards in it in their colours."""
    lines = textwrap.wrap(text, styles.width - len(indent), break_on_hyphens=False)
    return [styles.coloured(indent + line) for line in lines]


def _rule(left: str, right: str, styles: Styles) -> Text:
    """A line across the window with a heading, and a remark at its right end where there is room."""
    left = styles.cut(f"{2 * styles.line} {left} ", styles.width)
    right = f" {right} {2 * styles.line}" if right else ""
    fill = styles.width - len(left) - len(right)
    if fill < 2:
        right, fill = "", styles.width - len(left)
    return Text(left + fill * styles.line + right, "bold")


def hand_heading(scene: Scene, styles: Styles) -> list[Text]:
    """The lines with which a hand begins."""
    heading = _rule(f"hand {scene.hand_number}", _score_text(scene), styles)
    return [
        heading,
        *wrapped(f"You have {styles.cards_text(scene.game.shown_cards(scene.hole_cards))}", styles, _INDENT),
    ]


def _score_text(scene: Scene) -> str:
    score = scene.score
    if not score.hands:
        return ""
    return f"you {score_text(score)}"


def event_line(event: HandEvent, scene: Scene, styles: Styles) -> list[Text]:
    """What has happened, line by line."""
    text = in_words(event, scene, styles.cards_text)
    lines = wrapped(text, styles, "" if isinstance(event, Dealt) else _INDENT)
    if isinstance(event, Dealt):
        for line in lines:
            line.stylize("bold")
    elif isinstance(event, Acted) and event.move is Move.FOLD:
        for line in lines:
            line.stylize("dim")
    return lines


def table_lines(scene: Scene, styles: Styles) -> list[Text]:
    """The table as it is when the person is to act: the players, the cards, the pot."""
    rows = _player_rows(scene, styles)
    if styles.width < _BESIDE_FROM:
        return [*rows, *_cards_lines(scene, styles)]
    most = max(map(len, rows))
    cards = _cards_lines(scene, replace(styles, width=styles.width - most - 3))
    joined = []
    for row, line in zip_longest(rows, cards, fillvalue=Text("")):
        joined.append(Text.assemble(row, " " * (most - len(row)), "   ", line) if line else row)
    return joined


def _player_rows(scene: Scene, styles: Styles) -> list[Text]:
    players = scene.moment.seats
    most_name = max(len(shown(player.name)) for player in players)
    bets = [f"{player.street_total:,}" if player.street_total else "" for player in players]
    stacks = ["" if player.stack_left is None else f"{player.stack_left:,}" for player in players]
    places = [player.place for player in players]
    sizes = [max(map(len, column)) for column in (places, bets, stacks)]
    standings = [_standing(player, is_you=player.position == scene.position) for player in players]
    titles = ("bet", "stack" if sizes[2] else "")
    widths = [sizes[0], *(max(size, len(title)) for size, title in zip(sizes[1:], titles, strict=True))]
    # Mark, place, name, bet, stack and what was done last, with a blank between any two.
    used = 2 + widths[0] + 1 + 2 + widths[1] + (2 + widths[2] if widths[2] else 0) + 2
    name_width = max(4, min(most_name, styles.width - used - max(map(len, standings))))
    head = f"{'':{2 + widths[0] + 1 + name_width}}  {titles[0]:>{widths[1]}}"
    head += f"  {titles[1]:>{widths[2]}}" if widths[2] else ""
    rows = [Text(head.rstrip(), "dim")]
    for player, place, bet, stack, words in zip(players, places, bets, stacks, standings, strict=True):
        name = styles.cut(shown(player.name), name_width)
        row = f"{'D' if player.is_button else ' '} {place:<{widths[0]}} {name:<{name_width}}  {bet:>{widths[1]}}"
        row += f"  {stack:>{widths[2]}}" if widths[2] else ""
        style = "dim" if player.has_folded else "bold" if player.position == scene.position else ""
        rows.append(Text(styles.cut(f"{row}  {words}".rstrip(), styles.width), style))
    return rows


def _standing(player: PlayerView, *, is_you: bool) -> str:
    if player.is_acting and is_you:
        return "to act"
    if player.has_folded:
        return "folded"
    if player.is_all_in:
        return "all-in"
    return "" if player.move is None else MOVED[player.move]


def _cards_lines(scene: Scene, styles: Styles) -> list[Text]:
    """The person's cards, the board and the pot."""
    hole_cards, board = map(scene.game.shown_cards, (scene.hole_cards, scene.board))
    remarks = f"{scene.round_name} {styles.dot} pot {scene.pot:,}" + (
        f" {styles.dot} {scene.strength}" if scene.strength else ""
    )
    if styles.width < _BOXED_FROM:
        line = styles.cards(hole_cards)
        if board:
            line = Text.assemble(line, " | ", styles.cards(board))
        return [Text.assemble(_INDENT, line), *wrapped(remarks, styles, _INDENT)]
    lines = [Text.assemble(_INDENT, line) for line in styles.boxes(hole_cards)]
    if board:
        lines = [Text.assemble(line, "   ", more) for line, more in zip(lines, styles.boxes(board), strict=True)]
    joined = Text.assemble(lines[1], f"   {remarks}")
    if len(joined) <= styles.width:
        return [lines[0], joined, lines[2]]
    return [*lines, *wrapped(remarks, styles, _INDENT)]


def prompt_lines(scene: Scene, styles: Styles, *, is_last: bool = False) -> list[Text]:
    """What the person may type; after a hand, which may be the last of the match, how to go on."""
    if scene.is_your_turn:
        ways = possible(scene)
    else:
        ways = [("Enter", "end the match" if is_last else "next hand"), ("s", "show this one again, with reasons")]
    return _parted([f"{keys} {does}" for keys, does in (*ways, ("q", "leave"), ("?", "help"))], styles)


def _parted(remarks: Sequence[str], styles: Styles) -> list[Text]:
    """Remarks with a dot between them; a line ends between two of them where that can be."""
    lines = [""]
    for remark in remarks:
        joined = f"{lines[-1]} {styles.dot} {remark}" if lines[-1] else remark
        if len(joined) <= styles.width or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(remark)
    return [broken for line in lines for broken in wrapped(line, styles)]


def help_lines(game: Game, styles: Styles) -> list[Text]:
    """All keys, each followed by Enter."""
    rows = [
        ("f", "fold"),
        ("c", "call; check where there is nothing to call (also k)"),
    ]
    if game.is_limit:
        rows.append(("r", "bet or raise; the game fixes the size"))
    else:
        rows += [
            ("300", "bet 300, or raise to 300: your total for this round (also r 300)"),
            ("p, p/2, 2p", "call, then raise by the pot, half of it, twice it (also 75%)"),
            ("m, a", "the smallest raise; all-in"),
        ]
    rows += [
        ("t", "draw the table again"),
        ("w", "the score and its interval"),
        ("s, s 12", "show the last hand, or hand 12, again, with the reasons that bots gave"),
        ("q", "leave; the match can be resumed"),
    ]
    width = max(len(key) for key, _ in rows)
    lines = []
    for key, does in rows:
        first, *rest = wrapped(does, Styles(styles.width - width - 4, styles.is_ascii))
        lines.append(Text.assemble((f"  {key:<{width}}", "bold"), "  ", first))
        lines += [Text.assemble(" " * (width + 4), line) for line in rest]
    return lines


def result_lines(scene: Scene, styles: Styles) -> list[Text]:
    """The end of a hand: what it meant for the person, and the score."""
    return wrapped(result_sentence(scene), styles)


def score_lines(names: Sequence[str], score: MatchScore, styles: Styles) -> list[Text]:
    """The score of all players, by seat."""
    if not score.hands:
        return [Text("No hand has been finished yet.")]
    width = max(len(signed_chips(chips)) for chips in score.chips)
    lines = [
        Text(
            styles.cut(f"{_INDENT}{signed_chips(chips):>{width}}  {shown(name)}", styles.width),
            "bold" * (seat == score.seat),
        )
        for seat, (name, chips) in enumerate(zip(names, score.chips, strict=True))
    ]
    return [*lines, *wrapped(f"After {count_of(score.hands, 'hand')} {score_remark(score)}.", styles)]


def all_cards_lines(record: HandRecord, styles: Styles) -> list[Text]:
    """The cards of all players, folded or not, once a hand is over."""
    names = [shown(name) for name in record.names]
    width = min(max(map(len, names)), styles.width - 12)
    return [
        Text.assemble(f"{_INDENT}{styles.cut(name, width):<{width}}  ", styles.cards(record.game.shown_cards(hole)))
        for name, hole in zip(names, record.deal.hole_cards, strict=True)
    ]


def replay_lines(record: HandRecord, styles: Styles) -> list[Text]:
    """A finished hand again, with the bots' comments on their actions and the cards of all players."""
    lines = [_rule(f"hand {record.hand_number} again", "", styles), *all_cards_lines(record, styles)]
    for view in views_of(record):
        words = view.words if styles.is_ascii else with_symbols(view.words)
        lines += (
            wrapped(f"{words} (pot {view.pot:,})", styles) if view.begins_round else wrapped(words, styles, _INDENT)
        )
        for name, text in view.comments:
            lines += wrapped(f"{name}: {text}", styles, 2 * _INDENT)
    return lines
