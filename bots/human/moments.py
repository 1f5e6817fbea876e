"""The moments of a match at which a person is asked, one at a time; an answer names its moment, and counts once.

The dealer may be ahead of the person, who still looks at the end of a hand. So scenes wait here until the person has
gone on. A moment's name is the number of the hand and how many actions were played in it: ``12.3``. An answer that
was sent twice, or from a page that is out of date, names a moment that has passed and changes nothing.

What the person has played in a hand is a value, `Played`. Given back when the hand is dealt again, after a break, it
brings the person to the same decision, and nobody decides a second time knowing more.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from bots.errors import StaleEntry
from bots.human.entries import read_entry
from bots.human.scene import Scene
from bots.human.words import in_words
from engine import Action
from logs.hand_events import Acted, hand_events
from protocol.actions import scan_action
from protocol.match_state import betting_text

__all__ = ["Moments", "Played"]

_REMEMBERED: Final = 16
"""So many answers are known by their moments; older ones were not sent twice by accident."""


@dataclass(frozen=True, slots=True)
class Played:
    """How far a person has come in a hand.

    Attributes:
        hand_number: which hand.
        betting: as the protocol writes it, after the person's last action.
    """

    hand_number: int
    betting: str


class Moments:
    """What one person is shown and asked, in order.

    Attributes:
        scene: what is shown; None before the first hand.
        played: how far the person has come in the last hand in which it acted; None before.
    """

    def __init__(self, played: Played | None = None) -> None:
        """Begin.

        Args:
            played: what the person had played in a hand that is dealt again.
        """
        self.scene: Scene | None = None
        self.played = played
        self._coming: deque[Scene] = deque()
        self._is_passed = False
        self._answers: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The name of the moment that is shown; empty before the first hand."""
        return "" if self.scene is None else _name_of(self.scene)

    @property
    def is_asked(self) -> bool:
        """Whether nothing goes on without the person: it is to act, or to go on to the next hand."""
        scene = self.scene
        return scene is not None and not self._is_passed and (scene.is_your_turn or scene.finished)

    def see(self, scene: Scene) -> Action | None:
        """Take a scene from the dealer; returns the answer to it, where the person has given it before a break."""
        action = self._played_here(scene) if scene.is_your_turn else None
        if action is None:
            self._coming.append(scene)
            self._go_on()
        return action

    def answer(self, name: str, entry: str) -> Action | None:
        """Take what the person has entered at a moment; returns its action, None where a hand was over.

        Args:
            name: of the moment that the person has seen.
            entry: as `read_entry` takes it; after a hand, anything goes on.

        Raises:
            StaleEntry: that moment has passed.
            UnclearEntry: it is no action, or an illegal one.
        """
        scene = self.scene
        if scene is None or name != self.name or not self.is_asked:
            raise StaleEntry(self._stale(name))
        if scene.finished:
            action, said = None, f"you have gone on from hand {scene.hand_number}"
        else:
            action = read_entry(entry, scene)
            after = scene.betting.after(action)
            self.played = Played(scene.hand_number, betting_text(after))
            said = _said(scene, action)
        self._answers[name] = said
        if len(self._answers) > _REMEMBERED:
            del self._answers[next(iter(self._answers))]
        self._is_passed = True
        self._go_on()
        return action

    def _go_on(self) -> None:
        while self._coming and not self.is_asked:
            self.scene, self._is_passed = self._coming.popleft(), False

    def _played_here(self, scene: Scene) -> Action | None:
        played, so_far = self.played, betting_text(scene.betting)
        if played is None or played.hand_number != scene.hand_number or not played.betting.startswith(so_far):
            return None
        found = scan_action(played.betting, len(so_far), scene.game.is_limit)
        return None if found is None else found[0]

    def _stale(self, name: str) -> str:
        if name in self._answers:
            return f"That was taken already, and counts once: {self._answers[name]}."
        return "That was meant for another moment of the match, and nothing was done; this is how it stands."


def _name_of(scene: Scene) -> str:
    return f"{scene.hand_number}.{sum(map(len, scene.betting.rounds))}"


def _said(scene: Scene, action: Action) -> str:
    """An action of the person in words."""
    after = replace(scene, betting=scene.betting.after(action))
    so_far = hand_events(after.betting, after.all_hole_cards, after.board, None)
    words = in_words([one for one in so_far if isinstance(one, Acted) and one.position == scene.position][-1], after)
    return words[0].lower() + words[1:]
