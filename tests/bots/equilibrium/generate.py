"""Make the tables of strategies: `python -m tests.bots.equilibrium.generate` rewrites their files.

It takes seconds. If a checksum it prints is a new one, `bots.equilibrium.bot.CHECKSUMS` has to follow: a game may
have many equilibria, and another version of the solver may find another.
"""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np

from bots.equilibrium.bot import CHECKSUMS, Table, table_path
from bots.solving.engine_games import rank_game
from bots.solving.equilibria import LinearProgram
from bots.solving.sequence_form import Plan, SequenceForm, plan_of, sequence_form
from engine import Game
from protocol import find_game
from tests.bots.completing import completed

_MISTAKES: Final = 1e-6


def equilibrium_table(game: Game) -> Table:
    """An equilibrium of a game of two players; where its own plan never leads, a player's best answers.

    They are those to an opponent who makes one mistake in a million: against one who makes none, it may be as good to
    fold the best card as to call with it.
    """
    form = sequence_form(rank_game(game))
    plans = LinearProgram(form).solve().plans
    erring = [_MISTAKES * _even(form, player) + (1 - _MISTAKES) * plan for player, plan in enumerate(plans)]
    table = {}
    for player in (0, 1):
        chances = completed(form, player, (plans[0], erring[1]) if player == 0 else (erring[0], plans[1]))
        for choice in form.choices[player]:
            for number, card in enumerate(form.game.classes[player]):
                by_letter = dict(zip(choice.actions, chances[choice.name][:, number].tolist(), strict=True))
                table[choice.name, card] = tuple(by_letter.get(letter, 0.0) for letter in "fcr")
    return table


def _even(form: SequenceForm, player: int) -> Plan:
    classes = len(form.game.classes[player])
    return plan_of(form, player, lambda choice: np.full((len(choice.actions), classes), 1 / len(choice.actions)))


def write(table: Table) -> bytes:
    lines = [f"{betting or '-'} {card} {' '.join(map(repr, chances))}\n" for (betting, card), chances in table.items()]
    return "".join(lines).encode()


def main() -> None:
    for name in CHECKSUMS:
        data = write(equilibrium_table(find_game(name)[1]))
        with open(table_path(name), "wb") as file:
            file.write(data)
        print(f"{table_path(name)}: {len(data)} bytes, CRC-32 0x{zlib.crc32(data):08X}")


if __name__ == "__main__":
    main()
