"""Reading PokerStars histories: our own text, and hands in the format of genuine files."""

from __future__ import annotations

import dataclasses
import gzip
import pickle
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from engine import BettingType, Game, Move, hand_values, parse_cards
from engine.betting import betting_steps
from engine.game import DEFAULT_STACK
from logs import HandRecord
from logs.acpc_log.reader import read_log
from logs.errors import DamagedLogError, LogProblem, LogsError, ProblemKind
from logs.formats.export_format import ExportOptions
from logs.formats.money import Rake
from logs.hand_source import find
from logs.phh import format_phhs, read_phh
from logs.pokerstars import format_pokerstars, format_pokerstars_file, read_pokerstars
from logs.pokerstars.names import screen_names
from logs.pokerstars.writer import eastern_us
from logs.record import PLAY_MONEY
from logs.tracker.many_files import count_hands
from tests.logs.hands import HOLDEM, random_hands, recorded_cases, recorded_file, recorded_game
from tests.logs.pokerstars.test_writer import odd_game

GENUINE = Path(__file__).parent / "genuine"
"""Invented hands in the words of genuine files."""

# ---- text written here


def read(text: str, **options: float) -> tuple[list[HandRecord], list[str]]:
    """Return the hands of a text, and the problems of the others."""
    problems: list[LogProblem] = []
    lines = text.splitlines(keepends=True)
    hands = list(read_pokerstars(lines, on_problem=problems.append, **options))  # type: ignore[arg-type]
    return hands, [f"line {problem.line_number}: {problem.problem}" for problem in problems]


