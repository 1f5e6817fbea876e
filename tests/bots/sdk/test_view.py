"""Views of whole hands, number by number; both constructors compared."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bots.sdk.view import MAX_COMMENT_BYTES, MAX_WAITING_COMMENTS, View
from engine import CALL, FOLD, RAISE, Category, Deal, Hand, IllegalAction, Position, deals, parse_cards, raise_to
from protocol import find_game, parse_match_state, shipped_games
from protocol.match_state import betting_after

ViewOf = Callable[[str, str], View]


def test_limit_preflop(view_of: ViewOf) -> None:
    view = view_of("limit", "MATCHSTATE:1:7:cr:|AhKs")
    assert view.hand_number == 7
    assert view.position == 1
    assert view.acting_position == 1
    assert view.is_my_turn
    assert view.hole_cards == parse_cards("AhKs")
    assert view.all_hole_cards == ((), parse_cards("AhKs"))
    assert (view.hole_text, view.board_text, view.board) == ("AhKs", "", ())
    assert (view.round, view.round_name) == (0, "preflop")
    assert view.actions_by_round == (((1, CALL), (0, RAISE)),)
    assert view.round_actions == ((1, CALL), (0, RAISE))
    assert view.raises_this_round == 1
    assert (view.pot, view.to_call, view.pot_odds) == (30, 10, 0.25)
    assert view.hand_committed == view.street_committed == (20, 10)
    assert (view.big_blind, view.num_players) == (10, 2)
    assert (view.can_fold, view.can_call, view.can_raise) == (True, True, True)
    assert (view.min_raise_hand_total, view.max_raise_hand_total) == (30, 30)
    assert (view.min_raise_street_total, view.max_raise_street_total) == (30, 30)
    assert view.raise_min() == view.raise_by_pot(3.0) == view.all_in() == RAISE
    assert (view.fold(), view.call(), view.raise_to(30)) == (FOLD, CALL, raise_to(30))
    assert view.players_behind == ()
    assert not view.finished
    assert not view.is_showdown


def test_limit_flop_has_street_totals_of_its_own(view_of: ViewOf) -> None:
    view = view_of("limit", "MATCHSTATE:1:7:cc/r:|AhKs/2cAd9h")
    assert view.round_name == "flop"
    assert view.hand_committed == (20, 10)
    assert view.street_committed == (10, 0)
    assert view.min_raise_hand_total == 30
    assert view.min_raise_street_total == view.max_raise_street_total == 20
    assert (view.to_street_total(30), view.to_hand_total(20)) == (20, 30)
    assert view.category is Category.PAIR
    assert view.board_text == "2cAd9h"


def test_limit_raise_cap(view_of: ViewOf) -> None:
    view = view_of("limit", "MATCHSTATE:1:0:crrr:|AhKs")
    assert not view.can_raise
    assert (view.min_raise_hand_total, view.max_raise_hand_total) == (0, 0)
    assert (view.min_raise_street_total, view.max_raise_street_total) == (0, 0)
    assert view.raise_min() == view.raise_by_pot(1.0) == view.all_in() == CALL


def test_nolimit_preflop_sizes(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:1:0::|AsAd")
    assert (view.pot, view.to_call) == (150, 50)
    assert (view.min_raise_hand_total, view.max_raise_hand_total) == (200, 20000)
    assert view.raise_min() == raise_to(200)
    assert view.raise_by_pot(1.0) == raise_to(300)
    assert view.raise_by_pot(0.5) == raise_to(200)
    assert view.raise_by_pot(0.1) == raise_to(200), "held to the smallest"
    assert view.raise_by_pot(1000.0) == raise_to(20000), "held to the stack"
    assert view.all_in() == raise_to(20000)
    assert view.nearest_legal(raise_to(1)) == raise_to(200)
    assert (view.stack_left, view.stacks_left) == (19950, (19900, 19950))
    assert view.category is Category.PAIR
    assert view.players_behind == (0,)


def test_nolimit_flop_sizes(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:1:0:r300c/r750:|KhKd/2c7d9h")
    assert (view.pot, view.to_call, view.pot_odds) == (1050, 450, 0.3)
    assert view.street_committed == (450, 0)
    assert (view.min_raise_hand_total, view.min_raise_street_total) == (1200, 900)
    assert (view.max_raise_hand_total, view.max_raise_street_total) == (20000, 19700)
    assert view.raise_to_street(900) == raise_to(1200)
    assert view.raise_by_pot(1.0) == raise_to(750 + 1050 + 450)
    assert view.to_street_total(1200) == 900


def test_check_costs_nothing_and_nothing_can_be_folded_to(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:0:0:r300c/:KhKd|/2c7d9h")
    assert (view.to_call, view.pot_odds) == (0, 0.0)
    assert not view.can_fold
    assert view.nearest_legal(FOLD) == CALL
    assert (view.min_raise_hand_total, view.min_raise_street_total) == (400, 100)
    assert view.raise_by_pot(0.5) == raise_to(600)


def test_not_my_turn(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:0:0::KhKd|")
    assert not view.is_my_turn
    assert (view.can_fold, view.can_call, view.can_raise) == (False, False, False)
    assert (view.to_call, view.pot_odds) == (0, 0.0)
    assert (view.min_raise_hand_total, view.max_raise_street_total) == (0, 0)


def test_three_players(view_of: ViewOf) -> None:
    opening = view_of("nolimit3", "MATCHSTATE:2:0::||AsAd")
    assert opening.players_behind == (0, 1)
    assert opening.active_positions == (0, 1, 2)
    assert view_of("nolimit3", "MATCHSTATE:0:0:c:AsAd||").players_behind == (1,)
    assert view_of("nolimit3", "MATCHSTATE:1:0:cc:|AsAd|").players_behind == ()
    facing = view_of("nolimit3", "MATCHSTATE:1:0:r300f:|AsAd|")
    assert (facing.active_positions, facing.folded_positions) == ((1, 2), (0,))
    assert (facing.pot, facing.to_call) == (450, 200)
    assert facing.players_behind == ()
    flop = view_of("nolimit3", "MATCHSTATE:1:0:r300fc/:|AsAd|/2c7d9h")
    assert flop.players_behind == (2,)
    assert flop.street_committed == (0, 0, 0)


def test_kuhn(view_of: ViewOf) -> None:
    view = view_of("kuhn", "MATCHSTATE:0:3:cr:Qs|")
    assert view.round_name == "round 0"
    assert (view.pot, view.to_call) == (3, 1)
    assert not view.can_raise
    assert view.category is Category.HIGH_CARD
    better = view_of("kuhn", "MATCHSTATE:0:3:cr:Ks|")
    assert better.rank > view.rank
    end = view_of("kuhn", "MATCHSTATE:0:3:crc:Qs|Ks")
    assert end.is_showdown
    assert (end.value, end.values) == (-2.0, (-2.0, 2.0))


def test_leduc(view_of: ViewOf) -> None:
    view = view_of("leduc", "MATCHSTATE:0:0:crc/:Ks|/Kh")
    assert view.category is Category.PAIR
    assert view.round_name == "round 1"
    assert view.min_raise_street_total == 4
    assert view.min_raise_hand_total == 7


def test_finished_by_fold(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:0:0:r300f:KhKd|")
    assert view.finished
    assert not view.is_showdown
    assert not view.is_my_turn
    assert view.value == -100.0
    assert view.acting_position == -1
    assert view.players_behind == ()
    with pytest.raises(IllegalAction):
        view.raise_min()


def test_finished_by_showdown_all_in(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:0:0:r20000c///:KhKd|AsAd/2c7d9h/3c/4s")
    assert view.is_showdown
    assert view.round_name == "river"
    assert view.value == -20000.0
    assert view.all_hole_cards == (parse_cards("KhKd"), parse_cards("AsAd"))
    assert view.stacks_left == (0, 0)


def test_no_value_before_the_end(view_of: ViewOf) -> None:
    with pytest.raises(ValueError, match="not over"):
        _ = view_of("kuhn", "MATCHSTATE:0:3:cr:Qs|").value


def test_comments_are_one_bounded_line_each(view_of: ViewOf) -> None:
    view = view_of("kuhn", "MATCHSTATE:0:3:cr:Qs|")
    view.comment("two\r\nlines\0")
    view.comment("ä" * MAX_COMMENT_BYTES)
    assert view.comments[0] == b"# two lines \r\n"
    assert view.comments[1] == b"# " + "ä".encode() * (MAX_COMMENT_BYTES // 2) + b"\r\n"
    for _ in range(2 * MAX_WAITING_COMMENTS):
        view.comment("again")
    assert len(view.comments) == MAX_WAITING_COMMENTS


def test_a_comment_of_half_a_surrogate_is_still_sent(view_of: ViewOf) -> None:
    view = view_of("kuhn", "MATCHSTATE:0:3:cr:Qs|")
    view.comment("\udc80")
    assert view.comments == [b"# ?\r\n"]


def test_repr_names_the_state(view_of: ViewOf) -> None:
    assert repr(view_of("kuhn", "MATCHSTATE:0:3:cr:Qs|")) == "<View MATCHSTATE:0:3:cr:Qs|>"


def check_against_text(hand: Hand, position: Position, hand_number: int) -> None:
    """Compare the view of a hand in this process with that of a dealer's messages."""
    view = View.from_hand(hand, position, hand_number)
    text = view.match_state.format()
    state = parse_match_state(text, hand.game)
    from_text = View.from_state(state, betting_after(hand.game, text.split(":")[3]))
    assert from_text.match_state == view.match_state
    assert from_text.board == view.board == hand.board
    assert (from_text.betting.spent, from_text.position) == (view.betting.spent, view.position)
    for p, cards in enumerate(view.all_hole_cards):
        shown = p == position or (hand.is_showdown and not hand.betting.folded >> p & 1)
        assert cards == (hand.deal.hole_cards[p] if shown else ())
    if hand.finished:
        assert from_text.value == pytest.approx(hand.values()[position])
    else:
        assert sum(view.street_committed) <= view.pot
        assert sorted((*view.active_positions, *view.folded_positions)) == list(range(hand.game.num_players))


