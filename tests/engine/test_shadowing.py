"""User files and other distributions whose names collide with our packages."""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engine.shadowing import own_packages
from tests.programs import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "protocol", "logs", "bots", "dealer")

NEEDED = [
    ("protocol", "engine"),
    ("logs", "protocol"),
    ("bots", "engine"),
    ("dealer", "bots"),
]
"""Modules to import, and their dependencies."""


def run_script(folder: Path, script: str, *flags: str, home: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a script in this folder, with our packages from `home` further down the path."""
    path = folder / "my_bot.py"
    path.write_text(script)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"} | {"PYTHONPATH": str(home)}
    command = [sys.executable, *flags, str(path)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, timeout=PATIENCE_S, check=False)


def install(site: Path, distribution: str, package: str, code: str = "print('the stranger runs')\n") -> Path:
    """Install a distribution with one package, as pip leaves it."""
    module = site / package / "__init__.py"
    module.parent.mkdir(exist_ok=True)
    module.write_text(code)
    info = site / f"{distribution}-0.37.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.37\n")
    (info / "RECORD").write_text(f"{package}/__init__.py,,\n{info.name}/METADATA,,\n{info.name}/RECORD,,\n")
    return module


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(("imported", "package"), NEEDED, ids=[f"{a} needs {b}" for a, b in NEEDED])
def test_a_module_beside_the_script_is_named_and_not_run(tmp_path: Path, imported: str, package: str) -> None:
    (tmp_path / f"{package}.py").write_text("print('the stranger runs')\n")
    done = run_script(tmp_path, f"import {imported}\n")
    last = last_line(done)
    assert done.stdout == ""
    assert last.startswith(f"ImportError: {tmp_path / package}.py hides the package '{package}' of acpc-arena")
    assert "Rename that file, or run your script with `python -P`." in last


@pytest.mark.parametrize("package", PACKAGES)
def test_all_names_are_known(tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{package}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)
    with (
        pytest.raises(ImportError, match=f"hides the package '{package}' of acpc-arena") as caught,
        own_packages(package),
    ):
        pass
    assert (caught.value.name, caught.value.path) == (package, str(tmp_path / f"{package}.py"))


def test_a_package_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("")
    done = run_script(tmp_path, "import bots\n")
    assert "hides the package 'engine'" in last_line(done)


def test_a_stranger_already_imported(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text("")
    done = run_script(tmp_path, "import engine\nimport bots\n")
    assert "engine.py hides the package 'engine'" in last_line(done)


def test_safe_path_helps(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text("")
    done = run_script(tmp_path, "import bots; print(bots.Bot.__name__)\n", "-P")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Bot\n", "")


def test_harmless_names_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "logs.py").write_text("")
    (tmp_path / "dealer.py").write_text("")
    done = run_script(tmp_path, "import bots; print(bots.Bot.__name__)\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Bot\n", "")


# ---- other distributions


@pytest.mark.parametrize(("imported", "package"), [("protocol", "engine"), ("dealer", "bots")])
def test_a_distribution_in_front_of_ours_is_named_and_not_run(tmp_path: Path, imported: str, package: str) -> None:
    module = install(tmp_path, "Their_Package", package)
    done = run_script(tmp_path, f"import {imported}\n")
    sentence = (
        f"ImportError: the distribution 'Their_Package' 0.37 hides the package '{package}' of acpc-arena with {module}."
    )
    assert done.stdout == ""
    assert last_line(done).startswith(sentence)
    assert "Uninstall it, or install acpc-arena into an environment of its own." in last_line(done)


OVERWRITTEN = [
    ("engine", "", "import protocol"),
    ("protocol", "", "import bots"),
    ("logs", "", "from dealer import play"),
    ("logs", "", "import sys; sys.argv.append('stats'); from dealer.cli import main; main()"),
    ("bots", "print 'written for Python 2'\n", "from dealer import play"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("package", "code", "script"), OVERWRITTEN)
def test_a_distribution_that_has_overwritten_ours_is_named(
    tmp_path: Path, package: str, code: str, script: str
) -> None:
    home, folder = tmp_path / "site", tmp_path / "work"
    folder.mkdir()
    for each in PACKAGES:
        shutil.copytree(ROOT / each, home / each, ignore=shutil.ignore_patterns("__pycache__"))
    install(home, "theirs", package, code)
    done = run_script(folder, f"{script}\n", home=home)
    sentence = f"ImportError: the distribution 'theirs' 0.37 has overwritten files of acpc-arena in {home / package}."
    assert last_line(done).startswith(sentence)
    assert done.stderr.count(sentence) == 1


def test_other_failures_pass_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), own_packages(*PACKAGES):
        raise ZeroDivisionError


# ---- installations without files


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("ending", [".py", pytest.param(".pyc", marks=pytest.mark.slow)])
def test_packages_in_a_zip_file_are_found_and_guarded(tmp_path: Path, package: str, ending: str) -> None:
    """Source and bytecode work alike; a module that precedes the zip file on the path is named."""
    archive = tmp_path / "arena.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for each in PACKAGES:
            for path in (ROOT / each).rglob("*.py"):
                name = path.relative_to(ROOT)
                if ending == ".py":
                    zipped.write(path, name)
                elif str(name) in ("engine/shadowing.py", f"{package}/__init__.py", f"{each}/__init__.py"):
                    compiled = py_compile.compile(str(path), cfile=str(tmp_path / "one.pyc"), doraise=True)
                    zipped.write(str(compiled), name.with_suffix(".pyc"))
                else:
                    zipped.write(path, name)
    work = tmp_path / "work"
    work.mkdir()
    done = run_script(work, f"import {package}; print({package}.__file__)\n", home=archive)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(str(archive))
    if package != "engine":
        (work / "engine.py").write_text("print('the stranger runs')\n")
        done = run_script(work, f"import {package}\n", home=archive)
        assert last_line(done).startswith(f"ImportError: {work / 'engine.py'} hides the package 'engine'")


@pytest.mark.parametrize("package", ["protocol", "dealer"])
def test_a_frozen_program_has_the_guard_by_its_name(tmp_path: Path, package: str) -> None:
    """A frozen program has an importer ahead of all others that knows our modules but has no path to them."""
    script = f"""
import importlib.machinery, sys
paths = [{str(ROOT)!r}, *sys.path]
class Frozen:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {PACKAGES!r}:
            *above, last = name.split(".")
            spec = importlib.machinery.PathFinder.find_spec(last, [{str(ROOT)!r} + "".join("/" + one for one in above)])
            loader = importlib.machinery.SourceFileLoader(name, spec.origin)
            places = ["/nowhere/" + name.replace(".", "/")] if spec.submodule_search_locations else None
            spec = importlib.machinery.ModuleSpec(name, loader, origin=spec.origin, is_package=bool(places))
            spec.has_location = True
            if places:
                spec.submodule_search_locations = places
            return spec
sys.meta_path.insert(0, Frozen)
import {package}
print({package}.__path__)
"""
    done = run_script(tmp_path, script, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"['/nowhere/{package}']\n"
