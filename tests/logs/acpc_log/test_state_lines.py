"""State lines of logs, and refusals of damaged ones."""

from __future__ import annotations

import pytest

from engine import Deal, betting_start, parse_cards
from logs.acpc_log import state_lines
from logs.acpc_log.state_lines import StateLines
from logs.acpc_log.writer import format_state_line
from protocol import FormatError, find_game, parse_game_definition
from protocol.match_state import betting_after
from tests.dealer.helpers import FIRST_ROUND_BOARD
from tests.logs.hands import random_hands

LIMIT = "STATE:0:crc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:Ann|Bob"
NO_LIMIT = "STATE:7:r300c/cr900c/cc/r2700f:5d5c|9hQd/8dAs8s/4h/6d:900|-900:Ann|Bob"
THREE = "STATE:2:r247cc/r347ff:Ks6h|Qs5d|Tc4d/Ah3dTd:494|-247|-247:Ann|Bob|Cat"
LEDUC = "STATE:0:crrc/crc:Qh|Ah/As:-9|9:Ann|Bob"


def lines_of(name: str) -> StateLines:
    return StateLines(find_game(name)[1])


def test_a_line_is_read_field_by_field() -> None:
    game = find_game("limit")[1]
    hand_number, betting, deal, values, names = StateLines(game).read(LIMIT + "\n")
    assert hand_number == 0
    assert betting.rounds == betting_after(game, "crc/cc/cc/cc").rounds
    assert betting.spent == (20, 20)
    assert betting.finished
    assert deal == Deal((parse_cards("5d5c"), parse_cards("9hQd")), parse_cards("8dAs8s4h6d"))
    assert values == (20.0, -20.0)
    assert names == ("Ann", "Bob")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_line_ends_are_no_part_of_the_last_name(end: str) -> None:
    assert lines_of("leduc").read(LEDUC + end).names == ("Ann", "Bob")


def test_cache_overflow_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_lines, "_MAX_TEXTS", 3)
    monkeypatch.setattr(state_lines, "_MAX_CACHED_CHARACTERS", 5)
    written = random_hands("nolimit3", 200)
    reader = StateLines(written[0].game)
    for record in written:
        line = reader.read(format_state_line(record))
        assert (line.betting.rounds, line.values) == (record.betting.rounds, record.values)


def test_rare_betting_is_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_lines, "_MAX_CACHED_CHARACTERS", 300)
    monkeypatch.setattr(state_lines, "_MAX_SEEN", 50)
    written = random_hands("nolimit6", 300)
    game = written[0].game._replace(max_raises=(200,) * 4)
    reader = StateLines(game)
    for record in written:
        line = reader.read(format_state_line(record))
        assert (line.betting.rounds, line.values) == (record.betting.rounds, record.values)
        assert len(reader._ends) + len(reader._starts) <= 400
        assert len(reader._seen or ()) <= 50
    assert not betting_start(game)._tree.remembered


# ---- other dialects


@pytest.mark.parametrize(
    ("game", "line", "today"),
    [
        ("nolimit", NO_LIMIT.replace("r300c/cr900c/cc/", "b50b100r300c300/c300r900c900/c900c900/"), NO_LIMIT),
        ("limit", "STATE:0:b5b10c10r20c20/c20c20/c20c20/c20c20:5d5c|9hQd/8dAs8s/4h/6d:20|-20:Ann|Bob", LIMIT),
        ("nolimit3", "STATE:2:b50b100r247c247c247/r347ff:Ks6h|Qs5d|Tc4d/Ah3dTd:494|-247|-247:Ann|Bob|Cat", THREE),
        ("limit", "Ann|Bob:0:crc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20\r\n", LIMIT),
        ("limit", "Ann|Bob:0:b5b10c10r20c20/c20c20/c20c20/c20c20:5d5c|9hQd/8dAs8s/4h/6d:20|-20", LIMIT),
        ("leduc", LEDUC + " # 1479132064.35509\n", LEDUC),
    ],
    ids=["blinds and amounts", "in limit games too", "three players", "names first", "names first and blinds", "time"],
)  # fmt: skip
def test_older_lines_mean_the_same_as_todays(game: str, line: str, today: str) -> None:
    reader = lines_of(game)
    assert reader.read(line) == reader.read(today)


def test_a_position_that_never_shows_may_lack_its_cards() -> None:
    line = lines_of("nolimit3").read(THREE.replace("Qs5d", ""))
    assert line.deal.hole_cards == (parse_cards("Ks6h"), (), parse_cards("Tc4d"))
    line = lines_of("limit").read("STATE:0:f:|:5|-5:Ann|Bob")
    assert line.deal == Deal(((), ()), ())


def test_board_cards_of_the_first_round_follow_the_last_hole_cards() -> None:
    game = parse_game_definition(FIRST_ROUND_BOARD)
    for record in random_hands(game, 30):
        line = StateLines(game).read(format_state_line(record))
        assert line.values == record.values
        assert line.deal.board == tuple(card for cards in record.board_by_round for card in cards)
    with pytest.raises(FormatError) as caught:
        StateLines(game).read("STATE:0:f:As|KsQsJsTs:1|-1:A|B")
    assert (caught.value.column, caught.value.problem) == (13, "'KsQsJsTs' are not 3 hole and board cards")