@pytest.mark.sampled
@pytest.mark.parametrize("views", [30, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", shipped_games())
def test_views_of_random_hands(name: str, views: int) -> None:
    """Larger tables have fewer hands, with more views each."""
    game = find_game(name)[1]
    rng = random.Random(1)
    source = deals(game, 5)
    for number in range(views // game.num_players):
        hand = Hand(game, next(source))
        while True:
            for p in range(game.num_players):
                check_against_text(hand, Position(p), number)
            if hand.finished:
                break
            view = View.from_hand(hand, hand.acting_position, number)
            choices = [view.call(), view.raise_min(), view.raise_by_pot(rng.random() * 2), view.nearest_legal(FOLD)]
            hand.apply(rng.choice(choices))


def test_folded_cards_are_shown_to_their_owner_only() -> None:
    game = find_game("limit3")[1]
    deal = Deal((parse_cards("2c3d"), parse_cards("AsAd"), parse_cards("KsKd")), parse_cards("5h7h9hJcQc"))
    hand = Hand(game, deal)
    hand.apply(RAISE)
    hand.apply(FOLD)
    while not hand.finished:
        hand.apply(CALL)
    assert View.from_hand(hand, Position(1)).all_hole_cards == ((), parse_cards("AsAd"), parse_cards("KsKd"))
    assert View.from_hand(hand, Position(0)).all_hole_cards == deal.hole_cards


# ---- the table of the guide

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "python-sdk.md"
UNLISTED = {
    "acting_position",
    "betting",
    "comments",
    "finished",
    "game",
    "is_my_turn",
    "legal",
    "match_state",
    "from_deal",
    "from_hand",
    "from_holding",
    "from_state",
    "to_hand_total",
    "to_street_total",
}
"""Attributes for advanced bots, documented in their docstrings."""


def rows_of_the_guide() -> Iterator[tuple[list[str], list[str]]]:
    """Return names and types of each row."""
    text = GUIDE.read_text("utf-8")
    table = text[text.index("| question | answer | type |") :].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        answer, kind = line.strip("| ").split(" | ")[-2:]
        yield re.findall(r"`(\w+)", answer), re.findall(r"`(\w+)", kind)


def test_guide_lists_the_attributes_of_a_view_with_their_types(view_of: ViewOf) -> None:
    views = [
        view_of("nolimit", "MATCHSTATE:1:0:r300c/:|AhKs/Kc8c3d"),
        view_of("nolimit", "MATCHSTATE:1:0:r300c/cc/cc/cc:2c2d|AhKs/Kc8c3d/4s/5s"),
    ]
    listed = set()
    for names, kinds in rows_of_the_guide():
        listed |= set(names)
        for name in names:
            value = getattr(views[name in ("value", "values")], name)
            if not callable(value):
                type_ = type(value)
                assert {base.__name__ for base in type_.__mro__} & set(kinds), (name, type_, kinds)
    public = {name for name in dir(View) if not name.startswith("_")}
    assert listed == public - UNLISTED
