"""Every command of the README and the guides runs as printed.

Each command gets a folder with the runs, logs, bots and games that it mentions, under the same names. Long commands are
shortened to few hands; if the length matters, a slow test runs the full command, too. A command of several documents
is run once.
"""

from __future__ import annotations

import contextlib
import lzma
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from typer.main import get_command

from bots.cfr.bot import SHIPPED
from dealer import play
from dealer.cli import COMMANDS as COMMAND_NAMES
from dealer.cli.shell.app import application
from dealer.server.db.bot_registry import register_user_bot
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.teams import form_team
from dealer.server.db.users import add_user
from dealer.server.server_settings import example
from protocol.mock_dealer import MockDealer
from tests.bots.conftest import ThreadDealer
from tests.dealer.helpers import ARENA, DEALER, PATIENCE_S, ROOT, free_ports, program_env
from tests.logs.hands import log_of_2012
from tests.outside import require
from tests.programs import Program, start

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OWN_PROGRAMS = {"arena": ARENA, "acpc-dealer": DEALER}
OTHER_PROGRAMS = (
    "pip",
    "pipx",
    "uv",
    "pytest",
    "cc",
    "python",
    "docker",
    "git",
    "curl",
    "du",
    "ssh",
    "ulimit",
    "powercfg",
    "setx",
    "py",
)
"""Installers and programs of the system. Other tests run some of their commands, such as
`tests/dealer/web/test_documented_calls.py`."""
NOT_RUN = {
    "PATH": "the reference dealer, which is not shipped",
    "FOLDER": "an evolution of the size of a published one, which takes long",
    "values": "boards of hold'em, which take long",
    '"Model=llm?model=NAME,prompt=with-odds"': "a model; `tests/dealer/run/test_models.py` has a fake one",
    "event": "a whole event, which `tests/dealer/joining/test_pages.py` plays as it is printed",
}
"""Words of commands that are not run, with the reasons."""
SYNOPSIS = re.compile(r"(^|\s)\[|\.\.\.|\S\|\S|…")
WEAK = """
from bots import Bot, run

class PairRaiser(Bot):
    def act(self, view):
        if view.can_raise and view.round == 0 and view.max_raise_hand_total > 1000 and not view.raises_this_round:
            return view.raise_to(view.max_raise_hand_total - 100)
        return view.fold() if view.can_fold else view.call()

if __name__ == "__main__":
    run(PairRaiser())
"""
"""A bot that loses so much that sequential tests end soon."""
SHORTER = {
    "arena doctor": ["--situation", "bets"],
    "arena solve preflop": ["--cap", "2"],
    "arena train cfr": ["--game", "kuhn", "--iterations", "1"],
    "arena train learner": ["-n", "8", "--block", "8", "--test", "8"],
    "arena evolve learner ": [
        "--hands",
        "64",
        "--test",
        "20",
        "--population",
        "5",
        "--generations",
        "4",
        "--seeds",
        "5",
        "--trials",
        "5",
    ],
    "--plan": ["-n", "100"],
    "arena exploit against limit": ["--boards", "2"],
    "arena exploit bound": ["--hands", "50"],
    "arena exploit exact limit": ["--boards", "2"],
    "arena exploit exact nolimit": ["--boards", "2"],
}
"""Options that shorten commands with these words; all other commands play two hands."""
MAINTENANCE = ("backup", "doctor", "free", "reset", "revoke", "team", "user", "users")
"""Subcommands of `arena serve` that end by themselves."""
PLAYING = ("play", "tournament", "deal", "benchmark")
"""Commands that make a folder; all others read an existing one."""


@dataclass(frozen=True)
class Documented:
    """A command and its place in a document."""

    document: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.document.name}: {self.text}"


def _program(part: str) -> str:
    """Program of a command, without the variables before it."""
    return re.sub(r"^([A-Z_]+=\S* )+", "", part).split()[0] if part.strip() else ""


def documented(document: Path) -> Iterator[Documented]:
    """Commands in indented blocks and in those fenced as shell or as steps of a build."""
    fence = None
    for number, line in enumerate(document.read_text("utf-8").splitlines(), start=1):
        if line.startswith("```"):
            fence = None if fence is not None else line.removeprefix("```")
            continue
        if (fence is None and line.startswith("    ")) or fence in ("sh", "powershell"):
            text = line
        elif fence == "yaml":
            text = re.sub(r"^\s*(- )?run: ", "", line)
        else:
            continue
        text = re.split(r"\s{2,}# ", text)[0].strip()
        if _program(text) in (*OWN_PROGRAMS, *OTHER_PROGRAMS, "./client"):
            yield Documented(document, number, text)


def _own_commands(text: str) -> tuple[str, ...]:
    """Commands of a line that run our programs."""
    return tuple(part for part in text.split(" && ") if _program(part) in OWN_PROGRAMS)


