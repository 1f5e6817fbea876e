"""Policies of bots, of files, and of programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bots.baseline import CallingBot, RandomBot
from bots.errors import PolicyError, SpecError
from bots.evaluation.policies import AskedPolicy, FilePolicy, open_policy, parse_policy, policy_at
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, raise_to
from protocol import find_game
from tests.tables import rows

ViewOf = Callable[[str, str], View]
KUHN, NOLIMIT = find_game("kuhn")[1], find_game("nolimit")[1]

ANSWERING = """
import os, sys
assert "GAMEDEF" in open(os.environ["ARENA_GAME"]).read()
for line in sys.stdin:
    state = line.split(":")
    print({{"1": "f 0.25 c 0.5 r 0.25"}}.get(state[1], "?") if not {broken!r} else {broken!r}, flush=True)
"""


def ask_program(folder: Path, broken: str = "", **options: float) -> AskedPolicy:
    program = folder / "policy.py"
    program.write_text(ANSWERING.format(broken=broken))
    return AskedPolicy(f'"{sys.executable}" "{program}"', KUHN, **options)


def test_of_a_bot() -> None:
    assert isinstance(parse_policy("calling", KUHN), CallingBot)
    assert isinstance(parse_policy("random?seed=1", KUHN), RandomBot)
    with pytest.raises(
        PolicyError, match="mfs has no policy in this game: the chance to win is counted for hold'em only"
    ):
        parse_policy("mfs", KUHN)
    with pytest.raises(PolicyError, match="mc has no policy: it does not report the probabilities of its actions"):
        parse_policy("mc", find_game("limit")[1])
    with pytest.raises(SpecError):
        parse_policy("nobody", KUHN)


def test_of_a_file(tmp_path: Path, view_of: ViewOf) -> None:
    path = tmp_path / "new.policy"
    path.write_text(
        "# what we drew from\n"
        "MATCHSTATE:0:3::Qs|    c 0.25  r 0.75\n"
        "MATCHSTATE:0:::Qs|     c 1  # in every other hand\n"
        "\n"
        "MATCHSTATE:1:3:r:|Ks   ?\n"
    )
    policy = FilePolicy(path, KUHN)
    assert policy.policy(view_of("kuhn", "MATCHSTATE:0:3::Qs|")) == {CALL: 0.25, RAISE: 0.75}
    assert policy.policy(view_of("kuhn", "MATCHSTATE:0:4::Qs|")) == {CALL: 1.0}
    assert policy.policy(view_of("kuhn", "MATCHSTATE:1:3:r:|Ks")) is None
    assert policy.policy(view_of("kuhn", "MATCHSTATE:1:9:r:|Ks")) is None
    path.write_text("MATCHSTATE:1:0:r300:|9s8h  f 0.2 c 0.5 r900 0.3\n")
    view = view_of("nolimit", "MATCHSTATE:1:0:cr300:|9s8h")
    assert parse_policy(f"file:{path}", NOLIMIT).policy(view) is None
    path.write_text("MATCHSTATE:1:0:cr300:|9s8h  f 0.2 c 0.5 r900 0.3\n")
    policy_here = policy_at(parse_policy(f"file:{path}", NOLIMIT), view)
    assert policy_here == pytest.approx({FOLD: 0.2, CALL: 0.5, raise_to(900): 0.3})


@pytest.mark.parametrize(
    ("line", "problem"),
    rows("""
    MATCHSTATE:0:0::Qs| c 0.5 r 0.4      the probabilities sum to 0.9, not to 1
    MATCHSTATE:0:0::Qs| c                probabilities are pairs such as f 0.2 c 0.8, or one ?
    MATCHSTATE:0:0::Qs| k 1              'k' is not an action: f, c, r, or r with a hand total
    MATCHSTATE:0:0::Qs| c nan            'nan' is not a probability
    MATCHSTATE:0:0::Qs| c 0.5 c 0.5      c is named twice
    MATCHSTATE:0:0::2s| c 1              'MATCHSTATE:0:0::2s|' is not a state of the game
    hello c 1                            'hello' is not a state of the game
    """),
)
def test_invalid_files_are_refused(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "bad.policy"
    path.write_text("# first line\n" + line + "\n")
    with pytest.raises(PolicyError) as caught:
        FilePolicy(path, KUHN)
    assert str(caught.value).startswith(f"{path}:2: {problem}")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="No such file"):
        FilePolicy(tmp_path / "none", KUHN)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="is not a text in UTF-8"):
        FilePolicy(tmp_path / "binary", KUHN)
    (tmp_path / "two").write_text("MATCHSTATE:0:0::Qs| c 1\nMATCHSTATE:0:0::Qs| r 1\n")
    with pytest.raises(PolicyError, match=r"two:2: MATCHSTATE:0:0::Qs\| has other probabilities than before"):
        FilePolicy(tmp_path / "two", KUHN)


def test_of_a_program(tmp_path: Path, view_of: ViewOf) -> None:
    with closing(ask_program(tmp_path)) as policy:
        for _ in range(3):
            assert policy.policy(view_of("kuhn", "MATCHSTATE:1:3:r:|Ks")) == {FOLD: 0.25, CALL: 0.5, RAISE: 0.25}
            assert policy.policy(view_of("kuhn", "MATCHSTATE:0:3::Ks|")) is None
        with pytest.raises(PolicyError, match="an illegal action: r"):
            policy_at(policy, view_of("kuhn", "MATCHSTATE:1:3:r:|Ks"))


def test_a_program_ends_with_the_block(tmp_path: Path, view_of: ViewOf) -> None:
    ask_program(tmp_path).close()
    with open_policy(f'ask:"{sys.executable}" "{tmp_path / "policy.py"}"', KUHN) as policy:
        assert policy.policy(view_of("kuhn", "MATCHSTATE:1:3:r:|Ks")) is not None
    with pytest.raises(ValueError, match="closed file"):
        policy.policy(view_of("kuhn", "MATCHSTATE:1:3:r:|Ks"))
    with open_policy("calling", KUHN) as bot:
        assert isinstance(bot, CallingBot)


def test_programs_that_do_not_answer(tmp_path: Path, view_of: ViewOf) -> None:
    view = view_of("kuhn", "MATCHSTATE:1:3:r:|Ks")
    with (
        closing(ask_program(tmp_path, broken="f 1 c 1")) as policy,
        pytest.raises(PolicyError, match=r"answered .* with 'f 1 c 1': the probabilities sum to 2, not to 1"),
    ):
        policy.policy(view)
    with (
        closing(AskedPolicy(f'"{sys.executable}" -c ""', KUHN)) as policy,
        pytest.raises(PolicyError, match=r"ended instead of answering MATCHSTATE:1:3:r:\|Ks"),
    ):
        policy.policy(view)
    with (
        closing(AskedPolicy(f'"{sys.executable}" -c "input(); input()"', KUHN, reply_timeout_s=0.05)) as policy,
        pytest.raises(PolicyError, match=r"has not answered MATCHSTATE:1:3:r:\|Ks within 0.05 s"),
    ):
        policy.policy(view)
    with pytest.raises(PolicyError, match="cannot be started: No such file"):
        parse_policy("ask:./no_such_program", KUHN)
