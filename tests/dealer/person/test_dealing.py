"""The match behind a table session, when it cannot begin."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from dealer.errors import ListenError
from dealer.library import new_run
from dealer.person.terminal import Dealing
from dealer.run.settings import validated


def test_a_port_in_use_is_told_and_waits_for_nobody(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        settings = {"games": ["kuhn"], "bots": ["Ann=tcp", "calling"], "ports": [taken.getsockname()[1]]}
        with Dealing(new_run(validated({"command": "table"} | settings), tmp_path / "run")) as dealing:
            assert dealing.address("Ann") is None
    with pytest.raises(ListenError):
        _ = dealing.result
    assert dealing.record(0) is None
