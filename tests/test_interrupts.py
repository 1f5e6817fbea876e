"""Ctrl-C while a console script imports its modules: exit code 130 without output.

At each import of the script a child is forked that interrupts itself and continues, so that every import is tried,
whatever the speed of the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from protocol import find_game, format_game_definition
from tests.dealer.helpers import PATIENCE_S, program_env

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks at each import")

SCRIPTS = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
    "scripts"
]

AT_EACH_IMPORT = """
import os, signal, sys

class Interrupter:
    tried, is_child = 0, False
    def find_spec(self, name, *others):
        # Before the first line of its module the script cannot handle a signal.
        if self.is_child or name == {module!r}:
            return
        self.tried += 1
        read, write = os.pipe()
        if not (child := os.fork()):
            self.is_child = True
            for stream in (1, 2):
                os.dup2(write, stream)
            os.close(read)
            os.close(write)
            os.kill(os.getpid(), signal.SIGINT)
            return
        os.close(write)
        words = open(read, "rb").read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if (status, words) != (130, b""):
            os.write(2, b"while %s was imported: status %d\\n%s" % (name.encode(), status, words))

interrupter = Interrupter()
sys.meta_path.insert(0, interrupter)
sys.argv = [{script!r}, *sys.argv[1:]]
try:
    from {module} import {function}
    sys.exit({function}())
finally:
    if not interrupter.is_child:
        interrupter.is_child = True
        # Standard output is for the result of the command.
        os.write(2, b"\\n%d interrupts" % interrupter.tried)
"""


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("script", "arguments", "min_imports"),
    [
        ("arena", ["--help"], 5),
        ("arena", ["games"], 200),
        ("arena", ["bots", "cfr"], 200),
        ("arena", ["bot", "calling"], 20),
        ("arena", ["stats", "nothing"], 200),
        ("acpc-dealer", [], 50),
        ("acpc-dealer", ["m", "kuhn.game", "1", "1", "Ann", "Bob", "--start_timeout", "1"], 50),
    ],
)
def test_ctrl_c_exits_silently(tmp_path: Path, script: str, arguments: list[str], min_imports: int) -> None:
    (tmp_path / "kuhn.game").write_text(format_game_definition(find_game("kuhn")[1]))
    module, _, function = SCRIPTS[script].partition(":")
    program = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            AT_EACH_IMPORT.format(module=module, function=function, script=script),
            *arguments,
        ],
        cwd=tmp_path,
        env=program_env(),
        capture_output=True,
        timeout=PATIENCE_S,
        text=True,
    )
    assert "while " not in program.stderr, program.stderr
    interrupts = int(program.stderr.rpartition("\n")[2].removesuffix(" interrupts"))
    assert interrupts >= min_imports
