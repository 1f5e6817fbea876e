"""Files of exchanges with a language model."""

from __future__ import annotations

import json
from pathlib import Path

from logs.acpc_log.exchanges import ACTION, NOTES, Exchange, ExchangeWriter, latest_of_hand, read_exchanges

FIRST = Exchange(
    0, 3, ACTION, 1, "Your\nturn\u2028", "caf\u00e9 \U0001f0a1", "call", tokens_in=5, cost=0.5, seconds=1.25
)


def test_written_exchanges_are_read(tmp_path: Path) -> None:
    path = tmp_path / "match.seat1.llm.jsonl"
    assert list(read_exchanges(path)) == []
    second = FIRST._replace(attempt=2, problem="bad", fell_back=True, cost=None, tokens_out=0)
    for exchange in (FIRST, second):
        writer = ExchangeWriter(path)
        writer.write(exchange)
        writer.close()
    assert list(read_exchanges(path)) == [FIRST, second]
    assert path.read_text("utf-8").count("\n") == 2
    assert list(read_exchanges(path, 0)) == [FIRST, second]
    assert list(read_exchanges(path, 1)) == []


def test_damaged_lines_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "match.seat1.llm.jsonl"
    line = FIRST._asdict()
    damaged = [
        b"",
        b"\xff",
        b"3",
        b"{}",
        b'{"hand_number":' * 100_000,
        *(json.dumps(line | change).encode() for change in ({"more": 1}, {"attempt": "1"}, {"fell_back": 0})),
        *(json.dumps(line | change).encode() for change in ({"hand_number": True}, {"seconds": float("nan")})),
        json.dumps(line).encode()[:-5],
    ]
    path.write_bytes(b"\n".join([*damaged[:-1], json.dumps(line).encode(), damaged[-1]]))
    assert list(read_exchanges(path)) == [FIRST]


def test_hand_that_was_played_again_has_its_last_exchanges() -> None:
    def exchange(hand: int, index: int, kind: str, attempt: int, prompt: str) -> Exchange:
        return Exchange(hand, index, kind, attempt, prompt, "")

    old = [exchange(1, 2, ACTION, 1, "old"), exchange(1, 4, ACTION, 1, "old"), exchange(1, 6, NOTES, 1, "old")]
    new = [
        exchange(1, 2, ACTION, 1, "new"),
        exchange(1, 2, ACTION, 2, "new"),
        exchange(1, 5, ACTION, 1, "new"),
        exchange(1, 7, NOTES, 1, "new"),
    ]
    assert latest_of_hand([exchange(0, 1, ACTION, 1, ""), *old, *new, exchange(2, 0, ACTION, 1, "")], 1) == new
    # A bot that restarts within a hand continues at the current decision.
    assert latest_of_hand([*old[:2], *new[2:]], 1) == [*old[:2], *new[2:]]
