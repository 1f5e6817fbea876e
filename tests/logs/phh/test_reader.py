"""Reading PHH written here and by other programs, and the reasons to skip hands."""

from __future__ import annotations

import dataclasses
from collections import Counter
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from engine import format_cards
from engine.game import DEFAULT_STACK
from logs import HandRecord
from logs.errors import DamagedLogError, LogError, LogProblem, ProblemKind
from logs.formats.export_format import ExportOptions
from logs.phh import format_phh, format_phhs, read_phh
from protocol.match_state import betting_text
from tests.logs.hands import (
    HOLDEM,
    as_seen,
    each_byte_changed,
    random_hands,
    recorded_cases,
    recorded_hands,
)


def read(text: str, **options: Any) -> tuple[list[HandRecord], list[str]]:
    """Return the hands of a text, and its problems as sentences."""
    problems: list[LogProblem] = []
    hands = list(read_phh(text.splitlines(keepends=True), on_problem=problems.append, **options))
    return hands, [str(problem) for problem in problems]


def read_single(text: str, **options: Any) -> HandRecord:
    """Return the single hand of a text without problems."""
    (hand,), problems = read(text, **options)
    assert problems == []
    return hand


def as_kept(record: HandRecord) -> HandRecord:
    """Return the part of a hand that PHH keeps: all but unseen cards."""
    return dataclasses.replace(as_seen(record), times=record.times, comments=record.comments)


# ---- written hands are read back


@pytest.mark.sampled
@pytest.mark.parametrize("name", HOLDEM)
@pytest.mark.parametrize("fixed_seats", [False, True])
def test_every_shipped_game_comes_back(name: str, fixed_seats: bool, tmp_path: Path) -> None:
    written = random_hands(name, 40, with_notes=True, fixed_seats=fixed_seats, first_hand=5)
    path = tmp_path / "x.phhs"
    path.write_text("".join(format_phhs(written)), encoding="utf-8")
    hands = list(read_phh(path, strict=True))
    assert len(hands) == len(written)
    for hand, record in zip(hands, written, strict=True):
        assert hand == as_kept(record)


@pytest.mark.sampled
@pytest.mark.parametrize("name", recorded_cases("holdem", "sidepots"))
def test_the_recorded_matches_come_back(name: str) -> None:

    written = list(recorded_hands(name))
    hands, problems = read("".join(format_phhs(written)))
    assert problems == []
    for hand, record in zip(hands, written, strict=True):
        assert hand == record


def test_chips_as_money_come_back() -> None:
    for record in random_hands("nolimit3", 30):
        text = format_phh(record, ExportOptions(chip_value=0.01, currency="EUR"))
        assert read_single(text, chip_value=0.01) == as_kept(record)
        assert read_single(text, chip_value=Decimal("0.01")) == as_kept(record)


def test_a_heros_view_lacks_the_cards_that_were_not_shown() -> None:
    for record in random_hands("nolimit3", 60, fold=0.3):
        hand = read_single(format_phh(record, ExportOptions(hero="Bob")))
        folded, position = record.betting.folded, record.seats.index(record.names_by_seat.index("Bob"))  # type: ignore[arg-type]
        is_showdown = folded.bit_count() < 2
        for p, (seen, dealt) in enumerate(zip(hand.deal.hole_cards, record.deal.hole_cards, strict=True)):
            assert seen == (dealt if p == position or (is_showdown and not folded >> p & 1) else ())
        assert hand.values == record.values


# ---- files of other programs

SIX = """\
variant = 'NT'
ante_trimming_status = true
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [20000, 20000, 20000]
actions = ['d dh p1 6s6h', 'd dh p2 KdAs', 'd dh p3 8h5h', 'p3 cbr 250', 'p1 cc', 'p2 f', 'd db 9sAhTs', 'p1 cc', 'X']
"""
FOLD = SIX.replace("'X'", "'p3 cbr 480', 'p1 f'")
SHOWDOWN = SIX.replace("'X'", "'p3 cc', 'd db 2c', 'p1 cc', 'p3 cc', 'd db 3c', 'p1 cc', 'p3 cc', 'p1 sm', 'p3 sm'")


