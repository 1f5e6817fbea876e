"""A client that calls, and sends each reply in one system call or in two: ``python sender.py CALLS GAME HOST PORT``.

It leaves Nagle's algorithm on, as most clients do, and prints as JSON how many seconds passed from each reply to the
next line.
"""

from __future__ import annotations

import json
import socket
import sys
import time

from engine import CALL
from protocol import Handshake, PlayerSession, ReceivedState, Reply, find_game


def main(calls: str, game: str, host: str, port: str) -> None:
    session = PlayerSession(find_game(game)[1])
    times_s = []
    replied_s = None
    with socket.create_connection((host, int(port))) as dealer:
        dealer.sendall(session.send(Handshake()))
        while data := dealer.recv(1 << 16):
            if replied_s is not None:
                times_s.append(time.perf_counter() - replied_s)
                replied_s = None
            session.receive_data(data)
            while isinstance(event := session.next_event(), ReceivedState):
                if not event.is_my_turn:
                    continue
                reply = session.send(Reply(CALL))
                replied_s = time.perf_counter()
                if calls == "comment":
                    dealer.sendall(b"# a comment\r\n")
                elif calls == "two":
                    state, reply = reply[: -len(b":c\r\n")], b":c\r\n"
                    dealer.sendall(state)
                dealer.sendall(reply)
    print(json.dumps(times_s))


if __name__ == "__main__":
    main(*sys.argv[1:])
