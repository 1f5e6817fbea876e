"""Archives of bots for uploads."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from pathlib import Path

import pytest

from dealer.table.bubblewrap import Box

CALLING = """
import socket, sys

TURNS = {b"": b"0", b"c": b"1", b"r": b"1", b"cr": b"0"}
with socket.create_connection((sys.argv[-2], int(sys.argv[-1]))) as dealer:
    dealer.sendall(b"VERSION:2.0.0\\r\\n")
    for line in dealer.makefile("rb"):
        words = line.strip().split(b":")
        if words[0] == b"MATCHSTATE" and TURNS.get(words[3]) == words[1]:
            hands = int(words[2])
            dealer.sendall(line.strip() + b":c\\r\\n")
"""
"""Bot for Kuhn poker that always calls and starts quickly."""


def archive(code: str = CALLING, name: str = "mine", games: str = '["kuhn"]', command: str = "python bot.py") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("bot.toml", f'name = "{name}"\ncommand = "{command}"\nlanguage = "Python"\ngames = {games}\n')
        file.writestr("bot.py", code)
    return data.getvalue()


_WITHOUT_BOX = """
import os, sys
folder, *command = sys.argv[1:]
os.chdir(folder)
try:
    os.execvp(command[0], command)
except OSError as error:
    sys.exit(f"{command[0]} cannot be started: {error.strerror}")
"""


def do_without_box(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start uploaded bots without a box if bubblewrap is missing. `test_bubblewrap.py` tests the boxes.

    Args:
        folder: parent of the bots' home.
    """
    if Box("/usr", 500, 10, 20, 20).refusal() is None:
        return
    home = folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(Box, "refusal", lambda box: None)
    monkeypatch.setattr(Box, "command", lambda box, words: [sys.executable, "-c", _WITHOUT_BOX, box.folder, *words])