def without_endless_stacks(game: Game) -> Game:
    """Return a game with the stacks that the text shows if it has none."""
    raises = sum(most * size for most, size in zip(game.max_raises, game.raise_sizes, strict=False))
    deep = max(10_000, (max(game.blinds) + raises) // game.big_blind + 1) * game.big_blind
    stacks = tuple(deep if game.is_limit and stack == DEFAULT_STACK else stack for stack in game.stacks)
    return game._replace(stacks=stacks)


def assert_round_trip(hands: Iterable[HandRecord], options: ExportOptions = ExportOptions()) -> None:  # noqa: B008
    """Check that hands are read back from their text, as far as the text shows them."""
    hands = list(hands)
    text = "".join(format_pokerstars_file(hands, options))
    back, problems = read(text, chip_value=options.chip_value)  # type: ignore[arg-type]
    assert problems == []
    assert len(back) == len(hands)
    for hand, other in zip(hands, back, strict=True):
        shown = {position for position in range(len(hand.seats)) if not hand.betting.folded >> position & 1}
        if len(shown) == 1:
            shown.clear()
        if options.hero is not None:
            shown.add(hand.seats.index(hand.names_by_seat.index(options.hero)))  # type: ignore[arg-type]
        holes = hand.deal.hole_cards
        assert other.game == without_endless_stacks(hand.game)
        assert other.names_by_seat == screen_names(hand.names_by_seat)
        assert other.seats == hand.seats
        assert other.betting.rounds == hand.betting.rounds
        assert other.deal.hole_cards == tuple(hole if p in shown else () for p, hole in enumerate(holes))
        assert other.deal.board == tuple(card for cards in hand.board_by_round for card in cards)
        assert other.values == pytest.approx(hand.values, abs=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize("name", HOLDEM)
def test_random_hands_of_every_game_come_back(name: str) -> None:
    assert_round_trip(random_hands(name, 60, seed=3))
    assert_round_trip(
        random_hands(name, 30, seed=4, fold=0.02), ExportOptions(hero="Bob", chip_value="0.01", crlf=False)
    )
    assert_round_trip(random_hands(name, 30, seed=5), ExportOptions(currency="EUR", rake=Rake(5, step="0.25")))
    assert_round_trip(random_hands(name, 10, seed=6), ExportOptions(currency=None))


@pytest.mark.sampled
@pytest.mark.parametrize("name", recorded_cases("holdem", "sidepots"))
def test_recorded_matches_come_back(name: str) -> None:
    game = recorded_game(name)
    try:
        format_pokerstars(random_hands(game, 1)[0])
    except LogsError:
        pytest.skip("the format does not have this game")
    lines = recorded_file(name, "log").splitlines(keepends=True)
    assert_round_trip([hand for _, hand in zip(range(150), read_log(lines, game=game), strict=False)])


def test_short_stacks_and_side_pots_come_back() -> None:
    """Limit games whose big blind is all-in for less than a bet are left out: no card room has them."""
    count = 0
    for seed in range(30):
        game = odd_game(seed)
        for hand in random_hands(game, 4, seed=seed, fold=0.1):
            try:
                text = format_pokerstars(hand)
            except LogsError:
                continue
            back, problems = read(text, chip_value=1)
            if problems:
                assert game.is_limit, problems
                continue
            count += 1
            assert back[0].betting.rounds == hand.betting.rounds
            assert back[0].values == pytest.approx(hand.values, abs=1e-6)
    assert count > 60


# ---- text of genuine files

SIX_MAX = (GENUINE / "six-max.txt").read_text("utf-8")

HEADS_UP_LIMIT = (GENUINE / "heads-up-limit.txt").read_text("utf-8")


def test_a_hand_with_everything_in_it() -> None:
    (hand,), problems = read(SIX_MAX)
    assert problems == []
    assert hand.hand_number == 201000000001
    assert hand.match_name == "Aludra II"
    assert hand.names_by_seat == ("river:rat 77", "Old Tom (ret.)", "€lena$", "b0b")
    # The small blind sits left of the button: position 0.
    assert hand.names == hand.names_by_seat
    assert hand.game.stacks == (11235, 4000, 125010, 9900)
    assert hand.game.blinds == (50, 100, 0, 0)
    assert hand.game.betting is BettingType.NO_LIMIT
    assert hand.dealt_us == eastern_us(2019, 3, 9, 17, 15, 2) == 1_552_169_702_000_000
    assert hand.deal.hole_cards == ((), parse_cards("AhQh"), parse_cards("KcJc"), parse_cards("QsQd"))
    assert hand.values == (-50.0, -4000.0, 13950.0, -9900.0)
    assert sum(hand.values) == 0


def test_old_limit_hand_is_read() -> None:
    (hand,), problems = read(HEADS_UP_LIMIT)
    assert problems == []
    assert hand.game.betting is BettingType.LIMIT
    assert hand.game.blinds == (200, 100)
    assert hand.game.raise_sizes == (200, 200, 400, 400)
    assert hand.game.max_raises == (3, 4, 4, 4)
    assert hand.names_by_seat == ("anna", "bert")
    assert hand.seats == (0, 1)
    assert hand.values == (-1000.0, 1000.0)
    assert hand.deal.hole_cards == ((), ())


def test_unseen_cards_stay_unknown_and_the_collector_wins() -> None:
    text = SIX_MAX.replace(" mucked [Ah Qh]", " mucked").replace("Dealt to b0b [Qs Qd]\n", "")
    text = text.replace("mucked [Qs Qd]", "mucked")
    (hand,), problems = read(text)
    assert problems == []
    assert hand.deal.hole_cards == ((), (), parse_cards("KcJc"), ())
    assert hand.values == (-50.0, -4000.0, 13950.0, -9900.0)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("$", "£").replace("€lena£", "€lena$").replace("USD", "GBP"),
        lambda text: text.replace("Hand #", "Zoom Hand #"),
        lambda text: text.replace("Hand #201000000001:  ", "Home Game Hand #201000000001: {The club}  "),
        lambda text: text.replace("No Limit", "Pot Limit"),
        lambda text: text.replace("6-max Seat", "6-max (Play Money) Seat"),
        lambda text: "\n\n*********** # 1 **************\n" + text,
        lambda text: text.replace("Uncalled", "b0b adds $40\nUncalled"),
        lambda text: text.replace("| Rake $2.10 ", "| Rake $2 | Jackpot Fee $0.10 "),
    ],
)
def test_variants_of_genuine_files_are_read(change: object) -> None:
    (wanted,), _ = read(SIX_MAX)
    (hand,), problems = read(change(SIX_MAX))  # type: ignore[operator]
    assert problems == []
    assert dataclasses.replace(hand, betting=wanted.betting) == wanted
    assert hand.betting.rounds == wanted.betting.rounds


