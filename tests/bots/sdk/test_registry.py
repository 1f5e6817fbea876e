"""Bots by name: specifications with options, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.baseline import CallingBot, ConstantBot, RandomBot
from bots.errors import SpecError
from bots.learner.bot import LearnerBot
from bots.sdk import registry
from bots.sdk.registry import describe, describe_all, is_builtin, make_bot, parse_spec


def test_a_name_alone() -> None:
    assert parse_spec("calling") == (CallingBot, {})
    assert isinstance(make_bot("calling"), CallingBot)


def test_options_have_the_types_of_the_constructor() -> None:
    _, options = parse_spec("random?fold=0.1,call=0.5, raise = .4,seed=7")
    assert options == {"fold": 0.1, "call": 0.5, "raise": 0.4, "seed": 7}
    assert isinstance(options["seed"], int)
    assert parse_spec("constant?action=raise,size=pot")[1] == {"action": "raise", "size": "pot"}
    assert parse_spec("random?")[1] == {}


def test_options_reach_the_bot() -> None:
    bot = make_bot("random?fold=1,call=2,raise=3")
    assert isinstance(bot, RandomBot)
    assert bot.weights == (1, 2, 3)
    assert isinstance(make_bot("constant?action=raise,size=0.5"), ConstantBot)
    assert isinstance(make_bot("constant?decision=3"), ConstantBot)
    drawing = make_bot("random?decisions=1/1/0/0/2")
    assert isinstance(drawing, RandomBot)
    assert drawing.proportions is not None
    assert drawing.proportions.chances == {1: 0.25, 2: 0.25, 5: 0.5}


def test_seeds() -> None:
    def first(bot: object) -> float:
        assert isinstance(bot, RandomBot)
        return bot.random.random()

    assert first(make_bot("random", 5)) == first(make_bot("random", 5)) == first(make_bot("random?seed=5", 6))
    assert first(make_bot("random", 5)) != first(make_bot("random", 6))
    assert isinstance(make_bot("calling", 5), CallingBot), "a bot that draws nothing takes no seed"


RANDOM_OPTIONS = (
    "its options, separated by commas: fold (number, default 0.06), call (number, default 0.47), "
    "raise (number, default 0.47), decisions (text, default none), free_folds (true or false, default false), "
    "seed (whole number, default none)"
)


COMPLAINTS = [
    ("shark", "'shark': there is no bot 'shark'; there are: "),
    ("random?pass=1", f"'random?pass=1': random has no option 'pass'; {RANDOM_OPTIONS}"),
    ("random?fold=often", f"fold must be a number, not 'often'; {RANDOM_OPTIONS}"),
    ("random?seed=1.5", "seed must be a whole number, not '1.5'"),
    ("random?fold", "the option 'fold' needs a value: fold=VALUE"),
    ("random?fold=1,fold=1", "the option 'fold' is given twice"),
    ("calling?x=1", "calling has no option 'x'; calling takes no options"),
    ("random?fold=-1", "'random?fold=-1': the probabilities must be 0 or more"),
]


@pytest.mark.parametrize(("spec", "sentence"), COMPLAINTS)
def test_invalid_specs_are_refused(spec: str, sentence: str) -> None:
    with pytest.raises(SpecError) as caught:
        make_bot(spec)
    assert sentence in str(caught.value)
    assert caught.value.spec == spec
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("No", False), ("1", True), ("0", False)])
def test_true_and_false(text: str, value: bool) -> None:
    assert parse_spec(f"learner?learn={text}")[1] == {"learn": value}


def test_describe_all() -> None:
    described = describe_all()
    assert [bot.name for bot in described] == sorted(registry._ENTRIES)
    for bot in described:
        assert bot.summary
        assert "Algorithm:" in (make_bot(bot.name).__doc__ or "")
    by_name = {bot.name: bot for bot in described}
    assert by_name["calling"].options == ()
    assert [(o.name, o.type_name, o.default) for o in by_name["constant"].options] == [
        ("action", "text", "call"),
        ("size", "text", "min"),
        ("decision", "whole number", None),
    ]
    assert [(o.name, o.type_name, o.default) for o in by_name["mfs"].options] == [
        ("k", "number", 2.0),
        ("trials", "whole number", 1000),
        ("explain", "true or false", False),
        ("seed", "whole number", None),
    ]


def test_every_option_has_a_meaning() -> None:
    for bot in describe_all():
        assert all(option.meaning for option in bot.options), bot.name
    four_straight = next(option for option in describe("rembrant").options if option.name == "four_straight")
    assert four_straight.default == "fold"
    assert all(word in four_straight.meaning for word in ("fold, it calls no bet", "slash, "))
    with pytest.raises(SpecError, match="there is no bot 'shark'"):
        describe("shark")


def test_builtin_bots_are_recognised() -> None:
    assert is_builtin("random")
    assert is_builtin("random?fold=1")
    assert not any(map(is_builtin, ("shark", "a.py:B", "")))


def test_file_options_are_relative_to_the_folder_of_the_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert {option.name: option.type_name for option in describe("learner").options}["memory"] == "file"
    for spec, directory, path in [
        ("learner?memory=x.memory", None, "x.memory"),
        ("learner?memory=x.memory", str(tmp_path), str(tmp_path / "x.memory")),
        (f"learner?memory={tmp_path / 'x.memory'}", "elsewhere", str(tmp_path / "x.memory")),
    ]:
        bot = make_bot(spec, directory=directory)
        assert isinstance(bot, LearnerBot)
        assert bot.memory_path == path
