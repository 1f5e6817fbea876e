"""Write Open Hand History, the JSON format of trackers (version 1.4.7 of hh-specs.handhistory.org).

A file has an object ``{"ohh": {...}}`` per hand, with a blank line between two. With a hero, only its cards are dealt
face up, and others appear at the showdown. Without one the hand is observed, and all known hole cards are dealt face
up. `game_number` is the number of the hand in every export (`logs.formats.hand_numbers`), as trackers drop a hand whose
number they have.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from engine import CARD_TEXTS, Card, Position, Pot, Step, side_pots
from engine.holdem import Blinds
from engine.text import clean
from logs.errors import LogsError
from logs.formats.card_room_games import shown_stacks, usual_blinds
from logs.formats.export_format import ExportFormat, ExportOptions, MatchWriter, file_stem
from logs.formats.hand_numbers import HandNumbers
from logs.formats.money import Scale, equal_shares, split_by_weight
from logs.formats.settlement import check_values, hand_ranks, rake_units, showdown_order, street_actions
from logs.record import HandRecord

_LABEL: Final = "Open Hand History"
_SPEC_VERSION: Final = "1.4.7"
_WRITER_VERSION: Final = "1.0.0"
_PLAY_MONEY: Final = "XPM"
_STREETS: Final = ("Preflop", "Flop", "Turn", "River")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _format_hand(record: HandRecord, options: ExportOptions, numbers: HandNumbers) -> str:
    return json.dumps({"ohh": _hand(record, options, numbers)}, separators=(",", ":")) + "\n"


def _hand(record: HandRecord, options: ExportOptions, numbers: HandNumbers) -> dict[str, Any]:
    game = record.game
    blinds = usual_blinds(game, _LABEL)
    scale = Scale(options.chip_value)
    hero = _hero_id(record, options)
    actions = street_actions(record.betting)
    return {
        "spec_version": _SPEC_VERSION,
        "site_name": clean(options.site),
        "network_name": clean(options.site),
        "internal_version": _WRITER_VERSION,
        "tournament": False,
        "game_number": str(numbers.number(record)),
        "start_date_utc": _start_date(record, options),
        "table_name": clean(record.match_name if options.table is None else options.table),
        "game_type": "Holdem",
        "bet_limit": {"bet_type": "FL" if game.is_limit else "NL", "bet_cap": 0},
        "table_size": game.num_players,
        "currency": options.currency_of(record) or _PLAY_MONEY,
        "dealer_seat": record.seats[blinds.button] + 1,
        "small_blind_amount": scale.amount(game.blinds[blinds.small]),
        "big_blind_amount": scale.amount(game.blinds[blinds.big]),
        "ante_amount": 0,
        "hero_player_id": hero,
        "flags": ["Observed"] if hero is None else [],
        "players": _players(record, scale),
        "rounds": _rounds(record, actions, blinds, hero, scale),
        "pots": _pots(record, options, scale),
    }


def _players(record: HandRecord, scale: Scale) -> list[dict[str, Any]]:
    stacks = shown_stacks(record.game)
    players = []
    for position in sorted(range(record.game.num_players), key=lambda position: record.seats[position]):
        seat = record.seats[position]
        players.append(
            {
                "id": seat,
                "seat": seat + 1,
                "name": clean(record.name_at(Position(position))),
                "starting_stack": scale.amount(stacks[position]),
            }
        )
    return players


def _hero_id(record: HandRecord, options: ExportOptions) -> int | None:
    if options.hero is None:
        return None
    if options.hero not in record.names_by_seat:
        raise LogsError(f"no player of hand {record.hand_number} is called {options.hero!r}")
    return record.names_by_seat.index(options.hero)


def _start_date(record: HandRecord, options: ExportOptions) -> str:
    time_us = options.hand_time_us(record)
    try:
        start = _EPOCH + timedelta(microseconds=time_us)
    except OverflowError:
        raise LogsError(f"hand {record.hand_number} was played at an impossible time: {time_us} us") from None
    return f"{start:%Y-%m-%dT%H:%M:%S}Z"


def _rounds(
    record: HandRecord, actions: Sequence[Step], blinds: Blinds, hero: int | None, scale: Scale
) -> list[dict[str, Any]]:
    game = record.game
    holes = record.deal.hole_cards
    # Actions by betting round.
    entries: list[list[dict[str, Any]]] = [[] for _ in record.board_by_round]
    for name, position in (("Post SB", blinds.small), ("Post BB", blinds.big)):
        blind = game.blinds[position]
        is_all_in = blind == game.stacks[position]
        entries[0].append(_entry(record, position, name, scale.amount(blind), is_all_in))
    for index, hole in enumerate(holes):
        if hole and hero in (None, record.seats[index]):
            entries[0].append(_entry(record, Position(index), "Dealt Cards", 0, False, hole))
    for action in actions:
        # The amount of an action, of a raise too, is what it adds to the pot. Before the flop there are raises and no
        # bets. No action returns an uncalled bet.
        name = action.move.name.title()
        entries[action.round].append(
            _entry(record, action.position, name, scale.amount(action.added), action.is_all_in)
        )
    rounds: list[dict[str, Any]] = []
    for round_, board in enumerate(record.board_by_round):
        round_actions = _numbered(entries[round_])
        rounds.append({"id": round_, "street": _STREETS[round_], "cards": _texts(board), "actions": round_actions})
    shown = []
    for position in showdown_order(record, actions):
        if holes[position]:
            shown.append(_entry(record, position, "Shows Cards", 0, False, holes[position]))
    if shown:
        rounds.append({"id": len(rounds), "street": "Showdown", "cards": [], "actions": _numbered(shown)})
    return rounds


def _entry(
    record: HandRecord, position: Position, name: str, amount: float, is_all_in: bool, cards: tuple[Card, ...] = ()
) -> dict[str, Any]:
    entry = {"player_id": record.seats[position], "action": name, "amount": amount, "is_allin": is_all_in}
    if cards:
        return entry | {"cards": _texts(cards)}
    return entry


def _numbered(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"action_number": number} | entry for number, entry in enumerate(entries, 1)]


def _texts(cards: tuple[Card, ...]) -> list[str]:
    return [CARD_TEXTS[card] for card in cards]


def _pots(record: HandRecord, options: ExportOptions, scale: Scale) -> list[dict[str, Any]]:
    ranks = hand_ranks(record)
    # Pots are without uncalled chips, unlike the actions.
    pots = side_pots(record.betting.spent, record.betting.folded)
    winners = [pot.winners(ranks) for pot in pots]
    check_values(record, pots, winners)
    rake = rake_units(options.rake, record, pots, scale)
    rakes = split_by_weight(rake, [pot.amount for pot in pots])
    return [_pot(record, number, pots[number], winners[number], rakes[number], scale) for number in range(len(pots))]


def _pot(
    record: HandRecord, number: int, pot: Pot, winners: Sequence[Position], rake: int, scale: Scale
) -> dict[str, Any]:
    # The amount is before rake, the winnings are after it. Shares are whole coins, and the first winner left of the
    # button gets the odd ones.
    shares = equal_shares(scale.units(pot.amount) - rake, len(winners))
    wins = []
    for position, units in zip(winners, shares, strict=True):
        wins.append({"player_id": record.seats[position], "win_amount": scale.number(units)})
    return {
        "number": number,
        "amount": scale.amount(pot.amount),
        "rake": scale.number(rake),
        "player_wins": wins,
    }


def _start_match(first: HandRecord, options: ExportOptions) -> MatchWriter:
    numbers = HandNumbers(options.match_id)

    def write(record: HandRecord, _: int) -> str:
        # A blank line separates two hands, and is allowed after the last one.
        return _format_hand(record, options, numbers) + "\n"

    return MatchWriter(f"{file_stem(first.match_name)}.OHH", write)


OHH: Final = ExportFormat(
    "ohh", _LABEL, lambda game: usual_blinds(game, _LABEL), _start_match, endings=(".OHH",), wants_hero=True
)