def test_required_fields_are_enough() -> None:
    hand = read_single(FOLD)
    assert (hand.match_name, hand.hand_number) == ("<lines>", 0)
    assert hand.names_by_seat == ("p1", "p2", "p3")
    assert hand.seats == (0, 1, 2)
    assert hand.game.blinds == (50, 100, 0)
    assert hand.game.first_players == (2, 0, 0, 0)
    assert betting_text(hand.betting) == "r250cf/cr730f"
    assert hand.values == (-250.0, -100.0, 350.0)
    assert hand.times == ()


def test_a_number_is_the_place_in_the_file_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "some hands.phhs"
    path.write_text("".join(f"[{n}]\n{FOLD}\n" for n in (7, 8)) + "['x y']\n" + FOLD + "hand = 99\nevent = 'E'\n")
    hands = list(read_phh(path, strict=True))
    assert [(hand.match_name, hand.hand_number) for hand in hands] == [
        ("some hands", 0), ("some hands", 1), ("E", 99),
    ]  # fmt: skip


@pytest.mark.parametrize("number", ["'final'", "-1", "true", "1.5"])
def test_a_hand_may_have_a_name_for_a_number(number: str) -> None:
    assert read_single(f"{FOLD}hand = {number}\n").hand_number == 0


def test_seats_are_counted_from_the_first_that_is_taken() -> None:
    hand = read_single(FOLD + "seats = [6, 2, 3]\nseat_count = 9\nplayers = ['Ann', '', 'Cat']\n")
    assert hand.seats == (2, 0, 1)
    assert hand.names_by_seat == ("p2", "Cat", "Ann")


def test_commentaries_and_empty_actions_are_passed_over() -> None:
    text = FOLD.replace("'p3 cbr 250'", "'', ' # a word', 'p3  cbr 250 # big', '#x'").replace(
        "'p1 cc', 'p2 f'", "\"p1 cc\",\n'p2 f'"
    )
    assert read_single(text).values == (-250.0, -100.0, 350.0)


def test_amounts_may_be_floats_that_are_whole() -> None:
    hand = read_single(
        FOLD.replace("100, 0]", "100.0, 0.00]").replace("cbr 250", "cbr 250.00").replace("= 100\n", "= 1e2\n")
    )
    assert hand.values == (-250.0, -100.0, 350.0)


def test_unknown_stacks_are_as_deep_as_can_be() -> None:
    hand = read_single(FOLD.replace("[20000, 20000, 20000]", "[inf, 20000, inf]"))
    assert hand.game.stacks == (DEFAULT_STACK, 20000, DEFAULT_STACK)


def test_a_straddle_is_a_third_blind() -> None:
    text = FOLD.replace("[0, 0, 0]", "[0, 0, 0, 0]").replace("[50, 100, 0]", "[50, 100, 200, 0]")
    text = text.replace("[20000, 20000, 20000]", "[20000, 20000, 20000, 20000]")
    text = text[: text.index("actions")] + "actions = ['p4 cbr 600', 'p1 f', 'p2 f', 'p3 f']\n"
    hand = read_single(text)
    assert hand.game.first_players == (3, 0, 0, 0)
    assert hand.values == (-50.0, -100.0, -200.0, 350.0)
    assert hand.deal.hole_cards == ((), (), (), ())


def test_unknown_cards_stay_unknown() -> None:
    hand = read_single(FOLD.replace("6s6h", "????").replace("KdAs", "Kd??"))
    assert [format_cards(hole) for hole in hand.deal.hole_cards] == ["", "", "8h5h"]


def test_cards_shown_become_known() -> None:
    hand = read_single(
        SHOWDOWN.replace("6s6h", "????").replace("'p1 sm'", "'p1 sm 6s6h'").replace("'p3 sm'", "'p3 sm -'")
    )
    assert format_cards(hand.deal.hole_cards[0]) == "6s6h"
    assert hand.values == (350.0, -100.0, -250.0)


def test_player_who_mucks_unseen_has_lost() -> None:
    hand = read_single(SHOWDOWN.replace("8h5h", "????").replace("'p1 sm'", "'p1 sm 6s6h'"))
    assert hand.values == (350.0, -100.0, -250.0)


