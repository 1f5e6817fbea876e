"""A person's seat as values: what is seen from it, what may be done there, the bytes to and from the dealer.

No terminal and no page: these are faces, which show a `Scene` and hand in an action. `HumanSeat` is the seat without a
socket, `SeatConnection` the same with one. `Moments` is for faces whose entries come late or twice, such as a page.

    with SeatConnection(seat, "127.0.0.1", 18374) as connection:
        for scene in connection.scenes():
            if scene.is_your_turn:
                connection.answer(read_entry(input(), scene))
"""

from bots.human.entries import read_entry
from bots.human.moments import Moments, Played
from bots.human.scene import Choices, Raises, Scene, Score
from bots.human.seat import HumanSeat, SeatConnection
from bots.human.words import in_words
from logs.hand_events import Acted, Dealt, HandEvent, Posted, Returned, Shown, Won

__all__ = [
    "Acted",
    "Choices",
    "Dealt",
    "HandEvent",
    "HumanSeat",
    "Moments",
    "Played",
    "Posted",
    "Raises",
    "Returned",
    "Scene",
    "Score",
    "SeatConnection",
    "Shown",
    "Won",
    "in_words",
    "read_entry",
]
