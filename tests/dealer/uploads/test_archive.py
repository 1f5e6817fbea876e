"""Uploaded archives: unpacking and refusals."""

from __future__ import annotations

import io
import os
import random
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from dealer.errors import RefusedError
from dealer.uploads.archive import BOT_FILE, BotFile, remove, unpack

BOT_TOML = 'name = "mine"\ncommand = "python bot.py"\nlanguage = "Python"\n'


def pack(files: dict[str, str | bytes], *, mode: int = 0o644, bot_toml: str | None = BOT_TOML) -> bytes:
    """Create an archive; `bot_toml` is the content of its description, or None for no description."""
    if bot_toml is not None:
        files = {BOT_FILE: bot_toml, **files}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = mode << 16
            file.writestr(entry, data)
    return archive.getvalue()


def unpack_here(data: bytes, folder: Path, *, max_files: int = 10, max_bytes: int = 100_000) -> BotFile:
    return unpack(io.BytesIO(data), folder / "7", max_files=max_files, max_bytes=max_bytes)


def refusal(data: bytes, folder: Path, **limits: int) -> str:
    with pytest.raises(RefusedError) as caught:
        unpack_here(data, folder, **limits)
    assert list(folder.iterdir()) == [], "a refused archive leaves no file"
    return str(caught.value)


def test_archive_is_unpacked_read_only(tmp_path: Path) -> None:
    files = {"bot.py": "import parts.help", "parts/help.py": "", "run": b"#!/bin/sh\n", "data/": ""}
    assert unpack_here(pack(files), tmp_path) == BotFile("mine", "python bot.py", "Python")
    modes = {
        path.relative_to(tmp_path / "7").as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "7").rglob("*")
    }
    assert modes == {
        "bot.toml": 0o444,
        "bot.py": 0o444,
        "parts": 0o555,
        "parts/help.py": 0o444,
        "run": 0o555,
        "data": 0o555,
    }
    assert [path.name for path in tmp_path.iterdir()] == ["7"]
    remove(tmp_path / "7")
    remove(tmp_path / "7")
    assert not (tmp_path / "7").exists()


def test_program_stays_executable(tmp_path: Path) -> None:
    unpack_here(pack({"bot": b"\x01"}, mode=0o100755), tmp_path)
    assert os.access(tmp_path / "7" / "bot", os.X_OK)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("/etc/cron.d/bot", "is an absolute path"),
        ("../bot.py", "has a path with an empty part, . or .."),
        ("a//b", "has a path with an empty part, . or .."),
        ("./bot.py", "has a path with an empty part, . or .."),
        ("a\\b.py", "has a backslash or a colon in its name"),
        ("C:bot.py", "has a backslash or a colon in its name"),
        ("a\nb", "has a name with unprintable characters"),
        ("\u202etxt.yp", "has a name with unprintable characters"),
        ("a" * 241, "has a path of more than 240 bytes or 16 folders"),
        ("a/" * 16 + "b", "has a path of more than 240 bytes or 16 folders"),
    ],
)
def test_impossible_names_are_refused(name: str, problem: str, tmp_path: Path) -> None:
    assert refusal(pack({name: ""}), tmp_path).endswith(f" in the archive {problem}")


