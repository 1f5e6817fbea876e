"""Parse STATE lines, each a finished hand, and check them against the rules.

    STATE:0:crc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:Ann|Bob

A line is accepted only if all of it agrees with the game: the betting is legal and over, every card is in the deck and
occurs once, the values are those of the rules. Lines of older and other servers may have

- betting with blinds and amounts, ``b50b100r300c300/`` (see `protocol.match_state`);
- the names first, without ``STATE``, ``Ann|Bob:0:crc/...:cards:values``;
- the time behind the names, `` # 1479132064.35509``;
- no hole cards for a position that never had to show any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from engine import CALL, CARD_TEXTS, FOLD, RAISE, Action, BettingState, Card, Deal, Game, IllegalAction, betting_start
from engine.betting_rules import ActionKind
from engine.hand import hand_values
from engine.text import count_of
from logs.acpc_log.writer import format_value
from protocol import FormatError
from protocol.match_state import betting_after, parse_legacy_state

_MAX_TEXTS: Final = 1 << 13
"""Entries of each cache of values, names and raises."""
_MAX_CACHED_CHARACTERS: Final = 1 << 18
"""Characters of all betting texts in the caches."""
_MAX_SEEN: Final = 1 << 16
"""Hashes of betting texts that have occurred once."""
_MAX_HAND_NUMBER: Final = 2**32 - 1
# Logs print six decimals.
_TOLERANCE_CHIPS: Final = 1e-6
_SCORE_TOLERANCE_CHIPS: Final = 1e-3
# Makes a named tuple without its checks, in the inner loop of reading.
_make: Final = tuple.__new__
_CARD_OF_TEXT: Final = {text: card for card, text in enumerate(CARD_TEXTS)}
_TOKENS: Final = re.compile(r"r[1-9][0-9]{0,9}|.", re.DOTALL)
NUMBER: Final = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)
_NUMBERS: Final = re.compile(rf"{NUMBER.pattern}(\|{NUMBER.pattern})*", re.ASCII)
_TIME_REMARK: Final = re.compile(r" # [0-9]{9,}(\.[0-9]+)?$", re.ASCII)
_T = TypeVar("_T")


class StateLine(NamedTuple):
    """Content of a line: a finished hand, with values and names by position."""

    hand_number: int
    betting: BettingState
    deal: Deal
    values: tuple[float, ...]
    names: tuple[str, ...]


class _HoleCards(dict[str, tuple[Card, ...]]):
    """Hole cards by their text, added when they first occur; empty for an empty text."""

    def __init__(self, num_hole_cards: int) -> None:
        super().__init__()
        self._width = 2 * num_hole_cards

    def __missing__(self, text: str) -> tuple[Card, ...]:
        if len(text) != self._width and text:
            raise KeyError(text)
        cards = tuple([_CARD_OF_TEXT[text[start : start + 2]] for start in range(0, len(text), 2)])
        self[text] = cards
        return cards


class _Actions(dict[str, Action]):
    """Actions by their text; raises of a size are added when they first occur."""

    def __init__(self, game: Game) -> None:
        self._plain = {"f": FOLD, "c": CALL}
        if game.is_limit:
            self._plain["r"] = RAISE
        super().__init__(self._plain)

    def __missing__(self, text: str) -> Action:
        if len(text) < 2:
            raise KeyError(text)
        if len(self) >= _MAX_TEXTS:
            self.clear()
            self.update(self._plain)
        action = _make(Action, (ActionKind.RAISE, int(text[1:])))
        self[text] = action
        return action


class StateLines:
    """Reader of the STATE lines of a game.

    Hands of one game repeat their betting, values and names, so these are cached by their texts.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._root = betting_start(game)
        self._hole_cards = _HoleCards(game.num_hole_cards)
        self._deck = game.deck_set
        self._first_board = 2 * game.num_board_cards[0]
        self._hole_total = game.num_players * game.num_hole_cards
        # By the last round dealt, the number of characters of each board behind a slash.
        self._board_lengths: list[list[int]] = []
        for round_ in range(game.num_rounds):
            self._board_lengths.append([2 * count for count in game.num_board_cards[1 : round_ + 1]])
        self._actions = _Actions(game)
        self._cached_characters = 0
        # In no-limit games, and in others once the cache has been full, a betting text is cached only when it occurs
        # for the second time. Most of these texts never occur again: caching them saves nothing and costs time in the
        # garbage collector. The set has the hashes of texts that have occurred once; None caches every text.
        self._seen: set[int] | None = None
        if not game.is_limit:
            self._seen = set()
        # By betting text, the final state, and the values if they do not depend on the cards.
        self._ends: dict[str, tuple[BettingState, tuple[float, ...] | None]] = {}
        # States at the start of a later round, by the betting text including its last slash.
        self._starts: dict[str, BettingState] = {}
        self._values: dict[str, tuple[float, ...]] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def read(self, line: str) -> StateLine:
        """Parse a line, with or without its end.

        Raises:
            FormatError: it is not a finished hand of this game; `column` is that of the first wrong character.
        """
        fields = line.split(":")
        if len(fields) != 6 or fields[0] != "STATE":
            return self._read_unusual(line, fields)
        _, number, betting_text, _, values_text, names_text = fields
        if not (number.isascii() and number.isdigit()) or int(number) > _MAX_HAND_NUMBER:
            raise FormatError(line, _start(fields, 1), f"{number[:20]!r} is not a hand number")
        end = self._ends.get(betting_text)
        if end is None:
            end = self._learn_betting(line, fields)
        betting, values = end
        deal = self._read_cards(line, fields, betting)
        if values is None:
            values = tuple(hand_values(betting, deal))
        written = self._values.get(values_text)
        if written is None:
            written = self._learn_values(line, fields)
        if written != values:
            _check_close(line, fields, written, values)
        names = self._names.get(names_text)
        if names is None:
            names = self._learn_names(line, fields)
        return _make(StateLine, (int(number), betting, deal, values, names))

    def _read_unusual(self, line: str, fields: list[str]) -> StateLine:
        """Parse a line that does not have today's six fields, which is valid if it has the names first."""
        if len(fields) == 5 and fields[0] != "STATE" and fields[0].count("|") + 1 == self._game.num_players:
            return self._read_names_first(line, fields[0])
        if fields[0] != "STATE":
            raise FormatError(line, 0, "the line is neither a hand ('STATE:'), a score ('SCORE:') nor a remark ('#')")
        second = line.find("STATE:", 1)
        if second > 0:
            raise FormatError(line, second, "another hand begins, so the end of the first is missing")
        if len(fields) > 6:
            raise FormatError(line, _start(fields, 5), "a name contains ':', so that the names cannot be separated")
        raise FormatError(line, len(line.rstrip("\r\n")), f"the line ends after {len(fields)} of its 6 fields")

    def _read_names_first(self, line: str, names: str) -> StateLine:
        rest = line[len(names) + 1 :].rstrip("\r\n")
        try:
            return self.read(f"STATE:{rest}:{names}")
        except FormatError as error:
            # The column of an error in the names, which are last in the text parsed, is that of the line's start.
            column = 0
            if error.column <= len("STATE:") + len(rest):
                column = error.column - len("STATE:") + len(names) + 1
            raise FormatError(line, column, error.problem) from None

    def _learn_betting(self, line: str, fields: list[str]) -> tuple[BettingState, tuple[float, ...] | None]:
        text = fields[2]
        try:
            if text.startswith("b"):
                betting = self._walk_legacy(text)
            else:
                betting = self._walk_whole(text)
        except FormatError as error:
            raise FormatError(line, _start(fields, 2) + error.column, error.problem) from None
        if not betting.finished:
            raise FormatError(line, _start(fields, 2) + len(text), "the betting stops before the hand is over")
        values: tuple[float, ...] | None = None
        if not betting.is_showdown:
            values = tuple(hand_values(betting, Deal((), ())))
        if self._admit_to_cache(text):
            self._ends[text] = betting, values
        return betting, values

    def _admit_to_cache(self, text: str) -> bool:
        """Count a betting text; return whether it should be added to a cache."""
        seen = self._seen
        if seen is not None:
            key = hash(text)
            if key not in seen:
                if len(seen) >= _MAX_SEEN:
                    seen.clear()
                seen.add(key)
                return False
        self._cached_characters += len(text)
        return True

    def _walk_whole(self, text: str) -> BettingState:
        if self._cached_characters > _MAX_CACHED_CHARACTERS:
            self._ends.clear()
            self._starts.clear()
            self._cached_characters = 0
            self._seen = self._seen or set()
        betting = self._walk(text)
        if betting is None or not betting.finished or text.count("/") != betting.round:
            # The strict parser raises an error that names what is wrong.
            return betting_after(self._game, text)
        return betting

    def _walk(self, text: str) -> BettingState | None:
        """Return the state after a betting text; None if it breaks the rules. Slashes at its end are not checked."""
        action_of_text = self._actions
        starts = self._starts
        is_limit = self._game.is_limit
        # Begin in the last round that is cached, as many hands share their first rounds.
        betting: BettingState | None = None
        slash = len(text)
        while betting is None:
            cached_end = text.rfind("/", 0, slash) + 1
            betting = starts.get(text[:cached_end]) if cached_end else self._root
            slash = cached_end - 1
        start = cached_end
        for round_, part in enumerate(text[start:].split("/"), text.count("/", 0, start)):
            if start > cached_end:
                before = text[:start]
                if self._admit_to_cache(before):
                    starts[before] = betting
            start += len(part) + 1
            if not part:
                continue
            if betting.round != round_:
                return None
            try:
                tokens = part if is_limit else _TOKENS.findall(part)
                actions = [action_of_text[token] for token in tokens]
            except KeyError:
                return None
            after = betting.after_many(actions)
            if after is None:
                return None
            betting = after
        return betting

    def _walk_legacy(self, text: str) -> BettingState:
        """Return the state after an older betting text, which contains blinds, and amounts after calls."""
        before = "0:0:"
        try:
            older, blinds = parse_legacy_state(f"{before}{text}:")
        except FormatError as error:
            raise FormatError(text, error.column - len(before), error.problem) from None
        posted = sorted(blind for blind in blinds if blind)
        if posted != sorted(blind for blind in self._game.blinds if blind):
            raise FormatError(text, 0, f"the blinds are {blinds}, those of the game are {self._game.blinds}")
        betting = self._root
        for round_, actions in enumerate(older.rounds):
            for action in actions:
                try:
                    if betting.round != round_:
                        raise FormatError(text, 0, f"round {round_ + 1} has actions, but it is not reached")
                    betting = betting.after(action)
                except IllegalAction as error:
                    raise FormatError(text, 0, error.fact) from None
        if betting.finished and len(older.rounds) != betting.round + 1:
            problem = f"{len(older.rounds)} rounds of betting where there are {betting.round + 1}"
            raise FormatError(text, 0, problem)
        return betting

    def _read_cards(self, line: str, fields: list[str], betting: BettingState) -> Deal:
        """Parse the cards, each of the deck at most once."""
        hole_cards = self._hole_cards
        hole_text, *boards = fields[3].split("/")
        round_ = betting.round
        board_text = "".join(boards)
        hole_texts = hole_text.split("|")
        if self._first_board:
            hole_texts[-1], first_board = self._split_last_hole(hole_texts[-1])
            board_text = first_board + board_text
        try:
            holes = tuple([hole_cards[text] for text in hole_texts])
            board = tuple([_CARD_OF_TEXT[board_text[start : start + 2]] for start in range(0, len(board_text), 2)])
        except KeyError:
            raise self._card_error(line, fields, betting) from None
        cards = set(board).union(*holes)
        if (
            len(holes) != self._game.num_players
            or list(map(len, boards)) != self._board_lengths[round_]
            or len(board) != self._game.board_cards_by_round[round_]
            or not cards <= self._deck
            or (len(cards) != self._hole_total + len(board) and not self._is_complete(holes, board, cards, betting))
        ):
            raise self._card_error(line, fields, betting)
        return _make(Deal, (holes, board))

    def _split_last_hole(self, text: str) -> tuple[str, str]:
        """Split the last hole cards from the board cards of round 0, which follow them without a separator."""
        cut = len(text) - self._first_board
        if cut >= 0:
            return (text[:cut], text[cut:])
        return (text, "")

    def _is_complete(
        self, holes: tuple[tuple[Card, ...], ...], board: tuple[Card, ...], cards: set[Card], betting: BettingState
    ) -> bool:
        """Return whether no card occurs twice, and no hole cards are missing that had to be shown."""
        for position, hole in enumerate(holes):
            if betting.is_showdown and not hole and not betting.folded >> position & 1:
                return False
        return len(cards) == sum(map(len, holes)) + len(board)

    def _card_error(self, line: str, fields: list[str], betting: BettingState) -> FormatError:
        """Return the error of the first wrong card or group of cards."""
        game = self._game
        start = _start(fields, 3)
        hole_text, *boards = fields[3].split("/")
        hole_texts = hole_text.split("|")
        if len(hole_texts) != game.num_players:
            return FormatError(line, start, f"hole cards of {len(hole_texts)} players in a game of {game.num_players}")
        # Text, number of characters and name of each group of cards.
        groups = [(text, 2 * game.num_hole_cards, "hole cards") for text in hole_texts]
        if self._first_board:
            last, first_board = self._split_last_hole(hole_texts[-1])
            groups[-1] = last + first_board, 2 * game.num_hole_cards + self._first_board, "hole and board cards"
        if len(boards) != betting.round:
            problem = f"board cards of {len(boards)} rounds after {betting.round} rounds of betting"
            return FormatError(line, start + len(fields[3]), problem)
        for board, length in zip(boards, self._board_lengths[betting.round], strict=True):
            groups.append((board, length, "board cards"))
        column = start
        seen: set[Card] = set()
        for index, (text, length, noun) in enumerate(groups):
            if len(text) != length and (text or noun != "hole cards"):
                return FormatError(line, column, f"{text[:20]!r} are not {length // 2} {noun}")
            if not text and betting.is_showdown and not betting.folded >> index & 1:
                return FormatError(line, column, f"position {index} has no hole cards, but came to the showdown")
            for offset in range(0, len(text), 2):
                card_text = text[offset : offset + 2]
                card = _CARD_OF_TEXT.get(card_text)
                if card is None:
                    return FormatError(line, column + offset, f"{card_text!r} is not a card")
                if card in seen:
                    return FormatError(line, column + offset, f"{card_text} occurs twice")
                if card not in self._deck:
                    return FormatError(line, column + offset, f"{card_text} is not in the game's deck")
                seen.add(card)
            column += len(text) + 1
        return FormatError(line, start, "the cards cannot be read")

    def _learn_values(self, line: str, fields: list[str]) -> tuple[float, ...]:
        column = _start(fields, 4)
        texts = fields[4].split("|")
        if len(texts) != self._game.num_players:
            values_text = count_of(len(texts), "value")
            raise FormatError(line, column, f"{values_text} in a game of {self._game.num_players} players")
        if not _NUMBERS.fullmatch(fields[4]):
            for text in texts:
                if not NUMBER.fullmatch(text):
                    raise FormatError(line, column, f"{text[:20]!r} is not a number of chips")
                column += len(text) + 1
        values = tuple(map(float, texts))
        _add_to_cache(self._values, fields[4], values)
        return values

    def _learn_names(self, line: str, fields: list[str]) -> tuple[str, ...]:
        text = _TIME_REMARK.sub("", fields[5].rstrip("\r\n"))
        names = tuple(text.split("|"))
        if len(names) != self._game.num_players:
            names_text = count_of(len(names), "name")
            column = line.rfind(fields[5])
            raise FormatError(line, column, f"{names_text} in a game of {self._game.num_players} players")
        _add_to_cache(self._names, fields[5], names)
        return names


