"""Recovery of interrupted matches from their files, cut at any byte."""

from __future__ import annotations

import asyncio
import json
import pickle
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.errors import RecoveryError
from dealer.match import MatchSetup
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.match.writers import format_fault
from dealer.run.choices import Seating
from dealer.run.contest_plan import ContestPlan, MatchPlan
from dealer.run.match_run import LocalRun
from dealer.run.recovery import recover_match
from dealer.run.tally import Tally
from engine import Seat
from logs import PlayerComment
from logs.transaction_log import format_comment
from protocol import parse_game_definition
from tests.dealer.helpers import ALL_IN_BLINDS, contest_plan, game

HANDS = 12


def _plan(folder: Path, name: str, *, hands: int = HANDS, slices: int = 1, fixed_seats: bool = False) -> ContestPlan:
    rules = parse_game_definition(ALL_IN_BLINDS) if name == "all-in blinds" else game(name)
    plan = contest_plan(
        folder,
        *["random"] * rules.num_players,
        game=f"kuhn{rules.num_players}" if rules.num_players > 2 else "kuhn",
        deals=hands * slices,
        slices=slices,
        seed=14,
        seating=Seating.SINGLE,
        fixed_seats=fixed_seats,
    )
    run = replace(plan.run, names=tuple("ABCDEF"[: rules.num_players]))
    return replace(plan, run=run, game=rules, record=replace(plan.record, game_name=name.replace(" ", "-")))


def _match_plan(plan: ContestPlan) -> MatchPlan:
    """Last match of a contest, with the name of a single match."""
    return plan.match_plans[-1]._replace(name="match")


def _setup(plan: ContestPlan) -> MatchSetup:
    return plan.setup_of(_match_plan(plan))


def _play(plan: ContestPlan, until: int | None = None) -> None:
    """Continue from the files in the folder."""
    recovered = recover_match(_setup(plan), plan.record)
    run = LocalRun(plan, _match_plan(plan), tally=recovered)

    async def main() -> None:
        await run.play_until(_match_plan(plan).hands if until is None else until)
        await run.close()

    asyncio.run(main())
    assert run.failure is None


def _play_whole(folder: Path, name: str, **options: bool | int) -> tuple[ContestPlan, bytes, bytes]:
    """Play an uninterrupted match; return its plan, its log and its transaction log."""
    plan = _plan(folder, name, **options)  # type: ignore[arg-type]
    _play(plan)
    return plan, (folder / "match.log").read_bytes(), (folder / "match.tlog").read_bytes()


def _lines(data: bytes) -> int:
    return data.count(b"\n")


def _actions(tlog: bytes) -> list[bytes]:
    """Transactions without their times."""
    return [b" ".join(line.split(b" ")[:2]) for line in tlog.splitlines()]


def _check_resume(plan: ContestPlan, log: bytes, tlog: bytes, cut_log: bytes, cut_tlog: bytes) -> None:
    """Check that the match resumes from cut files and writes the whole ones again."""
    (plan.record.folder / "match.log").write_bytes(cut_log)
    (plan.record.folder / "match.tlog").write_bytes(cut_tlog)
    _play(plan)
    assert (plan.record.folder / "match.log").read_bytes() == log
    assert _actions((plan.record.folder / "match.tlog").read_bytes()) == _actions(tlog)


GAMES = ["kuhn", "leduc", "nolimit", "sidepots.nolimit.3p.game", "holdem.limit.3p"]


MANY = 500
few_cuts = pytest.mark.parametrize("count", [20, pytest.param(MANY, marks=pytest.mark.slow)])


def _cuts(name: str, data: bytes, count: int) -> list[int]:
    """Offsets in a file: every 29th or all for Kuhn poker, `count` random ones for other games."""
    if name == "kuhn":
        return list(range(0, len(data), 1 if count == MANY else 29))
    return random.Random(1).sample(range(len(data)), min(count, len(data)))


@pytest.mark.sampled
@few_cuts
@pytest.mark.parametrize("name", GAMES)
def test_match_resumes_from_a_log_cut_anywhere(tmp_path: Path, name: str, count: int) -> None:
    plan, log, tlog = _play_whole(tmp_path, name)
    for cut in _cuts(name, log, count):
        _check_resume(plan, log, tlog, log[:cut], tlog)


