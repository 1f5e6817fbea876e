"""``arena export``, and the hand histories of runs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.dealer.cli.conftest import Arena
from tests.dealer.cli.test_resume import _hands, _kill_at, _start

PLAY = ("play", "nolimit", "random", "calling", "-n", "40", "--seed", "3", "--in-process", "--quiet")


@pytest.fixture
def run(finished_runs: Callable[..., Path], tmp_path: Path) -> Path:
    """Finished run with hand histories in all formats."""
    return shutil.copytree(finished_runs(*PLAY, "--export", "pokerstars,phh,ohh"), tmp_path / "run")


def _texts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_run_writes_histories_for_trackers(arena_here: Arena, tmp_path: Path) -> None:
    assert arena_here(*PLAY, "--out", "run").code == 0
    files = sorted(path.name for path in (tmp_path / "run" / "pokerstars").iterdir())
    assert [name.partition(" ")[2] for name in files] == [
        "match.a 3 - $50-$100.txt",
        "match.b 3 - $50-$100.txt",
    ]
    assert not (tmp_path / "run" / "phh").exists()


@pytest.mark.parametrize("words", [("play", "kuhn", "random", "calling"), (*PLAY[:4], "--export", "none")])
def test_run_without_hand_histories_has_no_folder(arena_here: Arena, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert arena_here(*words, "-n", "20", "--in-process", "--out", "run").code == 0
    assert [path for path in (tmp_path / "run").iterdir() if path.is_dir()] == []


def test_format_without_the_game_is_refused_before_the_match(arena_here: Arena, tmp_path: Path) -> None:
    result = arena_here("play", "kuhn", "--export", "phh")
    assert result.code == 2
    assert result.sentence == "--export: kuhn: PHH cannot hold a game with a deck of 3 cards; an ACPC log can"
    assert list(tmp_path.iterdir()) == []


def test_export_equals_the_histories_of_the_run(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    result = arena_here("export", "run", "--format", "pokerstars,phh,ohh", "--out", "again")
    assert result.code == 0
    assert result.out.count("     40\n") == 6
    live = {name: data for form in ("pokerstars", "phh", "ohh") for name, data in _texts(run / form).items()}
    assert _texts(tmp_path / "again") == live


@pytest.mark.slow
def test_resumed_run_has_whole_hand_histories(arena: Arena, tmp_path: Path) -> None:
    arguments = ("play", "limit", "random", "calling", "-n", "300", "--seed", "3", "--export", "pokerstars,phh,ohh")
    killed = _start(tmp_path, *arguments, "--out", "killed")
    assert _kill_at(killed, lambda: _hands(tmp_path / "killed") > 150)
    assert arena("resume", "killed").code == 0
    assert arena("export", "killed", "-f", "pokerstars,phh,ohh", "-o", "again").code == 0
    live = {
        name: data for form in ("pokerstars", "phh", "ohh") for name, data in _texts(tmp_path / "killed" / form).items()
    }
    assert len(live) == 6
    assert live == _texts(tmp_path / "again")


def test_files_are_overwritten_only_by_force(arena_here: Arena, run: Path) -> None:
    texts = _texts(run)
    result = arena_here("export", "run")
    assert result.code == 2
    assert result.err.endswith("exists already; overwrite it with --force, or choose another folder with --out\n")
    assert _texts(run) == texts
    assert arena_here("export", "run", "--force").code == 0
    assert _texts(run) == texts


def test_history_has_the_chosen_hero_stakes_and_rake(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    words = ("--hero", "calling", "--stakes", "0.50/1", "--rake", "5", "--rake-cap", "3")
    assert arena_here("export", "run/match.a.log", *words, "-o", "paid").code == 0
    (text,) = (data.decode() for data in _texts(tmp_path / "paid").values())
    assert "($0.50/$1.00 USD)" in text
    assert "Dealt to calling [" in text
    assert "Dealt to random [" not in text
    assert "| Rake $3 " in text


def test_observed_history_has_no_hole_cards(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    assert arena_here("export", "run/match.a.log", "--observed", "-o", "seen").code == 0
    (text,) = (data.decode() for data in _texts(tmp_path / "seen").values())
    assert "Dealt to" not in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no-such-run",), "no-such-run: there is no such file or folder"),
        (("run", "-f", "xml"), "'xml' is not a format; the formats are pokerstars, phh, ohh"),
        (("run", "-f", "none"), "--format none writes nothing"),
        (("run", "--currency", "CHF"), "the currency is USD, EUR, GBP or none, not 'CHF'"),
        (("run", "--hero", "Zoe"), "run/match.a.log: no player is called 'Zoe'; there are random, calling"),
        (("run", "--stakes", "1/3", "-o", "x"), "stakes of 1/3 are not in proportion to this game's blinds, 50/100"),
        (("run", "--stakes", "0.05/0.10", "-o", "x"), "stakes of 0.05/0.10 do not fit blinds of 50/100 chips: "),
        (
            ("run", "--stakes", "7/14", "-f", "phh", "--force", "-o", "x", "--observed", "--hero", "calling"),
            "--observed",
        ),
        (("run", "--rake-cap", "3"), "--rake-step, --rake-cap and --rake-preflop go with --rake"),
        (("run", "run", "--transcript", "x"), "--transcript goes with one log"),
    ],
)
def test_refusal_is_one_sentence(arena_here: Arena, run: Path, words: tuple[str, ...], sentence: str) -> None:
    result = arena_here("export", *words)
    assert result.code == 2
    assert result.sentence.replace("\\", "/").startswith(sentence)


def test_damaged_hands_are_skipped(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    log = run / "match.a.log"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    lines[9] = lines[9].replace(":", ";")
    log.write_text("".join(lines)[:-20], "utf-8")
    result = arena_here("export", str(log), "-o", "rest")
    assert result.code == 0
    assert "line 10, byte 1: the line is neither a " in result.err
    assert "the last line is truncated" in result.err
    assert result.out.rstrip().endswith(" 39")
    strict = arena_here("export", str(log), "-o", "strict", "--strict")
    assert strict.code == 1
    last = strict.err.splitlines()[-1]
    assert "line 10, byte 1: the line is neither a hand" in last
    assert "(skipped)" not in last


def test_many_problems_are_counted(arena_here: Arena, run: Path) -> None:
    log = run / "match.a.log"
    lines = log.read_text("utf-8").splitlines(keepends=True)
    for place in range(6, 36):
        lines[place] = "STATE:junk\n"
    log.write_text("".join(lines), "utf-8")
    result = arena_here("export", str(log), "-o", "rest")
    assert result.code == 0
    assert result.err.count("(skipped)") == 10
    assert "more problems like these" in result.err


def test_hand_keeps_its_number_if_others_are_damaged(arena_here: Arena, run: Path, tmp_path: Path) -> None:
    """A damaged first hand does not change the identity of the match."""
    log = run / "match.a.log"
    log.write_text(log.read_text("utf-8").replace("STATE:0:", "STATE;0:"), "utf-8")
    assert arena_here("export", str(log), "-o", "rest").code == 0
    (rest,) = (data.decode() for data in _texts(tmp_path / "rest").values())
    (live,) = (path.read_bytes().decode() for path in (run / "pokerstars").glob("*match.a*"))
    numbers = [line.split()[2] for line in live.splitlines() if line.startswith("PokerStars")]
    assert [line.split()[2] for line in rest.splitlines() if line.startswith("PokerStars")] == numbers[1:]


def test_unreadable_log_does_not_stop_the_others(arena_here: Arena, run: Path) -> None:
    (run / "stranger.log").write_text("# name/game/hands/seed m chess 3 1\nSTATE:0:cc:Ks|Qs:1|-1:A|B\n")
    result = arena_here("export", "run", "-o", "rest")
    assert result.code == 0
    assert result.out.count("     40\n") == 2
    assert "stranger.log, line 1: its game 'chess' does not come with the arena" in result.err
    alone = arena_here("export", "run/stranger.log")
    assert alone.code == 2
    assert alone.sentence.endswith("in the folder of the log; name the game with --game")


def test_hands_without_times_are_noted(arena_here: Arena, run: Path) -> None:
    (run / "match.a.tlog").unlink()
    result = arena_here("export", "run/match.a.log", "-o", "dated")
    assert result.code == 0
    assert result.err == (
        "run/match.a.log: the times of its hands are unknown because it has no .tlog, so they are dated a "
        "second apart from the beginning of 2000 on; --begin sets when the match began.\n"
    )
    result = arena_here("export", "run/match.a.log", "-o", "begun", "--begin", "2026-01-03 20:15", "-f", "ohh")
    assert (result.code, result.err) == (0, "")
    begun = datetime(2026, 1, 3, 20, 15).astimezone(UTC)
    (text,) = (run.parent / "begun").glob("*.OHH")
    assert f'"start_date_utc":"{begun:%Y-%m-%dT%H:%M:%SZ}"' in text.read_text()


def test_late_dates_are_a_note(arena_here: Arena, run: Path) -> None:
    actions = re.findall(r"(?m)^STATE:(\d+):([^:]*):", (run / "match.a.log").read_text())
    lines = [
        f"{action} {number} 1795227485.000001 1795227485.000002\n"
        for number, betting in actions
        for action in re.findall(r"r\d*|[fc]", betting)
    ]
    (run / "match.a.tlog").write_text("".join(lines))
    result = arena_here("export", "run/match.a.log", "-o", "fast")
    assert result.code == 0
    assert result.err == (
        "a PokerStars hand history dates hands at least a second apart, so these, which were played faster, "
        "are dated up to 39 s late.\n"
    )


def test_stakes_unknown_to_importers_are_a_note_with_a_remedy(
    arena_here: Arena, finished_runs: Callable[..., Path]
) -> None:
    limit = finished_runs("play", "limit", "random", "calling", "-n", "5", "--seed", "3", "--in-process", "--quiet")
    result = arena_here("export", str(limit), "--stakes", "3.50/7", "-o", "x")
    assert result.code == 0
    warning = "FPDB does not recognise a limit table of $3.50/$7.00 and drops its hands: --stakes 4/8 would help.\n"
    assert result.err.startswith(warning)
    assert result.err.count("FPDB") == 1


def test_empty_log_is_refused(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_text("")
    result = arena_here("export", "empty.log")
    assert result.code == 2
    assert result.err.splitlines()[-1] == "arena: empty.log: the file is empty"


# ---- one folder for the histories of all runs


def test_runs_share_a_folder_of_histories(arena_here: Arena, tmp_path: Path) -> None:
    """Matches with the same name, of two runs or of one tournament, have separate files."""
    play = ("play", "limit", "random", "calling", "-n", "5", "--seed", "3", "--in-process", "-q", "--histories", "all")
    for folder in ("one", "two"):
        assert arena_here(*play, "--out", f"{folder}/run").code == 0
    cup = ("tournament", "random", "calling", "raising", "-n", "5", "--seed", "3", "--in-process", "-q")
    assert arena_here(*cup, "--histories", "all", "--out", "cup").code == 0
    files = list((tmp_path / "all").iterdir())
    assert len(files) == 2 + 2 + 6
    assert [path.read_bytes().count(b"PokerStars Hand #") for path in files] == [5] * 10
    assert not list((tmp_path / "one").rglob("pokerstars"))
    texts = _texts(tmp_path / "all")
    (tmp_path / "one" / "run" / "result.json").unlink()
    assert arena_here("resume", "one/run", "-q").code == 0
    assert _texts(tmp_path / "all") == texts


def test_run_has_the_chosen_hero_stakes_and_currency(arena_here: Arena, tmp_path: Path) -> None:
    play = ("play", "limit", "random", "calling", "-n", "5", "--seed", "3", "--in-process", "-q")
    words = ("--stakes", "3/6", "--currency", "eur", "--hero", "calling")
    result = arena_here(*play, *words, "--out", "run")
    assert (result.code, result.err) == (0, "")
    text = next((tmp_path / "run" / "pokerstars").iterdir()).read_text("utf-8")
    assert "(€3/€6 EUR)" in text
    assert "Dealt to calling [" in text
    assert "Dealt to random [" not in text
    assert arena_here("export", "run", *words, "-o", "again").code == 0
    assert set(_texts(tmp_path / "again").values()) == set(_texts(tmp_path / "run" / "pokerstars").values())
    assert arena_here(*play, "--observed", "--currency", "none", "--stakes", "7/14", "--out", "seen").err == (
        "FPDB does not recognise a limit table of 7/14 and drops its hands: --stakes 8/16 would help.\n"
    )
    assert "Dealt to" not in next((tmp_path / "seen" / "pokerstars").iterdir()).read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("limit", "--hero", "Zoe"), "--hero: no player is called 'Zoe'; there are raising, random"),
        (("limit", "--hero", "random", "--observed"), "--observed: hand histories have a hero or none"),
        (("limit", "--stakes", "1/3"), "--stakes: limit: stakes of 1/3 are not in proportion"),
        (("kuhn", "--histories", "x"), "--histories: "),
        (("limit", "--export", "none", "--observed"), "--observed: "),
    ],
)
def test_impossible_histories_are_refused_before_the_match(
    arena_here: Arena, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    result = arena_here("play", *words)
    assert (result.code, result.sentence[: len(sentence)]) == (2, sentence)
    assert list(tmp_path.iterdir()) == []


# ---- PokerStars histories are read, too


def test_hand_histories_of_a_card_room_are_exported(arena_here: Arena, tmp_path: Path) -> None:
    """Amounts are kept; hands that are damaged or that the format cannot express are omitted and counted."""
    genuine = Path(__file__).parents[2] / "logs" / "pokerstars" / "genuine"
    text = "".join((genuine / f"{name}.txt").read_text("utf-8") for name in ("six-max", "live-post", "heads-up-limit"))
    damaged = (genuine / "six-max.txt").read_text("utf-8").replace("calls $37", "calls $36")
    (tmp_path / "history.txt").write_text(text + damaged, "utf-8")
    result = arena_here("export", "history.txt", "--format", "phh,pokerstars", "-o", "out")
    assert (result.code, result.out.splitlines()[3].split()) == (0, ["out/Aludra", "II.phhs", "1"])
    assert "1 hand cannot be written as PHH: PHH cannot hold a game with" in result.err
    assert "history.txt, line 114: hand #201000000001: €lena$ calls, which by the rules adds 37 (skipped)" in result.err
    (phh,) = (tmp_path / "out").glob("Aludra*.phhs")
    assert "starting_stacks = [112.35, 40, 1250.1, 99]" in phh.read_text("utf-8")
    (again,) = (tmp_path / "out").glob("HH20190309 Aludra II*.txt")
    assert "($0.50/$1.00 USD) - 2019/03/09 17:15:02 ET" in again.read_text("utf-8")
    assert "raises $31 to $40 and is all-in" in again.read_text("utf-8")
    result = arena_here("stats", "history.txt", "--json")
    bots = {bot["name"]: bot for bot in json.loads(result.out)["bots"]}
    assert bots["€lena$"]["net_chips"] == 13950
    assert bots["b0b"]["vpip"] == {"times": 1, "chances": 1}
    assert bots["river:rat 77"]["hands"] == 1
    assert arena_here("report", "history.txt").code == 0
    assert "€lena$" in (tmp_path / "report.html").read_text("utf-8")


CENTS = """variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [0.25, 0.50, 0.00]
min_bet = 0.50
starting_stacks = [1655.83, 50.0, 102.15]
actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', 'p3 cbr 1.75', 'p1 f', 'p2 cc', 'd db 2c7dKh', 'p2 f']
hand = 1001
players = ['Ann', 'Bob', 'Cyd']
finishing_stacks = [1655.58, 48.25, 104.15]
"""


def test_cents_of_phh_are_kept_in_every_format(arena_here: Arena, tmp_path: Path) -> None:
    (tmp_path / "cents.phh").write_text(CENTS)
    assert arena_here("export", "cents.phh", "--format", "phh,pokerstars,ohh", "-o", "out").code == 0
    phh, ohh = tmp_path / "out" / "cents.phhs", tmp_path / "out" / "cents.OHH"
    (stars,) = (tmp_path / "out").glob("HH*.txt")
    assert "starting_stacks = [1655.83, 50, 102.15]" in phh.read_text()
    assert "finishing_stacks = [1655.58, 48.25, 104.15]" in phh.read_text()
    assert "Seat 1: Ann ($1655.83 in chips)" in stars.read_text()
    assert "Cyd: raises $1.25 to $1.75" in stars.read_text()
    assert "1655.83" in ohh.read_text()
    for path in ("cents.phh", phh, stars):
        result = arena_here("stats", str(path), "--json")
        assert {bot["name"]: bot["net_chips"] for bot in json.loads(result.out)["bots"]} == {
            "Ann": -25, "Bob": -175, "Cyd": 200,
        }  # fmt: skip
    result = arena_here("hands", "cents.phh", "--worst", "1", "--chip-value", "0.001")
    assert "\n1. Ann -250\n" in result.out
    result = arena_here("report", "cents.phh", "--chip-value", "1")
    assert (result.code, result.err.splitlines()[0]) == (
        2,
        "cents.phh, line 1: starting_stacks holds 1655.83, which is not a whole number of chips of 1: "
        "give a smaller chip value (skipped)",
    )
    result = arena_here("stats", "cents.phh", "--chip-value", "0")
    assert result.code == 2
    assert "0 is not an amount above 0 with at most 6 decimals" in " ".join(result.err.split())
