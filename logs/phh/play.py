"""Playing a hand of PHH by the rules, action by action."""

from __future__ import annotations

from typing import Final

from engine import (
    CALL,
    FOLD,
    RAISE,
    Action,
    BettingState,
    Card,
    CardError,
    Game,
    IllegalAction,
    Position,
    betting_start,
    parse_cards,
    raise_to,
)
from engine.errors import quoted
from logs.errors import HandError
from logs.phh.fields import Fields

__all__ = ["Play"]

_NONE_KNOWN: Final = "????"


class Play:
    """A hand being played from its actions.

    Attributes:
        betting: the present betting state.
        holes: the hole cards of each position; empty where unknown.
        board: the cards on the table.
        mucked: positions that threw their cards away at the showdown.
    """

    def __init__(self, game: Game, fields: Fields) -> None:
        self.betting: BettingState = betting_start(game)
        self.holes: list[tuple[Card, ...]] = [()] * game.num_players
        self.board: list[Card] = []
        self.mucked: set[int] = set()
        self._game = game
        self._fields = fields
        """Chips each position had put in before the present street."""

    def apply(self, text: str) -> None:
        """Play one action.

        Raises:
            HandError: it is not an action, or the rules refuse it.
        """
        match text.split("#", 1)[0].split():
            case []:
                pass
            case ["d", "dh", player, cards]:
                self._deal(self._position(player, text), cards, text)
            case ["d", "db", cards]:
                self.board += self._cards(cards, text)
            case [player, "f"]:
                self._act(player, FOLD, text)
            case [player, "cc"]:
                self._act(player, CALL, text)
            case [player, "cbr", amount]:
                self._raise(player, amount, text)
            case [player, "sm"]:
                self.mucked.add(self._position(player, text))
            case [player, "sm", "-"]:
                self._position(player, text)
            case [player, "sm", cards]:
                self._deal(self._position(player, text), cards, text)
            case _:
                raise HandError(f"{quoted(text, 60)} is not an action of hold'em")

    def conclude(self) -> None:
        """Check what can be checked when all is played.

        Raises:
            HandError: the hand is not over, a card was dealt twice, or the board is not that of the last round.
        """
        if not self.betting.finished:
            raise HandError("the hand is not over after its last action")
        self._check_board("at the end of the hand")
        cards = [card for hole in self.holes for card in hole] + self.board
        if len(set(cards)) != len(cards):
            raise HandError("a card is dealt twice")

    def _position(self, player: str, text: str) -> Position:
        number = player[1:]
        if player[:1] != "p" or not (number.isascii() and number.isdigit()) or len(number) > 2:
            raise HandError(f"{quoted(text, 60)} names no player")
        if not 1 <= int(number) <= len(self.holes):
            raise HandError(f"{quoted(text, 60)} names a player who is not at the table")
        return Position(int(number) - 1)

    def _cards(self, cards: str, text: str) -> tuple[Card, ...]:
        try:
            return parse_cards(cards)
        except CardError as error:
            raise HandError(f"{quoted(text, 60)}: {error}") from None

    def _deal(self, position: Position, cards: str, text: str) -> None:
        """Note a player's cards, dealt or shown; two cards of which one is unknown count as unknown."""
        if "?" in cards and len(cards) == len(_NONE_KNOWN):
            return
        hole = self._cards(cards, text)
        if len(hole) != 2:
            raise HandError(f"{quoted(text, 60)}: hold'em has two hole cards")
        if self.holes[position] and sorted(self.holes[position]) != sorted(hole):
            raise HandError(f"{quoted(text, 60)}: these are not the cards that were dealt")
        self.holes[position] = self.holes[position] or hole

    def _check_board(self, when: str) -> None:
        wanted = self._game.board_cards_by_round[self.betting.round]
        if len(self.board) != wanted:
            raise HandError(f"the board has {len(self.board)} cards {when}, and should have {wanted}")

    def _raise(self, player: str, amount: str, text: str) -> None:
        position = self._position(player, text)
        before = self.betting.spent_before_round[position]
        total = before + self._fields.amount_of(amount)
        self._act(player, RAISE if self._game.is_limit else raise_to(total), text)
        if self.betting.spent[position] != total:
            wanted = self.betting.spent[position] - before
            raise HandError(f"{quoted(text, 60)}: the bets of the game make it {wanted} chips")

    def _act(self, player: str, action: Action, text: str) -> None:
        position, betting = self._position(player, text), self.betting
        if betting.finished:
            raise HandError(f"{quoted(text, 60)} comes after the end of the hand")
        if position != betting.acting_position:
            raise HandError(f"{quoted(text, 60)}: it is the turn of p{betting.acting_position + 1}")
        self._check_board(f"before {quoted(text, 60)}")
        try:
            self.betting = betting.after_played(action)
        except IllegalAction as error:
            raise HandError(f"{quoted(text, 60)}: {error.fact}") from None