def test_the_finishing_stacks_judge_a_showdown_nobody_saw() -> None:
    text = SHOWDOWN.replace("8h5h", "????").replace("6s6h", "????").replace(", 'p1 sm', 'p3 sm'", "")
    assert read_single(text + "finishing_stacks = [19750, 19900, 20350]\n").values == (-250.0, -100.0, 350.0)
    for more in ("", "finishing_stacks = [inf, 19900, 20350]\n"):
        assert read(text + more) == ([], [
            "<lines>, line 1: the showdown cannot be judged: hole cards are missing, and so are the finishing stacks "
            "(skipped)"
        ])  # fmt: skip
    assert read(text + "finishing_stacks = [19750, 19900, 20351]\n") == ([], [
        "<lines>, line 1: the showdown cannot be judged: hole cards are missing, and the stacks do not add up (skipped)"
    ])  # fmt: skip


def test_a_better_hand_that_was_mucked_is_noted() -> None:
    hands, problems = read(SHOWDOWN.replace("'p1 sm', 'p3 sm'", "'p1 sm', 'p3 sm 8h5h'"))
    assert problems == ["<lines>, line 1: a better hand was mucked than the one that wins (read all the same)"]
    assert hands[0].values == (-250.0, -100.0, 350.0)


def test_odd_chip_may_go_to_any_winner() -> None:
    text = SHOWDOWN.replace("6s6h", "7c5c").replace("'p1 sm', 'p3 sm'", "'p1 sm 7c5c', 'p3 sm 8h5h'")
    text = (
        text.replace("9sAhTs", "KhKcKs")
        .replace("d db 2c", "d db Ks")
        .replace("KhKcKs", "AhAcTs")
        .replace("d db Ks", "d db Ad")
    )
    text = text.replace("KdAs", "Kd4s").replace("d db 3c", "d db Kh").replace("[50, 100, 0]", "[50, 101, 0]")
    text = text.replace("min_bet = 100", "min_bet = 101")
    assert read_single(text).values == (50.5, -101.0, 50.5)
    assert read_single(text + "finishing_stacks = [20051, 19899, 20050]\n").values == (50.5, -101.0, 50.5)


def test_rake_is_noted() -> None:
    hands, problems = read(FOLD + "finishing_stacks = [19750, 19900, 20330]\n")
    assert problems == [
        "<lines>, line 1: the finishing stacks lack 20 chips of the pot, as if rake had been taken (read all the same)"
    ]
    assert hands[0].values == (-250.0, -100.0, 350.0)


SHOWN = SHOWDOWN.replace("'p1 sm', 'p3 sm'", "'p1 sm 6s6h', 'p3 sm 8h5h'")


@pytest.mark.parametrize(
    ("text", "stacks", "problem"),
    [
        (FOLD, "[1, 2, 3]", "the finishing stacks lack 59994 chips, and rake is at most the pot of 600"),
        (FOLD, "[19750, 19900, 19749]", "the finishing stacks lack 601 chips, and rake is at most the pot of 600"),
        (FOLD, "[19750, 19890, 20350]", "p2 has 19890 chips at the end, but should have 19900"),
        (FOLD, "[19749.5, 19900, 20350]", "p1 has 19749.5 chips at the end, but should have 19750"),
        (SHOWN, "[19750, 19900, 20350]", "p1 has 19750 chips at the end, but should have 20350"),
    ],
)
def test_rake_comes_off_the_winners(text: str, stacks: str, problem: str) -> None:
    assert problem_of(f"{text}finishing_stacks = {stacks}\n") == problem


@pytest.mark.parametrize(
    ("stacks", "problem"),
    [
        ("[19740, 19910, 20350]", "p1 has 19740 chips at the end, but can have 19750 to 20350"),
        ("[19750, 19890, 20360]", "p2 has 19890 chips at the end, but can have 19900 to 19900"),
    ],
)
def test_a_showdown_nobody_saw_pays_the_pot_to_its_players(stacks: str, problem: str) -> None:
    text = SHOWDOWN.replace("8h5h", "????").replace("6s6h", "????").replace(", 'p1 sm', 'p3 sm'", "")
    assert problem_of(f"{text}finishing_stacks = {stacks}\n") == problem


