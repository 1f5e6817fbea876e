"""A file of the user's own with the name of one of our packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bots._shadow import refuse_shadowed


def run_script(folder: Path, script: str, env: dict[str, str], *flags: str) -> subprocess.CompletedProcess[str]:
    path = folder / "my_bot.py"
    path.write_text(script)
    command = [sys.executable, *flags, str(path)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, timeout=60)


@pytest.mark.parametrize("package", ["engine", "protocol"])
def test_a_module_beside_the_script_is_named_and_not_run(
    tmp_path: Path, program_env: dict[str, str], package: str
) -> None:
    (tmp_path / f"{package}.py").write_text("print('the stranger runs')\n")
    done = run_script(tmp_path, "from bots import Bot\n", program_env)
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {tmp_path / package}.py hides the package '{package}' of acpc-arena")
    assert "Rename that file, or run your bot with `python -P`." in last


def test_a_package_beside_the_script(tmp_path: Path, program_env: dict[str, str]) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    done = run_script(tmp_path, "import bots\n", program_env)
    assert "hides the package 'engine'" in done.stderr


def test_a_stranger_already_imported(tmp_path: Path, program_env: dict[str, str]) -> None:
    (tmp_path / "engine.py").write_text("")
    done = run_script(tmp_path, "import engine\nimport bots\n", program_env)
    assert "engine.py hides the package 'engine'" in done.stderr


def test_safe_path_helps(tmp_path: Path, program_env: dict[str, str]) -> None:
    (tmp_path / "engine.py").write_text("")
    done = run_script(tmp_path, "import bots; print(bots.Bot.__name__)\n", program_env, "-P")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Bot\n", "")


def test_harmless_names_are_let_be(tmp_path: Path, program_env: dict[str, str]) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "logs.py").write_text("")
    (tmp_path / "dealer.py").write_text("")
    done = run_script(tmp_path, "import bots; print(bots.Bot.__name__)\n", program_env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Bot\n", "")


def test_nothing_found_is_no_shadow() -> None:
    refuse_shadowed("engine", "no_such_package_at_all")