def test_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    data = pack({"bot.pyX../": ""}).replace(b"bot.pyX../", b"bot.py\0../")
    assert "has a name with unprintable characters" in refusal(data, tmp_path)


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFCHR | 0o644, stat.S_IFSOCK])
def test_links_and_devices_are_refused(mode: int, tmp_path: Path) -> None:
    data = pack({"passwd": "/etc/passwd"}, mode=mode, bot_toml=None)
    assert refusal(data, tmp_path) == (
        "'passwd' in the archive is a link or a device; only files and folders can be uploaded"
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_clashing_names_are_refused(tmp_path: Path) -> None:
    for names, sentence in (
        (("A.py", "a.py"), "'a.py' and 'A.py' in the archive are the same file on some systems"),
        (("a", "a/b"), "'a' in the archive is both a file and a folder"),
        (("a/b", "A"), "'A' in the archive is both a file and a folder"),
        (("e\u0301", "\u00e9"), "'\u00e9' and 'e\u0301' in the archive are the same file on some systems"),
    ):
        assert refusal(pack(dict.fromkeys(names, "")), tmp_path) == sentence
    twice = io.BytesIO(pack({}))
    with zipfile.ZipFile(twice, "a") as archive:
        archive.writestr(BOT_FILE, "")
    assert refusal(twice.getvalue(), tmp_path) == (
        "'bot.toml' and 'bot.toml' in the archive are the same file on some systems"
    )


def test_sizes_are_counted_not_believed(tmp_path: Path) -> None:
    sentence = "the archive has more than 100,000 bytes when unpacked"
    bomb = pack({"zeros": bytes(10_000_000)})
    assert len(bomb) < 20_000
    assert refusal(bomb, tmp_path) == sentence
    # The limit is for all files together, and a false size in the archive has no effect.
    assert refusal(pack({"a": bytes(60_000), "b": bytes(60_000)}), tmp_path) == sentence
    lying = bomb.replace(struct.pack("<L", 10_000_000), struct.pack("<L", 10))
    assert refusal(lying, tmp_path).startswith("the archive ")


def test_number_of_files_is_bounded(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {str(number): "" for number in range(10)}
    assert refusal(pack(files), tmp_path) == "the archive has 11 files and folders; the limit is 10"


def test_encrypted_and_unusual_entries_are_refused(tmp_path: Path) -> None:
    data = bytearray(pack({}))
    entry = data.index(b"PK\x01\x02")
    data[entry + 8] |= 1
    assert refusal(bytes(data), tmp_path) == "'bot.toml' in the archive is encrypted"
    bzip2 = io.BytesIO()
    with zipfile.ZipFile(bzip2, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr(BOT_FILE, BOT_TOML)
    sentence = "'bot.toml' in the archive is compressed by a method other than deflate"
    assert refusal(bzip2.getvalue(), tmp_path) == sentence


@pytest.mark.parametrize("data", [b"", b"PK", b"#!/bin/sh\n", b"PK\x05\x06" + bytes(18) + b"tail"])
def test_other_files_are_refused(data: bytes, tmp_path: Path) -> None:
    assert refusal(data, tmp_path).startswith("the archive ")


def test_archive_broken_at_any_place_is_refused(tmp_path: Path) -> None:
    whole = pack({"bot.py": random.Random(1).randbytes(3000)})
    chance = random.Random(2)
    for _ in range(100):
        length = chance.choice((len(whole), chance.randrange(len(whole))))
        data = bytearray(whole[:length])
        for _ in range(chance.randrange(4)):
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            unpack_here(bytes(data), tmp_path)
        except RefusedError:
            assert not list(tmp_path.iterdir())
        else:
            remove(tmp_path / "7")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "the archive has no bot.toml at its top level"),
        ("name = ", "the file bot.toml is not TOML: Invalid value (at end of document)"),
        ("\udcff", "the file bot.toml is not TOML: 'utf-8' codec can't decode"),
        ("name = 'a'\ncommand = 'x'\n", "in bot.toml, language: "),
        ("name = 'a b'\ncommand = 'x'\nlanguage = 'C'\n", "in bot.toml, name: a name has at most"),
        ("name = 'a'\ncommand = ''\nlanguage = 'C'\n", "in bot.toml, command: must be a program and its arguments"),
        ("name = 'a'\ncommand = '\"x'\nlanguage = 'C'\n", "in bot.toml, command: has a quote that is not closed"),
        ("name = 'a'\ncommand = 'x'\nlanguage = 'C'\nuser = 'root'\n", "in bot.toml, user: "),
        ("name = 'a'\ncommand = ['x']\nlanguage = 'C'\n", "in bot.toml, command: "),
        ("name = 'a'\ncommand = 'x'\nlanguage = '" + "C" * 41 + "'\n", "in bot.toml, language: "),
    ],
)
def test_values_of_bot_toml_are_checked(text: str | None, sentence: str, tmp_path: Path) -> None:
    data = {} if text is None else {BOT_FILE: text.encode("utf-8", "surrogateescape")}
    assert refusal(pack(dict(data), bot_toml=None), tmp_path).startswith(sentence)


def test_packed_folder_is_named(tmp_path: Path) -> None:
    assert refusal(pack({"mine/bot.toml": BOT_TOML}, bot_toml=None), tmp_path) == (
        "the archive has no bot.toml at its top level, only mine/bot.toml; pack the files, not their folder"
    )
