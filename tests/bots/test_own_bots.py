"""A user's own bots: classes in files and modules, and bots declared by installed distributions."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bots
from bots.errors import SpecError
from bots.sdk.registry import describe_all, is_bot_name, make_bot, parse_spec
from engine import CALL, RAISE
from protocol.mock_dealer import MockDealer
from tests.bots.conftest import ThreadDealer
from tests.programs import PATIENCE_S
from tests.tables import rows

SHARK = '''"""A shark, in two files."""

from shark_advice import ADVICE

from bots import Bot


class Shark(Bot):
    """Raises, whatever happens.

    And says so."""

    def __init__(self, depth: int = 3, *, mood: str = "calm", seed: int | None = None, fast_: bool = False, odd=0.5):
        if depth < 0:
            raise ValueError(f"depth must be 0 or more, not {depth}")
        self.given = (depth, mood, seed, fast_, odd)

    def act(self, view):
        return view.raise_min() if ADVICE == "raise" else view.call()


class Minnow(Shark):
    pass


class Abstract(Bot):
    pass


class Needy(Bot):
    def __init__(self, friend):
        self.friend = friend

    def act(self, view):
        return view.call()


class Broken(Bot):
    def __init__(self):
        raise RuntimeError("no\\nway")

    def act(self, view):
        return view.call()


class Stone:
    pass
'''


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Folder with a bot in two files; its entries on the path and among the modules are removed afterwards."""
    (tmp_path / "shark.py").write_text(SHARK)
    (tmp_path / "shark_advice.py").write_text("ADVICE = 'raise'\n")
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        # Packages that bots import, such as numpy, cannot be loaded twice.
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def arguments_of(bot: object) -> tuple[object, ...]:
    return bot.given  # type: ignore[attr-defined, no-any-return]


def test_class_in_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = make_bot(f"{folder}/shark.py:Shark")
    assert type(bot).__name__ == "Shark"
    monkeypatch.chdir(folder)
    assert type(make_bot("shark.py:Minnow")) is not type(bot)
    assert type(make_bot("./shark.py:Shark")) is type(bot), "a file is imported once"


def test_file_is_relative_to_the_folder(folder: Path) -> None:
    assert type(make_bot("shark.py:Shark", directory=str(folder))).__name__ == "Shark"


def test_a_class_in_a_module(folder: Path) -> None:
    (folder / "pond").mkdir()
    (folder / "pond" / "fish.py").write_text("from bots.baseline import CallingBot\nclass Fish(CallingBot): pass\n")
    assert type(make_bot("pond.fish:Fish", directory=str(folder))).__name__ == "Fish"
    assert type(make_bot("bots.baseline:RandomBot?fold=0.1")).__name__ == "RandomBot"


def test_files_of_one_name_in_two_folders(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "shark.py").write_text("from bots.baseline import CallingBot\nclass Shark(CallingBot): pass\n")
    first, second = make_bot(f"{folder}/shark.py:Shark"), make_bot(f"{folder}/other/shark.py:Shark")
    assert type(first) is not type(second)
    assert type(first).__module__ != type(second).__module__


HELPED = "from strategy import NAME\nfrom bots.baseline import CallingBot\nclass Shark(CallingBot):\n    name = NAME\n"


def test_helpers_of_one_name_in_two_folders(folder: Path) -> None:
    """Each bot imports the helper beside it, in either order; packages of both are separate, too."""
    for name in ("one", "other"):
        (folder / name / "tools").mkdir(parents=True)
        (folder / name / "shark.py").write_text(HELPED)
        (folder / name / "strategy.py").write_text("from tools.words import NAME\n")
        (folder / name / "tools" / "__init__.py").write_text("")
        (folder / name / "tools" / "words.py").write_text(f"NAME = {name!r}\n")
    bots = [make_bot(f"{folder}/{name}/shark.py:Shark") for name in ("one", "other", "one", "other")]
    assert [bot.name for bot in bots] == ["one", "other", "one", "other"]  # type: ignore[attr-defined]
    assert type(bots[0]) is type(bots[2])
    assert sys.modules["strategy"].NAME == "one", "the name goes on to mean the first bot's helper"