def _is_runnable(command: Documented) -> bool:
    has_unrunnable_word = bool(NOT_RUN.keys() & set(command.text.split()))
    return bool(_own_commands(command.text)) and not SYNOPSIS.search(command.text) and not has_unrunnable_word


COMMANDS = [command for document in DOCUMENTS for command in documented(document)]
FIRST_PLACES = {_own_commands(command.text): command for command in reversed(COMMANDS)}
"""First place of each command line."""
RUNNABLE = [command for command in FIRST_PLACES.values() if _is_runnable(command)]
LONG = [
    command
    for command in RUNNABLE
    if re.search(
        r"\barena (play|deal|tournament|benchmark|bench|doctor|solve (equities|preflop)|train|evolve learner"
        r"|exploit (exact|bound|against) (limit|nolimit))\b"
        r"|\bacpc-dealer\b",
        command.text,
    )
]
"""Commands that are shortened."""
UNSHORTENED = re.compile(r"\barena (bench|solve equities)\b")
"""Long commands without an option that shortens them, which only a slow test runs."""
FULL_LENGTH_MATTERS = re.compile(r"--stop|\b(solve|exploit|doctor) |\barena play$")
IN_FULL = [
    command
    for command in LONG
    if UNSHORTENED.search(command.text)
    or (command.document == ROOT / "README.md" and FULL_LENGTH_MATTERS.search(command.text))
]
"""Commands whose length matters: stop rules, whole computations, and the first command of the README."""