def test_winnings_are_those_of_the_winners() -> None:
    """Winnings are collected after rake, and include all of an uncalled bet or nothing of it."""
    for winnings in ("[0, 0, 600]", "[0, 0, 580.5]", "[0, 0, 1080]"):
        assert read_single(f"{FOLD}winnings = {winnings}\n").values == (-250.0, -100.0, 350.0)
    for winnings, problem in [
        ("[0, 0, 1081]", "the winnings of p3 are 1081, but should be 600 before rake"),
        ("[600, 0, 0]", "the winnings of p1 are 600, but should be 0 before rake"),
        ("[0, -1, 600]", "the winnings of p2 are -1, but should be 0 before rake"),
        ("[0, 0, 0]", "the winnings of p3 are 0, but should be 600 before rake"),
        ("[0, 600]", "2 winnings at a table of 3"),
    ]:
        assert problem_of(f"{FOLD}winnings = {winnings}\n") == problem


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("min_bet = 100", "min_bet = 50.5", "min_bet holds 50.5, which is not a whole number of chips of 1: give a"),
        ("min_bet = 100", "min_bet = 20", "min_bet is 20 chips, but the big blind is 100"),
        ("min_bet", "seat_count = 2\nmin_bet", "3 players at a table of 2 seats"),
        ("min_bet", "seat_count = 'x'\nmin_bet", "seat_count is not a number"),
        ("min_bet", "seat_count = 6\nseats = [1, 2, 7]\nmin_bet", "seats are not within 1 to 6, which is seat_count"),
        ("min_bet", "currency = 'EUR'\ncurrency_symbol = '$'\nmin_bet", "the currency is 'EUR', but its symbol is $"),
    ],
)
def test_fields_that_must_agree(old: str, new: str, problem: str) -> None:
    assert problem_of(FOLD.replace(old, new)).startswith(problem)


@pytest.mark.parametrize(
    ("fields", "currency"),
    [
        ("", None),
        ("currency = 'eur'\n", "EUR"),
        ("currency_symbol = '£'\n", "GBP"),
        ("currency = 'CAD'\ncurrency_symbol = '$'\n", "CAD"),
    ],
)
def test_the_currency_of_a_hand(fields: str, currency: str | None) -> None:
    assert read_single(FOLD + fields).currency == currency


def test_only_the_end_of_a_file_is_unfinished() -> None:
    for text, end in [
        (FOLD.replace("min_bet = 100", "min_bet = = 100").removesuffix("\n"), "(skipped)"),
        (FOLD.removesuffix("]\n"), "(left out, because the file ends within the hand)"),
    ]:
        hands, (problem,) = read(text)
        assert hands == []
        assert problem.endswith(end)


def test_the_rules_of_the_reader_are_those_of_the_file() -> None:
    text = (
        FOLD
        + "_times = [[1, 2]]\n_comments = [[0, 1, 'a'], [9, 1, 'b'], 'c', [0, 1], [true, 1, 'd']]\n_max_raises = 'x'\n"
    )
    hand = read_single(text)
    assert hand.times == ()
    assert [comment.text for comment in hand.comments] == ["a"]


# ---- malformed hands


