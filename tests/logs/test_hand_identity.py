"""Duplicate hands within and across files, and files without hands of their own."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dealer.watching import WatchedRun
from engine import Game
from logs import hand_identity
from logs.contest_scores import largest_losses
from logs.conversion import convert
from logs.errors import LogProblem
from logs.export import FORMATS
from logs.formats.export_format import ExportOptions
from logs.hand_source import HandSource, find
from logs.leaks import deals_in
from logs.pokerstars import format_pokerstars_file
from logs.tracker import count_hands, many_files, statistics_of
from logs.variance.reduction import Reduction, reduce_hands
from tests.logs.hands import log_lines, random_hands

LIMIT = "holdem.limit.2p.reverse_blinds"
HAND = """PokerStars Hand #{number}:  Hold'em No Limit ($0.50/$1 USD) - {time}
Table 'Alpha' 6-max Seat #1 is the button
Seat 1: Ann ($100 in chips)
Seat 2: Bob ($50 in chips)
Seat 3: Dan ($80.5 in chips)
Bob: posts small blind $0.5
Dan: posts big blind $1
*** HOLE CARDS ***
{dealt}
Ann: raises $2 to $3
Bob: folds
Dan: calls $2
*** FLOP *** [2c 7d {card}]
Dan: checks
Ann: bets $4.5
Dan: folds
Uncalled bet ($4.5) returned to Ann
Ann collected $6.2 from pot
*** SUMMARY ***
Total pot $6.5 | Rake $0.3
Board [2c 7d {card}]
Seat 1: Ann (button) collected ($6.2)
Seat 2: Bob (small blind) folded before Flop
Seat 3: Dan (big blind) folded on the Flop