# ---- files for a command


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of New against Old."""
    folder = tmp_path_factory.mktemp("documented") / "run"
    play("limit", ["New=raising", "Old=random"], deals=300, seed=7, in_process=True, out=str(folder))
    return folder


@cache
def _classes() -> dict[str, str]:
    """Code of the Python bots of the documents, by class."""
    classes: dict[str, str] = {}
    for document in DOCUMENTS:
        for code in re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL):
            for name in re.findall(r"^class (\w+)\(Bot\)", code, re.MULTILINE):
                classes.setdefault(name, code)
    return classes


def _lay_out(folder: Path, words: list[str], run: Path) -> None:
    """Make the files and folders that a command names and does not make itself."""
    reads_runs = len(words) > 1 and words[1] not in PLAYING
    for previous, word in zip(["", *words], words, strict=False):
        if previous == "--out" and not reads_runs:
            continue
        is_named_bot = "=" in word and not word.startswith("-")
        source = word.partition("=")[2] if is_named_bot else word.partition("=")[0]
        name, _, class_name = source.partition(":")
        if "?" in word:
            # Drop further options of a bot.
            name = name.partition(",")[0]
        for part in shlex.split(name) if " " in name else [name]:
            _make_file(folder, part, class_name.partition("?")[0], run, reads_runs)


def _make_file(folder: Path, name: str, class_name: str, run: Path, reads_runs: bool) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith((".py", ".sh")):
        code = _classes()[class_name or {"my_bot.py": "PairRaiser", "careful.py": "Careful"}.get(name, "PairRaiser")]
        if "old" in name:
            code = WEAK
        if name.endswith(".py"):
            path.write_text(code)
        else:
            path.with_suffix(".code").write_text(code)
            path.write_text(f'#!/bin/sh\nexec {sys.executable} {shlex.quote(str(path.with_suffix(".code")))} "$@"\n')
            path.chmod(0o755)
    elif name == "./client":
        require("cc")
        subprocess.run(["cc", "-std=c99", "-o", str(path), str(ROOT / "examples" / "client.c")], check=True)
    elif name.endswith(".js"):
        require("node")
        shutil.copy(ROOT / name, path)
    elif name.endswith(".game"):
        shipped = ROOT / "engine" / "games" / name
        shutil.copy(shipped if shipped.exists() else shipped.with_name("kuhn.limit.2p.game"), path)
    elif name.endswith(".log.xz"):
        log = log_of_2012("2p.limit.h1000.r0") if "*" in name else (run / "match.a.log").read_text("utf-8")
        (folder / name.replace("*", "old")).write_bytes(lzma.compress(log.encode()))
    elif name.endswith(".toml"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, path)
        else:
            shutil.copy(run / "run.toml", path)
    elif name.endswith(".strategy"):
        shutil.copy(SHIPPED["limit"], path)
    elif (reads_runs and name in ("RUN", "run")) or name.startswith("runs/"):
        shutil.copytree(run, path)
    elif reads_runs and name == "runs":
        shutil.copytree(run, path / "one")


# ---- execution


def _run(command: Documented, folder: Path, run: Path, more: list[str]) -> None:
    """Run the commands of a line that run our programs, with more arguments for `arena`."""
    for part in command.text.split(" && "):
        words = shlex.split(part)
        environment = {}
        while re.fullmatch(r"[A-Z_]+=\S*", words[0]):
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
        if words[0] in OWN_PROGRAMS:
            _lay_out(folder, words, run)
            words = _expand_patterns(words, folder)
            if more and words[0] == "acpc-dealer" and len(words) > 4:
                words[3] = "2"
            _play(words, folder, environment, more if words[0] == "arena" else [])


def _expand_patterns(words: list[str], folder: Path) -> list[str]:
    """Words of a command with patterns replaced by the names of files, as a shell does."""
    expanded = []
    for word in words:
        if "*" in word:
            expanded += [path.name for path in folder.glob(word)]
        else:
            expanded.append(word)
    return expanded


def _add_users(db: sqlite3.Connection, words: list[str]) -> None:
    """Add the users of the documents, the team that a command changes, and bots whose names can be freed."""
    numbers = {name: add_user(db, name) for name in ("ann", "bob", "eve")}
    for bot in ("Flood1", "Flood2"):
        register_user_bot(db, numbers["eve"], "kuhn.limit.2p", bot, "")
    db.execute("UPDATE bots SET seen_s = 1")
    if words[2:4] in (["team", "add"], ["team", "leave"]):
        form_team(db, "x", "Sharks", ["bob", "eve"] if words[3] == "leave" else ["bob"])


def _serve(words: list[str], folder: Path) -> None:
    """Run a server until it listens, or a command for the data of a server to its end."""
    is_maintenance = words[2:3] and words[2] in MAINTENANCE
    if is_maintenance:
        data_folder = folder / "arena-server"
        data_folder.mkdir()
        with contextlib.closing(Store(data_folder / DATABASE_NAME)) as store:
            store.write_now(lambda db: _add_users(db, words))
    if "arena-server.toml" in words:
        # The ports of the example may be in use on this machine.
        (folder / "arena-server.toml").write_text(re.sub("(?m)^port = [0-9]+", "port = 0", example()))
    elif words[2:3] == ["bm_server.config"]:
        (folder / words[2]).write_text("user ann secret\n")
    for users in (word for word in words if word.endswith(".csv")):
        (folder / users).write_text("name\nann\nbob\n")
    is_server = "--init" not in words and not is_maintenance
    options = []
    if is_server:
        options = ["--port", "0", "--web-port", "0"]
    elif words[2] == "reset":
        options = ["--yes"]
    program = start([*OWN_PROGRAMS[words[0]], *words[1:], *options], cwd=folder, env=program_env())
    assert program.stdout is not None
    if is_server:
        assert program.stdout.readline().startswith(b"Listening on 127.0.0.1 port ")
        program.send_signal(signal.SIGTERM)
    out, err = program.communicate(timeout=PATIENCE_S)
    assert program.wait() == 0, (out.decode(), err.decode())


def _show_pages(words: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a command with pages until it prints their address."""
    is_table = words[1] == "table"
    more = [] if is_table or "--no-browser" in words else ["--no-browser"]
    program = start([*OWN_PROGRAMS[words[0]], *words[1:], *more], cwd=folder, env=program_env(**environment))
    assert program.stdout is not None
    if is_table:
        assert b"Play in your browser" in program.stdout.readline()
    assert program.stdout.readline().startswith(b"http://127.0.0.1:")
    program.send_signal(signal.SIGTERM)
    out, err = program.communicate(timeout=PATIENCE_S)
    assert program.wait() == 0, (out.decode(), err.decode())


def _serve_agents(words: list[str], folder: Path) -> None:
    """Run a server of agents until it prints its address."""
    words[words.index("--port") + 1] = "0"
    program = start([*OWN_PROGRAMS[words[0]], *words[1:]], cwd=folder, env=program_env())
    assert program.stderr is not None
    assert program.stderr.readline().startswith(b"Agents of this machine connect to http://127.0.0.1:")
    program.send_signal(signal.SIGTERM)
    out, err = program.communicate(timeout=PATIENCE_S)
    assert program.wait() == 0, (out.decode(), err.decode())


