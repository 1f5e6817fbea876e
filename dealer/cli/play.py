"""``arena play``: a match between bots."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from dealer.cli.console import abort
from dealer.cli.options import (
    Coalesce,
    FixedSeats,
    Hands,
    JsonOutput,
    Out,
    Quiet,
    SeedOption,
    StartTimeout,
    THand,
    TPerHand,
    TResponse,
)
from dealer.cli.running import plan_match, read_game, read_players, run_plan
from dealer.players import PlayerError, parse_player
from protocol import GameDefinitionError, find_game
from protocol.game_definition import SHORT_NAMES

__all__ = ["play"]

DEFAULT_GAME = "limit"
DEFAULT_PLAYERS = ("raising", "random")


def play(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [BOT...]",
            help="A game (see 'arena games', or a .game file), then a player per seat: a built-in bot "
            "(see 'arena bots'), a command that is started with host and port, or 'tcp'. NAME=BOT gives a name.",
            show_default="limit raising random",
        ),
    ] = None,
    hands: Hands = 3000,
    seed: SeedOption = None,
    out: Out = None,
    quiet: Quiet = False,
    as_json: JsonOutput = False,
    t_response: TResponse = 600.0,
    t_hand: THand = 600.0,
    t_per_hand: TPerHand = 7.0,
    start_timeout: StartTimeout = 30.0,
    fixed_seats: FixedSeats = False,
    coalesce: Coalesce = None,
) -> None:
    """Play a match between bots and say who won.

    Every bot is a process of its own, connected over TCP. Without arguments, two built-in bots play limit hold'em.
    """
    game_text, texts = _split_words(words or [])
    game_name, game = read_game(game_text)
    if not texts:
        texts = [DEFAULT_PLAYERS[seat % 2] for seat in range(game.num_players)]
    players = read_players(texts, game_name, game)
    plan = plan_match(
        game_name,
        game,
        players,
        hands=hands,
        seed=seed,
        out=out,
        t_response=t_response,
        t_hand=t_hand,
        t_per_hand=t_per_hand,
        start_timeout=start_timeout,
        fixed_seats=fixed_seats,
        coalesce=coalesce,
    )
    run_plan(plan, quiet=quiet, as_json=as_json)


def _split_words(words: list[str]) -> tuple[str, list[str]]:
    """The game and the players: the first word is the game if it names one."""
    if not words:
        return DEFAULT_GAME, []
    word = words[0]
    try:
        find_game(word)
    except GameDefinitionError as no_game:
        try:
            parse_player(word)
        except PlayerError as no_player:
            if word.endswith(".game") or os.path.isfile(word):
                abort(str(no_game))
            abort(f"{no_player}; nor is it a game ({', '.join(SHORT_NAMES)}, or a .game file)")
        return DEFAULT_GAME, words
    return word, words[1:]
