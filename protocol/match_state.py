"""Match states: the dealer's lines to a player, ``MATCHSTATE:0:7:cr300:AhKs|``.

Two readers, one writer. `parse_match_state` is strict and is the exact inverse of `MatchState.format` on everything a
dealer sends; it names the first wrong byte. `scan_match_state` reads what a *player* echoes in its reply as leniently
as the reference server does: numbers may carry blanks, signs and zeros and wrap around, slashes in the betting do not
matter, case does not matter, bars between hole cards may be missing.

Grammar (ACPC protocol 2.0.0)::

    state   = "MATCHSTATE:" position ":" hand ":" betting ":" cards
    betting = round *( "/" round )        actions of each round; a round appears as soon as it is reached
    cards   = hole *( "|" hole ) board    one slot per position, empty where unseen
    board   = cards0 *( "/" cards )       the cards of round 0 follow the last slot without a slash

`parse_legacy_state` reads the older text form, with blinds and call amounts in the betting, which servers before
protocol 2.0.0 wrote and logs of those years hold::

    0:13:b1b2r6r18r30c30/r32r96:Ks2d|/5s2s6h

Every amount is the acting player's total for the hand in chips: ``b1`` posts 1, ``r18`` raises to 18, ``c30`` calls up
to 30. Reading drops the blinds from the actions and the amounts from calls, which gives the same `MatchState` as
today's form.
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
    parse_cards,
    raise_to,
)
from engine.errors import quoted
from protocol.actions import format_action, scan_action
from protocol.errors import FormatError
from protocol.numbers import scan_unsigned, wrap_uint8, wrap_uint32

HEADER = "MATCHSTATE:"
_MOST_TEXTS = 1 << 14
_MAX_STATES = 1 << 13
_MOST_PIECES = 1 << 8
_MOST_HANDS = 2**32
_make = tuple.__new__
"""Makes a named tuple without its checks, for states that nearly all say what is known."""
Rounds: TypeAlias = tuple[tuple[Action, ...], ...]
_CARD_OF_TEXT = {text: card for card, text in enumerate(CARD_TEXTS)}
_CARD_OF_ANY_CASE = {
    variant: card
    for text, card in _CARD_OF_TEXT.items()
    for variant in (text, text.lower(), text.upper(), text.swapcase())
}


class MatchState(NamedTuple):
    """A hand as one player sees it.

    Attributes:
        position: the player's position in this hand.
        hand_number: 0-based number of the hand in the match.
        rounds: the actions of each round reached.
        hole_cards: by position; empty where this player does not see them.
        board: the cards each reached round has added.
    """

    position: Position
    hand_number: int
    rounds: Rounds
    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[tuple[Card, ...], ...]

    def format(self) -> str:
        """The state as the dealer writes it, without the line end."""
        cards = format_hole_cards(self.hole_cards) + format_board(self.board)
        return f"{HEADER}{self.position}:{self.hand_number}:{format_betting(self.rounds)}:{cards}"


def format_betting(rounds: Rounds) -> str:
    """Actions joined, rounds separated by slashes: ``cr300/``."""
    return "/".join(["".join(map(format_action, actions)) for actions in rounds])


def format_hole_cards(hole_cards: tuple[tuple[Card, ...], ...]) -> str:
    """Hole cards by position, separated by bars."""
    return "|".join(["".join([CARD_TEXTS[card] for card in cards]) for cards in hole_cards])


def format_board(board: tuple[tuple[Card, ...], ...]) -> str:
    """The board, rounds separated by slashes; nothing precedes the cards of round 0."""
    return "/".join(["".join([CARD_TEXTS[card] for card in cards]) for cards in board])


class SeenHand(NamedTuple):
    """A `MatchState` in the pieces that a reader has of it; `betting`: its betting, played by the rules."""

    position: Position
    hand_number: int
    betting: BettingState
    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[tuple[Card, ...], ...]

    @property
    def state(self) -> MatchState:
        """The same as a value."""
        rounds = tuple([tuple([action for _, action in actions]) for actions in self.betting.rounds])
        return MatchState(self.position, self.hand_number, rounds, self.hole_cards, self.board)


def parse_match_state(text: str, game: Game) -> MatchState:
    """Read a state exactly as a dealer writes it, without the line end.

    Raises:
        FormatError: it is not a state of this game; `column` is the first wrong byte.
    """
    return StateReader(game).read(text).state


class _Cards(NamedTuple):
    """What is on a table in a round, as far as one position sees it."""

    round: int
    hole_cards: tuple[tuple[Card, ...], ...]
    board: tuple[tuple[Card, ...], ...]


class StateReader:
    """Reads the states that a dealer sends to one player, for whom they say little that is new.

    A dealer sends a hand line by line, each with one piece changed: what a piece says is remembered by its text.
    """

    __slots__ = ("_bettings", "_cards", "_game", "_hand_number", "_head", "_position")

    def __init__(self, game: Game) -> None:
        self._game = game
        self._bettings = _remembered_texts(game)
        self._head: str | None = None
        """What the states of the present hand begin with."""
        self._position = Position(0)
        self._hand_number = 0
        self._cards: dict[str, _Cards] = {}
        """Of the present hand."""

    def read(self, text: str) -> SeenHand:
        """`parse_match_state`, before anything is made of what was read."""
        before, _, cards_text = text.rpartition(":")
        head, _, betting_text = before.rpartition(":")
        if head != self._head:
            betting_text, cards_text = self._begin_hand(text)
        betting = self._bettings.get(betting_text)
        cards = self._cards.get(cards_text)
        if betting is None or cards is None or betting.round != cards[0]:
            betting, cards = self._read_pieces(text, betting_text, cards_text)
        return _make(SeenHand, (self._position, self._hand_number, betting, cards[1], cards[2]))

    def _begin_hand(self, text: str) -> tuple[str, str]:
        """Read what the states of a hand begin with; returns the other pieces of this one."""
        position, hand_number, start = _read_head(text, self._game.num_players)
        betting_text, is_ended, cards_text = text[start:].partition(":")
        if not is_ended:
            raise FormatError(text, len(text), "the betting must end with ':'")
        self._head = text[: start - 1]
        self._position = position
        self._hand_number = hand_number
        self._cards = {}
        return betting_text, cards_text

    def _read_pieces(self, text: str, betting_text: str, cards_text: str) -> tuple[BettingState, _Cards]:
        """Read pieces of which one has not been seen in this hand, or does not fit the other."""
        column = len(text) - len(cards_text) - len(betting_text) - 1
        try:
            betting = betting_after(self._game, betting_text)
            column = len(text) - len(cards_text)
            return betting, self._read_cards(cards_text, betting.round)
        except FormatError as error:
            raise FormatError(text, column + error.column, error.problem) from None

    def _read_cards(self, text: str, round_: int) -> _Cards:
        """The hole cards and the board in a round: mostly those of the round before, and some more."""
        game = self._game
        end = text.rfind("/")
        before = self._cards.get(text[:end]) if end >= 0 else None
        if before is not None and before.round == round_ - 1:
            hole_cards = before.hole_cards
            board = (*before.board, *_parse_board(text, end, game, round_, round_))
        else:
            hole_cards, at = _parse_hole_cards(text, 0, game)
            board = _parse_board(text, at, game, 0, round_)
            if not hole_cards[self._position]:
                raise FormatError(text, 0, f"the player's own cards, those of position {self._position}, are missing")
        _check_deck(text, [*hole_cards, *board], game)
        if len(self._cards) >= _MOST_PIECES:
            self._cards.clear()
        cards = self._cards[text] = _make(_Cards, (round_, hole_cards, board))
        return cards


def _read_head(text: str, players: int) -> tuple[Position, int, int]:
    """The position and the hand number at the start of a state, and the index of its betting."""
    if not text.startswith(HEADER):
        raise FormatError(text, _first_difference(text, HEADER), f"a state begins with {HEADER!r}")
    position, start = _parse_number(text, len(HEADER), "the position")
    if position >= players:
        raise FormatError(text, len(HEADER), f"position {position} in a game of {players} players")
    hand_number, end = _parse_number(text, start, "the hand number")
    if hand_number >= _MOST_HANDS:
        raise FormatError(text, start, f"hand number {hand_number} is beyond {_MOST_HANDS - 1}")
    return Position(position), hand_number, end


def _check_deck(text: str, runs: list[tuple[Card, ...]], game: Game) -> None:
    cards = [card for run in runs for card in run]
    if len(set(cards)) == len(cards) and game.deck_set.issuperset(cards):
        return
    seen: set[Card] = set()
    for card in cards:
        if card in seen or card not in game.deck_set:
            problem = "is given twice" if card in seen else "is not in the game's deck"
            at = text.rfind(CARD_TEXTS[card]) if card in seen else text.find(CARD_TEXTS[card])
            raise FormatError(text, at, f"{CARD_TEXTS[card]} {problem}")
        seen.add(card)


def betting_after(game: Game, betting: str) -> BettingState:
    """The betting state that a betting text of a dealer describes.

    A dealer sends a hand line by line, each with one action more than the line before: so a text is read as the
    remembered text without its last action, and that action.

    Raises:
        FormatError: the text breaks the format or the rules; `column` counts from its start.
    """
    texts = _remembered_texts(game)
    state = texts.get(betting)
    if state is None:
        last = len(betting.rstrip("/").rstrip("0123456789")) - 1
        before = texts.get(betting[:last]) if last > 0 else None
        state = _walk(betting, 0, betting_start(game)) if before is None else _walk(betting, last, before)
        if len(texts) >= _MOST_TEXTS:
            texts.clear()
        texts[betting] = state
    return state


@lru_cache(_MAX_STATES)
def betting_text(betting: BettingState) -> str:
    """Format a betting state, ``cr300/``: the inverse of `betting_after`."""
    rounds = []
    for actions in betting.rounds:
        rounds.append("".join([format_action(action) for _, action in actions]))
    return "/".join(rounds)


@lru_cache(maxsize=64)
def _remembered_texts(game: Game) -> dict[str, BettingState]:
    root = betting_start(game)
    return {"/" * root.round: root}


def _first_difference(text: str, wanted: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(text, wanted, strict=False)) if a != b), min(len(text), len(wanted)))


def _parse_number(text: str, start: int, what: str) -> tuple[int, int]:
    end = text.find(":", start)
    digits = text[start : end if end >= 0 else len(text)]
    if not (digits.isascii() and digits.isdigit()) or (digits[0] == "0" and len(digits) > 1) or len(digits) > 10:
        wrong = next((i for i, char in enumerate(digits) if not "0" <= char <= "9"), 0)
        raise FormatError(text, start + wrong, f"{what} must be a plain number")
    if end < 0:
        raise FormatError(text, len(text), f"{what} must be followed by ':'")
    return int(digits), end + 1


def _walk(text: str, at: int, betting: BettingState) -> BettingState:
    is_limit = betting.game.is_limit
    while at < len(text):
        char = text[at]
        if char not in "fcr":
            raise FormatError(text, at, f"{char!r} is not an action: f, c or r")
        action, behind = scan_action(text, at, is_limit) or (None, at)
        if action is None or text[at:behind] != format_action(action):
            raise FormatError(text, at + 1, "a no-limit raise needs its size, a plain number")
        try:
            after = betting.after(action)
        except IllegalAction as error:
            raise FormatError(text, at, str(error)) from None
        slashes = after.round - betting.round
        if text[behind : behind + slashes] != "/" * slashes:
            raise FormatError(text, behind, "the round is over: '/' must follow")
        betting = after
        at = behind + slashes
    return betting


def _parse_hole_cards(text: str, start: int, game: Game) -> tuple[tuple[tuple[Card, ...], ...], int]:
    holes: list[tuple[Card, ...]] = []
    at = start
    width = 2 * game.num_hole_cards
    for position in range(game.num_players):
        if position:
            if text[at : at + 1] != "|":
                raise FormatError(text, at, "'|' must separate the hole cards of two positions")
            at += 1
        is_empty = at >= len(text) or text[at] in "|/"
        if not is_empty and position == game.num_players - 1 and game.num_board_cards[0]:
            # Board cards of round 0 follow the last slot without a mark: only the length shows whether it is empty.
            run = len(text[at:].split("/", maxsplit=1)[0])
            is_empty = run == 2 * game.num_board_cards[0]
        if is_empty:
            holes.append(())
        else:
            holes.append(_parse_card_run(text, at, game.num_hole_cards))
            at += width
    return tuple(holes), at


def _parse_board(text: str, start: int, game: Game, first: int, last: int) -> tuple[tuple[Card, ...], ...]:
    """The cards that the rounds from the first to the last have added, to the end of the text."""
    board: list[tuple[Card, ...]] = []
    at = start
    for i in range(first, last + 1):
        if i:
            if text[at : at + 1] != "/":
                raise FormatError(text, at, "'/' must precede the board cards of a round")
            at += 1
        board.append(_parse_card_run(text, at, game.num_board_cards[i]))
        at += 2 * game.num_board_cards[i]
    if at != len(text):
        raise FormatError(text, at, "nothing may follow the last board card of the round")
    return tuple(board)


def _parse_card_run(text: str, start: int, count: int) -> tuple[Card, ...]:
    places = range(start, start + 2 * count, 2)
    try:
        return tuple([_CARD_OF_TEXT[text[at : at + 2]] for at in places])
    except KeyError:
        at = next(at for at in places if text[at : at + 2] not in _CARD_OF_TEXT)
        raise FormatError(text, at, f"{text[at : at + 2]!r} is not a card") from None


def scan_match_state(text: str, game: Game) -> tuple[MatchState, int] | None:
    """Read the state at the start of a player's reply as leniently as the reference, and the index after it.

    Hole cards of positions are assigned in the order given; the betting must be legal action by action.
    None where the reference would call the state badly formatted.
    """
    if not text.startswith(HEADER):
        return None
    scanned = scan_unsigned(text, len(HEADER))
    if scanned is None or text[scanned[1] : scanned[1] + 1] != ":":
        return None
    position = wrap_uint8(scanned[0])
    scanned = scan_unsigned(text, scanned[1] + 1)
    if scanned is None or position >= game.num_players or text[scanned[1] : scanned[1] + 1] != ":":
        return None
    hand_number = wrap_uint32(scanned[0])
    walked = _scan_betting(text, scanned[1] + 1, game)
    if walked is None:
        return None
    betting, at = walked
    holes = _scan_hole_cards(text, min(at + 1, len(text)), game)
    if holes is None:
        return None
    hole_cards, at = holes
    board: list[tuple[Card, ...]] = []
    for i in range(betting.round + 1):
        if i and text[at : at + 1] == "/":
            at += 1
        cards, at = _scan_cards(text, at, game.num_board_cards[i])
        if len(cards) != game.num_board_cards[i]:
            return None
        board.append(cards)
    rounds = tuple(tuple(action for _, action in actions) for actions in betting.rounds)
    return MatchState(Position(position), hand_number, rounds, hole_cards, tuple(board)), at


def _scan_betting(text: str, start: int, game: Game) -> tuple[BettingState, int] | None:
    betting = betting_start(game)
    at = start
    while at < len(text) and text[at] != ":":
        if text[at] == "/":
            at += 1
            continue
        scanned = scan_action(text, at, game.is_limit)
        if scanned is None or scanned[0] is None:
            return None
        try:
            betting = betting.after(scanned[0])
        except IllegalAction:
            return None
        at = scanned[1]
    return betting, at


def _scan_hole_cards(text: str, start: int, game: Game) -> tuple[tuple[tuple[Card, ...], ...], int] | None:
    holes: list[tuple[Card, ...]] = []
    at = start
    for position in range(game.num_players):
        if position and text[at : at + 1] == "|":
            at += 1
        cards, at = _scan_cards(text, at, game.num_hole_cards)
        if cards and len(cards) != game.num_hole_cards:
            return None
        holes.append(cards)
    return tuple(holes), at


def _scan_cards(text: str, start: int, most: int) -> tuple[tuple[Card, ...], int]:
    cards: list[Card] = []
    at = start
    while len(cards) < most:
        card = _CARD_OF_ANY_CASE.get(text[at : at + 2])
        if card is None:
            break
        cards.append(card)
        at += 2
    return tuple(cards), at


_LEGACY_TOKEN = re.compile(r"([bcrf])([0-9]{0,18})")


def parse_legacy_state(text: str) -> tuple[MatchState, tuple[int, ...]]:
    """Read a state in the older form, with or without ``MATCHSTATE:`` before it.

    Returns:
        the state in today's form, and the blinds in the order they were posted, in chips.

    Raises:
        FormatError: it is not such a state; `column` is the first wrong byte.
    """
    offset = len(HEADER) if text.startswith(HEADER) else 0
    fields = text[offset:].split(":")
    if len(fields) != 4:
        raise FormatError(text, offset, f"a state has 4 fields separated by ':', this has {len(fields)}")
    starts = [offset]
    for field in fields[:-1]:
        starts.append(starts[-1] + len(field) + 1)
    for number, start in zip(fields[:2], starts, strict=False):
        if not (number.isascii() and number.isdigit() and len(number) <= 18):
            raise FormatError(text, start, f"{quoted(number, 20)} is not a number")
    blinds, rounds = _parse_legacy_betting(text, fields[2], starts[2])
    hole_text, *board_texts = fields[3].split("/")
    try:
        hole_cards = tuple(parse_cards(hole) for hole in hole_text.split("|"))
        board = ((), *(parse_cards(cards) for cards in board_texts))
    except CardError as error:
        raise FormatError(text, starts[3], str(error)) from None
    return MatchState(Position(int(fields[0])), int(fields[1]), rounds, hole_cards, board), blinds


def _parse_legacy_betting(
    text: str, betting: str, start: int
) -> tuple[tuple[int, ...], tuple[tuple[Action, ...], ...]]:
    blinds: list[int] = []
    rounds: list[tuple[Action, ...]] = []
    for round_text in betting.split("/"):
        actions: list[Action] = []
        at = 0
        while at < len(round_text):
            match = _LEGACY_TOKEN.match(round_text, at)
            if match is None:
                raise FormatError(text, start + at, f"{round_text[at]!r} is not an action: b, c, r or f")
            letter, amount = match.groups()
            if letter == "b":
                if actions or rounds or not amount:
                    raise FormatError(text, start + at, "blinds come first, each with its amount")
                blinds.append(int(amount))
            elif letter == "r":
                actions.append(raise_to(int(amount or 0)))
            else:
                actions.append(CALL if letter == "c" else FOLD)
            at = match.end()
        rounds.append(tuple(actions))
        start += len(round_text) + 1
    return tuple(blinds), tuple(rounds)
