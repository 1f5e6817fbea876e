"""Compressed files of hands."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from logs.acpc_log.reader import read_log
from logs.errors import LogError
from logs.files import opened, stem, without_compression
from logs.hand_source import find

TEXT = "# name/game/hands/seed m kuhn 1 2\nSTATE:0:cc:Ks|Qs:1|-1:A|B\n" * 50
COMPRESS: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.compress, ".gz": gzip.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_compressed_file_reads_like_the_plain_one(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"m.log{ending}"
    path.write_bytes(COMPRESS[ending](TEXT.encode()))
    with opened(str(path)) as file:
        assert file.read() == TEXT


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("damage", ["cut", "foreign", "flipped"])
def test_damaged_compression_is_one_sentence(tmp_path: Path, ending: str, damage: str) -> None:
    data = COMPRESS[ending](TEXT.encode())
    middle = len(data) // 2
    damaged = {
        "cut": data[:middle],
        "foreign": TEXT.encode(),
        "flipped": data[:middle] + bytes(255 - byte for byte in data[middle : middle + 9]) + data[middle + 9 :],
    }
    path = tmp_path / f"m.log{ending}"
    path.write_bytes(damaged[damage])
    with pytest.raises(LogError, match="it cannot be uncompressed to its end") as raised, opened(str(path)) as file:
        file.read()
    assert "\n" not in str(raised.value)


def test_a_compressed_log_has_its_companions_beside_it(tmp_path: Path) -> None:
    log = (
        "# name/game/hands/seed m kuhn.limit.2p 1 2\n#--t_response 600000\n#--t_hand 600000\n#--t_per_hand 7000\n"
        "STATE:0:cc:Ks|Qs:1|-1:A|B\nSCORE:1|-1:A|B\n"
    )
    (tmp_path / "m.log.xz").write_bytes(lzma.compress(log.encode()))
    (tmp_path / "m.tlog").write_text("c 0 1.000000 1.000010\nc 0 1.000020 1.000040\n")
    (tmp_path / "m.comments").write_text('{"hand_number": 0, "seat": 1, "action_index": 1, "text": "# ha"}\n')
    (record,) = read_log(tmp_path / "m.log.xz", times=True)
    assert record.match_name == "m"
    assert [times.received_us - times.sent_us for times in record.times] == [10, 20]
    assert [comment.text for comment in record.comments] == ["# ha"]
    assert [file.path for file in find([tmp_path]).files] == [str(tmp_path / "m.log.xz")]


def test_names_lose_their_endings() -> None:
    assert without_compression("a/b.log.XZ") == "a/b.log"
    assert without_compression("a/b.log") == "a/b.log"
    assert stem("a.b/c.log.gz") == "a.b/c"