def test_a_helper_that_cannot_be_imported_leaves_the_others(folder: Path) -> None:
    for name in ("one", "other"):
        (folder / name).mkdir()
        (folder / name / "shark.py").write_text(HELPED)
        (folder / name / "strategy.py").write_text(f"NAME = {name!r}\n" if name == "one" else "legs\n")
    make_bot(f"{folder}/one/shark.py:Shark")
    with pytest.raises(SpecError, match="name 'legs' is not defined"):
        make_bot(f"{folder}/other/shark.py:Shark")
    assert sys.modules["strategy"].NAME == "one"


def test_a_module_that_is_loaded_from_elsewhere_is_refused(folder: Path) -> None:
    for name in ("one", "other"):
        (folder / name).mkdir()
        (folder / name / "minnow.py").write_text(
            "from bots.baseline import CallingBot\nclass Shark(CallingBot): pass\n"
        )
    make_bot("minnow:Shark", directory=str(folder / "one"))
    with pytest.raises(SpecError, match=f"the module 'minnow' is {folder}/one/minnow.py here; name the file: "):
        make_bot("minnow:Shark", directory=str(folder / "other"))


def test_built_in_bots_of_another_checkout_are_refused_with_the_installation_that_runs(folder: Path) -> None:
    (folder / "bots").mkdir()
    (folder / "bots" / "baseline.py").touch()
    home = Path(bots.__file__).parent.parent
    with pytest.raises(SpecError) as caught:
        make_bot("calling", directory=str(folder))
    assert str(caught.value) == (
        f"'calling': acpc-arena runs from {home}, and this folder is another checkout; "
        f"to use this one: pip install -e {folder}"
    )


def test_options_of_any_constructor(folder: Path) -> None:
    name = f"{folder}/shark.py:Shark"
    assert arguments_of(make_bot(name, 7)) == (3, "calm", 7, False, 0.5)
    assert arguments_of(make_bot(f"{name}?depth=1,mood=wild,fast=yes,odd=1,seed=4", 7)) == (1, "wild", 4, True, 1.0)
    assert parse_spec(f"{name}?depth=1")[1] == {"depth": 1}


