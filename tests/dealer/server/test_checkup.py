"""Problems that `arena serve doctor` reports in a configuration and its environment."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dealer.run.folder import lock_run
from dealer.run.run_settings import BotSettings
from dealer.server import checkup
from dealer.server.checkup import Check, examine
from dealer.server.db.audit import note_backup
from dealer.server.db.store import DATABASE_NAME, MIGRATIONS, Store, back_up
from dealer.server.server_settings import ServerGame, ServerSettings, UploadSettings, WebSettings
from dealer.table import bubblewrap
from dealer.table.bubblewrap import Box
from logs.document import Tone
from protocol import find_game
from tests.dealer.web.visits import small_house, with_web
from tests.filled import fill
from tests.outside import make_certificate

DAY_S = 86_400.0
MINE = """
from bots import Bot, run


class Mine(Bot):
    def act(self, view):
        return view.call()


run(Mine())
"""


def find_problems(
    settings: ServerSettings, data: Path, *, has_pages: bool = True, now_s: float | None = None
) -> list[Check]:
    """Return the checks that report a problem, and check that these and no others have a remedy."""
    checks = list(examine(settings, data, has_pages=has_pages, now_s=now_s))
    problems = [check for check in checks if check.tone is not Tone.GOOD]
    assert [check for check in checks if check.remedy] == problems
    return problems


def house(**changes: object) -> ServerSettings:
    return replace(small_house(), least_free_mb=0, **changes)  # type: ignore[arg-type]


def test_nothing_is_wrong_with_a_new_server(tmp_path: Path) -> None:
    assert find_problems(house(), tmp_path / "data") == []
    assert not (tmp_path / "data").exists(), "examining creates no folder"


def test_unwritable_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.name == "nt" or os.geteuid() == 0:
        # Root may write to every folder.
        def refuse(**kwargs: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(checkup.tempfile, "TemporaryFile", refuse)
    else:
        (tmp_path / "closed").mkdir(mode=0o500)
    (check,) = find_problems(house(), tmp_path / "closed" / "data")
    assert (check.what, check.tone) == ("folder", Tone.BAD)
    assert check.finding.endswith("cannot be written to: Permission denied")


@pytest.mark.parametrize(
    ("has_scopes", "readable", "expected"),
    [
        (True, "/usr", []),
        (False, "/usr", [("uploads", Tone.DOUBTFUL)]),
        (True, "", [("uploads", Tone.BAD)]),
    ],
)
def test_missing_confinement_of_uploaded_bots_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_scopes: bool, readable: str, expected: list[tuple[str, Tone]]
) -> None:
    monkeypatch.setattr(Box, "refusal", lambda box: None)
    monkeypatch.setattr(checkup, "has_scopes", lambda: has_scopes)
    monkeypatch.setattr(bubblewrap, "readable_paths", lambda: (readable or str(tmp_path),))
    problems = find_problems(house(uploads=UploadSettings()), tmp_path / "data")
    assert [(check.what, check.tone) for check in problems] == expected


@pytest.mark.skipif(sys.platform != "linux", reason="the box is Linux's")
def test_without_bubblewrap_its_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (check,) = find_problems(house(uploads=UploadSettings()), tmp_path / "data")
    assert (check.what, check.tone) == ("uploads", Tone.BAD)
    assert check.finding == "uploaded bots run in bubblewrap, which is not installed"
    assert check.remedy == (
        "install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap), or remove the section "
        "[uploads]"
    )


@pytest.mark.parametrize(("free_mb", "tone"), [(99, Tone.BAD), (299, Tone.DOUBTFUL), (300, None)])
def test_full_or_nearly_full_disk_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mb: int, tone: Tone | None
) -> None:
    monkeypatch.setattr(checkup, "free_bytes", lambda folder: free_mb * 10**6)
    problems = [
        (check.what, check.tone) for check in find_problems(replace(small_house(), least_free_mb=100), tmp_path)
    ]
    assert problems == ([("disk", tone)] if tone else [])


def test_port_in_use_is_reported_with_its_program_unless_the_server_holds_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = with_web(house(), port=port)
        (check,) = find_problems(settings, tmp_path)
        assert (check.what, check.tone) == ("port of the pages", Tone.BAD)
        assert check.finding.startswith(f"{port} is in use")
        if sys.platform == "linux":
            assert check.finding.endswith(f", process {os.getpid()}")
        assert find_problems(settings, tmp_path, has_pages=False)[0].what == "pages"
        with contextlib.closing(lock_run(tmp_path)):
            assert find_problems(settings, tmp_path) == []


def test_address_of_another_machine_is_reported(tmp_path: Path) -> None:
    first, *_ = find_problems(house(host="192.0.2.1"), tmp_path, has_pages=False)
    assert (first.what, first.tone) == ("text port", Tone.BAD)


def test_outdated_newer_and_damaged_databases_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / DATABASE_NAME
    with monkeypatch.context() as patched:
        patched.setattr("dealer.server.db.store.MIGRATIONS", MIGRATIONS[:1])
        Store(path).close()
    before = path.read_bytes()
    older, _ = find_problems(house(), tmp_path)
    assert (older.what, older.tone) == ("database", Tone.DOUBTFUL)
    assert older.finding == f"version 1; the next start makes it version {len(MIGRATIONS)}"
    assert path.read_bytes() == before, "only a start of the server migrates the database"
    Store(path).close()
    monkeypatch.setattr(checkup, "MIGRATIONS", MIGRATIONS[:2])
    newer, _ = find_problems(house(), tmp_path)
    assert (newer.tone, newer.remedy) == (Tone.BAD, "use the newer program, or restore a backup")
    monkeypatch.undo()
    path.write_bytes(b"something else" * 1000)
    (damaged,) = find_problems(house(), tmp_path)
    assert (damaged.what, damaged.tone) == ("database", Tone.BAD)


def test_missing_and_old_backups_are_reported(tmp_path: Path) -> None:
    path = tmp_path / DATABASE_NAME
    with contextlib.closing(Store(path)) as store:
        (check,) = find_problems(house(), tmp_path)
        assert (check.what, check.tone, check.finding) == ("backup", Tone.DOUBTFUL, "there is none")
        back_up(path, tmp_path / "copy")
        note_backup(path, tmp_path / "copy")
        (made_s,) = store.read("SELECT made_s FROM audit")[0]
    assert find_problems(house(), tmp_path) == []
    assert find_problems(house(), tmp_path, now_s=made_s + 6.9 * DAY_S) == []
    (check,) = find_problems(house(), tmp_path, now_s=made_s + 7.1 * DAY_S)
    assert check.what == "backup"
    assert check.finding.startswith("the last was 20")


def test_wrong_clock_is_reported(tmp_path: Path) -> None:
    (check,) = find_problems(house(), tmp_path, now_s=1e9)
    assert (check.what, check.tone) == ("clock", Tone.BAD)
    with contextlib.closing(Store(tmp_path / DATABASE_NAME)) as store:
        for name in range(10):
            store.write_now(
                lambda db, name=name: db.execute("INSERT INTO users (name, created_s) VALUES (?, 0)", (name,))
            )
        store.write_now(lambda db: fill(db, small_house().games[0], 3))
        store.write_now(lambda db: db.execute("UPDATE runs SET started_s = 2e9, ended_s = 2e9 + 60 WHERE id = 2"))
    note_backup(tmp_path / DATABASE_NAME, tmp_path)
    (check,) = [check for check in find_problems(house(), tmp_path, now_s=2e9 + 59) if check.what != "backup"]
    assert (check.what, check.tone) == ("clock", Tone.BAD)
    assert check.finding == "it is before the last run in the database"
    later_checks = find_problems(house(), tmp_path, now_s=2e9 + 61)
    assert all(check.what == "backup" for check in later_checks)


def test_low_limit_of_open_files_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "raise_limit", lambda: 100)
    (check,) = find_problems(house(), tmp_path)
    assert (check.what, check.tone) == ("open files", Tone.DOUBTFUL)
    assert check.remedy.startswith("raise the limit")


@pytest.mark.parametrize(
    ("host", "web", "wanted"),
    [
        ("127.0.0.1", WebSettings(0, names=("poker.example.org",), proxies=("127.0.0.1/32",)), []),
        ("127.0.0.1", WebSettings(0, proxies=("127.0.0.1/32",)), [("proxy", Tone.BAD)]),
        ("0.0.0.0", WebSettings(0, names=("a",), proxies=("10.0.0.1/32",)), [("proxy", Tone.DOUBTFUL)]),
        ("0.0.0.0", WebSettings(0, names=("a",)), [("encryption", Tone.DOUBTFUL)]),
        ("0.0.0.0", WebSettings(0), [("encryption", Tone.DOUBTFUL), ("names", Tone.DOUBTFUL)]),
    ],
)
def test_inconsistent_proxies_names_and_addresses_are_reported(
    tmp_path: Path, host: str, web: WebSettings, wanted: list[tuple[str, Tone]]
) -> None:
    problems = [(check.what, check.tone) for check in find_problems(house(host=host, web=web), tmp_path)]
    text_port = [] if host == "127.0.0.1" else [("encryption of the text port", Tone.DOUBTFUL)]
    assert problems == [*wanted, *text_port]


def certificate(folder: Path, days: int) -> str:
    path, key = make_certificate(folder, "both", "DNS:*.example.org", days=days)
    path.write_text(key.read_text() + path.read_text())
    return str(path)


def test_certificate_for_other_names_or_near_its_end_is_reported(tmp_path: Path) -> None:
    path = certificate(tmp_path, 30)

    def problems(name: str, **more: float) -> list[tuple[str, Tone, str]]:
        settings = with_web(house(), certificate=path, names=(name,))
        return [(check.what, check.tone, check.finding) for check in find_problems(settings, tmp_path / "data", **more)]

    pages = "certificate of the pages"
    assert problems("poker.example.org") == []
    assert problems("poker.example.com") == [(pages, Tone.DOUBTFUL, "it is not for poker.example.com")]
    ends_s, _ = checkup._certificate(path, None)
    assert problems("poker.example.org", now_s=ends_s - 20 * DAY_S) == [(pages, Tone.DOUBTFUL, "it expires in 20 days")]
    Path(path).write_text("no certificate")
    ((what, tone, _),) = problems("poker.example.org")
    assert (what, tone) == (pages, Tone.BAD)


def test_expired_certificate_is_reported(tmp_path: Path) -> None:
    path = certificate(tmp_path, 1)
    ends_s, _ = checkup._certificate(path, None)
    settings = with_web(house(), certificate=path, names=("poker.example.org",))
    (check,) = find_problems(settings, tmp_path / "data", now_s=ends_s + 2 * DAY_S)
    assert check.tone is Tone.BAD
    assert check.finding.startswith("it expired 20")


def test_bots_play_a_hand_as_the_server_would_start_them(tmp_path: Path) -> None:
    bot = tmp_path / "my_bot.py"
    bot.write_text(MINE)
    full, game = find_game("kuhn")
    bots = {
        "good": BotSettings(bot=f"{sys.executable} {bot}"),
        "missing": BotSettings(bot=f"{sys.executable} nowhere.py"),
        "random": BotSettings(bot="random"),
    }
    settings = replace(house(), games=(ServerGame(full, full, game, 10, 10, bots),))
    checks = list(examine(settings, tmp_path / "data", has_pages=True))
    findings = {check.what: (check.tone, check.finding) for check in checks}
    assert findings["bot good in kuhn"] == (Tone.GOOD, "has played a hand")
    tone, words = findings["bot missing in kuhn"]
    assert tone is Tone.BAD
    assert "nowhere.py" in words
    assert "\n" not in words
    assert findings["built-in bots"][0] is Tone.GOOD
    assert not (tmp_path / "data").exists()
