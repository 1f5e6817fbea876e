"""The bot ``equilibrium`` and its tables, strategies of small games as text.

A line of a table is a state of one rank:

    crc/Qr K 0.25 0.5 0.25

It has the betting as in a match state, with the rank of the board card after the slash, the rank held, and the
probabilities of fold, call and raise, 0 for illegal actions. Suits make no difference.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from os.path import dirname, join
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias

from bots.kuhn.bot import policy_of_genes
from bots.kuhn.games import MAX_BLUFF, Variant, kuhn_equilibrium
from bots.sdk.bot import Bot, DrawSeed, choose_action, draw, fresh_seed, uniform
from bots.sdk.view import View
from engine import CALL, FOLD, RAISE, Action, Game
from engine.errors import TableError
from protocol import find_game, format_action

CHECKSUMS: Final[Mapping[str, int]] = {"kuhn-depth": 0x9B3B8111, "leduc": 0x5B394B5E}
"""CRC-32 of each file by the short name of its game. Loading hashlib would take longer than reading a table."""
_LETTERS: Final = "fcr"


Table: TypeAlias = Mapping[tuple[str, str], tuple[float, ...]]
"""Probabilities of fold, call and raise by state, as `state_of` returns it."""


def state_of(view: View) -> tuple[str, str]:
    """Return the key of a table: the betting with the board, and the rank held."""
    rounds = ["".join([_LETTERS[action.kind] for _, action in round_]) for round_ in view.betting.rounds]
    held, *board = [card[0] for card in view.game.shown_cards((*view.hole_cards, *view.board))]
    betting = "/".join([rounds[0], *(rank + letters for rank, letters in zip(board, rounds[1:], strict=True))])
    return betting, held


def table_path(name: str) -> str:
    return join(dirname(__file__), f"{name}.txt")


@cache
def strategy_table(name: str) -> Table:
    with open(table_path(name), "rb") as file:
        return read(file.read(), CHECKSUMS[name])


def read(data: bytes, checksum: int) -> Table:
    """Parse a table.

    Raises:
        TableError: the data does not have the checksum.
    """
    if zlib.crc32(data) != checksum:
        raise TableError("a strategy of the bot equilibrium is damaged or of another version; reinstall it")
    table = {}
    for line in data.decode().splitlines():
        betting, card, *chances = line.split()
        table["" if betting == "-" else betting, card] = tuple(map(float, chances))
    return MappingProxyType(table)


_KUHN: Final = "kuhn"
GAMES: Final = (_KUHN, *CHECKSUMS)
"""Short names of the games that the bot plays."""
_WORDS: Final = {FOLD: "fold", CALL: "call", RAISE: "raise"}


class EquilibriumBot(Bot):
    """Plays an equilibrium of Kuhn's or of Leduc poker: over both seats, no opponent wins from it in the long run.

    Algorithm: each action is drawn from fixed probabilities. Those of Kuhn poker are a formula (Kuhn 1950), a family of
        equilibria for the first player and a single strategy for the second. Those of the other games solve the linear
        program of the game (Koller, Megiddo & von Stengel 1996) to at least 10 digits. In states that its own play
        never reaches it plays a best response.

    Other games: none. The bot plays two-player Kuhn poker, the same with one raise, and Leduc poker.

    Draws depend only on the seed and the state, so a match that is resumed or split between hands plays the same.
    """

    def __init__(
        self,
        *,
        bluff: Annotated[
            float, "in Kuhn poker, how often the first player bets its worst card, 0 to 1/3: all are equilibria"
        ] = MAX_BLUFF,
        explain: Annotated[bool, "whether to send the probabilities as a comment before each action"] = False,
        seed: DrawSeed = None,
    ) -> None:
        self._equilibrium = kuhn_equilibrium(bluff)
        self._explains = explain
        self._seed = fresh_seed() if seed is None else seed

    @classmethod
    def refusal(cls, game: Game) -> str | None:
        if _name_of(game) is not None:
            return None
        return (
            f"equilibrium plays the small games {', '.join(GAMES[:-1])} and {GAMES[-1]}; this game is not one of them"
        )

    def prepare(self, game: Game) -> None:
        self._table(game)

    def act(self, view: View) -> Action:
        policy = self.policy(view)
        action = choose_action(policy, uniform(draw(self._seed, view)))
        if self._explains:
            shown = ", ".join(f"{_WORDS[action]} {chance:.4f}" for action, chance in policy.items())
            cards = "".join(view.game.shown_cards((*view.hole_cards, *view.board)))
            view.comment(f"{cards}: {shown} of the time -> {format_action(action)}")
        return action

    def policy(self, view: View) -> Mapping[Action, float]:
        table = self._table(view.game)
        if table is None:
            return policy_of_genes(Variant.CLASSIC, self._equilibrium[view.position], view)
        chances = zip((FOLD, CALL, RAISE), table[state_of(view)], strict=True)
        return {action: chance for action, chance in chances if chance}

    def _table(self, game: Game) -> Table | None:
        """Return the table of a game, None for Kuhn poker, which has a formula."""
        self.require_game(game)
        name = _name_of(game)
        return None if name in (None, _KUHN) else strategy_table(name)


@cache
def _name_of(game: Game) -> str | None:
    return next((name for name in GAMES if find_game(name)[1] == game), None)
