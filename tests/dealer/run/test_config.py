"""Settings of runs: reading, validation, writing."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.sdk.options import options_of
from dealer.errors import ConfigError
from dealer.match.faults import FaultPolicy
from dealer.run.plan import settle
from dealer.run.run_settings import BotSettings, RunSettings, read_config, validated
from dealer.table.launcher import player_command
from tests.programs import KUHN
from tests.scripts import script


def test_defaults_of_settings() -> None:
    config = validated({}, "here")
    assert config.command == "play"
    assert config.games == ("limit",)
    assert config.bots == ()
    assert config.on_fault is FaultPolicy.END
    limits = settle(config).limits
    assert limits.response_us == 600_000_000
    assert limits.hand_us == 600_000_000
    assert limits.per_hand_us == 7_000_000
    assert limits.start_us == 30_000_000


@pytest.mark.parametrize("words", ["none", "phh, ohh", []])
def test_written_formats_of_hand_histories_read_back_the_same(words: str | list[str]) -> None:
    """A run without hand histories writes an empty list, and can be resumed."""
    config = validated({"export": words}, "here")
    assert validated(tomllib.loads(config.to_toml()), "again").export == config.export


def test_start_timeout_of_0_is_no_limit() -> None:
    assert settle(validated({"start_timeout_s": 0.0}, "here")).limits.start_us is None


@pytest.mark.parametrize("formats", [[], ["none"], "none"])
def test_empty_list_means_no_hand_histories(formats: object) -> None:
    assert validated({"export": formats}, "here").export == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"hans": 5}, "there is no setting 'hans' (there are: command, games, bots"),
        ({"deals": 0}, "deals: must be at least 1, not 0"),
        ({"deals": "many"}, "deals: must be a whole number, not 'many'"),
        ({"seed": -1}, "seed: must be at least 0, not -1"),
        ({"on_fault": "shout"}, "on_fault: must be 'end', 'forfeit' or 'restart', not 'shout'"),
        ({"stop": "soon"}, "stop: 'soon' is not a stop rule; a stop rule is"),
        ({"ports": [70000]}, "ports: 70000 is not a valid port"),
        ({"game": "limit", "games": ["kuhn"]}, "name the game with 'game', or several with 'games', not both"),
        ({"bots": "calling"}, "bots: must be a list, not 'calling'"),
        ({"t_response_s": 0}, "t_response_s: must be at least 0.001, not 0"),
        (
            {"workers": 0, "seed": 2**40},
            "seed: must be at most 4,294,967,295, not 1099511627776; workers: must",
        ),
    ],
)
def test_invalid_settings_are_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as error:
        validated(data, "run.toml")
    assert str(error.value).startswith(f"run.toml: {words}")
    assert "\n" not in str(error.value)


@given(
    st.builds(
        lambda **data: validated(data),
        command=st.sampled_from(["play", "tournament"]),
        games=st.lists(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])), min_size=1, max_size=1),
        bots=st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=4),
        deals=st.none() | st.integers(1, 2**32 - 1),
        seed=st.none() | st.integers(0, 2**32 - 1),
        seating=st.sampled_from([None, "single", "rotations", "permutations"]),
        stop=st.sampled_from([None, "500", "ci=20", "better:0,30"]),
        t_response_s=st.floats(0.001, 1e9),
        coalesce_ms=st.floats(0, 1000),
        in_process=st.booleans(),
    )
)
def test_written_settings_read_back_the_same(config: RunSettings) -> None:
    assert validated(tomllib.loads(config.to_toml()), "file") == config


def test_game_file_next_to_the_settings_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.game").touch()
    (tmp_path / "run.toml").write_text('games = ["mine.game", "other.game", "kuhn"]\n')
    assert read_config(tmp_path / "run.toml")["games"] == [str(tmp_path / "mine.game"), "other.game", "kuhn"]
    (tmp_path / "one.toml").write_text('game = "mine.game"\n')
    assert read_config(tmp_path / "one.toml")["game"] == str(tmp_path / "mine.game")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hands = \n", "line 1"),
        (b"bots = ['\xff']\n", "byte 10 is not UTF-8 text"),
    ],
)
def test_invalid_toml_is_refused_with_its_place(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "run.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as error:
        read_config(path)
    assert str(error.value).startswith(str(path))
    assert words in str(error.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*No such file"):
        read_config(tmp_path / "none.toml")


def test_error_names_settings_as_options_or_as_keys_of_the_file() -> None:
    with pytest.raises(ConfigError) as error:
        validated({"t_hand_s": 0, "hans": 1})
    assert {problem.setting for problem in error.value.problems} == {"t_hand_s", ""}
    assert error.value.text(lambda setting: f"--{setting}").startswith("--t_hand_s: must be at least")
    with pytest.raises(ConfigError) as error:
        validated({"t_hand_s": 0}, "run.toml")
    assert error.value.text(lambda setting: f"--{setting}").startswith("run.toml: t_hand_s: must be at least")


def test_optional_settings_document_their_default() -> None:
    for option in options_of(RunSettings):
        assert option.default is not None or option.wording.otherwise or option.name == "stop", option.name


@pytest.mark.parametrize("kind", [RunSettings, BotSettings])
def test_every_field_is_on_the_page_of_reference(kind: Any) -> None:
    _, _, *rows = script("docs/reference.py").reference_table(kind)
    assert [row.split("`")[1] for row in rows] == [field.name for field in fields(kind)]


# ---- settings of one bot


def test_bot_can_have_its_own_settings(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    own = {"bot": "A=calling", "directory": "v1", "environment": {"MODE": "old"}, "t_response_s": 2.0}
    config = validated({"games": ["kuhn"], "bots": [own, "random"], "directory": str(tmp_path), "t_hand_s": 9.0})
    first, second = settle(config).players
    assert first.name == "A"
    assert first.directory == str(tmp_path / "v1")
    assert first.environment == (("MODE", "old"),)
    assert first.limits is not None
    assert first.limits.response_us == 2_000_000
    assert first.limits.hand_us == 9_000_000
    assert second.limits is None
    assert second.environment == ()
    assert second.directory == str(tmp_path)
    written = tomllib.loads(config.to_toml())
    assert written["bots"] == [own, "random"]
    assert validated(written) == config


def test_bot_can_have_its_own_arguments_and_address(tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_text("#!/bin/sh\n")
    (tmp_path / "bot.sh").chmod(0o755)
    key = "k-0123456789abcdef"
    bots = [{"bot": "./bot.sh -x", "arguments": ["0", "a b"]}, {"bot": "tcp", "address": "10.0.0.7", "key": key}]
    config = validated({"games": ["kuhn"], "bots": bots, "directory": str(tmp_path)})
    first, second = settle(config).players
    command = player_command(first, host="h", port=7, game=KUHN.path)
    assert command == [f"{tmp_path}/./bot.sh", "-x", "h", "7", "0", "a b"]
    assert first.address is None
    assert first.key is None
    assert second.address == "10.0.0.7"
    assert second.key == key
    assert tomllib.loads(config.to_toml())["bots"] == bots


@pytest.mark.parametrize(
    ("bot", "more", "problem"),
    [
        ({"bot": "calling", "t_response_s": -1}, {}, "bots.0.t_response_s: must be at least 0.001, not -1"),
        ({"t_response_s": 1}, {}, "bots.0.bot: it is missing"),
        (7, {}, "bots.0: must be text or a table with a 'bot'"),
        ({"bot": "calling", "wages": 1}, {}, "there is no setting 'bots.0.wages' (there are: bot, directory, "),
        ({"bot": "calling", "environment": {"A=B": "1"}}, {}, "bots.0.environment: 'A=B' cannot be a variable"),
        (
            {"bot": "calling", "environment": {"A": "1"}},
            {"in_process": True},
            "bots: calling is not started as a process",
        ),
        ({"bot": "tcp", "directory": "."}, {}, "bots: tcp is started elsewhere"),
        ({"bot": "tcp", "arguments": ["x"]}, {}, "bots: tcp is not started by a command, so it takes no arguments"),
        ({"bot": "calling", "arguments": ["a\0b"]}, {}, "bots.0.arguments: 'a\\x00b' cannot be an argument"),
        ({"bot": "calling", "address": "::1"}, {}, "bots: calling is started here, so it has no address of its own"),
        ({"bot": "calling", "key": "k" * 16}, {}, "bots: calling is started here, so it needs no key"),
        ({"bot": "tcp", "key": "short"}, {}, "bots.0.key: a key has 16 to 128 letters, digits, '_' and '-'"),
        ({"bot": "tcp", "key": "two words, of which one is long"}, {}, "bots.0.key: a key has 16 to 128 letters"),
        (
            {"bot": "calling", "directory": "nowhere"},
            {},
            "bots: 'calling' cannot start in nowhere: there is no such folder",
        ),
    ],
)
def test_invalid_settings_of_a_bot_are_refused(bot: object, more: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        settle(validated({"games": ["kuhn"], "bots": [bot, "random"], **more}))
    assert str(raised.value).startswith(problem)