@pytest.mark.sampled
@few_cuts
@pytest.mark.parametrize("name", GAMES)
def test_match_resumes_from_a_transaction_log_cut_anywhere(tmp_path: Path, name: str, count: int) -> None:
    plan, log, tlog = _play_whole(tmp_path, name)
    unscored = log[: log.rindex(b"SCORE:")]
    for cut in _cuts(name, tlog, count):
        _check_resume(plan, log, tlog, unscored, tlog[:cut])


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_match_resumes_from_both_files_cut_anywhere(tmp_path: Path, name: str) -> None:
    plan, log, tlog = _play_whole(tmp_path, name)
    draw = random.Random(2)
    scored = log.rindex(b"SCORE:")
    for _ in range(2 * MANY):
        _check_resume(plan, log, tlog, log[: draw.randrange(scored)], tlog[: draw.randrange(len(tlog))])


@pytest.mark.parametrize("every", [61, pytest.param(7, marks=pytest.mark.slow)])
def test_match_resumes_from_files_that_end_with_nuls(tmp_path: Path, every: int) -> None:
    plan, log, tlog = _play_whole(tmp_path, "kuhn")
    scored = log.rindex(b"SCORE:")
    for cut in range(0, scored, every):
        _check_resume(plan, log, tlog, log[:cut] + b"\0" * 500, tlog)
    for cut in range(0, len(tlog), every):
        _check_resume(plan, log, tlog, log[:scored], tlog[:cut] + b"\0" * 500)
        _check_resume(plan, log, tlog, log[:scored], tlog[:cut] + b"\0\n\0\n")


@pytest.mark.parametrize(("slices", "fixed_seats"), [(1, True), (2, False)])
def test_slices_and_fixed_seats_are_resumed(tmp_path: Path, fixed_seats: bool, slices: int) -> None:
    plan, log, tlog = _play_whole(tmp_path, "leduc", slices=slices, fixed_seats=fixed_seats)
    scored = log.rindex(b"SCORE:")
    for cut in range(0, scored, 61):
        _check_resume(plan, log, tlog, log[:cut], tlog)


def test_game_without_decisions_is_resumed(tmp_path: Path) -> None:
    plan, log, tlog = _play_whole(tmp_path, "all-in blinds")
    assert tlog == b""
    for cut in range(0, log.rindex(b"SCORE:"), 17):
        _check_resume(plan, log, tlog, log[:cut], b"")


def test_recovered_tally_has_the_finished_hands(tmp_path: Path) -> None:
    plan, log, tlog = _play_whole(tmp_path, "sidepots.nolimit.3p.game", hands=60)
    values = []
    names = plan.names
    for line in log.decode().splitlines()[4:-1]:
        *_, hand_values, hand_names = line.split(":")
        by_name = dict(zip(hand_names.split("|"), map(float, hand_values.split("|")), strict=True))
        values.append([by_name[name] for name in names])
    answers = [0, 0, 0]
    for hands in range(0, 60, 9):
        shutil.copy(tmp_path / "match.log", tmp_path / "copy")
        (tmp_path / "match.log").write_bytes(b"".join(log.splitlines(keepends=True)[: 4 + hands]))
        recovered = recover_match(_setup(plan), plan.record)
        assert recovered.hands == hands
        assert not recovered.is_closed
        totals = [sum(hand[seat] for hand in values[:hands]) for seat in range(3)]
        assert recovered.chips == pytest.approx(totals, abs=1e-4)
        assert list(recovered.values) == pytest.approx([value for hand in values[:hands] for value in hand], abs=1e-4)
        answers = [times.count for times in recovered.times]
        assert sum(answers) == _lines((tmp_path / "match.tlog").read_bytes())
        assert recovered.progress.used_us == tuple(times.total_us for times in recovered.times)
        (tmp_path / "match.log").write_bytes(log)
        (tmp_path / "match.tlog").write_bytes(tlog)
    closed = recover_match(_setup(plan), plan.record)
    assert closed.is_closed
    assert closed.hands == 60


def test_recovered_tally_is_a_value(tmp_path: Path) -> None:
    plan, log, _ = _play_whole(tmp_path, "leduc")
    (tmp_path / "match.log").write_bytes(log[: log.index(b"STATE:9:")])
    first, second = (recover_match(_setup(plan), plan.record) for _ in range(2))
    assert vars(first) == vars(second) == vars(pickle.loads(pickle.dumps(first)))
    (tmp_path / "match.log").write_bytes(log[: log.index(b"STATE:8:")])
    assert vars(first) != vars(recover_match(_setup(plan), plan.record))


