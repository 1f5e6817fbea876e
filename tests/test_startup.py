"""Modules imported at the start of `acpc-dealer`, of a bot and of the list of commands.

Fifty dealers may be started at once, and a bot's start runs on its match clock. A new module in these sets makes every
start slower.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dealer.cli import COMMANDS
from protocol import find_game, format_game_definition
from tests.dealer.helpers import program_env
from tests.programs import PATIENCE_S

ENGINE = {
    "engine",
    "engine.betting_rules",
    "engine.betting",
    "engine.cards",
    "engine.dealing",
    "engine.errors",
    "engine.evaluator",
    "engine.game",
    "engine.hand",
    "engine.holdem",
    "engine.text",
}
PROTOCOL = {
    "protocol",
    "protocol.actions",
    "protocol.errors",
    "protocol.framing",
    "protocol.game_definition",
    "protocol.match_state",
    "protocol.numbers",
    "protocol.session",
}
BOT = {
    *ENGINE,
    *PROTOCOL,
    "bots",
    "bots.baseline",
    "bots.sdk",
    "bots.sdk.bot",
    "bots.sdk.builtin",
    "bots.sdk.client",
    "bots.sdk.conversation",
    "bots.errors",
    "bots.formula",
    "bots.formula.formulas",
    "bots.sdk.options",
    "bots.sdk.registry",
    "bots.sdk.view",
    "engine.splitmix",
}
EQUILIBRIUM = {
    "bots.equilibrium",
    "bots.equilibrium.bot",
    "bots.kuhn",
    "bots.kuhn.bot",
    "bots.kuhn.games",
}
SHELL = {"dealer.cli.shell", "dealer.cli.shell.help", "dealer.cli.shell.streams"}
ROOMS = {"dealer", "dealer.match", "dealer.reference", "dealer.table", "logs", "logs.acpc_log"}
DEALER = {
    *ENGINE,
    *PROTOCOL,
    *ROOMS,
    "dealer.errors",
    "dealer.match.writers",
    "protocol.betting_nodes",
    "dealer.reference.command",
    "dealer.table.collector",
    "dealer.table.connections",
    "dealer.table.links",
    "dealer.table.listener",
    "dealer.table.loop",
    "logs.acpc_log.writer",
    "logs.transaction_log",
    "logs.whole_file",
    "logs.record",
}
HEAVY = {
    "argparse",
    "json",
    "tomllib",
    "pathlib",
    "urllib",
    "email",
    "importlib.metadata",
    "numpy",
    "numba",
    "pydantic",
    "typer",
    "rich",
    "psutil",
    "asyncio.selector_events",
    "highspy",
    "scipy",
    "matplotlib",
}
"""Slow modules that no start needs."""


def loaded_modules(code: str, *arguments: str, folder: Path) -> set[str]:
    """Modules that a program has loaded when it ends, without those of the interpreter's own start."""
    # Some environments load modules at every start, through their .pth files.
    report = (
        "import atexit, sys\nbefore = set(sys.modules)\n"
        "atexit.register(lambda: print('LOADED', *sys.modules.keys() - before, file=sys.stderr, flush=True))\n"
    )
    program = subprocess.run(
        [sys.executable, "-P", "-c", report + code, *arguments],
        cwd=folder,
        env=program_env(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    last_line = program.stderr.splitlines()[-1]
    assert last_line.startswith("LOADED "), program.stderr
    return set(last_line.split()[1:])


def own_modules(modules: set[str]) -> set[str]:
    packages = ("engine", "protocol", "logs", "bots", "dealer", "acpc_arena")
    return {name for name in modules if name.partition(".")[0] in packages}


def third_party_packages(modules: set[str]) -> set[str]:
    packages = {name.partition(".")[0] for name in modules - own_modules(modules)}
    return packages - sys.stdlib_module_names - {"__main__", "__mp_main__", "sitecustomize", "usercustomize"}


def test_dealer_imports_up_to_its_ports(tmp_path: Path) -> None:
    (tmp_path / "limit.game").write_text(format_game_definition(find_game("limit")[1]))
    code = (
        "from dealer.reference.command import main\n"
        "from dealer.table.connections import Connections\n"
        "def stop(self): raise SystemExit\n"
        "Connections.run = stop\n"
        "main()\n"
    )
    modules = loaded_modules(code, "m", "limit.game", "1", "1", "Ann", "Bob", folder=tmp_path)
    others = own_modules(modules) - DEALER
    assert {name for name in others if not name.startswith("dealer.match.")} == set()
    assert "dealer.match.in_process" not in others
    assert modules >= DEALER
    assert modules & HEAVY == {"asyncio.selector_events"}
    assert not third_party_packages(modules)


@pytest.mark.parametrize(
    "start", ["from bots.sdk.builtin import main; main()", "from acpc_arena import arena; arena()"]
)
def test_bot_imports_up_to_its_version(tmp_path: Path, start: str) -> None:
    code = "import bots.sdk.client\ndef stop(*_): raise SystemExit\nbots.sdk.client.connect = stop\n" + start
    word = ["bot"] if "arena" in start else []
    modules = loaded_modules(code, *word, "calling", "127.0.0.1", "1", "--game", "limit", folder=tmp_path)
    assert own_modules(modules) == BOT | ({"acpc_arena", "dealer", "dealer.cli"} if word else set())
    assert not modules & (HEAVY | {"asyncio", "random"})
    assert not third_party_packages(modules)


def test_bot_of_a_small_game_imports_up_to_its_version(tmp_path: Path) -> None:
    code = "import bots.sdk.client\ndef stop(*_): raise SystemExit\nbots.sdk.client.connect = stop\n"
    code += "from bots.sdk.builtin import main; main()"
    modules = loaded_modules(code, "equilibrium", "127.0.0.1", "1", "--game", "leduc", folder=tmp_path)
    assert own_modules(modules) == BOT - {"bots.baseline", "bots.formula", "bots.formula.formulas"} | EQUILIBRIUM
    assert not modules & (HEAVY | {"asyncio", "random", "hashlib"})
    assert not third_party_packages(modules)


def test_list_of_commands_imports_no_command(tmp_path: Path) -> None:
    modules = loaded_modules("from acpc_arena import arena; arena()", "--help", folder=tmp_path)
    assert own_modules(modules) == {"acpc_arena", "dealer", "dealer.cli", *SHELL}
    assert not modules & (HEAVY | {"asyncio", "dataclasses"})
    assert not third_party_packages(modules)


def test_process_that_only_deals_reads_no_settings(tmp_path: Path) -> None:
    """It receives finished plans, so that it needs no module that reads settings."""
    modules = loaded_modules("import dealer.run.dealer_process", folder=tmp_path)
    assert not modules & {"pydantic", "tomli_w", "typer", "rich", "numpy", "numba", "scipy", "highspy", "matplotlib"}
    assert not modules & {"dealer.run.plan", "dealer.run.run_settings", "dealer.library", "dealer.run.run"}


def test_command_imports_no_other_command(tmp_path: Path) -> None:
    modules = loaded_modules("from acpc_arena import arena; arena()", "games", "--help", folder=tmp_path)
    assert {name for name in COMMANDS if f"dealer.cli.{name}" in modules} == {"games"}
