"""Command lines as users write them; tests of the launcher cover starting and ending programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bots.sdk.program import Program, split_command


@pytest.mark.parametrize(
    ("text", "posix", "windows"),
    [
        ("./bot --fast", ("./bot", "--fast"), ("./bot", "--fast")),
        ("'two words' b", ("two words", "b"), ("'two", "words'", "b")),
        ('"C:\\Program Files\\bot.exe" -x', ("C:\\Program Files\\bot.exe", "-x"), ("C:\\Program Files\\bot.exe", "-x")),
        (r"bots\my.exe --dir=C:\x", ("botsmy.exe", "--dir=C:x"), (r"bots\my.exe", r"--dir=C:\x")),
        ('--k="a b" #1', ("--k=a b", "#1"), ("--k=a b", "#1")),
        ("", (), ()),
    ],
)
def test_a_command_line_is_split_as_its_system_does(
    text: str, posix: tuple[str, ...], windows: tuple[str, ...]
) -> None:
    assert split_command(text, is_windows=False) == posix
    assert split_command(text, is_windows=True) == windows


@pytest.mark.parametrize("is_windows", [False, True])
def test_an_open_quote_is_refused(is_windows: bool) -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split_command('"open', is_windows=is_windows)


def test_ctrl_c_of_a_windows_console_reaches_us_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On Windows the bots are in their own process group, elsewhere in their own session."""
    given: dict[str, Any] = {}

    def refuse(*_: object, **options: Any) -> None:
        given.update(options)
        raise OSError(2, "refused")

    monkeypatch.setattr("subprocess.CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr("subprocess.Popen", refuse)
    with pytest.raises(OSError, match="refused"):
        Program(["x"], environment={}, output_path=tmp_path / "out")
    assert given["creationflags"] == 0x200
