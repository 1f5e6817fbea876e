"""Counting of files, folders, and parts of files in other processes."""

from __future__ import annotations

import lzma
from itertools import permutations
from multiprocessing import get_context
from pathlib import Path

import pytest

from logs import HandRecord
from logs.errors import DamagedLogError, LogError, LogProblem
from logs.estimation import RunningMean, score_bounds
from logs.hand_source import find
from logs.phh.writer import format_phhs
from logs.tracker import HandCounts, Statistics, count_hands, many_files, statistics_of
from logs.tracker.hand_counts import Sum
from protocol import find_game
from tests.logs.hands import log_lines, random_hands
from tests.logs.tracker import naive

GAMES = {
    "limit": "holdem.limit.2p.reverse_blinds.game",
    "limit3": "holdem.limit.3p.game",
    "leduc": "leduc.limit.2p.game",
}


def write(path: Path, records: list[HandRecord], game: str = "limit") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(log_lines(records, GAMES[game])), newline="")
    return path


def figures(counts: HandCounts) -> Statistics:
    """Return the figures without curves, whose points depend on the boundaries of files and parts."""
    statistics = statistics_of(counts)
    return statistics.model_copy(update={"bots": [bot.model_copy(update={"curve": []}) for bot in statistics.bots]})


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start two processes for any file, and allow small parts."""
    monkeypatch.setattr(many_files, "_MIN_BYTES", 0)
    monkeypatch.setattr(many_files, "_MIN_PART_BYTES", 5000)


def test_a_file_and_a_folder(tmp_path: Path) -> None:
    records = random_hands("limit", 120)
    path = write(tmp_path / "match.log", records)
    expected = figures(HandCounts().add_all(records))
    assert figures(count_hands(find([path]))) == expected
    assert figures(count_hands(find([tmp_path]), processes=2)) == expected


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("is_spawned", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_several_processes_count_what_one_counts(
    is_spawned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four matches of two bots, the first in parts; a match of others; a PHH file in another folder."""
    if is_spawned:
        monkeypatch.setattr("multiprocessing.get_context", get_context)
    (tmp_path / "run").mkdir()
    for seed, names in enumerate([("Ann", "Bob"), ("Bob", "Ann"), ("Ann", "Bob"), ("Cat", "Dan")]):
        write(tmp_path / "run" / f"m{seed}.log", random_hands("limit", 200 if not seed else 60, seed, names=names))
    write(tmp_path / "run" / "m9.log", random_hands("leduc", 60), "leduc")
    (tmp_path / "phh").mkdir()
    phh = tmp_path / "phh" / "hands.phhs"
    phh.write_text("".join(format_phhs(random_hands("limit", 40))), newline="")
    paths = [tmp_path / "run", phh]
    problems: list[LogProblem] = []
    progress: list[int] = []
    counts = count_hands(find(paths, on_problem=problems.append), processes=2, on_progress=progress.append)
    assert problems == []
    assert progress[-1] == counts.hands == 200 + 3 * 60 + 60 + 40
    assert len(progress) >= 3
    alone = count_hands(find(paths))
    assert figures(counts) == figures(alone)
    assert [big[:2] for big in counts.big_pots] == [big[:2] for big in alone.big_pots]
    for name, player in alone.players.items():
        assert counts.players[name].curve[-1] == pytest.approx(player.curve[-1])
        assert counts.players[name].curve[0, Sum.HANDS] == player.curve[0, Sum.HANDS] == 1


@pytest.mark.usefixtures("small_files")
def test_several_processes_report_the_problems_of_one(tmp_path: Path) -> None:
    path = write(tmp_path / "match.log", random_hands("limit", 300))
    lines = path.read_text().splitlines(keepends=True)
    lines[20] = lines[20].replace("Ann", "Zoe")
    lines[200] = lines[200].replace("STATE", "STAT")
    del lines[100:103]
    path.write_text("".join(lines) + "half", newline="")
    alone: list[LogProblem] = []
    expected = count_hands(find([path], on_problem=alone.append))
    several: list[LogProblem] = []
    counts = count_hands(find([path], on_problem=several.append), processes=2)
    assert len(alone) == 4
    assert several == alone
    assert counts.hands == expected.hands
    with pytest.raises(DamagedLogError) as caught:
        count_hands(find([path], strict=True), processes=2)
    assert caught.value.log_problem == alone[0]


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_score_that_is_not_the_sum_is_noticed(tmp_path: Path, processes: int) -> None:
    path = write(tmp_path / "match.log", random_hands("limit", 300))
    problems: list[LogProblem] = []
    count_hands(find([path], on_problem=problems.append), processes=processes)
    assert problems == []
    lines = path.read_text().splitlines(keepends=True)
    lines[-1] = "SCORE:1|-1:Ann|Bob\n"
    path.write_text("".join(lines), newline="")
    count_hands(find([path], on_problem=problems.append), processes=processes)
    assert [problem.line_number for problem in problems] == [len(lines)]
    assert problems[0].problem.startswith("the score is not the sum of the hands, ")


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("processes", [1, 2])
def test_a_file_that_is_no_log(tmp_path: Path, processes: int) -> None:
    good = write(tmp_path / "match.log", random_hands("limit", 120))
    bad = tmp_path / "notes.txt"
    bad.write_text("nothing of poker\n" * 10)
    problems: list[LogProblem] = []
    counts = count_hands(find([bad, good], on_problem=problems.append), processes=processes)
    assert counts.hands == 120
    assert len(problems) == 1
    sentence = f"{bad}, line 1: not recognised: it is neither an ACPC log nor a hand history that is read (skipped)"
    assert str(problems[-1]) == sentence
    with pytest.raises(LogError, match="not recognised"):
        count_hands(find([bad, good]), processes=processes)