"""


def hand(
    number: int, time: str = "2023/10/13 01:39:37 ET", dealt: str = "Dealt to Ann [Ah Kd]", card: str = "Js"
) -> str:
    return HAND.format(number=number, time=time, dealt=dealt, card=card)


@pytest.fixture
def overlap(tmp_path: Path) -> Path:
    """Write two files of one table: the first has hands 1 to 3, the second 2 to 4."""
    folder = tmp_path / "overlap"
    folder.mkdir()
    for name, numbers in (("a.txt", (1, 2, 3)), ("b.txt", (2, 3, 4))):
        (folder / name).write_text("".join(hand(100_000_000 + number) for number in numbers))
    return folder


def read(*paths: Path) -> tuple[int, list[str]]:
    """Return the number of hands, and the problems."""
    problems: list[LogProblem] = []
    hands = list(find(paths, on_problem=problems.append).hands())
    return len(hands), [*map(str, problems)]


TWICE = "b.txt: 2 hands are in the files twice, the first is hand 100000002 (each counts once)"


@pytest.mark.parametrize("processes", [1, 2])
def test_hands_of_overlapping_files_count_once(overlap: Path, monkeypatch: pytest.MonkeyPatch, processes: int) -> None:
    monkeypatch.setattr(many_files, "_MIN_BYTES", 0)
    problems: list[LogProblem] = []
    counts = count_hands(find([overlap], on_problem=problems.append, strict=True), processes=processes)
    assert counts.hands == 4
    won = {bot.name: (bot.hands, bot.net_chips) for bot in statistics_of(counts).bots}
    assert won == {"Ann": (4, 1400), "Bob": (4, -200), "Dan": (4, -1200)}
    assert [*map(str, problems)] == [f"{overlap}/{TWICE}"]


def converted_hands(source: HandSource) -> int:
    written: dict[Path, int] = {}
    convert(source, (FORMATS["phh"],), on_written=written.__setitem__)
    return sum(written.values())


@pytest.mark.parametrize(
    "number_of_hands",
    [
        lambda source: len(list(source.hands())),
        lambda source: len(list(source.by_deal())),
        lambda source: sum(map(len, deals_in(source))),
        lambda source: reduce_hands(source, Reduction()),
        lambda source: len(largest_losses(source, "Dan")),
        converted_hands,
    ],
    ids=["hands", "by_deal", "leaks", "variance", "losses", "export"],
)
def test_every_command_counts_each_hand_once(overlap: Path, number_of_hands: Callable[[HandSource], int]) -> None:
    problems: list[LogProblem] = []
    assert number_of_hands(find([overlap], on_problem=problems.append)) == 4
    assert [*map(str, problems)] == [f"{overlap}/{TWICE}"]


def test_pages_show_each_hand_once(overlap: Path) -> None:
    run = WatchedRun(overlap)
    assert sum(match.hands.count for match in run.matches.values()) == 4
    assert run.sentences == [f"{overlap}/{TWICE}"]
    run.close()


def test_a_number_twice_in_a_file_and_in_other_time_zones(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        hand(7) + hand(7, "2023/10/13 07:39:37 CET [2023/10/13 01:39:37 ET]") + hand(7, dealt="Dealt to Dan [2s 3s]")
    )
    assert read(path) == (1, [f"{path}: 2 hands are in the files twice, the first is hand 7 (each counts once)"])


def test_rooms_have_numbers_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(hand(7))
    (tmp_path / "b.txt").write_text(hand(7).replace("PokerStars Hand #", "Poker Hand #HD"))
    (tmp_path / "c.txt").write_text(hand(7).replace("PokerStars Hand #", "Poker Hand #RC"))
    assert read(tmp_path) == (3, [])


def test_first_of_two_hands_with_one_number_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(hand(7) + hand(7, card="Jc"))
    sentence = (
        f"{path}: 1 hand is in the files twice, the first is hand 7; 1 of them with other content, and the first to be "
        "read stays (each counts once)"
    )
    assert read(path) == (1, [sentence])


def test_damaged_hand_does_not_hide_its_complete_copy(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(hand(1) + hand(2)[:500])
    (tmp_path / "b.txt").write_text(hand(2) + hand(3))
    hands, problems = read(tmp_path)
    assert (hands, len(problems)) == (3, 1)
    assert "hand #2" in problems[0]


# ---- logs


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(lines))
    return path


@pytest.fixture
def lines() -> list[str]:
    """Return a log: four lines of header, 40 hands, the score."""
    return log_lines(random_hands("limit", 40), f"{LIMIT}.game")


def hand_lines(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.startswith("STATE:")]


def test_two_logs_of_one_match(tmp_path: Path, lines: list[str]) -> None:
    hands = hand_lines(lines)
    header = lines[0]
    first = write(tmp_path / "one.log", [header, *hands[:30]])
    second = write(tmp_path / "two.log", [header, *hands[10:]])
    sentence = f"{second}: 20 hands are in the files twice, the first is in line 2 (each counts once)"
    assert read(first, second) == (40, [sentence])
    assert count_hands(find([first, second]), processes=2).hands == 40
    # A damaged line in one of them does not separate the matches.
    write(first, [header, *hands[:20], hands[20].replace("STATE:20:", "STATE:20:f"), *hands[21:30]])
    count, sentences = read(first, second)
    assert (count, len(sentences)) == (40, 2)
    assert sentences[1].startswith(f"{second}: 19 hands are in the files twice")


def test_a_log_with_hands_twice(tmp_path: Path, lines: list[str]) -> None:
    hands = hand_lines(lines)
    path = write(tmp_path / "a.log", [*lines, *lines])
    assert read(path)[0] == 40
    path = write(tmp_path / "b.log", [lines[0], *hands[:6], hands[5], *hands[6:]])
    assert read(path)[0] == 40


def test_runs_of_one_seed_that_agree_by_chance_are_two(tmp_path: Path, lines: list[str]) -> None:
    again = log_lines(random_hands("limit", 40, fold=0.2), f"{LIMIT}.game")
    assert set(hand_lines(lines)) & set(hand_lines(again))
    assert read(write(tmp_path / "one.log", lines), write(tmp_path / "two.log", again)) == (80, [])


def test_only_logs_that_share_a_hand_are_compared(
    tmp_path: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, str]] = []
    shared_lines = hand_identity._shared_lines

    def record_comparison(
        first: hand_identity._Segment, second: hand_identity._Segment, game: Game | None
    ) -> list[int]:
        compared.append((Path(first.path).name, Path(second.path).name))
        return shared_lines(first, second, game)

    monkeypatch.setattr(hand_identity, "_shared_lines", record_comparison)
    hands = hand_lines(lines)
    logs = {"a": hands[:20], "b": hands[15:30], "c": hands[25:], "d": hands[30:35]}
    paths = [write(tmp_path / f"{name}.log", part) for name, part in logs.items()]
    repeats = hand_identity.repeated_lines([*map(str, paths)], None)
    assert {Path(path).name: sorted(places) for path, places in repeats.items()} == {
        "b.log": [1, 2, 3, 4, 5],
        "c.log": [1, 2, 3, 4, 5],
        "d.log": [1, 2, 3, 4, 5],
    }
    assert compared == [("a.log", "b.log"), ("b.log", "c.log"), ("c.log", "d.log")]


def test_the_seatings_of_a_duplicate_match_are_different_hands(tmp_path: Path) -> None:
    matches = [random_hands("limit", 50, names=names) for names in (("Ann", "Bob"), ("Bob", "Ann"))]
    assert [hand.deal for hand in matches[0]][:3] == [hand.deal for hand in matches[1]][:3]
    for letter, records in zip("ab", matches, strict=True):
        write(tmp_path / f"match.{letter}.log", log_lines(records, f"{LIMIT}.game"))
        text = "".join(format_pokerstars_file(records, ExportOptions(match_id="seed 1")))
        (tmp_path / f"{letter}.txt").write_text(text)
    assert read(tmp_path / "match.a.log", tmp_path / "match.b.log") == (100, [])
    assert read(tmp_path / "a.txt", tmp_path / "b.txt") == (100, [])


# ---- exports


@pytest.mark.parametrize("format_name", ["pokerstars", "phh"])
@pytest.mark.parametrize("game", ["limit", "nolimit3"])
def test_a_log_and_its_exported_histories(tmp_path: Path, format_name: str, game: str) -> None:
    names = {"limit": LIMIT, "nolimit3": "holdem.nolimit.3p", "nolimit6": "holdem.nolimit.6p"}
    log = write(tmp_path / "m.log", log_lines(random_hands(game, 30), f"{names[game]}.game"))
    out = tmp_path / "out"
    convert(find([log]), (FORMATS[format_name],), folder=out)
    (history,) = out.iterdir()
    expected = 30, [f"{history}: it was exported from {log} (each counts once)"]
    assert read(log, history) == expected
    assert read(history, log) == expected
    assert read(tmp_path) == expected


def test_a_folder_of_several_formats_is_read_whole(tmp_path: Path, lines: list[str]) -> None:
    write(tmp_path / "m.log", lines)
    (tmp_path / "hh.txt").write_text(hand(1) + hand(2))
    assert read(tmp_path) == (42, [])
    assert count_hands(find([tmp_path])).hands == 42


# ---- foreign files


def test_a_foreign_file_hides_no_others(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(1, 61)]
    for number, file in enumerate(files, 1):
        file.write_text(hand(number))
    notes = tmp_path / "notes.txt"
    notes.write_text("Ann bets too much on wet boards.\n")
    hands, problems = read(*random.Random(1).sample([*files, notes], 61))
    assert (hands, len(problems)) == (60, 1)
    assert problems[0].startswith(f"{notes}, line 1: ")
    assert read(tmp_path) == (
        60,
        [f"{notes}: not recognised: it is neither an ACPC log nor a hand history that is read (left out)"],
    )


def test_hands_without_cards_or_numbers_are_never_repeats(tmp_path: Path) -> None:
    folded = (
        'variant = "NT"\nantes = [0, 0, 0]\nblinds_or_straddles = [1, 2, 0]\nmin_bet = 2\n'
        'starting_stacks = [100, 100, 100]\nactions = ["p3 f", "p1 f"]\n'
    )
    text = "".join(f"[{number}]\n{folded}\n" for number in range(1, 11))
    path = tmp_path / "folds.phhs"
    path.write_text(text, encoding="utf-8")
    hands, problems = read(path)
    assert (hands, problems) == (10, [])