def test_signs_of_currencies_in_other_encodings(tmp_path: Path) -> None:
    (wanted,), _ = read(HEADS_UP_LIMIT)
    for sign in (b"\x80", b"\xa3", "€".encode(), b"", b"$"):
        path = tmp_path / "hh.txt"
        path.write_bytes(HEADS_UP_LIMIT.encode().replace(b"$", sign))
        (hand,) = read_pokerstars(path, strict=True)
        assert hand.values == wanted.values
    path.with_suffix(".gz").write_bytes(gzip.compress(HEADS_UP_LIMIT.encode()))
    assert len(list(read_pokerstars(path.with_suffix(".gz"), strict=True))) == 1


DEAD_SMALL_BLIND = SIX_MAX.replace("river:rat 77: posts small blind $0.50\n", "").replace(
    "river:rat 77: folds", "river:rat 77 leaves the table"
)


def test_a_seat_without_small_blind() -> None:
    text = DEAD_SMALL_BLIND.replace("$119 from main", "$118.50 from main").replace("$238.50", "$238")
    text = text.replace("Main pot $119.", "Main pot $118.50.").replace("won ($236.40)", "won ($235.90)")
    (hand,), problems = read(text)
    assert problems == []
    assert hand.names_by_seat == ("Old Tom (ret.)", "€lena$", "b0b")
    assert hand.game.blinds == (100, 0, 0)
    assert hand.game.first_players == (1, 0, 0, 0)
    assert hand.values == (-4000.0, 13900.0, -9900.0)


def test_a_new_player_posts_a_big_blind() -> None:
    """The posted blind is live, so the player may check."""
    (hand,), problems = read((GENUINE / "live-post.txt").read_text("utf-8"), chip_value=1)
    assert problems == []
    assert hand.game.blinds == (5, 10, 10, 0)
    assert hand.seats == (1, 2, 3, 0)
    assert hand.values == (-5.0, 15.0, -10.0, 0.0)
    assert hand.deal.hole_cards == ((), parse_cards("KdKs"), parse_cards("Ah2d"), ())


def test_a_fold_where_a_check_was_free(tmp_path: Path) -> None:
    """Clients allow such a fold, the protocol does not; the record keeps it."""
    (hand,), problems = read((GENUINE / "open-fold.txt").read_text("utf-8"))
    assert problems == []
    assert hand.values == (-100.0, -100.0, 200.0)
    assert [[action.kind for _, action in actions] for actions in hand.betting.rounds] == [[1, 1, 1], [0, 1, 1], [0]]
    assert [step.move for step in betting_steps(hand.betting)[3:]] == [Move.FOLD, Move.CHECK, Move.CHECK, Move.FOLD]
    assert pickle.loads(pickle.dumps(hand)) == hand
    for number in range(7):
        assert betting_steps(hand.betting)[number].before.rounds[0] == hand.betting.rounds[0][:number]
    options = ExportOptions(chip_value="0.01")
    (again,), problems = read(format_pokerstars(hand, options))
    assert (again.values, again.betting, problems) == (hand.values, hand.betting, [])
    (again,) = read_phh("".join(format_phhs([hand], options)).splitlines(keepends=True), chip_value="0.01", strict=True)
    assert (again.values, again.betting) == (hand.values, hand.betting)
    path = tmp_path / "open-fold.txt"
    path.write_text((GENUINE / "open-fold.txt").read_text("utf-8"), "utf-8")
    assert count_hands(find([path])).hands == 1


def test_hands_of_ggpoker() -> None:
    """GGPoker uses PokerStars' words, has its own names of fees, and writes times without zone."""
    (hand, walk), problems = read((GENUINE / "ggpoker.txt").read_text("utf-8"))
    assert problems == []
    assert (hand.hand_number, hand.match_name, hand.currency) == (2900000001, "NLHGold12", "USD")
    assert hand.names == ("5e6f7a8b", "9c0d1e2f", "1a2b3c4d", "Hero")
    assert hand.game.blinds == (5, 10, 0, 0)
    assert hand.values == (-5.0, -420.0, 0.0, 425.0)
    assert hand.dealt_us == 1_741_540_502_000_000
    assert walk.names == ("5e6f7a8b", "Hero")
    assert walk.values == (5.0, -5.0)


