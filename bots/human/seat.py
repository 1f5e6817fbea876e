"""A person's seat in a match: the dealer's bytes become scenes, an action becomes bytes.

`HumanSeat` has no socket, no clock and no thread. `SeatConnection` gives it a socket whose waits are short, so that
a person can always interrupt them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final

from bots.errors import DealerError
from bots.human.scene import Scene, Score
from bots.sdk.client import CONNECT_TIMEOUT_S, connect
from engine import Action, Game, Position, Seat
from logs.estimation import AnyTimeMean, score_bounds
from protocol import NEED_DATA, Comment, Handshake, PlayerSession, ReceivedState, RemoteProtocolError, Reply

__all__ = ["HumanSeat", "SeatConnection"]

_LOOK_UP_S: Final = 0.2
"""How long a wait lasts before Ctrl-C is noticed on systems that do not interrupt it."""
_SEND_TIMEOUT_S: Final = 10.0
_RECEIVE_BYTES: Final = 1 << 16


class HumanSeat:
    """One person's side of one match."""

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        seat: Seat,
        earlier: Iterable[tuple[int, Sequence[float]]] = (),
        key: str | None = None,
    ) -> None:
        """Sit down.

        Args:
            game: what is played.
            names: the players, by seat.
            seat: the person's.
            earlier: numbers of hands that were played before, each with its net chips by seat; those that are played
                again do not count.
            key: the line that the dealer wants to hear first; None for none.
        """
        self._key = b"" if key is None else f"{key}\n".encode()
        self._session = PlayerSession(game)
        self._names = tuple(names)
        self._seat = seat
        self._earlier = list(earlier)
        self._is_begun = False
        self._hands = 0
        self._chips = [0.0] * len(self._names)
        # A person looks after every hand, and leaves when it pleases.
        self._mean = AnyTimeMean((), score_bounds(game))
        self._mbb_per_chip = 1000.0 / game.big_blind
        self._opponent = self._names[1 - seat] if len(self._names) == 2 else "the table"

    @property
    def score(self) -> Score:
        """The score so far."""
        rate = self._mean.rate(self._names[self._seat], self._opponent)
        return Score(self._hands, tuple(self._chips), self._seat, rate)

    def open(self) -> bytes:
        """The bytes that open the conversation."""
        return self._key + self._session.send(Handshake())

    def receive_data(self, data: bytes) -> Iterator[Scene]:
        """Take bytes from the dealer; what is seen after each of its states, in order.

        Raises:
            DealerError: the dealer sent something that is not a state of the game.
        """
        self._session.receive_data(data)
        while True:
            try:
                event = self._session.next_event()
            except RemoteProtocolError as error:
                raise DealerError(str(error)) from error
            if isinstance(event, ReceivedState):
                yield self._scene(event)
            elif event is NEED_DATA or not isinstance(event, Comment):
                return

    def answer(self, action: Action) -> bytes:
        """The bytes that answer the last scene, in which it was the person's turn.

        Raises:
            LocalProtocolError: it was not, or the rules refuse the action.
        """
        return self._session.send(Reply(action))

    def _scene(self, received: ReceivedState) -> Scene:
        state, betting = received.state, received.betting
        count = len(self._names)
        # Positions go round the table from seat to seat, whoever has the button.
        seats = [(self._seat + position - state.position) % count for position in range(count)]
        if not self._is_begun:
            self._is_begun = True
            for number, values in self._earlier:
                if number < state.hand_number:
                    self._count(values)
            self._earlier = []
        scene = Scene(
            tuple(self._names[seat] for seat in seats),
            Position(state.position),
            state.hand_number,
            state.hole_cards,
            tuple(card for cards in state.board for card in cards),
            betting,
            self.score,
        )
        if scene.values is None:
            return scene
        by_seat = [0.0] * count
        for seat, value in zip(seats, scene.values, strict=True):
            by_seat[seat] = value
        self._count(by_seat)
        return replace(scene, score=self.score)

    def _count(self, values: Sequence[float]) -> None:
        """Add a finished hand to the score."""
        self._hands += 1
        for seat, value in enumerate(values):
            self._chips[seat] += value
        self._mean.add(values[self._seat] * self._mbb_per_chip)


class SeatConnection:
    """A seat with its socket; a context manager."""

    def __init__(self, seat: HumanSeat, host: str, port: int, *, connect_timeout_s: float = CONNECT_TIMEOUT_S) -> None:
        """Connect.

        Args:
            seat: the seat.
            host: name or address of the dealer.
            port: of the seat.
            connect_timeout_s: how long to go on trying while nobody listens there.

        Raises:
            ConnectError: nobody listens there.
        """
        self._seat = seat
        self._socket = connect(host, port, connect_timeout_s)
        self._send(seat.open())

    def scenes(self, on_idle: Callable[[], None] = lambda: None) -> Iterator[Scene]:
        """What is seen, as it comes, until the dealer closes the connection. Nothing is sent unless `answer` is called.

        Args:
            on_idle: called now and then while nothing comes.

        Raises:
            DealerError: the dealer sent something that is not a state of the game.
        """
        while True:
            try:
                self._socket.settimeout(_LOOK_UP_S)
                data = self._socket.recv(_RECEIVE_BYTES)
            except TimeoutError:
                on_idle()
                continue
            except OSError:
                return
            if not data:
                return
            yield from self._seat.receive_data(data)

    def answer(self, action: Action) -> None:
        """Answer the last scene; where the dealer is gone, the scenes end.

        Raises:
            LocalProtocolError: it was not the person's turn, or the rules refuse the action.
        """
        self._send(self._seat.answer(action))

    def _send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(_SEND_TIMEOUT_S)
            self._socket.sendall(data)
        except OSError:
            # What the dealer has said before it left can still be read.
            return

    def close(self) -> None:
        """Leave; the dealer takes it for a player that has gone."""
        self._socket.close()

    def __enter__(self) -> SeatConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
