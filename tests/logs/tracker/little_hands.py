"""Hands constructed from betting and cards as in a log."""

from __future__ import annotations

from engine import Deal, Game, Seat, hand_values, parse_cards
from logs import HandRecord
from protocol import find_game
from protocol.match_state import betting_after

NAMES = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay")


def hand(game: Game | str, betting: str, cards: str, *, number: int = 0, names: tuple[str, ...] = NAMES) -> HandRecord:
    """Return a hand from betting and cards like ``5d5c|9hQd/8dAs8s/4h/6d``; Ann is in position 0 of hand 0."""
    rules = find_game(game)[1] if isinstance(game, str) else game
    state = betting_after(rules, betting)
    hole_text, *boards = cards.split("/")
    deal = Deal(tuple(map(parse_cards, hole_text.split("|"))), parse_cards("".join(boards)))
    players = rules.num_players
    return HandRecord(
        game=rules,
        match_name="little",
        hand_number=number,
        names_by_seat=names[:players],
        seats=tuple(Seat((position + number) % players) for position in range(players)),
        deal=deal,
        betting=state,
        values=tuple(hand_values(state, deal)),
    )
