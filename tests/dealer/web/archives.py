"""Archives of bots, as users upload them."""

from __future__ import annotations

import io
import zipfile

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
"""A bot that calls in Kuhn poker, and starts quickly."""


def archive(code: str = CALLING, name: str = "mine", games: str = '["kuhn"]', command: str = "python bot.py") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("bot.toml", f'name = "{name}"\ncommand = "{command}"\nlanguage = "Python"\ngames = {games}\n')
        packed.writestr("bot.py", code)
    return made.getvalue()
