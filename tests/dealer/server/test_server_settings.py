"""Settings of a server from a configuration of the reference, from our own, and by default."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import pytest

from dealer.errors import ConfigError, RefusedError
from dealer.server.capacity import Limits
from dealer.server.reference_settings import read_reference_settings
from dealer.server.server_bots import run_config, update_config
from dealer.server.server_settings import (
    LadderSettings,
    UploadSettings,
    default_settings,
    example,
    player_name,
    read_toml_settings,
)
from protocol import shipped_games
from protocol.benchmark import OWN_SEAT, games_text
from protocol.joining import ContestTerms
from tests.dealer.server.servers import KUHN, recordings, write_house

CASES = recordings()["config_cases"]

SINGLE = ContestTerms(seating="single")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["desc"].replace(" ", "-"))
@pytest.mark.usefixtures("house_folder")
def test_configurations_of_the_reference(case: dict[str, str | int | None]) -> None:
    text = str(case["config"])
    if "(cut, " in text:
        # The recording leaves out the middle of a line that is too long.
        text = text.replace(" ... (cut, 4221 bytes)", "s" * 4100)
    Path("cfg").write_bytes(text.encode("utf-8"))
    if case["rc"] is None:
        settings = read_reference_settings(Path("cfg"))
        assert games_text([(game.name, list(game.bots)) for game in settings.games]) == case["GAMES"]
        assert bool(settings.passwords) == str(case["logon"]).startswith("LOGON OKAY")
        return
    with pytest.raises(ConfigError) as caught:
        read_reference_settings(Path("cfg"))
    message = re.sub(r"^cfg: line [0-9]+: ", "", str(caught.value))
    assert message != str(caught.value), "the message names the line"
    problem = str(case["stderr"]).splitlines()[-1].removeprefix("BM_ERROR: ")
    # The reference prints a byte order mark as text.
    assert message.startswith(problem[:40].partition("ï")[0])


@pytest.mark.usefixtures("house_folder")
def test_numbers_wrap_and_default_as_in_the_reference() -> None:
    Path("cfg").write_text(
        f"port 70000\nmaxRunningBots -1\nresponseTimeoutSecs 0\ngame {KUHN} {{\nmaxRunningJobs 0\nbot a b\n}}\n"
    )
    settings = read_reference_settings(Path("cfg"))
    assert settings.port == 70_000 - 65_536
    assert settings.limits == Limits(bots=65_535, runs_per_game={})
    assert settings.t_response_s == 0.001
    assert (settings.start_timeout_s, settings.t_hand_s, settings.t_per_hand_s) == (60, 21000, 7)
    (game,) = settings.games
    assert (game.deals, game.max_runs) == (5000, 10)
    assert [bot.bot for bot in game.bots.values()] == ["./b"]


@pytest.mark.parametrize("text", ["\0", "user a\x1b p\n", "game a\x1b {\n", "bot\n", "\xff" * 5000, "game"])
@pytest.mark.usefixtures("house_folder")
def test_unreadable_lines_of_a_configuration_are_named(text: str) -> None:
    Path("cfg").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match="cfg: line 1: ") as caught:
        read_reference_settings(Path("cfg"))
    assert str(caught.value).isprintable()


def test_unreadable_configuration_is_refused(tmp_path: Path) -> None:
    for read in (read_reference_settings, read_toml_settings):
        with pytest.raises(ConfigError, match="cannot read"):
            read(tmp_path / "nothing")


def test_default_settings_have_every_game() -> None:
    settings = default_settings()
    assert [game.name for game in settings.games] == shipped_games()
    limit = settings.game("holdem.limit.2p.reverse_blinds")
    kuhn = settings.game("kuhn.limit.3p")
    assert limit is not None
    assert kuhn is not None
    assert {"lp-mc", "rembrant", "random"} <= set(limit.bots)
    assert "rembrant" not in kuhn.bots
    assert (settings.host, settings.port) == ("127.0.0.1", 9540)
    assert settings.game("nothing") is None
    # Linux takes ports of clients from 32768 to 60999. A client could hold a server's port there after a kill.
    assert max(settings.port, settings.web.port) < 32768


def test_example_equals_the_default_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The example must be valid on a machine without bubblewrap.
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "arena-server.toml"
    path.write_text(example())
    assert read_toml_settings(path) == replace(default_settings(), directory=str(tmp_path))
    # Its last part consists of settings that are commented out.
    text = re.sub(r"(?m)^# (?=\[|[a-z_]+ =)", "", example()).replace(', "Mine=./my_bot.sh"', "")
    path.write_text(text)
    settings = read_toml_settings(path)
    assert [(game.name, game.deals, list(game.bots)) for game in settings.games] == [("limit", 3000, ["random", "mfs"])]
    assert settings.ladder == LadderSettings(20.0, ("limit",), 1000, 0.5)
    assert settings.uploads == UploadSettings()
    # The example lists every setting of each section.
    written = tomllib.loads(text)
    for section, values in (("web", settings.web), ("ladder", settings.ladder)):
        assert written[section].keys() == {field.name for field in fields(values)}  # type: ignore[arg-type]
    internal = {"directory", "passwords", "passes_position"}
    assert written.keys() == {field.name for field in fields(settings)} - internal
    path.write_text(
        text.replace("own_seat_patience_s = 3600", "own_seat_patience_s = 7").replace("port = 8080", "port = 1")
    )
    changed = read_toml_settings(path)
    assert (changed.own_seat_patience_s, changed.web.port) == (7.0, 1)


def test_every_name_of_a_game_resolves_to_its_canonical_name(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        "[ladder]\ngames = ['kuhn', 'holdem.limit.2p']\n[[games]]\ngame = 'limit'\n[[games]]\ngame = 'KUHN'\n"
    )
    settings = read_toml_settings(path)
    assert [(game.name, game.path, game.shown) for game in settings.games] == [
        ("holdem.limit.2p.reverse_blinds", "holdem.limit.2p.reverse_blinds", "limit"),
        ("kuhn.limit.2p", "kuhn.limit.2p", "kuhn"),
    ]
    assert settings.ladder is not None
    assert settings.ladder.games == ("kuhn.limit.2p", "holdem.limit.2p.reverse_blinds")
    for name in ("limit", "Limit", "holdem.limit", "holdem.limit.2p.reverse_blinds.game"):
        assert settings.resolve_game(name) is settings.games[0]
    assert settings.game("limit") is None, "`game` accepts only canonical names"
    with pytest.raises(RefusedError, match="there is no game 'leduc' here; the games are limit, kuhn"):
        settings.resolve_game("leduc")
    assert settings.find_game("leduc") is None


def test_games_and_bots_are_found_beside_the_file(tmp_path: Path) -> None:
    write_house(tmp_path / "house")
    path = tmp_path / "house" / "s.toml"
    path.write_text(f"""
        host = "0.0.0.0"
        max_running_bots = 4
        [[games]]
        game = "{KUHN}"
        max_running = 0
        bots = ["A=./bot.sh", {{bot = "B=./bot.sh --fast", environment = {{X = "1"}}, t_response_s = 2.0}}, "random"]
        [[games]]
        game = "kuhn"
        name = "two"
        max_running = 3
    """)
    settings = read_toml_settings(path)
    assert settings.limits == Limits(bots=4, runs_per_game={"two": 3})
    first, second = settings.games
    assert (first.name, list(first.bots)) == (KUHN, ["A", "B", "random"])
    assert (second.name, second.path, second.deals) == ("two", "kuhn.limit.2p", 3000)
    config = run_config(
        settings,
        first,
        ["B", OWN_SEAT, "A"],
        SINGLE,
        user="a|b c",
        own_address="10.0.0.7",
        seed=7,
        environment={"M": "x"},
    )
    assert [bot.bot for bot in config.bots] == ["B=./bot.sh --fast", "a_b_c=tcp", "A=./bot.sh"]
    assert [bot.address for bot in config.bots] == [None, "10.0.0.7", None]
    assert config.bots[0].environment == {"X": "1", "M": "x"}
    assert (config.bots[0].t_response_s, config.host, config.seating) == (2.0, "0.0.0.0", "single")
    assert run_config(settings, first, ["A", "A", "A"], SINGLE, user="a", seed=7).host == "127.0.0.1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = [", "Expected|Unclosed|Invalid"),
        ("colour = 1", "colour: there is no such setting"),
        ("port = 70000", "port: must be at most 65,535, not 70000"),
        ('advertise = "a b"', "advertise: 'a b' is not an address"),
        ('[[games]]\ngame = "chess"', "games: chess: no such game"),
        ('[[games]]\ngame = "kuhn"\nname = "a b"', "cannot be a name"),
        ('[[games]]\ngame = "kuhn"\nname = "limit"', "games: 'limit' is the name of another game"),
        ('[[games]]\ngame = "kuhn"\nbots = ["nobody"]', "bots: 'nobody' is neither"),
        ('[[games]]\ngame = "kuhn"\nbots = ["tcp"]', "'tcp' is not a bot that the server could start"),
        ('[[games]]\ngame = "kuhn"\nbots = ["random", "random"]', "two bots called random"),
        ("[web]\ncolour = 1", "web.colour: there is no such setting"),
        ("[web]\nproxies = ['10.0.0.1/8']", "web.proxies.0: '10.0.0.1/8' is not an address or a network"),
        ("[web]\nkey = 'k'", "web.key: there is no file"),
        ("web = 1", "web: must be a table, not 1"),
        ("[web]\nnames = ['']", "web.names.0: must have at least 1 characters"),
        ("[ladder]\nwidth = 0", "ladder.width: must be more than 0, not 0"),
        ("[[games]]\ndeals = 1", "games.0.game: it is missing"),
        ("[ladder]\ngames = ['chess']", "ladder.games: there is no game 'chess' here; the games are limit10, limit"),
    ],
)
def test_invalid_setting_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem) as caught:
        read_toml_settings(path)
    assert str(caught.value).startswith(str(path))


def test_player_name_fits_into_a_log() -> None:
    assert [player_name(text) for text in ("ann", "a/../b", "a|b:c", "ü", "..", "x" * 100)] == [
        "ann",
        "a_.._b",
        "a_b_c",
        "player",
        "player",
        "x" * 64,
    ]
    assert os.sep not in player_name("a/b\\c")


@pytest.mark.skipif(os.name == "nt", reason="the limits are those of POSIX systems")
def test_own_bots_have_the_configured_limits(tmp_path: Path) -> None:
    write_house(tmp_path / "house")
    path = tmp_path / "house" / "s.toml"
    bots = 'bots = ["A=./bot.sh", {bot = "B=./bot.sh", memory_mb = 100}]'
    path.write_text(f'bot_memory_mb = 500\nbot_cpu_s = 60\n[[games]]\ngame = "kuhn"\n{bots}\n')
    settings = read_toml_settings(path)
    config = run_config(settings, settings.games[0], ["A", "B"], SINGLE, user="a", seed=7)
    assert [(bot.user, bot.memory_mb, bot.cpu_s) for bot in config.bots] == [(None, 500, 60), (None, 100, 60)]
    path.write_text('bot_user = "no such user"')
    with pytest.raises(ConfigError, match="bot_user: there is no user 'no such user'"):
        read_toml_settings(path)


def test_run_settings_for_another_number_of_bots_are_not_changed(tmp_path: Path) -> None:
    write_house(tmp_path / "house")
    path = tmp_path / "house" / "s.toml"
    path.write_text('[[games]]\ngame = "kuhn"\nbots = ["A=./bot.sh"]\n')
    settings = read_toml_settings(path)
    run_settings = tmp_path / "run.toml"
    config = run_config(settings, settings.games[0], ["A", "A"], SINGLE, user="a", seed=7)
    text = replace(config, bots=config.bots[:1]).to_toml()
    run_settings.write_text(text)
    with pytest.raises(ConfigError, match=r"run\.toml: it has 1 bot, and the run has 2$"):
        update_config(settings, settings.games[0], ["A", "A"], run_settings, {})
    assert run_settings.read_text() == text


def test_matches_with_bots_of_users_batch_lines_longer(tmp_path: Path) -> None:
    write_house(tmp_path / "house")
    path = tmp_path / "house" / "s.toml"
    path.write_text('[[games]]\ngame = "kuhn"\nbots = ["A=./bot.sh"]\n')
    settings = read_toml_settings(path)

    def coalesce_ms(*players: str) -> float:
        return run_config(settings, settings.games[0], players, SINGLE, user="a", seed=7).coalesce_ms

    assert coalesce_ms("A", "A") == 10.0
    assert coalesce_ms("A", OWN_SEAT) == 10.0
    assert coalesce_ms("A", "joined") == 250.0
    assert coalesce_ms("joined", "another") == 250.0
