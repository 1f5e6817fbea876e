"""One hand of PHH, from the fields of its table to a record."""

from __future__ import annotations

from typing import Any, Final

from engine import BettingState, Deal, Seat, rank_hand
from engine.hand import hand_values
from engine.showdown import showdown_values
from logs.errors import HandError
from logs.money import Scale
from logs.phh.fields import Fields, game_of
from logs.phh.play import Play
from logs.record import HandRecord, PlayerComment, Times

__all__ = ["read_hand"]

_ODD_CHIP: Final = 1.0
"""A player's result may differ by this much from an exact split: card rooms give the odd chip to somebody."""

_ROUNDING: Final = 1e-4


def read_hand(table: dict[str, Any], scale: Scale, *, match_name: str, place: int) -> tuple[HandRecord, str | None]:
    """The record of a hand, and a sentence about what is doubtful in it, or None.

    Args:
        table: the fields as TOML gives them, its floats as `Decimal`.
        scale: what a chip is worth in the table's money.
        match_name: for a hand without an event.
        place: for a hand without a number.

    Raises:
        HandError: it is not a hand of hold'em that can be read.
    """
    fields = Fields(table, scale)
    game = game_of(fields)
    play = Play(game, fields)
    for text in fields.texts("actions"):
        play.apply(text)
    play.conclude()
    values, doubt = _values(fields, play)
    names, seats = _seating(fields, game.num_players)
    number = table.get("hand")
    is_number = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    times, comments = _own_fields(fields, play.betting)
    record = HandRecord(
        game=game,
        match_name=fields.text("event") or match_name,
        hand_number=number if is_number and isinstance(number, int) else place,
        names_by_seat=names,
        seats=seats,
        deal=Deal(tuple(play.holes), tuple(play.board)),
        betting=play.betting,
        values=values,
        times=times,
        comments=comments,
    )
    return record, doubt


def _values(fields: Fields, play: Play) -> tuple[tuple[float, ...], str | None]:
    """Net chips of each position by the cards, and what is doubtful about them."""
    betting = play.betting
    game = betting.game
    deal = Deal(tuple(play.holes), tuple(play.board))
    told = fields.money("finishing_stacks")
    if told is not None and len(told) != game.num_players:
        raise HandError(f"{len(told)} finishing stacks at a table of {game.num_players}")
    stacks = fields.amounts("starting_stacks")
    if not betting.is_showdown:
        return _compared(hand_values(betting, deal), told, stacks)
    in_pot = betting.in_pot
    unknown = [position for position in in_pot if not play.holes[position] and position not in play.mucked]
    shown = [position for position in in_pot if play.holes[position] and position not in play.mucked]
    if unknown or not shown:
        if told is None:
            raise HandError("the showdown cannot be judged: hole cards are missing, and so are the finishing stacks")
        won = [stack - start for stack, start in zip(told, stacks, strict=True)]
        if abs(sum(won)) > _ROUNDING:
            raise HandError("the showdown cannot be judged: hole cards are missing, and the stacks do not add up")
        return tuple(won), None
    ranks = [
        rank_hand((*hole, *deal.board)) if position in shown else None for position, hole in enumerate(deal.hole_cards)
    ]
    values, doubt = _compared(showdown_values(betting.spent, ranks), told, stacks)
    if all(play.holes[position] for position in in_pot) and list(values) != hand_values(betting, deal):
        doubt = "a better hand was mucked than the one that wins"
    return values, doubt


def _compared(values: list[float], told: list[float] | None, stacks: list[int]) -> tuple[tuple[float, ...], str | None]:
    """Values, compared with the finishing stacks where those are given.

    Raises:
        HandError: they contradict each other.
    """
    if told is None:
        return tuple(values), None
    differences = [stack - start - value for stack, start, value in zip(told, stacks, values, strict=True)]
    if max(map(abs, differences)) < _ODD_CHIP:
        return tuple(values), None
    if max(differences) < _ODD_CHIP and -sum(differences) > _ROUNDING:
        return tuple(values), f"the finishing stacks lack {-sum(differences):g} chips of the pot, as if rake was taken"
    wrong = next(position for position, difference in enumerate(differences) if abs(difference) >= _ODD_CHIP)
    raise HandError(
        f"p{wrong + 1} has {told[wrong]:g} chips at the end, and should have {stacks[wrong] + values[wrong]:g}"
    )


def _seating(fields: Fields, players: int) -> tuple[tuple[str, ...], tuple[Seat, ...]]:
    """The names by seat, and the seat of each position."""
    table = fields.table
    names = fields.texts("players") if "players" in table else [""] * players
    chairs = table.get("seats", list(range(players)))
    if len(names) != players:
        raise HandError(f"{len(names)} players at a table of {players}")
    if not isinstance(chairs, list) or len(set(map(str, chairs))) != players or not all(type(c) is int for c in chairs):
        raise HandError(f"seats are not {players} different numbers")
    order = sorted(chairs)
    seats = tuple([Seat(order.index(chair)) for chair in chairs])
    by_seat = {seat: name or f"p{position + 1}" for position, (seat, name) in enumerate(zip(seats, names, strict=True))}
    return tuple([by_seat[Seat(seat)] for seat in range(players)]), seats


def _own_fields(fields: Fields, betting: BettingState) -> tuple[tuple[Times, ...], tuple[PlayerComment, ...]]:
    """Times and comments, as far as they are there in the form in which we write them."""
    times = fields.table.get("_times")
    count = sum(map(len, betting.rounds))
    if not isinstance(times, list) or len(times) != count or not all(map(_is_pair_of_numbers, times)):
        times = []
    comments = fields.table.get("_comments")
    if not isinstance(comments, list):
        comments = []
    remarks = [
        PlayerComment(Seat(remark[0]), remark[1], remark[2])
        for remark in comments
        if isinstance(remark, list)
        and list(map(type, remark)) == [int, int, str]
        and 0 <= remark[0] < betting.game.num_players
    ]
    return tuple([Times(*pair) for pair in times]), tuple(remarks)


def _is_pair_of_numbers(value: object) -> bool:
    return isinstance(value, list) and list(map(type, value)) == [int, int]
