"""The bytes of a seat over connections that break: each side keeps what it sent last, and says how much has come.

>>> ours = SeatStream()
>>> ours.send(b"MATCHSTATE:0:0::")
>>> ours.rest(11)  # the other side has received 11 bytes over the connection that has broken
b'0:0::'
"""

from __future__ import annotations

from typing import Final

from protocol.errors import RemoteProtocolError

MOST_KEPT_BYTES: Final = 1 << 20
"""So much of what was sent is kept for a peer that may have to hear it again."""


class SeatStream:
    """One side's view of the bytes of a seat, over as many connections as it takes.

    Attributes:
        received: how many bytes have come from the other side in all.
    """

    def __init__(self, *, most_kept_bytes: int = MOST_KEPT_BYTES) -> None:
        """Start with nothing sent.

        Args:
            most_kept_bytes: how much of what was sent last can be sent again.
        """
        self.received = 0
        self._kept = bytearray()
        self._sent = 0
        self._most_kept = most_kept_bytes

    def send(self, data: bytes) -> None:
        """Note that these bytes go to the other side, whether or not there is a connection now."""
        self._sent += len(data)
        self._kept += data
        if len(self._kept) > 2 * self._most_kept:
            del self._kept[: len(self._kept) - self._most_kept]

    def rest(self, received: int) -> bytes:
        """What the other side lacks that has received so many bytes.

        Raises:
            RemoteProtocolError: it has received more than was sent, or lacks more than is kept.
        """
        if received > self._sent:
            raise RemoteProtocolError(f"{received} bytes were not sent, only {self._sent}", b"")
        lacking = self._sent - received
        if lacking > len(self._kept):
            raise RemoteProtocolError(f"{lacking} bytes are to be sent again, and only {len(self._kept)} are kept", b"")
        return bytes(self._kept[len(self._kept) - lacking :])