# ---- malformed lines


@pytest.mark.parametrize(
    ("game", "line", "column", "problem"),
    [
        ("leduc", "", 0, "the line is neither a hand ('STATE:'), a score ('SCORE:') nor a remark ('#')"),
        ("leduc", "STATE:0:crrc/crc:Qh|Ah/As:-9|9", 30, "the line ends after 5 of its 6 fields"),
        ("leduc", LEDUC + ":x", 31, "a name contains ':', so that the names cannot be separated"),
        ("leduc", LEDUC.replace(":0:", ":-1:"), 6, "'-1' is not a hand number"),
        ("leduc", LEDUC.replace(":0:", ":4294967296:"), 6, "'4294967296' is not a hand number"),
        ("leduc", LEDUC.replace("crrc", "crxc"), 10, "'x' is not an action (f, c or r)"),
        ("leduc", LEDUC.replace("crrc", "crrrc"), 11, "the round has had all the raises the game allows"),
        ("leduc", LEDUC.replace("/crc", "crc"), 12, "'/' must follow the last action of a round"),
        ("leduc", LEDUC.replace("/crc:", "/crcc:"), 16, "no player may act because the hand is over"),
        ("leduc", LEDUC.replace("/crc:", "/crc/:"), 16, "'/' is not an action (f, c or r)"),
        ("leduc", LEDUC.replace("/crc:", "/cr:"), 15, "the betting stops before the hand is over"),
        ("nolimit", NO_LIMIT.replace("r300", "r0300"), 9, "a no-limit raise needs its size, a plain number"),
        ("nolimit", NO_LIMIT.replace("r300", "r150"), 8, "the raise is below the smallest legal size (150, "),
        ("nolimit", "STATE:7:r20000c//:5d5c|9hQd/8dAs8s/4h/6d:1|1:A|B", 15, "'/' must follow the last action"),
        ("nolimit", NO_LIMIT.replace("r300c/", "b25b50r300c/"), 8, "the blinds are (25, 50), those of"),
        ("nolimit", NO_LIMIT.replace("r300c/", "b50b100r300x/"), 19, "'x' is not an action (b, c, r or f)"),
        ("nolimit", NO_LIMIT.replace("r300c/", "b50b100r300/c"), 8, "round 2 has actions, but it is not reached"),
        ("nolimit", "STATE:7:b50b100f:5d5c|9hQd:50|-50:A|B", None, ""),
        ("leduc", LEDUC.replace("Qh|Ah", "QhAh"), 17, "hole cards of 1 players in a game of 2"),
        ("leduc", LEDUC.replace("Ah/", "/"), 20, "position 1 has no hole cards, but came to the showdown"),
        ("leduc", LEDUC.replace("Ah/", "AhKh/"), 20, "'AhKh' are not 1 hole cards"),
        ("leduc", LEDUC.replace("Ah/", "Ax/"), 20, "'Ax' is not a card"),
        ("leduc", LEDUC.replace("Ah/", "2h/"), 20, "2h is not in the game's deck"),
        ("leduc", LEDUC.replace("Ah/", "As/"), 23, "As occurs twice"),
        ("leduc", LEDUC.replace("/As", ""), 22, "board cards of 0 rounds after 1 rounds of betting"),
        ("leduc", LEDUC.replace("/As", "/AsKh"), 23, "'AsKh' are not 1 board cards"),
        ("leduc", LEDUC.replace("-9|9", "-9"), 26, "1 value in a game of 2 players"),
        ("leduc", LEDUC.replace("-9|9", "-9|x"), 29, "'x' is not a number of chips"),
        ("leduc", LEDUC.replace("-9|9", "-9|٩"), 29, "'٩' is not a number of chips"),
        ("leduc", LEDUC.replace("-9|9", "-9|9.5"), 29, "position 1 has won 9.5 here, but 9 by the rules"),
        ("leduc", LEDUC.replace("Ann|Bob", "Ann"), 31, "1 name in a game of 2 players"),
        ("limit", "Ann|Bob:0:crc/cc/cx/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20", 18, "'x' is not an action (f, c or r)"),
        ("limit", "Ann|Bob|Cat:0:crc:5d5c|9hQd:20|-20", 0, "the line is neither a hand"),
        ("leduc", "STATE:7:crrc/cSTATE:8:" + LEDUC, 14, "another hand begins, so the end of the first is missing"),
    ],
)  # fmt: skip
def test_wrong_line_is_refused_with_its_column(game: str, line: str, column: int | None, problem: str) -> None:
    reader = lines_of(game)
    if column is None:
        reader.read(line)
        return
    for text in (line, line + "\n"):
        with pytest.raises(FormatError) as caught:
            reader.read(text)
        assert (caught.value.column, caught.value.problem[: len(problem)]) == (column, problem)


def test_values_may_lack_the_decimals_that_are_not_printed() -> None:
    written = [hand for hand in random_hands("limit10", 100, fold=0.02) if any(v % 1 for v in hand.values)]
    reader = StateLines(written[0].game)
    assert written
    for hand in written:
        assert reader.read(format_state_line(hand)).values == hand.values