def test_plan_is_a_value(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "leduc")
    copy = pickle.loads(pickle.dumps(plan))
    assert {plan: 1}[copy] == 1
    assert plan != replace(plan, record=replace(plan.record, game_name="other"))


def test_recovered_thirds_of_chips_sum_exactly(tmp_path: Path) -> None:
    # The log has only six decimals of each value.
    plan, log, tlog = _play_whole(tmp_path, "sidepots.nolimit.3p.game", hands=200)
    assert any("." in line.split(":")[4] for line in log.decode().splitlines()[4:-1])
    cut = log.index(b"STATE:199:")
    _check_resume(plan, log, tlog, log[:cut], tlog)


def test_empty_folder_recovers_an_empty_tally(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "kuhn")
    assert vars(recover_match(_setup(plan), plan.record)) == vars(Tally(2))
    (tmp_path / "match.log").write_bytes(b"")
    assert vars(recover_match(_setup(plan), plan.record)) == vars(Tally(2))
    (tmp_path / "match.log").write_bytes(b"# name/ga")
    assert vars(recover_match(_setup(plan), plan.record)) == vars(Tally(2))


# ---- faults


def _fault(seat: int, hand: int, *, is_final: bool = False) -> Fault:
    remedy = Remedy.FORFEITED if is_final else Remedy.IGNORED
    return Fault(Seat(seat), FaultKind.STALE_REPLY, hand, b"\xff what\r\n", remedy)


def test_faults_of_finished_hands_are_kept_and_others_removed(tmp_path: Path) -> None:
    plan, log, _ = _play_whole(tmp_path, "kuhn")
    faults = [_fault(0, 0), _fault(1, 4), _fault(0, 5), _fault(1, 9, is_final=True)]
    text = "".join(map(format_fault, faults))
    (tmp_path / "match.log").write_bytes(log[: log.index(b"STATE:5:")])
    (tmp_path / "match.faults").write_text(text + '{"seat": 0, "ki', "utf-8")
    recovered = recover_match(_setup(plan), plan.record)
    assert recovered.faults == [{"stale reply": 1}, {"stale reply": 1}]
    assert recovered.first_faults == {0: faults[0], 1: faults[1]}
    assert recovered.absent == set()
    assert (tmp_path / "match.faults").read_text("utf-8") == "".join(map(format_fault, faults[:2]))


def test_faults_of_unfinished_hands_leave_no_file(tmp_path: Path) -> None:
    plan, log, _ = _play_whole(tmp_path, "kuhn")
    (tmp_path / "match.log").write_bytes(log[: log.index(b"STATE:5:")])
    (tmp_path / "match.faults").write_text(format_fault(_fault(0, 7)), "utf-8")
    recover_match(_setup(plan), plan.record)
    assert not (tmp_path / "match.faults").exists()


def test_forfeit_is_recovered_and_its_folds_are_no_answers(tmp_path: Path) -> None:
    plan, log, tlog = _play_whole(tmp_path, "kuhn")
    (tmp_path / "match.log").write_bytes(log[: log.index(b"STATE:9:")])
    without_forfeit = recover_match(_setup(plan), plan.record)
    (tmp_path / "match.tlog").write_bytes(tlog)
    (tmp_path / "match.faults").write_text(format_fault(_fault(1, 4, is_final=True)), "utf-8")
    recovered = recover_match(_setup(plan), plan.record)
    assert recovered.absent == recovered.progress.forfeited == {Seat(1)}
    assert recovered.times[0].count == without_forfeit.times[0].count
    assert 0 < recovered.times[1].count < without_forfeit.times[1].count


def test_comments_of_unfinished_hands_are_removed(tmp_path: Path) -> None:
    plan, log, _ = _play_whole(tmp_path, "kuhn")
    comments = [format_comment(hand, PlayerComment(Seat(0), 0, "# so")) for hand in (0, 3, 4, 4, 5, 9)]
    path = tmp_path / "match.comments"
    for tail in ("", '{"hand', "junk\n"):
        (tmp_path / "match.log").write_bytes(log[: log.index(b"STATE:5:")])
        path.write_text("".join(comments) + tail, "ascii")
        recover_match(_setup(plan), plan.record)
        assert path.read_text("ascii") == "".join(comments[:4])


# ---- refused files