@pytest.mark.parametrize(
    ("spec", "problem"),
    rows("""
    nowhere.py:Shark           there is no file nowhere.py
    no_such_module:Shark       there is no module 'no_such_module'
    shark_advice.deeper:Shark  there is no module 'shark_advice.deeper'
    shark.py:Whale             shark.py has no class 'Whale'; its bots: Abstract, Broken, Minnow, Needy, Shark
    shark.py:Stone             Stone in shark.py is not a bot: derive it from bots.Bot
    shark.py:Abstract          Abstract cannot be made: TypeError: Can't instantiate abstract class Abstract
    shark.py:Needy             Needy cannot be made: TypeError:
    shark.py:Broken            Broken cannot be made: shark.py, line 40: RuntimeError: no way
    shark.py:Shark?depth=-1    depth must be 0 or more, not -1
    shark.py:Shark?depth=deep  depth must be a whole number, not 'deep'; its options, separated by commas: depth
    shark.py:Shark?height=1    shark.py:Shark has no option 'height'
    lame.py:Duck               lame.py cannot be imported: lame.py, line 1: NameError: name 'legs' is not defined
    lonely.py:Duck             lonely.py cannot be imported: lonely.py, line 1: ModuleNotFoundError: No module
    leaving.py:Duck            leaving.py cannot be imported: leaving.py, line 2: SystemExit: 3
    """),
)
def test_invalid_bots_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, spec: str, problem: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "lame.py").write_text("legs\n")
    (folder / "lonely.py").write_text("import company\n")
    (folder / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(SpecError) as caught:
        make_bot(spec, directory=str(folder))
    assert str(caught.value).startswith(f"{spec!r}: {problem}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "is_bot"),
    [
        ("random", True),
        ("my_bot.py:MyBot", True),
        ("C:\\bots\\my_bot.py:MyBot", True),
        ("package.module:MyBot", True),
        ("my_bot.py", False),
        ("python my_bot.py", False),
        ("./my_bot.sh:fast", False),
        ("nobody", False),
        ("", False),
    ],
)
def test_names_of_bots_are_recognised(name: str, is_bot: bool) -> None:
    assert is_bot_name(name) is is_bot


# ---- bots that a distribution declares


@pytest.fixture
def distribution(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a distribution that declares three bots, one of which cannot be imported."""
    info = folder / "shark_bots-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shark-bots\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[acpc_arena.bots]\nshark = shark:Shark\nlame = lame:Duck\nrandom = shark:Shark\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.mark.usefixtures("distribution")
def test_declared_bot_has_a_name() -> None:
    assert is_bot_name("shark")
    assert arguments_of(make_bot("shark?depth=2", 5)) == (2, "calm", 5, False, 0.5)
    assert type(make_bot("random")).__name__ == "RandomBot", "a built-in bot keeps its name"
    with pytest.raises(SpecError, match=r"^'whale': there is no bot 'whale'; there are: .*lame, .*, shark.*; a bot of"):
        make_bot("whale")


@pytest.mark.usefixtures("distribution")
def test_declared_bots_are_listed_with_their_origin() -> None:
    described = {bot.name: bot for bot in describe_all()}
    assert described["random"].origin == ""
    assert described["shark"].origin == "shark-bots 1.2"
    assert described["shark"].summary == "Raises, whatever happens."
    assert [option.name for option in described["shark"].options] == ["depth", "mood", "seed", "fast", "odd"]
    assert described["lame"].summary == "'lame': there is no module 'lame'"


@pytest.mark.usefixtures("distribution")
def test_declared_bots_are_imported_lazily() -> None:
    assert is_bot_name("shark")
    make_bot("calling")
    assert "shark" not in sys.modules


# ---- as a program


def run_bot(folder: Path, env: dict[str, str], name: str, port: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "bots.sdk.builtin", name, "127.0.0.1", str(port), "--game", "kuhn"]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S)


def test_own_bot_plays_as_a_program(
    folder: Path, program_env: dict[str, str], thread_dealer: Callable[..., ThreadDealer]
) -> None:
    dealer = thread_dealer(MockDealer("kuhn").ask("MATCHSTATE:0:0::Ks|", "r").tell("MATCHSTATE:0:0:rf:Ks|"))
    done = run_bot(folder, program_env, "shark:Shark", dealer.port)
    dealer.join()
    assert (done.returncode, done.stderr) == (0, "")


def test_program_names_the_fault_of_the_bot(folder: Path, program_env: dict[str, str]) -> None:
    (folder / "lame.py").write_text("def walk():\n    return legs\n\nwalk()\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = run_bot(folder, program_env, "lame.py:Duck", listener.getsockname()[1])
        refused = run_bot(folder, program_env, "shark.py:Shark?depth=-1", listener.getsockname()[1])
    assert done.returncode == refused.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].strip().startswith(f'File "{folder}/lame.py", line 4'), "the frames of the user's code only"
    assert (
        lines[-1]
        == "bot: 'lame.py:Duck': lame.py cannot be imported: lame.py, line 2: NameError: name 'legs' is not defined"
    )
    assert refused.stderr == "bot: 'shark.py:Shark?depth=-1': depth must be 0 or more, not -1\n"


def test_actions_are_those_of_the_class(folder: Path, view_of: Callable[[str, str], object]) -> None:
    bot = make_bot(f"{folder}/shark.py:Shark")
    assert bot.act(view_of("kuhn", "MATCHSTATE:0:0::Ks|")) == RAISE  # type: ignore[arg-type]
    assert bot.act(view_of("kuhn", "MATCHSTATE:1:0:r:|Ks")) == CALL  # type: ignore[arg-type]
