"""Match states, the dealer's lines to a player: ``MATCHSTATE:0:7:cr300:AhKs|``.

`parse_match_state` is strict, reports the first wrong byte, and is the exact inverse of `MatchState.format`.
`scan_match_state` reads the state that a player repeats in its reply, as leniently as the reference dealer. The
grammar of ACPC protocol 2.0.0::

    state   = "MATCHSTATE:" position ":" hand ":" betting ":" cards
    betting = round *( "/" round )        actions of each round; a round appears once it is reached
    cards   = hole *( "|" hole ) board    one slot per position, empty where unseen
    board   = cards0 *( "/" cards )       the cards of round 0 follow the last slot without a slash
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from engine import (
    CALL,
    CARD_TEXTS,
    FOLD,
    Action,
    BettingState,
    Card,
    CardError,
    Game,
    IllegalAction,
    Position,
    betting_start,
    format_cards,
    parse_cards,
    raise_to,
)
from engine.errors import quoted
from protocol.actions import format_action, scan_action
from protocol.errors import FormatError
from protocol.numbers import scan_unsigned, wrap_uint8, wrap_uint32

HEADER = "MATCHSTATE:"
_MAX_BETTING_TEXTS = 1 << 14
_MAX_FORMATTED_BETTINGS = 1 << 13
_MAX_CARD_TEXTS = 1 << 8
_MAX_HANDS = 2**32

# Creates a named tuple without calling its Python-level constructor: `StateReader.read` runs for every line.
_make = tuple.__new__

Rounds: TypeAlias = tuple[tuple[Action, ...], ...]

_CARD_BY_TEXT = {text: card for card, text in enumerate(CARD_TEXTS)}
_CARD_BY_ANY_CASE: dict[str, Card] = {}
for _text, _card in _CARD_BY_TEXT.items():
    for _variant in (_text, _text.lower(), _text.upper(), _text.swapcase()):
        _CARD_BY_ANY_CASE[_variant] = _card


class MatchState(NamedTuple):
    """A hand as one player sees it.

    Attributes:
        position: the player's position in this hand.
        hand_number: 0-based number of the hand in the match.
        rounds: the actions of each round reached.
        hole_cards: by position, empty for positions whose cards the player does not see.
        board: the cards added in each round reached.
    """

    position: Position
    hand_number: int
    rounds: Rounds
    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[tuple[Card, ...], ...]

    def format(self) -> str:
        """Return the state as the dealer writes it, without the line end."""
        cards = format_hole_cards(self.hole_cards) + _format_board(self.board)
        return f"{HEADER}{self.position}:{self.hand_number}:{format_betting(self.rounds)}:{cards}"


def format_betting(rounds: Rounds) -> str:
    """Join the actions of each round, with slashes between rounds: ``cr300/``."""
    return "/".join(["".join(map(format_action, actions)) for actions in rounds])


def format_hole_cards(hole_cards: tuple[tuple[Card, ...], ...]) -> str:
    """Join the hole cards of all positions, with bars between positions."""
    return "|".join([format_cards(cards) for cards in hole_cards])


def _format_board(board: tuple[tuple[Card, ...], ...]) -> str:
    return "/".join([format_cards(cards) for cards in board])


class SeenHand(NamedTuple):
    """The contents of a `MatchState` with the betting as a state of the engine, without a copy of its actions."""

    position: Position
    hand_number: int
    betting: BettingState
    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[tuple[Card, ...], ...]

    @property
    def state(self) -> MatchState:
        rounds = tuple([tuple([action for _, action in actions]) for actions in self.betting.rounds])
        return MatchState(self.position, self.hand_number, rounds, self.hole_cards, self.board)


def parse_match_state(text: str, game: Game) -> MatchState:
    """Read a state exactly as a dealer writes it, without the line end.

    Raises:
        FormatError: the text is not a state of this game. `column` is the first wrong byte.
    """
    return StateReader(game).read(text).state


class _Cards(NamedTuple):
    """Hole cards and board in one round, as one position sees them."""

    round: int
    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[tuple[Card, ...], ...]


class StateReader:
    """Strict reader for the states that a dealer sends to one player.

    From one line of a hand to the next, usually one field changes. The reader therefore remembers the value of each
    field by its text: the head of the hand, the betting, and the cards.
    """

    __slots__ = ("_bettings", "_cards", "_game", "_hand_number", "_head", "_position")

    def __init__(self, game: Game) -> None:
        self._game = game
        self._bettings = _known_bettings(game)
        self._head: str | None = None
        self._position = Position(0)
        self._hand_number = 0
        self._cards: dict[str, _Cards] = {}

    def read(self, text: str) -> SeenHand:
        """Read a state; like `parse_match_state`, but return it in the form that playing needs.

        Raises:
            FormatError: the text is not a state of this game. `column` is the first wrong byte.
        """
        # From the end, because the head has colons of its own.
        before, _, cards_text = text.rpartition(":")
        head, _, betting_text = before.rpartition(":")
        if head != self._head:
            betting_text, cards_text = self._begin_hand(text)
        betting = self._bettings.get(betting_text)
        cards = self._cards.get(cards_text)
        # Known cards of another round do not fit the betting. Reading them again reports the error.
        if betting is None or cards is None or betting.round != cards[0]:
            betting, cards = self._read_fields(text, betting_text, cards_text)
        return _make(SeenHand, (self._position, self._hand_number, betting, cards[1], cards[2]))

    def _begin_hand(self, text: str) -> tuple[str, str]:
        """Read the head of a new hand. Returns the texts of betting and cards."""
        position, hand_number, start = _read_head(text, self._game.num_players)
        betting_text, separator, cards_text = text[start:].partition(":")
        if not separator:
            raise FormatError(text, len(text), "the betting must end with ':'")
        self._head = text[: start - 1]
        self._position = position
        self._hand_number = hand_number
        # Texts of cards are remembered for one hand only, because the own cards are checked against the position.
        self._cards = {}
        return betting_text, cards_text

    def _read_fields(self, text: str, betting_text: str, cards_text: str) -> tuple[BettingState, _Cards]:
        """Read a betting and cards that are new in this hand or new in this combination."""
        cards_start = len(text) - len(cards_text)
        start = cards_start - len(betting_text) - 1
        try:
            betting = betting_after(self._game, betting_text)
        except FormatError as error:
            raise FormatError(text, start + error.column, error.problem) from None
        try:
            return betting, self._read_cards(cards_text, betting.round)
        except FormatError as error:
            raise FormatError(text, cards_start + error.column, error.problem) from None

    def _read_cards(self, text: str, round_: int) -> _Cards:
        """Read hole cards and board. Usually the text is that of the round before with more board cards."""
        game = self._game
        end = text.rfind("/")
        before = None
        if end >= 0:
            before = self._cards.get(text[:end])
        if before is not None and before.round == round_ - 1:
            hole_cards = before.hole_cards
            board = (*before.board, *_parse_board(text, end, game, round_, round_))
        else:
            hole_cards, end = _parse_hole_cards(text, 0, game)
            board = _parse_board(text, end, game, 0, round_)
            if not hole_cards[self._position]:
                raise FormatError(text, 0, f"the player's own cards, those of position {self._position}, are missing")
        _check_deck(text, [*hole_cards, *board], game)
        # A hand has few texts. The limit is for a dealer that sends one state again and again with other cards.
        if len(self._cards) >= _MAX_CARD_TEXTS:
            self._cards.clear()
        cards: _Cards = _make(_Cards, (round_, hole_cards, board))
        self._cards[text] = cards
        return cards


def _read_head(text: str, num_players: int) -> tuple[Position, int, int]:
    """Read the position and the hand number. Returns them and the index of the betting."""
    if not text.startswith(HEADER):
        raise FormatError(text, _first_difference(text, HEADER), f"a state begins with {HEADER!r}")
    position, start = _parse_number(text, len(HEADER), "the position")
    if position >= num_players:
        raise FormatError(text, len(HEADER), f"position {position} in a game of {num_players} players")
    hand_number, end = _parse_number(text, start, "the hand number")
    if hand_number >= _MAX_HANDS:
        raise FormatError(text, start, f"hand number {hand_number} is beyond {_MAX_HANDS - 1}")
    return Position(position), hand_number, end


def _check_deck(text: str, groups: list[tuple[Card, ...]], game: Game) -> None:
    cards = [card for group in groups for card in group]
    if len(set(cards)) == len(cards) and game.deck_set.issuperset(cards):
        return
    seen: set[Card] = set()
    for card in cards:
        card_text = CARD_TEXTS[card]
        if card in seen:
            raise FormatError(text, text.rfind(card_text), f"{card_text} is given twice")
        if card not in game.deck_set:
            raise FormatError(text, text.find(card_text), f"{card_text} is not in the game's deck")
        seen.add(card)


def betting_after(game: Game, betting: str) -> BettingState:
    """Return the state of the engine after the actions of a betting text.

    Raises:
        FormatError: the text breaks the format or the rules. `column` counts from the start of this text.
    """
    known = _known_bettings(game)
    state = known.get(betting)
    if state is None:
        # A dealer sends a hand line by line, each with one action more: read only the last action if the text before
        # it is known.
        last = len(betting.rstrip("/").rstrip("0123456789")) - 1
        before = None
        if last > 0:
            before = known.get(betting[:last])
        if before is None:
            state = _play_actions(betting, 0, betting_start(game))
        else:
            state = _play_actions(betting, last, before)
        if len(known) >= _MAX_BETTING_TEXTS:
            known.clear()
        known[betting] = state
    return state


@lru_cache(_MAX_FORMATTED_BETTINGS)
def betting_text(betting: BettingState) -> str:
    """Format the betting of a state, the inverse of `betting_after`."""
    rounds = []
    for actions in betting.rounds:
        rounds.append("".join([format_action(action) for _, action in actions]))
    return "/".join(rounds)


@lru_cache(maxsize=64)
def _known_bettings(game: Game) -> dict[str, BettingState]:
    """States by their texts, shared by all readers of the game."""
    # Blinds can put all players all-in. Such a hand starts in its last round, and its text with slashes.
    root = betting_start(game)
    return {"/" * root.round: root}


def _first_difference(text: str, expected: str) -> int:
    for index, (char, expected_char) in enumerate(zip(text, expected, strict=False)):
        if char != expected_char:
            return index
    return min(len(text), len(expected))


def _parse_number(text: str, start: int, subject: str) -> tuple[int, int]:
    """Read a number as a dealer writes it. Returns it and the index after its colon."""
    end = text.find(":", start)
    if end >= 0:
        digits = text[start:end]
    else:
        digits = text[start:]
    is_number = digits.isascii() and digits.isdigit()
    has_leading_zero = len(digits) > 1 and digits[0] == "0"
    if not is_number or has_leading_zero or len(digits) > 10:
        wrong = 0
        for index, char in enumerate(digits):
            if not "0" <= char <= "9":
                wrong = index
                break
        raise FormatError(text, start + wrong, f"{subject} must be a plain number")
    if end < 0:
        raise FormatError(text, len(text), f"{subject} must be followed by ':'")
    return int(digits), end + 1


def _play_actions(text: str, start: int, betting: BettingState) -> BettingState:
    """Apply the actions of a betting text from `start` to its end."""
    is_limit = betting.game.is_limit
    index = start
    while index < len(text):
        char = text[index]
        if char not in "fcr":
            raise FormatError(text, index, f"{char!r} is not an action (f, c or r)")
        action, end = scan_action(text, index, is_limit) or (None, index)
        # The scan is lenient about the size, so compare with the text that a dealer would write.
        if action is None or text[index:end] != format_action(action):
            raise FormatError(text, index + 1, "a no-limit raise needs its size, a plain number")
        try:
            after = betting.after(action)
        except IllegalAction as error:
            raise FormatError(text, index, str(error)) from None
        # More than one slash follows when all players are all-in and the remaining rounds have no betting.
        slashes = after.round - betting.round
        if text[end : end + slashes] != "/" * slashes:
            raise FormatError(text, end, "'/' must follow the last action of a round")
        betting = after
        index = end + slashes
    return betting


def _parse_hole_cards(text: str, start: int, game: Game) -> tuple[tuple[tuple[Card, ...], ...], int]:
    """Read the slots of all positions. Returns the cards and the index after the last slot."""
    holes: list[tuple[Card, ...]] = []
    index = start
    width = 2 * game.num_hole_cards
    for position in range(game.num_players):
        if position:
            if text[index : index + 1] != "|":
                raise FormatError(text, index, "'|' must separate the hole cards of two positions")
            index += 1
        is_empty = index >= len(text) or text[index] in "|/"
        is_last = position == game.num_players - 1
        if is_last and not is_empty and game.num_board_cards[0]:
            # Board cards of round 0 follow the last slot without a separator. Only the length of this run of cards
            # shows whether the slot is empty.
            run, _, _ = text[index:].partition("/")
            is_empty = len(run) == 2 * game.num_board_cards[0]
        if is_empty:
            holes.append(())
        else:
            holes.append(_parse_card_run(text, index, game.num_hole_cards))
            index += width
    return tuple(holes), index


def _parse_board(text: str, start: int, game: Game, first: int, last: int) -> tuple[tuple[Card, ...], ...]:
    """Read the cards added by rounds `first` to `last`, which must end the text."""
    board: list[tuple[Card, ...]] = []
    index = start
    for round_ in range(first, last + 1):
        if round_:
            if text[index : index + 1] != "/":
                raise FormatError(text, index, "'/' must precede the board cards of a round")
            index += 1
        board.append(_parse_card_run(text, index, game.num_board_cards[round_]))
        index += 2 * game.num_board_cards[round_]
    if index != len(text):
        raise FormatError(text, index, "nothing may follow the last board card of the round")
    return tuple(board)


def _parse_card_run(text: str, start: int, count: int) -> tuple[Card, ...]:
    cards: list[Card] = []
    for index in range(start, start + 2 * count, 2):
        card_text = text[index : index + 2]
        card = _CARD_BY_TEXT.get(card_text)
        if card is None:
            raise FormatError(text, index, f"{card_text!r} is not a card")
        cards.append(card)
    return tuple(cards)


def scan_match_state(text: str, game: Game) -> tuple[MatchState, int] | None:
    """Read the state at the start of a player's reply as leniently as the reference dealer.

    Numbers may have white space, signs and leading zeros, and wrap around. Slashes between rounds, the case of letters
    and bars between hole cards do not matter. The betting must be legal.

    Returns:
        The state and the index after it; None if the reference would report a badly formatted state.
    """
    if not text.startswith(HEADER):
        return None
    scanned = scan_unsigned(text, len(HEADER))
    if scanned is None:
        return None
    number, end = scanned
    position = wrap_uint8(number)
    if text[end : end + 1] != ":" or position >= game.num_players:
        return None
    scanned = scan_unsigned(text, end + 1)
    if scanned is None:
        return None
    number, end = scanned
    hand_number = wrap_uint32(number)
    if text[end : end + 1] != ":":
        return None
    scanned_betting = _scan_betting(text, end + 1, game)
    if scanned_betting is None:
        return None
    betting, end = scanned_betting
    # The betting may end with the text instead of a colon.
    scanned_holes = _scan_hole_cards(text, min(end + 1, len(text)), game)
    if scanned_holes is None:
        return None
    hole_cards, end = scanned_holes
    board: list[tuple[Card, ...]] = []
    for round_ in range(betting.round + 1):
        if round_ and text[end : end + 1] == "/":
            end += 1
        num_cards = game.num_board_cards[round_]
        cards, end = _scan_cards(text, end, num_cards)
        if len(cards) != num_cards:
            return None
        board.append(cards)
    rounds = tuple([tuple([action for _, action in actions]) for actions in betting.rounds])
    return MatchState(Position(position), hand_number, rounds, hole_cards, tuple(board)), end


def _scan_betting(text: str, start: int, game: Game) -> tuple[BettingState, int] | None:
    betting = betting_start(game)
    index = start
    while index < len(text) and text[index] != ":":
        if text[index] == "/":
            index += 1
            continue
        scanned = scan_action(text, index, game.is_limit)
        if scanned is None:
            return None
        action, end = scanned
        if action is None:
            return None
        try:
            betting = betting.after(action)
        except IllegalAction:
            return None
        index = end
    return betting, index


def _scan_hole_cards(text: str, start: int, game: Game) -> tuple[tuple[tuple[Card, ...], ...], int] | None:
    """Read cards slot by slot. Without bars they belong to the first positions."""
    holes: list[tuple[Card, ...]] = []
    index = start
    for position in range(game.num_players):
        if position and text[index : index + 1] == "|":
            index += 1
        cards, index = _scan_cards(text, index, game.num_hole_cards)
        if cards and len(cards) != game.num_hole_cards:
            return None
        holes.append(cards)
    return tuple(holes), index


def _scan_cards(text: str, start: int, max_cards: int) -> tuple[tuple[Card, ...], int]:
    cards: list[Card] = []
    index = start
    while len(cards) < max_cards:
        card = _CARD_BY_ANY_CASE.get(text[index : index + 2])
        if card is None:
            break
        cards.append(card)
        index += 2
    return tuple(cards), index


_LEGACY_TOKEN = re.compile(r"([bcrf])([0-9]{0,18})")


def parse_legacy_state(text: str) -> tuple[MatchState, tuple[int, ...]]:
    """Read a state in the form used before protocol 2.0.0, with or without ``MATCHSTATE:`` in front.

    The betting of this form contains the blinds, and each call its amount::

        0:13:b1b2r6r18r30c30/r32r96:Ks2d|/5s2s6h

    All amounts are totals of the acting player for the hand, in chips: ``b1`` posts 1, ``r18`` raises to 18, ``c30``
    calls to a total of 30. Blinds and the amounts of calls are left out of the result.

    Returns:
        The state in today's form, and the blinds in the order in which they were posted, in chips.

    Raises:
        FormatError: the text is not such a state. `column` is the first wrong byte.
    """
    offset = 0
    if text.startswith(HEADER):
        offset = len(HEADER)
    fields = text[offset:].split(":")
    if len(fields) != 4:
        raise FormatError(text, offset, f"a state has 4 fields separated by ':', this has {len(fields)}")
    starts = [offset]
    for field in fields[:-1]:
        starts.append(starts[-1] + len(field) + 1)
    for number, start in zip(fields[:2], starts, strict=False):
        if not (number.isascii() and number.isdigit() and len(number) <= 18):
            raise FormatError(text, start, f"{quoted(number, 20)} is not a number")
    position_text, hand_text, betting_text, cards_text = fields
    blinds, rounds = _parse_legacy_betting(text, betting_text, starts[2])
    hole_text, *board_texts = cards_text.split("/")
    try:
        hole_cards = tuple([parse_cards(hole) for hole in hole_text.split("|")])
        # Games of that time had no board cards in round 0.
        board = ((), *[parse_cards(cards) for cards in board_texts])
    except CardError as error:
        raise FormatError(text, starts[3], str(error)) from None
    return MatchState(Position(int(position_text)), int(hand_text), rounds, hole_cards, board), blinds


def _parse_legacy_betting(text: str, betting: str, start: int) -> tuple[tuple[int, ...], Rounds]:
    """Read the betting of a legacy state. Returns the blinds and the actions.

    Args:
        text: the whole state, for errors.
        start: index of the betting in the state.
    """
    blinds: list[int] = []
    rounds: list[tuple[Action, ...]] = []
    for round_text in betting.split("/"):
        actions: list[Action] = []
        index = 0
        while index < len(round_text):
            match = _LEGACY_TOKEN.match(round_text, index)
            if match is None:
                raise FormatError(text, start + index, f"{round_text[index]!r} is not an action (b, c, r or f)")
            letter, amount = match.groups()
            if letter == "b":
                if actions or rounds or not amount:
                    raise FormatError(text, start + index, "blinds come first, each with its amount")
                blinds.append(int(amount))
            elif letter == "r":
                actions.append(raise_to(int(amount or 0)))
            elif letter == "c":
                actions.append(CALL)
            else:
                actions.append(FOLD)
            index = match.end()
        rounds.append(tuple(actions))
        start += len(round_text) + 1
    return tuple(blinds), tuple(rounds)