# ---- deals


@pytest.mark.parametrize("orders", [3, pytest.param(6, marks=pytest.mark.slow)], ids=["rotations", "permutations"])
def test_the_same_cards_in_several_seatings_are_one_unit(
    tmp_path: Path, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("Ann", "Bob", "Cat")
    seatings = list(permutations(names)) if orders == 6 else [names[i:] + names[:i] for i in range(3)]
    matches = [random_hands("limit3", 120, names=order, fold=0.1 + 0.02 * i) for i, order in enumerate(seatings)]
    for letter, match in zip("abcdef", matches, strict=False):
        write(tmp_path / f"match.{letter}.log", match, "limit3")
    monkeypatch.setattr(many_files, "_MIN_BYTES", 0)
    monkeypatch.setattr(many_files, "_MIN_PART_BYTES", 20_000)
    for processes in (1, 2):
        statistics = statistics_of(count_hands(find([tmp_path]), processes=processes))
        assert statistics.hands == 120 * orders
        for bot in statistics.bots:
            won = [[1000 * naive.net(dealt) / 10 for dealt in naive.dealt_to(match, bot.name)] for match in matches]
            scores = [sum(of_deal) / orders for of_deal in zip(*won, strict=True)]
            expected = RunningMean(scores, score_bounds(find_game("limit3")[1]))
            assert (bot.hands, bot.deals) == (120 * orders, 120)
            assert bot.mbb_per_game.mean == pytest.approx(expected.mean)
            assert bot.mbb_per_game.half_width == pytest.approx(expected.estimate.half_width)
            assert expected.estimate.half_width is not None
            assert bot.curve[-1].half_width_95 == pytest.approx(expected.estimate.half_width * bot.hands / 1000)
            assert [place.deals for place in bot.positions] == [120] * 3


# ---- copies


def count(*paths: Path, strict: bool = False) -> tuple[int, list[str]]:
    """Return the number of hands counted, and the problems."""
    problems: list[LogProblem] = []
    counts = count_hands(find(paths, on_problem=problems.append, strict=strict))
    return counts.hands, [problem.problem for problem in problems]


def test_file_given_twice_counts_once(tmp_path: Path) -> None:
    records = random_hands("limit", 80)
    path = write(tmp_path / "run" / "match.log", records)
    sentence = "it is given twice, and counts once"
    assert count(path, path) == (80, [sentence])
    assert count(path.parent, path) == (80, [sentence])
    with pytest.raises(DamagedLogError, match="and counts once"):
        count(path, path, strict=True)


def test_copies_and_beginnings_count_once(tmp_path: Path) -> None:
    """The longest copy counts, whatever its folder, name or compression."""
    path = write(tmp_path / "run" / "match.log", random_hands("limit", 80))
    whole = path.read_bytes()
    (tmp_path / "half.log").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "same.log.xz").write_bytes(lzma.compress(whole))
    hands, problems = count(tmp_path / "half.log", path, tmp_path / "same.log.xz")
    assert (hands, len(problems)) == (80, 2)
    other = write(tmp_path / "other.log", random_hands("limit", 80, 2))
    assert count(path, other) == (160, [])


def test_exports_beside_their_log_count_once(tmp_path: Path) -> None:
    records = random_hands("limit", 40)
    write(tmp_path / "run" / "match.log", records)
    for exported in (tmp_path / "run" / "phh" / "match.phhs", tmp_path / "elsewhere" / "match.phhs"):
        exported.parent.mkdir()
        exported.write_text("".join(format_phhs(records)), newline="")
    hands, problems = count(tmp_path / "run", tmp_path / "run" / "phh")
    assert (hands, problems) == (40, [f"it was exported from {tmp_path / 'run' / 'match.log'}"])
    assert count(tmp_path / "elsewhere", tmp_path / "elsewhere" / "match.phhs")[0] == 40


def test_more_logs_of_the_same_cards_than_files_may_be_open(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    for number in range(120):
        write(tmp_path / f"{number}.log", random_hands("leduc", 2, names=(f"bot{number}", "rival")), "leduc")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        assert count_hands(find([tmp_path])).hands == 240
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
