"""The bytes of a seat arrive whole over connections that break."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import RemoteProtocolError
from protocol.joining import SeatStream


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=20), st.integers(0, 20)), max_size=40))
def test_a_stream_arrives_whole_however_often_its_connection_breaks(steps: list[tuple[bool, bytes, int]]) -> None:
    sender, receiver = SeatStream(), SeatStream()
    sent, arrived = b"", b""
    under_way = b""
    for is_break, data, takes in steps:
        sender.send(data)
        sent += data
        under_way += data
        taken, under_way = under_way[:takes], under_way[takes:]
        arrived += taken
        receiver.received += len(taken)
        if is_break:
            under_way = sender.rest(receiver.received)
    assert arrived + sender.rest(receiver.received) == sent


def test_a_stream_keeps_only_so_much() -> None:
    stream = SeatStream(most_kept_bytes=100)
    for _ in range(100):
        stream.send(b"0123456789")
    assert stream.rest(1000) == b""
    assert stream.rest(900) == b"0123456789" * 10
    with pytest.raises(RemoteProtocolError, match="1000 bytes are to be sent again, and only"):
        stream.rest(0)
    with pytest.raises(RemoteProtocolError, match="1001 bytes were not sent, only 1000"):
        stream.rest(1001)