def _add_to_cache(cache: dict[str, _T], text: str, value: _T) -> None:
    if len(cache) >= _MAX_TEXTS:
        cache.clear()
    cache[text] = value


def _start(fields: list[str], index: int) -> int:
    """Return the column at which a field starts."""
    return sum(map(len, fields[:index])) + index


def _check_close(line: str, fields: list[str], written: tuple[float, ...], values: tuple[float, ...]) -> None:
    """Require the values of a line to be those of the rules, except for decimals that are not printed."""
    for position, (value, expected) in enumerate(zip(written, values, strict=True)):
        if abs(value - expected) > _TOLERANCE_CHIPS:
            column = _start(fields, 4) + sum(len(text) + 1 for text in fields[4].split("|")[:position])
            won = f"position {position} has won {format_value(value)} here"
            problem = f"{won}, but {format_value(expected)} by the rules"
            raise FormatError(line, column, problem)


class ScoreLine(NamedTuple):
    """Content of the score line ``SCORE:440|-440:Ann|Bob``, chips and names by seat."""

    totals: tuple[float, ...]
    names: tuple[str, ...]


def parse_score(line: str) -> ScoreLine | None:
    """Parse a score line; return None for any other line."""
    values_text, _, names_text = line.rstrip("\r\n").removeprefix("SCORE:").partition(":")
    texts = values_text.split("|")
    names = tuple(names_text.split("|"))
    if len(texts) != len(names) or not all(map(NUMBER.fullmatch, texts)):
        return None
    return ScoreLine(tuple(map(float, texts)), names)


def is_same_score(totals: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether totals are equal, except for decimals that were lost in printing."""
    return all(abs(a - b) <= _SCORE_TOLERANCE_CHIPS for a, b in zip(totals, other, strict=True))


def wrong_score(totals: Sequence[float]) -> str:
    """Compose the problem of a score that differs from the sums of the hands."""
    totals_text = "|".join(map(format_value, totals))
    return f"the score is not the sum of the hands, {totals_text}: hands are missing, or some were added"
