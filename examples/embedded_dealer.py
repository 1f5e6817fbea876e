"""A dealer and a player over a pair of sockets, by the sessions of `protocol`: python embedded_dealer.py"""

import socket
from threading import Thread

from engine import CALL, RAISE, deals, hand_values, nearest_legal
from protocol import (
    NEED_DATA,
    BadAction,
    Closed,
    DealerSession,
    Handshake,
    PlayerSession,
    ReceivedState,
    Reply,
    UnknownAction,
    find_game,
)
from protocol.betting_nodes import HandLines, first_node


def read_event(session, connection):
    """The next event of a session, with as many bytes as it takes."""
    while (event := session.next_event()) is NEED_DATA:
        if data := connection.recv(4096):
            session.receive_data(data)
        else:
            session.receive_eof()
    return event


def read_action(session, connection):
    """The action of the player that was asked."""
    while True:
        match read_event(session, connection):
            case Reply(action):
                return action
            case BadAction() | UnknownAction():
                return CALL
            case Closed():
                raise ConnectionError("a player has left")
            # A comment, a stale reply, a line that is no reply: the player still owes one.


def deal_match(game, connections, *, hands, seed):
    """Play a match; returns the net chips of each seat."""
    sessions = [DealerSession(game) for _ in connections]
    for session, connection in zip(sessions, connections, strict=True):
        assert isinstance(read_event(session, connection), Handshake)
    totals = [0.0] * len(sessions)
    for number, deal in zip(range(hands), deals(game, seed), strict=False):
        node = first_node(game)
        lines = HandLines(game, deal, number)
        seats = [(position + number) % len(sessions) for position in range(len(sessions))]
        while True:
            for position, seat in enumerate(seats):
                asks = position == node.acting_position
                connections[seat].sendall(sessions[seat].send(lines.line(position, node), is_question=asks))
            if node.finished:
                break
            seat = seats[node.acting_position]
            node = node.after(nearest_legal(read_action(sessions[seat], connections[seat]), node.betting))
        for seat, value in zip(seats, hand_values(node.betting, deal), strict=True):
            totals[seat] += value
    return totals


def play_match(game, connection, choose):
    """Answer to the end of the match; returns how many states came."""
    session = PlayerSession(game)
    connection.sendall(session.send(Handshake()))
    states = 0
    while not isinstance(event := read_event(session, connection), Closed):
        if isinstance(event, ReceivedState):
            states += 1
            if event.is_my_turn:
                connection.sendall(session.send(Reply(choose(event))))
    return states


def main():
    """Deal 100 hands between a caller and a raiser; return the chips of each."""
    game = find_game("leduc")[1]
    ends = [socket.socketpair() for _ in range(2)]
    choices = [lambda event: CALL, lambda event: nearest_legal(RAISE, event.betting)]
    players = [
        Thread(target=play_match, args=(game, end, choose)) for (_, end), choose in zip(ends, choices, strict=True)
    ]
    for player in players:
        player.start()
    totals = deal_match(game, [end for end, _ in ends], hands=100, seed=1)
    for end, _ in ends:
        end.close()
    for player in players:
        player.join()
    for _, end in ends:
        end.close()
    print(f"the caller {totals[0]:+.0f}, the raiser {totals[1]:+.0f}")
    return totals


if __name__ == "__main__":
    main()
