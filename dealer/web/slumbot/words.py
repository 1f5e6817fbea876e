"""A hand in the words of Slumbot's interface.

Betting: ``k`` check, ``c`` call, ``f`` fold, ``bN`` bet or raise to N, a total for the street; ``/`` stands after each
finished street but the last, and after an all-in that is called for each street that is not played: ``b20000c///``.
"""

from __future__ import annotations

import re
from typing import Any, Final

from bots.human import Scene
from engine import CARD_TEXTS, Card, Game, Move
from engine.betting import BettingState, betting_steps
from engine.holdem import is_holdem
from logs import HandRecord

_STACK: Final = 20_000
_BLINDS: Final = [50, 100]
_INCR: Final = re.compile(r"[kcf]|b[0-9]{1,6}")
_LETTERS: Final = {Move.FOLD: "f", Move.CHECK: "k", Move.CALL: "c"}


def is_the_game(game: Game) -> bool:
    """Whether a game is the one that the interface plays."""
    return (
        game.num_players == 2
        and not game.is_limit
        and is_holdem(game)
        and sorted(game.blinds) == _BLINDS
        and set(game.stacks) == {_STACK}
    )


def action_text(betting: BettingState) -> str:
    """A betting."""
    rounds = [""] * len(betting.rounds)
    for step in betting_steps(betting):
        rounds[step.round] += _LETTERS.get(step.move) or f"b{step.street_total}"
    return "/".join(rounds)


def possible(scene: Scene) -> str:
    """What may be sent now."""
    choices = scene.choices
    if choices is None:
        return "nothing"
    found = ["f", "c"] if choices.to_call else ["k"]
    if choices.raises is not None:
        found.append(f"b{choices.raises.street_min} to b{choices.raises.street_max}")
    return ", ".join(found)


def entry_of(incr: object, scene: Scene) -> str | None:
    """What a person at the table would enter for an action; None for what is none, or an illegal one."""
    choices = scene.choices
    if not isinstance(incr, str) or choices is None or not _INCR.fullmatch(incr):
        return None
    if incr == "f":
        return incr if choices.to_call and choices.can_fold else None
    if incr in "kc":
        return incr if (incr == "c") == bool(choices.to_call) else None
    raises, size = choices.raises, int(incr[1:])
    return incr if raises is not None and raises.street_min <= size <= raises.street_max else None


def won(scene: Scene) -> int:
    """What the client won in a finished hand, in chips."""
    assert scene.values is not None
    return round(scene.values[scene.position])


def _texts(cards: tuple[Card, ...]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


def fields(scene: Scene, old_action: str, record: HandRecord | None) -> dict[str, Any]:
    """The answer that shows a moment of a hand.

    Args:
        scene: the moment, from the client's seat.
        old_action: the betting before its last action.
        record: the hand with all cards, once it is over.
    """
    told: dict[str, Any] = {
        "old_action": old_action,
        "action": action_text(scene.betting),
        "client_pos": 0 if scene.game.blinds[scene.position] == max(_BLINDS) else 1,
        "hole_cards": _texts(scene.hole_cards),
        "board": _texts(scene.board),
    }
    if not scene.finished:
        return told
    value = won(scene)
    if record is not None:
        seats = zip(record.names, record.deal.hole_cards, strict=True)
        own = scene.names[scene.position]
        told["bot_hole_cards"] = next((_texts(cards) for name, cards in seats if name != own), [])
    pot = scene.betting.pot
    return told | {
        "winnings": value,
        "won_pot": pot if value > 0 else -pot if value < 0 else 0,
        "session_num_hands": scene.score.hands,
        "session_total": round(scene.score.yours),
    }
