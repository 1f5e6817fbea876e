"""Hands without sockets and clocks, for training, evaluation and notebooks: bots in, records of hands out.

    from bots import self_play
    from bots.registry import make_bot

    bots = [make_bot("raising"), make_bot("random", seed=1)]
    won = {"RaisingBot": 0.0, "RandomBot": 0.0}
    for record in self_play("limit", bots, hands=100, seed=7):
        for position, value in enumerate(record.values):
            won[record.name_at(position)] += value
    print(won)

The rules it obeys:

- The cards are those that the dealer deals for the same game, seed and hand number, the button moves on from hand to
  hand as there, and a bot sees exactly what it would see over TCP.
- Under "rotations" a deal is played once in every rotation of the bots over the seats, one hand right after the other,
  with the same number: stopping early leaves whole duplicates. A bot should not remember cards from hand to hand.
- Nothing is played before it is asked for, and nothing is kept: a billion hands need no more memory than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from bots.bot import Bot
from bots.group import BotGroup
from engine import Game, Seat, betting_start, deals, hand_values
from logs import HandRecord, PlayerComment
from protocol import find_game

__all__ = ["self_play"]


def self_play(
    game: Game | str,
    bots: Sequence[Bot],
    *,
    hands: int,
    seed: int = 0,
    seating: Literal["rotations", "single"] = "rotations",
    first_hand: int = 0,
    match_name: str = "match",
    names: Sequence[str] | None = None,
) -> Iterator[HandRecord]:
    """Play hands, each when it is asked for.

    Args:
        game: what is played: a game, the name of a shipped one, or the path of a definition file.
        bots: one per seat of the first seating. One object may have several seats if it keeps nothing between calls.
        hands: how many deals, each played once in every seating.
        seed: of the cards. Bots have seeds of their own.
        seating: every rotation of the bots over the seats, or only the one given.
        first_hand: number of the first deal. Parts of a match can so be played in several processes.
        match_name: of the records; with several seatings, each adds its letter (``match.a``).
        names: of the bots, all different; by default those of their classes, numbered where they repeat.

    Returns:
        the finished hands, without times. When it ends, or is closed, `Bot.match_finished` has been called.

    Raises:
        GameDefinitionError: there is no such game.
        GameRefused: one of the bots does not play it.
        TypeError: one of the bots is not a bot.
        ValueError: the number of bots or names does not fit the game, two names are equal, or a number is negative.
        BotFailure: while hands are played: a bot's own code failed, or its answer was illegal.
    """
    if isinstance(game, str):
        game = find_game(game)[1]
    if seating not in ("rotations", "single"):
        raise ValueError(f"seating is 'rotations' or 'single', not {seating!r}")
    if hands < 0 or first_hand < 0:
        raise ValueError(f"hands and first_hand cannot be negative: {hands}, {first_hand}")
    group = BotGroup(bots, game)
    names = tuple(names) if names is not None else _class_names(bots)
    if len(set(names)) != len(names) or len(names) != len(bots):
        raise ValueError(f"{len(bots)} bots need as many different names, not {', '.join(names)}")
    rotations = [(match_name, names)]
    if seating == "rotations":
        rotations = [
            (f"{match_name}.{chr(ord('a') + shift)}", names[-shift:] + names[:-shift]) for shift in range(len(names))
        ]
    return _hands(game, group, range(first_hand, first_hand + hands), seed, rotations)


def _hands(
    game: Game, group: BotGroup, numbers: range, seed: int, rotations: Sequence[tuple[str, tuple[str, ...]]]
) -> Iterator[HandRecord]:
    """Play the hands; `rotations` has the name of the match and the names by seat of each."""
    players = game.num_players
    start = betting_start(game)
    turns = [tuple([Seat((offset + position) % players) for position in range(players)]) for offset in range(players)]
    try:
        for number, deal in zip(numbers, deals(game, seed, numbers.start), strict=False):
            seats = turns[number % players]
            for shift, (match_name, names) in enumerate(rotations):
                # To the group a bot's seat is its index: the bot of each position, not its seat in this rotation.
                if failures := group.begin_hand(number, deal, turns[(number - shift) % players], start):
                    raise failures[0]
                betting = start
                actions = 0
                comments: tuple[PlayerComment, ...] = ()
                while not betting.finished:
                    position = betting.acting_position
                    betting = betting.after(group.ask(betting))
                    if group.said:
                        texts = [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in group.said]
                        comments += tuple([PlayerComment(seats[position], actions, text) for text in texts])
                    actions += 1
                failures = group.end_hand(betting)
                values = tuple(hand_values(betting, deal))
                yield HandRecord(game, match_name, number, names, seats, deal, betting, values, (), comments)
                if failures:
                    raise failures[0]
    finally:
        failures = group.end_match()
    if failures:
        raise failures[0]


def _class_names(bots: Sequence[Bot]) -> tuple[str, ...]:
    names = [type(bot).__name__ for bot in bots]
    return tuple([f"{n}#{names[: i + 1].count(n)}" if names.count(n) > 1 else n for i, n in enumerate(names)])