def test_a_cash_out_of_ggpoker_is_refused() -> None:
    text = (GENUINE / "ggpoker.txt").read_text("utf-8").replace("*** HOLE", "Hero: Chooses to EV Cashout\n*** HOLE", 1)
    hands, (problem,) = read(text)
    assert [hand.hand_number for hand in hands] == [2900000002]
    assert problem.startswith("line 9: hand #HD2900000001: a player cashed out: what the pot paid is not")


@pytest.mark.parametrize(
    ("sign", "code", "currency"),
    [
        ("$", " USD", "USD"),
        ("€", "", "EUR"),
        ("\udc80", "", "EUR"),
        ("", "", PLAY_MONEY),
        ("₹", "", None),
    ],
)
def test_the_currency_of_a_hand(sign: str, code: str, currency: str | None) -> None:
    (hand,), problems = read(HEADS_UP_LIMIT.replace("/$4", f"/$4{code}").replace("$", sign))
    assert problems == []
    assert hand.currency == currency


@pytest.mark.parametrize(
    ("game", "betting"),
    [
        ("No Limit Texas Hold'em", BettingType.NO_LIMIT),
        ("Texas Hold'em Pot Limit", BettingType.NO_LIMIT),
        ("Holdem No Limit", BettingType.NO_LIMIT),
    ],
)
def test_game_names_of_converters_are_read(game: str, betting: BettingType) -> None:
    (hand,), problems = read(SIX_MAX.replace("Hold'em No Limit", game))
    assert problems == []
    assert hand.game.betting is betting


# ---- consistency