def problem_of(text: str) -> str:
    """Return the single problem of a text without hands."""
    hands, (problem,) = read(text)
    assert hands == []
    assert problem.startswith("<lines>, line 1: ")
    assert problem.endswith(" (skipped)")
    return problem.removeprefix("<lines>, line 1: ").removesuffix(" (skipped)")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("variant = 'NT'", "", "there is no variant; FT and NT are read, limit and no-limit hold'em"),
        ("'NT'", "'PO'", "the variant is 'PO'; FT and NT are read, limit and no-limit hold'em"),
        ("'NT'", "7", "variant is not a text"),
        ("'NT'", "'FT'", "small_bet is missing"),
        ("antes = [0, 0, 0]", "", "antes is missing"),
        ("antes = [0, 0, 0]", "antes = 0", "antes is not a list"),
        ("antes = [0, 0, 0]", "antes = [0, 5, 0]", "there are antes, which no game of the ACPC has"),
        ("antes = [0, 0, 0]", "antes = [0, 0]", "3 stacks, 3 blinds and 2 antes do not make a table of"),
        ("[50, 100, 0]", "[50, 100, '0']", "blinds_or_straddles holds '0', which is not an amount"),
        ("[50, 100, 0]", "[50, 100, -5]", "blinds_or_straddles holds -5, which is below 0"),
        ("[50, 100, 0]", "[50, 100.5, 0]", "blinds_or_straddles holds 100.5, which is not a whole number of chips"),
        ("[50, 100, 0]", "[50, nan, 0]", "blinds_or_straddles holds NaN, which is not an amount of chips"),
        ("[50, 100, 0]", "[50, 30000, 0]", "this game cannot be played: blind for player 2 is greater than stack size"),
        ("[20000, 20000, 20000]", "[20000, 20000, 3000000000]", "this game cannot be played: a stack of 3000000000"),
        ("actions = ", "_x = ", "actions is missing"),
        ("'d dh p1 6s6h'", "7", "actions is not a list of texts"),
        ("'p3 cbr 250'", "'p3 bets 250'", "'p3 bets 250' is not an action of hold'em"),
        ("'p3 cbr 250'", "'p4 cbr 250'", "'p4 cbr 250' names a player who is not at the table"),
        ("'p3 cbr 250'", "'x3 cbr 250'", "'x3 cbr 250' names no player"),
        ("'p3 cbr 250'", "'p1 cbr 250'", "'p1 cbr 250': it is the turn of p3"),
        ("'p3 cbr 250'", "'p3 cbr 25x'", "'25x' is not an amount"),
        ("'p3 cbr 250'", "'p3 cbr 1.5'", "it holds 1.5, which is not a whole number of chips of 1"),
        ("'p3 cbr 250'", "'p3 cbr 150'", "'p3 cbr 150': the raise is below the smallest legal size"),
        ("'p3 cbr 480', 'p1 f'", "'p3 cbr 480'", "the hand is not over after its last action"),
        ("'p1 f'", "'p1 f', 'p3 f'", "'p3 f' comes after the end of the hand"),
        ("'d db 9sAhTs', ", "", "the board has 0 cards before 'p1 cc', but should have 3"),
        ("9sAhTs", "9sAhTx", "'d db 9sAhTx': 'Tx' in '9sAhTx' is not a card: write a rank of"),
        ("9sAhTs", "9sAh6s", "a card is dealt twice"),
        ("6s6h", "6s6h6d", "'d dh p1 6s6h6d': hold'em has two hole cards"),
    ],
)  # fmt: skip
def test_wrong_hand_is_skipped_with_its_reason(old: str, new: str, problem: str) -> None:
    assert old in FOLD
    assert problem_of(FOLD.replace(old, new))[: len(problem)] == problem


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("finishing_stacks = [19750, 19900]", "2 finishing stacks at a table of 3"),
        ("players = ['a', 'b']", "2 players at a table of 3"),
        ("players = ['a', 'b', 3]", "players is not a list of texts"),
        ("seats = [1, 2, 2]", "seats are not 3 different numbers"),
        ("event = 3", "event is not a text"),
    ],
)
def test_wrong_optional_field_is_reported(more: str, problem: str) -> None:
    assert problem_of(f"{FOLD}{more}\n") == problem


def test_a_limit_bet_of_another_size_is_wrong() -> None:
    (record,) = random_hands("limit", 1, seed=2, fold=0.0)
    text = format_phh(record)
    assert " cbr 20" in text
    assert problem_of(text.replace(" cbr 20", " cbr 25", 1)).endswith("cbr 25': the bets of the game make it 20 chips")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("variant = NT\n", "<lines>, line 1, byte 11: this is not TOML: "),
        (FOLD + "variant = 'NT'\n", "<lines>, line 8, byte 15: this is not TOML: "),
        ("actions = [\n 'p1 f',\n", "<lines>, line 2: this is not TOML: "),
        ("x = " + "[" * 100_000 + "\n", "<lines>, line 1: this is not TOML: it is nested too deeply (skipped)"),
        ("x = '\udcff'\n", "<lines>, line 1: there is no variant; "),
    ],
)
def test_text_that_is_not_toml_is_reported_with_its_place(text: str, problem: str) -> None:
    hands, problems = read(text)
    assert hands == []
    assert len(problems) == 1
    assert problems[0][: len(problem)] == problem