def _refused(plan: ContestPlan, setup: MatchSetup | None = None) -> str:
    """Check that recovery fails without a change of the files; return the sentence."""
    contents = {path.name: path.read_bytes() for path in plan.record.folder.iterdir()}
    with pytest.raises(RecoveryError) as raised:
        recover_match(setup or _setup(plan), plan.record)
    assert {path.name: path.read_bytes() for path in plan.record.folder.iterdir()} == contents
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence.removeprefix(str(plan.record.folder)).lstrip("/\\")


@pytest.fixture
def whole(tmp_path: Path) -> ContestPlan:
    plan, log, _ = _play_whole(tmp_path, "kuhn")
    (tmp_path / "match.log").write_bytes(log[: log.rindex(b"SCORE:")])
    return plan


def test_log_of_another_seed_is_refused(whole: ContestPlan) -> None:
    assert _refused(whole, replace(_setup(whole), seed=8)) == (
        "match.log, line 1: this is the log of another match: '# name/game/hands/seed match kuhn 12 14'"
    )


def test_log_of_other_players_is_refused(whole: ContestPlan) -> None:
    sentence = _refused(whole, replace(_setup(whole), names=("A", "Z")))
    assert sentence.startswith("match.log, line 5: hand 0 of this match is expected, not 'STATE:0:")


def _edit(plan: ContestPlan, name: str, line: int, new: bytes | None) -> None:
    path = plan.record.folder / name
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line : line + 1] = [] if new is None else [new]
    path.write_bytes(b"".join(lines))


def _line(plan: ContestPlan, name: str, line: int) -> bytes:
    return (plan.record.folder / name).read_bytes().splitlines(keepends=True)[line]


@pytest.mark.parametrize(
    ("name", "line", "new", "problem"),
    [
        ("match.log", 7, None, "match.log, line 8: hand 3 of this match is expected, not 'STATE:4:"),
        ("match.log", 6, b"hello\n", "match.log, line 7: hand 2 is expected, but the line is neither a hand"),
        ("match.log", 4, b"STATE:0:cc:Ks|Qs:x|1:A|B\n", "match.log, line 5: hand 0 is expected, but "),
        ("match.log", 4, b"STATE:0:cc:Ks|Qs:1:A|B\n", "match.log, line 5: hand 0 is expected, but "),
        ("match.log", 4, b"STATE:0:cc:Ks|Qs:1|-1|0:A|B\n", "match.log, line 5: hand 0 is expected, but "),
        ("match.log", 4, b"STATE:0:ccccc:Ks|Qs:1|-1:A|B\n", "match.log, line 5: hand 0 is expected, but "),
        ("match.tlog", 0, None, "match.tlog, line "),
        (
            "match.tlog",
            0,
            b"c 3 1.000000 1.000000\n",
            "match.tlog, line 1: hand 0 continues with 'c' in the log, but here with ",
        ),
    ],
)
def test_damaged_files_are_refused_at_their_line(
    whole: ContestPlan, name: str, line: int, new: bytes | None, problem: str
) -> None:
    _edit(whole, name, line, new)
    assert _refused(whole).startswith(problem)


def test_values_against_the_rules_are_refused(whole: ContestPlan) -> None:
    _, number, betting, cards, values, names = _line(whole, "match.log", 5).split(b":")
    won, lost = values.split(b"|")
    _edit(whole, "match.log", 5, b":".join([b"STATE", number, betting, cards, lost + b"|" + won, names]))
    assert _refused(whole).startswith(f"match.log, line 6: hand 1 is expected, but position 0 has won {lost.decode()} ")


def test_cards_that_the_seed_does_not_deal_are_refused(whole: ContestPlan) -> None:
    path = whole.record.folder / "match.log"
    log = path.read_bytes()
    # After a fold other cards give the same values.
    match = re.search(rb"STATE:([0-9]+):.*f:(..)[|](..)", log)
    assert match is not None
    number, first, second = map(bytes.decode, match.groups())
    (third,) = {"Qs", "Ks", "As"} - {first, second}
    path.write_bytes(log[: match.end() - 2] + third.encode() + log[match.end() :])
    problem = f"hand {number} has the cards {first}|{third}, but its seed deals {first}|{second}; correct the line, or "
    assert _refused(whole).startswith(f"match.log, line {int(number) + 5}: {problem}")


def test_score_that_is_not_the_sum_is_refused(tmp_path: Path) -> None:
    plan, log, _ = _play_whole(tmp_path, "kuhn")
    score = log[log.rindex(b"SCORE:") :].decode().rstrip()
    (tmp_path / "match.log").write_bytes(log.replace(b"SCORE:", b"SCORE:1"))
    assert _refused(plan).startswith(
        f"match.log, line {_lines(log)}: by the hands the score is {score!r}, not 'SCORE:1"
    )