WALK = """\
PokerStars Hand #7:  Hold'em No Limit ($0.50/$1 USD) - 2019/03/09 18:02:41 ET
Table 'Io' 6-max Seat #1 is the button
Seat 1: anna ($100 in chips)
Seat 2: bert ($80 in chips)
Seat 4: carl ($60 in chips)
bert: posts small blind $0.50
carl: posts big blind $1
*** HOLE CARDS ***
anna: folds
bert: folds
Uncalled bet ($0.50) returned to carl
carl collected $1 from pot
*** SUMMARY ***
Total pot $1 | Rake $0
Seat 1: anna (button) folded before Flop (didn't bet)
Seat 2: bert (small blind) folded before Flop
Seat 4: carl (big blind) collected ($1)
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("$0.50/$1", "$1/$2", "line 7: hand #7: carl posts a big blind of 1, but the stakes make it 2"),
        ("$0.50/$1", "$0.25/$0.50", "line 7: hand #7: carl posts a big blind of 1, but the stakes make it 0.5"),
        ("$0.50/$1", "$0.40/$1", "line 6: hand #7: bert posts a small blind of 0.5, but the stakes make it 0.4"),
        ("$0.50/$1", "$1/$0.50", "line 1: hand #7: the first of the stakes is more than the second"),
        ("$0.50/$1 USD", "$0.50/$1 EUR", "line 1: hand #7: the stakes are in $, and the header calls their currency"),
        ("blind $1\n", "blind €1\n", "line 7: hand #7: '€1' is not in $, as the stakes of the hand are"),
        ("Seat #1 is", "Seat #2 is", "line 6: hand #7: bert posts the small blind and carl the big blind, which"),
        ("Seat #1 is", "Seat #7 is", "line 1: hand #7: seat 7 is the button at a table of 6"),
        ("6-max", "3-max", "line 1: hand #7: carl has seat 4 at a table of 3"),
        ("Table 'Io'", "Tisch 'Io'", "line 1: hand #7: no line names the button"),
        ("blind $1\n", "blind $1 and is all-in\n", "line 7: hand #7: carl is all-in by this line, but has chips"),
        ("bert: folds\n", "bert: folds\nUncalled bet ($0.50) returned to carl\n", "line 12: hand #7: the uncalled bet"),
        ("($0.50) returned to carl", "($0.50) returned to bert", "line 11: hand #7: the uncalled bet is 0.5 of carl"),
        ("(button)", "(small blind)", "line 15: hand #7: anna is the small blind in the summary only"),
        ("collected ($1)", "collected ($2)", "line 17: hand #7: carl won 2 in the summary, but collected 1 before"),
        ("blind) folded before Flop", "blind) folded on the Flop", "line 16: hand #7: bert folded on the flop in the"),
        ("Rake $0\n", "Rake $0\nBoard [2c 7d Kh]\n", "line 15: hand #7: the board of the summary is not the one that"),
        ("Rake $0\n", "Rake $0.30\n", "the players put in 1, but the pot is 1, with 1 collected and a rake of 0.3"),
        ("Rake $0\n", "Rake nothing\n", "line 14: hand #7: 'Rake nothing' cannot be read"),
    ],
)  # fmt: skip
def test_values_of_a_hand_that_do_not_agree_are_refused(old: str, new: str, sentence: str) -> None:
    assert len(read(WALK)[0]) == 1
    assert old in WALK
    hands, (problem,) = read(WALK.replace(old, new, 1))
    assert hands == []
    assert sentence in problem


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("raises $2 to $3", "raises $1 to $3", "line 13: hand #201000000001: €lena$ raises 1, but the raise is 2 to 3"),
        ("Main pot $119. Side pot $117.40", "Main pot $118. Side pot $118.40", "the main pot is 118, but 119 is"),
        ("Side pot $117.40.", "Side pot-1 $100. Side pot-2 $17.40.", "the line of the total has 3 pots, but the"),
        ("Board [2c 7d Kh 9s 3d]", "Board [2c 7d Kh 9s 3c]", "line 35: hand #201000000001: the board of the summary"),
    ],
)  # fmt: skip
def test_pots_and_cards_that_do_not_agree_are_refused(old: str, new: str, sentence: str) -> None:
    assert old in SIX_MAX
    hands, (problem,) = read(SIX_MAX.replace(old, new, 1))
    assert hands == []
    assert sentence in problem


# ---- unknown lines

IN_CHIPS = "'Seat 2: Old Tom (ret.) ($40 in Chips)' cannot be read: a seat is written 'Seat 1: NAME ($100 in chips)'"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("$40 in chips", "$40 in Chips", f"line 4: hand #201000000001: {IN_CHIPS}"),
        ("b0b: calls $31\n", "b0b: straddles $31\n", "of the betting; line 21 is not understood: 'straddles $31'"),
        ("b0b: calls $31\n", "b0b: Calls $31\n", "line 21: hand #201000000001: 'Calls $31' cannot be read: an"),
        ("*** FLOP ***", "*** Flop ***", "line 22: hand #201000000001: '*** Flop *** [2c 7d Kh]' cannot be read: the"),
        ("Total pot", "Total Pot", "line 34: hand #201000000001: 'Total Pot $238.50 Main pot"),
        ("€lena$ collected $119", "€lena$ Collected $119", "'€lena$ Collected $119 from main pot' cannot be read"),
        ("b0b: calls $31\n", "b0b: calls 31 dollars\n", "line 21: hand #201000000001: 'calls 31 dollars' cannot be"),
        ("Table 'Aludra II'", "Table 'Aludra II", "line 2: hand #201000000001: "),
    ],
)  # fmt: skip
def test_a_line_that_is_not_understood_is_named(old: str, new: str, sentence: str) -> None:
    assert old in SIX_MAX
    hands, (problem,) = read(SIX_MAX.replace(old, new, 1))
    assert hands == []
    assert sentence in problem


def test_the_last_hand_of_a_file_has_its_own_reason() -> None:
    cancelled = (
        WALK[: WALK.index("*** HOLE")] + "Hand cancelled\n*** SUMMARY ***\nSeat 4: carl (big blind) collected ($0)\n"
    )
    without_total = WALK.replace("Total pot $1 | Rake $0\n", "")
    for text, sentence in [
        (cancelled, "<lines>, line 8: hand #7: the hand was cancelled (skipped)"),
        (
            without_total,
            "<lines>, line 16: hand #7: the summary does not give the pot: it has no line 'Total pot' (skipped)",
        ),
        (
            WALK[: WALK.index("bert: folds")],
            "<lines>, line 9: hand #7: the hand has no summary: its end is missing (left out, because the file "
            "ends within the hand)",
        ),
    ]:
        problems: list[LogProblem] = []
        assert list(read_pokerstars(text.splitlines(keepends=True), on_problem=problems.append)) == []
        assert list(map(str, problems)) == [sentence]


# ---- skipped hands

BLINDS = "Old Tom (ret.): posts big blind $1\n"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (BLINDS, BLINDS + "€lena$: straddle $2\n", "line 10: €lena$ posts straddle, which a game definition"),
        (" ($0.50/$1.00 USD)", "", "line 1: \"Hold'em No Limit - 2019/03/09 23:15:02 CET [2019/03/09 17:15...\" can"),
        ("TURN *** [2c 7d Kh]", "TURN *** [2c 7d Ks]", "line 25: the board of the turn does not continue"),
        ("Kh]", "Xx]", "line 22: 'Xx' is not a card"),
        ("Ah Qh", "Qs Qh", "a card is dealt twice"),
        ("river:rat 77: folds \n", "", "line 18: Old Tom (ret.) raises, but it is the turn of river:rat 77"),
        ("raises $6 to $9", "raises $9", "line 15: 'raises $9' cannot be read"),
        ("calls $31", "calls $31.001", "line 21: '$31.001' is ambiguous: the amounts of this hand have a point"),
        ("$117.40 from side", "$117.90 from side", "the players put in 238.5, but the pot is 238.5"),
        ("€lena$ collected $119 from main", "b0b collected $119 from main", "by their cards, other players should"),
        ("collected $117.40 from side", "collected $117.40 from main", "a pot of 120.5 is not shared"),
        ("€lena$ collected $117.40 from side pot ", "Old Tom (ret.) collected $117.40 from side pot",
         "line 30: Old Tom (ret.) does not play for this pot"),
        ("b0b: mucks", "b0b: shows [Qs Qc]", "b0b had other hole cards before"),
        ("Seat 5: b0b", "Seat 4: b0b", "line 6: seat 4 or its player b0b is there twice"),
        ("b0b: calls $59 and is all-in\n", "", "line 23: the hand is not over after its last action"),
        ("b0b: calls $31\n", "b0b: folds\nb0b: calls $31\n", "line 22: b0b calls after the end of the betting"),
    ],
)  # fmt: skip
def test_a_hand_that_cannot_be_expressed_is_left_out_and_the_rest_is_read(old: str, new: str, sentence: str) -> None:
    assert old in SIX_MAX
    hands, problems = read(SIX_MAX.replace(old, new, 1) + HEADS_UP_LIMIT)
    assert [hand.hand_number for hand in hands] == [27000000001]
    (problem,) = problems
    assert "hand #201000000001: " in problem
    assert sentence in problem.replace("hand #201000000001: ", "")


DOCUMENT = (Path(__file__).parents[3] / "research" / "tables" / "unread-hands.md").read_text("utf-8")
SIX_PLUS = "6+ Hold'em No Limit (Button Blind $1.00 - Ante $0.10 USD)"


@pytest.mark.parametrize(
    ("what", "line", "text"),
    [
        ("antes", 10, SIX_MAX.replace(BLINDS, BLINDS + "b0b: posts the ante $0.10\n")),
        ("straddles", 10, SIX_MAX.replace(BLINDS, BLINDS + "b0b: posts straddle $2\n")),
        ("dead blinds", 10, SIX_MAX.replace(BLINDS, BLINDS + "b0b: posts small & big blinds $1.50\n")),
        ("a dead small blind", 10, SIX_MAX.replace(BLINDS, BLINDS + "b0b: posts small blind $0.50\n")),
        ("no big blind", 1, SIX_MAX.replace(BLINDS, "")),
        ("a big blind all-in for less", 9, SIX_MAX.replace("big blind $1\n", "big blind $0.80 and is all-in\n")),
        ("capped", 1, SIX_MAX.replace("$1.00 USD", "$1.00 - $20 Cap - USD")),
        ("run it twice", 22, SIX_MAX.replace("FLOP", "FIRST FLOP")),
        ("cash drop", 10, SIX_MAX.replace(BLINDS, BLINDS + "Cash Drop to Pot : total $2\n")),
        ("cancelled", 10, SIX_MAX.replace(BLINDS, BLINDS + "Hand cancelled\n")),
        ("cash-out", 32, SIX_MAX.replace("€lena$ collected $119 from main pot", "€lena$ cashed out the hand for $119")),
        (
            "splits unequal by rake",
            24,
            (GENUINE / "open-fold.txt").read_text("utf-8").replace("carl: folds", "carl: checks").replace(
                "anna collected $2.85 from pot",
                "anna: checks \n*** RIVER *** [2c 7d Kh 9s] [3d]\ncarl: checks \nanna: checks \n*** SHOW DOWN ***\n"
                "anna collected $1.40 from pot\ncarl collected $1.45 from pot",
            ),
        ),
        ("6+ hold'em", 1, SIX_MAX.replace("Hold'em No Limit ($0.50/$1.00 USD)", SIX_PLUS)),
        ("other games", 1, SIX_MAX.replace("Hold'em No Limit", "Omaha Pot Limit")),
        ("tournaments", 1, SIX_MAX.replace("Hold'em", "Tournament #5, $1+$0.10 USD Hold'em")),
    ],
)  # fmt: skip
def test_reasons_to_leave_a_hand_out_are_documented(what: str, line: int, text: str) -> None:
    hands, problems = read(text + HEADS_UP_LIMIT)
    assert [hand.hand_number for hand in hands] == [27000000001], what
    (problem,) = problems
    assert problem.startswith(f"line {line}: hand #")
    sentence = problem.partition(": hand #")[2].partition(": ")[2]
    shown = (
        sentence.replace("b0b", "NAME").replace("'Omaha Pot Limit'", "GAME").replace('"6+ Hold\'em No Limit"', "GAME")
    )
    shown = re.sub(r"a pot of [0-9.]+", "a pot of AMOUNT", shown)
    assert f"| `{shown}` |" in DOCUMENT, shown


def test_strict_reading_stops_at_the_first_skipped_hand() -> None:
    lines = (HEADS_UP_LIMIT + SIX_MAX.replace("calls $37", "calls $30")).splitlines()
    hands = read_pokerstars(lines, strict=True)
    assert next(hands).hand_number == 27000000001
    with pytest.raises(DamagedLogError, match=r"<lines>, line 50: hand #201000000001: €lena\$ calls, which"):
        next(hands)


def test_chips_that_are_too_large_for_an_amount() -> None:
    hands, problems = read(SIX_MAX, chip_value=1)
    assert hands == []
    assert problems == [
        "line 1: hand #201000000001: 112.35 is not a whole number of chips of 1: give a smaller chip value"
    ]


def test_a_file_cut_off_anywhere() -> None:
    """Whole hands are read; a truncated last hand is reported as unfinished, or read if complete."""
    text = HEADS_UP_LIMIT + SIX_MAX
    for end in range(len(HEADS_UP_LIMIT) + 35, len(text), 13):
        problems: list[LogProblem] = []
        hands = list(read_pokerstars(text[:end].splitlines(keepends=True), on_problem=problems.append))
        assert hands[0].hand_number == 27000000001
        if len(hands) == 2:
            assert problems == []
            assert hands[1].values == (-50.0, -4000.0, 13950.0, -9900.0)
        else:
            assert [problem.kind for problem in problems] == [ProblemKind.UNFINISHED]


@pytest.mark.parametrize("every", [29, pytest.param(3, marks=pytest.mark.slow)])
def test_any_byte_changed_is_never_a_traceback(every: int) -> None:
    for at in range(0, len(SIX_MAX) - 3, every):
        for char in "0]x\n":
            text = SIX_MAX[:at] + char + SIX_MAX[at + 1 :] + HEADS_UP_LIMIT
            hands, problems = read(text)
            assert hands[-1].hand_number == 27000000001
            assert len(hands) + len(problems) in (1, 2)
            for hand in hands:
                assert sum(hand.values) == pytest.approx(0)
                if all(hand.deal.hole_cards):
                    assert list(hand.values) == hand_values(hand.betting, hand.deal)