def test_a_damaged_hand_does_not_touch_the_others() -> None:
    written = random_hands("nolimit", 5)
    pieces = list(format_phhs(written))
    pieces[2] = pieces[2].replace("cc", "xx").replace(" f", " xx")
    hands, problems = read("".join(pieces))
    assert [hand.hand_number for hand in hands] == [0, 1, 3, 4]
    start = sum(piece.count("\n") for piece in pieces[:2]) + 2
    assert len(problems) == 1
    assert problems[0].startswith(f"<lines>, line {start}: 'p")
    assert "xx' is not an action of hold'em (skipped)" in problems[0]
    pieces[2] = pieces[2].replace("antes = ", "antes == ")
    assert read("".join(pieces))[1] == [f"<lines>, line {start + 1}, byte 8: this is not TOML: invalid value (skipped)"]


def test_strict_reading_stops_at_the_first_problem() -> None:
    lines = ("".join(f"[{n}]\n{FOLD.replace('cc', 'xx') if n == 3 else FOLD}" for n in range(1, 5))).splitlines(True)
    hands = read_phh(lines, strict=True)
    assert [next(hands).hand_number, next(hands).hand_number] == [0, 1]
    with pytest.raises(DamagedLogError) as caught:
        next(hands)
    assert str(caught.value) == "<lines>, line 18: 'p1 xx' is not an action of hold'em"
    assert caught.value.log_problem.kind is ProblemKind.SKIPPED


@pytest.mark.parametrize("content", [b"", b"\n\n# nothing\n", b"[1]\n\n[2]\n"])
def test_a_file_without_a_hand_is_no_phh(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.phh"
    path.write_bytes(content)
    with pytest.raises(LogError, match=r"x\.phh: there is no hand in it"):
        list(read_phh(path))


@pytest.mark.slow
def test_a_hand_longer_than_any_is_cut_off() -> None:
    text = "[1]\n" + FOLD + "x = [\n" + "1,\n" * 600_000 + "]\n[2]\n" + FOLD
    hands, problems = read(text)
    assert len(hands) == 1
    assert len(problems) == 1
    assert "this is not TOML" in problems[0]


# ---- damaged files


@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_a_file_cut_off_anywhere(tmp_path: Path, every: int) -> None:
    path = tmp_path / "x.phhs"
    written = random_hands("nolimit", 3, with_notes=True)
    text = "".join(format_phhs(written)).encode()
    starts = [text.index(b"[%d]\n" % n) for n in (1, 2, 3)]
    kinds: Counter[ProblemKind] = Counter()
    for size in range(0, len(text), every):
        path.write_bytes(text[:size])
        problems: list[LogProblem] = []
        try:
            hands = list(read_phh(path, on_problem=problems.append))
        except LogError:
            assert size <= 4
            continue
        begun = sum(start + 4 < size for start in starts)
        # The last hand may lack the fields we add; it is still a hand.
        assert max(0, begun - 1) <= len(hands) <= begun
        assert all(hand == as_kept(record) for hand, record in zip(hands[: begun - 1], written, strict=False))
        is_within_header = any(start < size <= start + 4 for start in starts)
        assert len(problems) == max(1, begun) - len(hands) or is_within_header
        kinds.update(problem.kind for problem in problems)
    assert kinds[ProblemKind.UNFINISHED] > kinds[ProblemKind.SKIPPED] > 0


@pytest.mark.parametrize("every", [21, pytest.param(1, marks=pytest.mark.slow)])
def test_any_byte_changed_is_never_a_traceback(tmp_path: Path, every: int) -> None:
    path = tmp_path / "x.phhs"
    text = "".join(format_phhs(random_hands("nolimit3", 2, seed=4, with_notes=True))).encode()
    for changed in islice(each_byte_changed(text, b"\n\"'-[]"), 0, None, every):
        path.write_bytes(changed)
        problems: list[LogProblem] = []
        hands = list(read_phh(path, on_problem=problems.append))
        assert len(hands) + sum(problem.kind is ProblemKind.SKIPPED for problem in problems) >= 1
