"""Game definitions: shipped ones, the loose grammar of the reference, and every refusal."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import BettingType, Game, GameError
from engine.game import DEFAULT_STACK
from protocol import (
    FormatError,
    GameDefinitionError,
    find_game,
    format_game_definition,
    parse_game_definition,
    shipped_games,
)
from protocol.game_definition import SHORT_NAMES, resolve_game_name, shipped_name
from tests.engine.strategies import games

KUHN = """\
GAMEDEF
limit
numPlayers = 2
numRounds = 1
blind = 1 1
raiseSize = 1
firstPlayer = 1
maxRaises = 1
numSuits = 1
numRanks = 3
numHoleCards = 1
numBoardCards = 0
END GAMEDEF
"""


def kuhn_with(*lines: str) -> Game:
    """Return the definition of Kuhn poker with lines added at its end."""
    return parse_game_definition(KUHN.replace("END GAMEDEF\n", "\n".join(lines) + "\n"))


# -- shipped games ---------------------------------------------------------------------------------------------------


def test_the_shipped_games() -> None:
    assert shipped_games() == [
        "holdem.limit.10p",
        "holdem.limit.2p.reverse_blinds",
        "holdem.limit.3p",
        "holdem.limit.6p",
        "holdem.nolimit.10p",
        "holdem.nolimit.2p.reverse_blinds",
        "holdem.nolimit.3p",
        "holdem.nolimit.6p",
        "kuhn-both.nolimit.2p",
        "kuhn-breadth.nolimit.2p",
        "kuhn-depth.limit.2p",
        "kuhn.limit.2p",
        "kuhn.limit.3p",
        "leduc.limit.2p",
        "leduc.nolimit.2p",
    ]
    assert sorted(SHORT_NAMES.values()) == shipped_games()


@pytest.mark.parametrize("name", shipped_games())
def test_a_shipped_game_survives_being_written_and_read(name: str) -> None:
    full_name, game = find_game(name)
    assert full_name == name
    assert parse_game_definition(format_game_definition(game)) == game


@given(games())
def test_any_game_survives_being_written_and_read(game: Game) -> None:
    assert parse_game_definition(format_game_definition(game)) == game


def test_kuhn_poker_is_parsed() -> None:
    assert parse_game_definition(KUHN) == Game(
        betting=BettingType.LIMIT,
        num_players=2,
        num_rounds=1,
        stacks=(DEFAULT_STACK, DEFAULT_STACK),
        blinds=(1, 1),
        raise_sizes=(1,),
        first_players=(0,),
        max_raises=(1,),
        num_suits=1,
        num_ranks=3,
        num_hole_cards=1,
        num_board_cards=(0,),
    )


def test_a_definition_is_written_in_the_order_of_the_format() -> None:
    assert format_game_definition(find_game("leduc-nolimit")[1]) == (
        "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 2\nstack = 1200 1200\nblind = 100 100\nfirstPlayer = 1 1\n"
        "maxRaises = 255 255\nnumSuits = 2\nnumRanks = 3\nnumHoleCards = 1\nnumBoardCards = 0 1\nEND GAMEDEF\n"
    )


# -- the grammar -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(KUHN.replace("\n", "\r\n"), id="CR LF"),
        pytest.param(KUHN.upper(), id="upper case"),
        pytest.param(KUHN.replace(" = ", "\t== = "), id="a mix of both"),
        pytest.param(KUHN.replace("blind = 1 1", "blind = 1=1"), id="equals signs between the values"),
        pytest.param(KUHN.replace("GAMEDEF\n", "").replace("END ", ""), id="neither GAMEDEF nor its end"),
        pytest.param("# comment\n\n   \n" + KUHN, id="comments and empty lines"),
        pytest.param(KUHN.replace("limit\n", "limit\nunknown = 7\n numPlayers = 9\n"), id="unknown lines"),
        pytest.param(KUHN.replace("numRanks = 3", "numRanks = 3 # of them"), id="text behind the values"),
        pytest.param(KUHN.replace("numRanks = 3", "numRanks = 3 9 9"), id="more values than one"),
        pytest.param(KUHN.replace("numPlayers = 2", "numPlayers = 258"), id="eight bits wrap"),
        pytest.param(KUHN.replace("firstPlayer = 1\n", ""), id="the first player by default"),
        pytest.param(KUHN.replace("limit\n", ""), id="limit by default"),
        pytest.param(KUHN.replace("limit\n", "limits are fun\n"), id="a keyword is a prefix"),
        pytest.param(KUHN.replace("limit\n", "nolimit\nlimit\n"), id="the later line wins"),
        pytest.param(
            KUHN.replace("numRanks = 3", "numRanks = 3\nnumRanks ="), id="a line without value changes nothing"
        ),
        pytest.param(KUHN + "numPlayers = 9\nnonsense", id="nothing counts behind the end"),
    ],
)
def test_spellings_of_one_game(text: str) -> None:
    assert parse_game_definition(text) == parse_game_definition(KUHN)


def test_a_keyword_with_an_ending_leaves_no_values() -> None:
    with pytest.raises(GameError, match=r"^only read 0 blinds, need 2$"):
        kuhn_with("blinds = 1 1")


def test_a_shorter_later_list_counts_with_its_own_length() -> None:
    assert kuhn_with("blind = 3 1", "blind = 2 1").blinds == (2, 1)
    with pytest.raises(GameError, match=r"^only read 1 blinds, need 2$"):
        kuhn_with("blind = 2")
    # If no count is checked, the end of the earlier list remains.
    game = parse_game_definition(
        KUHN.replace("numRounds = 1", "numRounds = 2")
        .replace("raiseSize = 1", "raiseSize = 1 1")
        .replace("numBoardCards = 0", "numBoardCards = 0 0")
        .replace("maxRaises = 1", "maxRaises = 3 4\nmaxRaises = 2")
        .replace("firstPlayer = 1", "firstPlayer = 1 2\nfirstPlayer = 2")
    )
    assert game.max_raises == (2, 4)
    assert game.first_players == (1, 1)


def test_default_stacks_are_for_four_players() -> None:
    lines = ("numPlayers = 4", "blind = 1 1 1 1", "numRanks = 13")
    assert kuhn_with(*lines).stacks == (DEFAULT_STACK,) * 4
    with pytest.raises(GameError, match=r"^only read 4 stack sizes, need 5$"):
        kuhn_with("numPlayers = 5", "blind = 1 1 1 1 1", "numRanks = 13")


def test_refusal_of_a_wrapped_number_states_both_values(tmp_path: Path) -> None:
    path = tmp_path / "wrong.game"
    path.write_text(KUHN.replace("numPlayers = 2", "NumPlayers = -2"), "ascii")
    with pytest.raises(GameDefinitionError) as refused:
        find_game(str(path))
    problem = "invalid number of players: 254; line 3: 'NumPlayers = -2' is read as 254 because values have 8 bits"
    assert str(refused.value) == f"{path}: {problem}"
    with pytest.raises(GameError, match=r"^invalid number of players: 254$"):
        parse_game_definition(path.read_text("ascii"))


# -- files with settings that are not played ---------------------------------------------------------------------------

REFUSAL = ". Correct the file, or deal with acpc-dealer, which reads it as the reference does"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "limit\n",
            "limit\nbettingAbstraction = fcpa\nWinnerBonus = 60\n",
            "line 3: 'bettingAbstraction = fcpa' is not played, line 4: 'WinnerBonus = 60' is not played",
        ),
        (
            "limit\n",
            "limit\na\nb\nc\nd\ne\n",
            "line 3: 'a' is not played, line 4: 'b' is not played, line 5: 'c' is not played, and 2 more",
        ),
        ("blind = 1 1", "blind = 1 0.5", "line 5: 'blind = 1 0.5' contains '0.5', which is not a whole number"),
        ("blind = 1 1", "blind = 1 1 0", "line 5: 'blind = 1 1 0' has 3 values, of which the game takes 2"),
        ("numRanks = 3", "numRanks = 3\nnumSuits =", "line 11: 'numSuits =' has no value"),
        ("numRanks = 3", "numRanks = 3\nnumranks = 3", "line 11: 'numranks = 3' repeats line 10"),
        ("limit\n", "limit 5\n", "line 2: 'limit 5' has values, which are not read"),
        ("limit\n", "nolimit\n", "line 6: 'raiseSize = 1' is not played in a no-limit game"),
        ("maxRaises = 1", "maxRaises = 257", "line 8: 'maxRaises = 257' is read as 1 because values have 8 bits"),
        (
            "limit\n",
            "limit\nstack = 4294967396 100\n",
            "line 3: 'stack = 4294967396 100' is read as 100, 100 because values have 32 bits",
        ),
    ],
)
def test_file_with_unplayed_settings_is_refused_by_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = tmp_path / "more.game"
    path.write_text(KUHN.replace(old, new, 1), "latin-1")
    with pytest.raises(GameDefinitionError) as refused:
        find_game(str(path))
    assert str(refused.value) == f"{path}: {problem}{REFUSAL}"
    assert find_game(str(path), as_reference=True) == ("more.game", parse_game_definition(path.read_text("latin-1")))


@pytest.mark.parametrize(
    "text",
    [
        KUHN,
        KUHN.replace("\n", "\r\n"),
        KUHN.replace(" = ", "\t== = "),
        KUHN.replace("numRanks = 3", "numRanks = 3 # Q, K, A"),
        KUHN.replace("blind = 1 1", "blind = +1=01  "),
        KUHN + "ante = 10\n",
        "\xef\xbb\xbf" + KUHN.replace("GAMEDEF\nl", "l"),
    ],
)
def test_file_without_unplayed_settings_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "whole.game"
    path.write_text(text, "latin-1", newline="")
    assert find_game(str(path))[1] == parse_game_definition(KUHN)


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["numPlayers = 256"], "invalid number of players: 0"),
        (["blind = x"], "only read 0 blinds, need 2"),
        (["numBoardCards ="], "only read 0 board card numbers, need 1"),
    ],
)
def test_refusals_in_the_references_words(lines: list[str], sentence: str) -> None:
    with pytest.raises(GameError) as caught:
        kuhn_with(*lines)
    assert str(caught.value) == sentence


KEYWORDS = [line.split(" ")[0] for line in KUHN.splitlines()] + ["stack", "nolimit", "END GAMEDEF", "#"]
LINES = st.builds(
    lambda keyword, between, values, behind: keyword + between + values + behind,
    st.sampled_from(KEYWORDS),
    st.sampled_from([" = ", "=", " ", "", "s = ", "\t"]),
    st.lists(st.integers(-3, 300) | st.integers(-(2**70), 2**70), max_size=12).map(lambda v: " ".join(map(str, v))),
    st.text(max_size=3),
)


@given(st.one_of(st.text(), st.lists(LINES, max_size=8).map("\n".join)), st.booleans())
def test_any_text_is_a_game_or_a_game_error(text: str, is_added: bool) -> None:
    try:
        game = parse_game_definition(KUHN.replace("END GAMEDEF\n", text) if is_added else text)
    except GameError:
        return
    assert parse_game_definition(format_game_definition(game)) == game


# -- finding games ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("short", "full"), SHORT_NAMES.items())
def test_short_names_find_their_games(short: str, full: str) -> None:
    assert find_game(short) == find_game(full)
    assert find_game(short.upper())[0] == full
    assert find_game(full + ".game")[0] == full


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("leduc.nolimit", "leduc.nolimit.2p"),
        ("holdem.nolimit.2p", "holdem.nolimit.2p.reverse_blinds"),
    ],
)
def test_the_beginning_of_one_name_is_enough(name: str, full: str) -> None:
    assert find_game(name)[0] == full


def test_a_name_that_fits_several_games_is_refused() -> None:
    with pytest.raises(GameDefinitionError) as caught:
        find_game("holdem.nolimit")
    assert str(caught.value) == (
        "holdem.nolimit: fits several games (holdem.nolimit.10p, holdem.nolimit.2p.reverse_blinds, "
        "holdem.nolimit.3p, holdem.nolimit.6p)"
    )


@pytest.mark.parametrize("name", ["omaha", "", ".", "holdem.limit.4p"])
def test_unknown_name_is_refused_with_the_known_names(name: str) -> None:
    with pytest.raises(GameDefinitionError) as caught:
        find_game(name)
    assert str(caught.value) == (
        f"{name}: no such game or file; name a .game file or one of limit, nolimit, limit3, limit6, limit10, "
        "nolimit3, nolimit6, nolimit10, kuhn, kuhn3, kuhn-depth, kuhn-breadth, kuhn-both, leduc, "
        "leduc-nolimit"
    )


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("limit", ["holdem.limit.2p.reverse_blinds", "limit"], "limit"),
        ("LIMIT", ["kuhn.limit.2p", "holdem.limit.2p.reverse_blinds"], "holdem.limit.2p.reverse_blinds"),
        ("limit", ["holdem.limit.2p.reverse_blinds.game"], "holdem.limit.2p.reverse_blinds.game"),
        ("kuhn.limit.2p", ["kuhn"], "kuhn"),
        ("kuhn", ["kuhn.limit.3p", "kuhn.limit.2p"], "kuhn.limit.2p"),
        ("hea", ["Heads-Up", "kuhn"], "Heads-Up"),
        ("leduc", ["kuhn.limit.2p"], None),
        ("", ["kuhn.limit.2p"], None),
    ],
)
def test_a_name_is_resolved_among_the_known_ones(name: str, known: list[str], meant: str | None) -> None:
    assert resolve_game_name(name, known) == meant


def test_the_shipped_name_of_a_game() -> None:
    assert shipped_name(find_game("kuhn")[1]) == "kuhn.limit.2p"
    assert shipped_name(parse_game_definition(KUHN.replace("numRanks = 3", "numRanks = 5"))) == ""


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "missing.game")
    with pytest.raises(GameDefinitionError) as caught:
        find_game(path)
    assert str(caught.value) == f"{path}: cannot read the game definition: {os.strerror(errno.ENOENT)}"
    assert isinstance(caught.value, FormatError)


def test_a_file_of_any_size_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.game"
    with path.open("wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(GameDefinitionError, match="too large for a game definition"):
        find_game(str(path))
