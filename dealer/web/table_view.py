"""A sitting as the page of a table shows it: values for its template, without anything that the person may not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bots.human import MOVED, Scene, in_words
from dealer.person.sentences import (
    game_sentence,
    offers,
    reasons,
    result_sentence,
    score_remark,
    signed_chips,
    size_offers,
)
from dealer.person.settings import HANDS, SEAT
from dealer.person.sitting import Sitting
from dealer.run.sentences import listed
from engine import CARD_TEXTS, Card, Move
from engine.cards import suit_of
from engine.text import count_of, shown
from logs import HandRecord
from logs.view import Acted, Dealt, PlayerView, replayed

_SYMBOLS: Final = "♣♦♥♠"
_SUITS: Final = ("clubs", "diamonds", "hearts", "spades")
_RANKS: Final = dict(
    zip(
        "23456789TJQKA",
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"],
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class CardFace:
    """A card as a page shows it.

    Attributes:
        text: rank and suit as a symbol.
        words: the same for who cannot see it.
        suit: its name.
    """

    text: str
    words: str
    suit: str


def card_faces(cards: tuple[Card, ...]) -> tuple[CardFace, ...]:
    """Cards as a page shows them."""
    faces = []
    for card in cards:
        rank, suit = CARD_TEXTS[card][0], suit_of(card)
        faces.append(CardFace(rank + _SYMBOLS[suit], f"{_RANKS[rank]} of {_SUITS[suit]}", _SUITS[suit]))
    return tuple(faces)


def table_values(sitting: Sitting) -> dict[str, Any]:
    """What the template of a table shows of a sitting now."""
    scene = sitting.scene
    values: dict[str, Any] = {
        "sentence": game_sentence(sitting.game),
        "you": shown(sitting.names[SEAT]),
        "others": listed([shown(name) for name in sitting.names[1:]]),
        "hands_asked": None if sitting.hands == HANDS else sitting.hands,
        "notes": list(sitting.notes),
        "waiting": _waiting(sitting),
        "problem": sitting.problem,
        "is_ended": sitting.is_ended,
        "moment": sitting.moments.name,
        "is_asked": sitting.moments.is_asked,
        "time_left_s": sitting.time_left_s,
        "decision_s": sitting.decision_s,
        "hand": None if scene is None else _hand_values(scene, sitting),
    }
    return values


def _waiting(sitting: Sitting) -> str:
    """Who is waited for, in words; empty where it is the person, or nobody."""
    scene = sitting.scene
    if sitting.moments.is_asked or not sitting.is_dealing:
        return ""
    missing = [shown(player.name) for player in sitting.awaited if player.name != sitting.names[SEAT]]
    if missing:
        return f"Waiting for {listed(missing)} to sit down."
    if scene is not None and not scene.finished and scene.betting.acting_position != scene.position:
        return f"Waiting for {shown(scene.names[scene.betting.acting_position])}."
    return "The next hand is being dealt."


def _hand_values(scene: Scene, sitting: Sitting) -> dict[str, Any]:
    record = sitting.record(scene.hand_number) if scene.finished else None
    choices = scene.choices
    score = scene.score
    sizes = size_offers(scene) if sitting.moments.is_asked else ()
    return {
        "number": scene.hand_number,
        "round": scene.round_name,
        "pot": scene.pot,
        "strength": scene.strength,
        "board": card_faces(scene.board),
        "cards": card_faces(scene.hole_cards),
        "players": [_player_values(player, scene) for player in scene.players],
        "history": [
            (isinstance(one, Dealt), isinstance(one, Acted) and one.move is Move.FOLD, _symbols(in_words(one, scene)))
            for one in scene.history
        ],
        "finished": scene.finished,
        "is_last": scene.hand_number + 1 >= sitting.hands,
        "result": result_sentence(scene) if scene.finished else "",
        "value": None if scene.values is None else scene.values[scene.position],
        "offers": offers(scene) if sitting.moments.is_asked else (),
        "sizes": sizes,
        "raises": choices.raises if choices is not None and sizes else None,
        "step": max(1, scene.game.big_blind // 2),
        "reasons": reasons(scene) if sitting.moments.is_asked else (),
        "score": signed_chips(score.yours),
        "score_hands": count_of(score.hands, "hand"),
        "score_remark": score_remark(score) if score.hands else "",
        "scores": [
            (shown(name), signed_chips(chips), seat == score.seat)
            for seat, (name, chips) in enumerate(zip(sitting.names, score.chips, strict=True))
        ],
        "again": None if record is None else _again(record),
    }


def _player_values(player: PlayerView, scene: Scene) -> dict[str, Any]:
    if player.is_acting:
        said = "to act"
    elif player.has_folded:
        said = "folded"
    elif player.is_all_in:
        said = "all-in"
    else:
        said = "" if player.move is None else MOVED[player.move]
    return {
        "name": shown(player.name),
        "place": player.place,
        "is_you": player.position == scene.position,
        "is_button": player.is_button,
        "is_acting": player.is_acting,
        "has_folded": player.has_folded,
        "bet": player.street_total,
        "stack": player.stack_left,
        "said": said,
        "cards": card_faces(player.cards),
        "won": None if scene.values is None else signed_chips(scene.values[player.position]),
    }


def _again(record: HandRecord) -> dict[str, Any]:
    """A hand that is over, with everybody's cards and what was said."""
    hand = replayed(record, record.betting.pot / record.game.big_blind)
    return {
        "seats": [
            (shown(name), card_faces(hole)) for name, hole in zip(record.names, record.deal.hole_cards, strict=True)
        ],
        "steps": [
            (step.name, _symbols(f"{step.words}{': ' * bool(step.cards)}{' '.join(step.cards)}"), step.comments)
            for step in hand.steps
        ],
        "last_words": hand.last_words,
        "has_reasons": bool(record.comments),
    }


def _symbols(text: str) -> str:
    """A sentence of ours with its cards as symbols."""
    words = []
    for word in text.split(" "):
        bare = word.rstrip(",")
        is_card = len(bare) == 2 and bare[0] in _RANKS and bare[1] in "cdhs"
        words.append(bare[0] + _SYMBOLS["cdhs".index(bare[1])] + word[2:] if is_card else word)
    return " ".join(words)
