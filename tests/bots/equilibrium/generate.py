"""Generate the tables of strategies: `python -m tests.bots.equilibrium.generate` rewrites their files.

It takes seconds. If a printed checksum changes, update `bots.equilibrium.bot.CHECKSUMS`: a game can have many
equilibria, and another version of the solver can return another.

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
from tests.bots.completing import complete_plan

_MISTAKES: Final = 1e-6


def equilibrium_table(game: Game) -> Table:
    """Return an equilibrium of a two-player game, with best responses where a player's own plan never leads.

    The responses are to an opponent who errs once in a million actions: against a perfect one, folding the best card
    can be as good as calling with it.

    """
    form = sequence_form(rank_game(game))
    plans = LinearProgram(form).solve().plans
    erring = [_MISTAKES * _even(form, player) + (1 - _MISTAKES) * plan for player, plan in enumerate(plans)]
    table = {}
    for player in (0, 1):
        chances = complete_plan(form, player, (plans[0], erring[1]) if player == 0 else (erring[0], plans[1]))
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