def _play(words: list[str], folder: Path, environment: dict[str, str], more: list[str]) -> None:
    """Run a command, with the clients or the dealer that it waits for."""
    if words[:2] == ["arena", "serve"]:
        return _serve(words, folder)
    if words[:2] == ["arena", "mcp"]:
        return _serve_agents(words, folder)
    if words[:2] in (["arena", "watch"], ["arena", "replay"]) or "--browser" in words:
        return _show_pages(words, folder, environment)
    if "--watch" in words and "--no-browser" not in words:
        words = [*words, "--no-browser"]
    clients: list[Program] = []
    dealer = None
    if "HOST" in words:
        dealer = ThreadDealer(MockDealer(words[words.index("--game") + 1]).ask("MATCHSTATE:1:0::|AhAd")).start()
        values = {"HOST": "127.0.0.1", "PORT": str(dealer.port)}
        words = [values.get(word, word) for word in words]
    for option in ("--port", "--ports"):
        if option in words:
            index = words.index(option) + 1
            words[index] = ",".join(map(str, free_ports(words[index].count(",") + 1)))
    if words[0] == "arena" and words[1] in PLAYING:
        # On a busy machine bots that compile their kernels first connect late.
        more = [*more, "--start-timeout", "600"]
    program = start([*OWN_PROGRAMS[words[0]], *words[1:], *more], cwd=folder, env=program_env(**environment))
    try:
        game = ["--game", words[2]] if words[1] in ("play", "deal") and len(words) > 2 else []
        for address in _addresses(program, words):
            clients.append(start([*ARENA, "bot", "calling", *address, *game], cwd=folder, env=program_env()))
        out, err = program.communicate(timeout=3600)
        assert program.wait() == 0, (out.decode(), err.decode())
    finally:
        program.kill()
        for client in clients:
            client.communicate(timeout=PATIENCE_S)
    if dealer is not None:
        dealer.join()


def _addresses(program: Program, words: list[str]) -> list[tuple[str, str]]:
    """Hosts and ports at which a program waits for clients, from its output."""
    assert program.stdout is not None
    assert program.stderr is not None
    if words[0] == "acpc-dealer":
        return [("127.0.0.1", port) for port in program.stdout.readline().decode().split()]
    num_clients = sum(re.fullmatch(r"(\w+=)?tcp", word) is not None for word in words)
    addresses: list[tuple[str, str]] = []
    while len(addresses) < num_clients:
        line = program.stderr.readline().decode()
        assert line, "it ended before its clients could connect"
        addresses = re.findall(r" at (\S+):(\d+)", line)
    return [("127.0.0.1" if host == "0.0.0.0" else host, port) for host, port in addresses]


_COMPILING: Final = ("arena luck", "--score", "arena exploit")


def _is_quick(command: Documented) -> bool:
    return command.document == ROOT / "README.md" and not any(word in command.text for word in _COMPILING)


@pytest.mark.parametrize(
    "command",
    [
        # The guides have too many commands for the quick tests, and some of the README compile kernels.
        pytest.param(command, marks=() if _is_quick(command) else pytest.mark.slow)
        for command in RUNNABLE
        if not UNSHORTENED.search(command.text)
    ],
    ids=str,
)
def test_command_runs(command: Documented, tmp_path: Path, finished_run: Path) -> None:
    options = []
    if command in LONG:
        options = next((options for words, options in SHORTER.items() if words in command.text), ["-n", "2"])
    _run(command, tmp_path, finished_run, options)


@pytest.mark.slow
@pytest.mark.parametrize("command", IN_FULL, ids=str)
def test_command_runs_in_full_length(command: Documented, tmp_path: Path, finished_run: Path) -> None:
    _run(command, tmp_path, finished_run, [])


# ---- mentioned commands and options


@cache
def _commands() -> dict[tuple[str, ...], frozenset[str]]:
    """Options of every command and group of commands, by its words."""
    program = start([*DEALER, "--help"], cwd=ROOT, env=program_env(COLUMNS="200", TERMINAL_WIDTH="200"))
    out, _ = program.communicate(timeout=PATIENCE_S)
    options = {("acpc-dealer",): frozenset(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", out.decode()))}

    def add(words: tuple[str, ...], command: Any) -> None:
        names = {"--help", "-h"}
        for parameter in command.params:
            names.update(parameter.opts)
            names.update(parameter.secondary_opts)
        for name, subcommand in getattr(command, "commands", {}).items():
            add((*words, name), subcommand)
        # `start` is the default command of its group.
        options[words] = frozenset(names) | options.get((*words, "start"), frozenset())

    add(("arena",), get_command(application(COMMAND_NAMES)))
    return options


def _mentioned(document: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    yield from (command.text for command in documented(document))
    yield from (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_commands_and_options_exist(document: Path) -> None:
    """Commands in sentences and synopses are not run, so only their names and options are checked."""
    commands = _commands()
    anywhere = frozenset().union(*commands.values())
    for text in _mentioned(document):
        for part in re.split(r" && | \|+ ", text):
            words = part.split()
            if words[0] == "arena" and len(words) > 1 and not words[1].startswith("-"):
                assert ("arena", words[1]) in commands, f"there is no command {part!r}"
                longest = max(len(command) for command in commands if command == tuple(words[: len(command)]))
                known = commands[tuple(words[:longest])]
            elif words[0].startswith("--"):
                known = anywhere
            else:
                continue
            named = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
            assert named <= known, f"{part!r} has options that do not exist: {sorted(named - known)}"