def test_other_size_of_an_uncalled_bet_is_refused(tmp_path: Path) -> None:
    plan, log, _ = _play_whole(tmp_path, "nolimit", hands=100)
    match = re.search(rb"r([0-9]{3,4})f:", log)
    assert match is not None
    size = int(match[1])
    (tmp_path / "match.log").write_bytes(log[: match.start()] + b"r%df:" % (size + 1) + log[match.end() :])
    assert f" continues with 'r{size + 1}' in the log, but here with 'r{size} " in _refused(plan)


_FLIPS = (1, 2, 16, ord("0") ^ ord("\n"))


def _recover_with_flip(plan: ContestPlan, name: str, data: bytes, offset: int, flip: int) -> Tally | RecoveryError:
    """Recover a match after a change of one byte of a file; return the tally or the error."""
    changed = bytearray(data)
    changed[offset] ^= flip
    (plan.record.folder / name).write_bytes(changed)
    try:
        return recover_match(_setup(plan), plan.record)
    except RecoveryError as error:
        return error


@pytest.mark.sampled
@few_cuts
@pytest.mark.parametrize("name", GAMES)
def test_log_with_any_byte_changed_is_refused_at_its_line(tmp_path: Path, name: str, count: int) -> None:
    plan, log, tlog = _play_whole(tmp_path, name)
    whole = recover_match(_setup(plan), plan.record)
    time_limits = range(log.index(b"\n") + 1, log.index(b"STATE:"))
    draw = random.Random(3)
    for offset in _cuts(name, log, count):
        outcome = _recover_with_flip(plan, "match.log", log, offset, draw.choice(_FLIPS))
        line_number = _lines(log[:offset]) + 1
        if offset in time_limits:
            # The time limits in the log are not read, since the settings have them.
            assert vars(outcome) == vars(whole) or isinstance(outcome, RecoveryError)
        elif offset == len(log) - 1:
            # A last line without its line ending counts as not written.
            assert isinstance(outcome, Tally)
        else:
            assert isinstance(outcome, RecoveryError)
            # If log and transactions are legal, but differ, the error names the line of the transactions.
            is_line_of_log = outcome.path.suffix == ".log" and outcome.line_number == line_number
            assert is_line_of_log or f"hand {line_number - 5} continues with " in outcome.problem
        (tmp_path / "match.tlog").write_bytes(tlog)


@pytest.mark.sampled
@few_cuts
@pytest.mark.parametrize("name", GAMES)
def test_transaction_log_with_any_byte_changed_is_refused_at_its_line(tmp_path: Path, name: str, count: int) -> None:
    plan, _, tlog = _play_whole(tmp_path, name)
    whole = recover_match(_setup(plan), plan.record)
    draw = random.Random(4)
    for offset in _cuts(name, tlog, count):
        outcome = _recover_with_flip(plan, "match.tlog", tlog, offset, draw.choice(_FLIPS))
        if isinstance(outcome, RecoveryError):
            assert outcome.path.suffix == ".tlog"
            assert outcome.line_number == _lines(tlog[:offset]) + 1
        else:
            # Only changes of times, in the last two columns, and of the last line ending are not detected.
            assert outcome.values == whole.values
            start_of_line = tlog[:offset].rpartition(b"\n")[2]
            assert offset == len(tlog) - 1 or start_of_line.count(b" ") >= 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"junk\n", "match.faults, line 1: not a fault of this match: 'junk'"),
        (b"\xff\n", "match.faults, line 1: not a fault of this match: 'ÿ'"),
        (b"{}\n", "match.faults, line 1: not a fault of this match: '{}'"),
        (
            format_fault(_fault(2, 0)).encode(),
            f"match.faults, line 1: not a fault of this match: {format_fault(_fault(2, 0))[:80]!r}",
        ),
    ],
)
def test_malformed_fault_is_refused(whole: ContestPlan, line: bytes, problem: str) -> None:
    (whole.record.folder / "match.faults").write_bytes(line)
    assert _refused(whole) == problem


def test_fault_is_written_with_all_fields() -> None:
    data = json.loads(format_fault(_fault(1, 4)))
    assert data == {
        "seat": 1,
        "kind": "stale reply",
        "hand_number": 4,
        "line": "ÿ what\r\n",
        "remedy": "ignored",
        "is_final": False,
    }
