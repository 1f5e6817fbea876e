"""Play of a person in a terminal with chips that carry over from one hand to the next.

The protocol has one stack for all hands, so these hands are played in this process, each as a game with the stacks of
its own. Play ends when a player has fewer chips than the big blind, or the person leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from bots.errors import UnclearEntry
from bots.sdk.bot import Bot
from bots.sdk.selfplay import BotGroup
from bots.sdk.view import View
from dealer.errors import ConfigError
from dealer.person.entries import read_entry
from dealer.person.screen import Screen
from dealer.person.seat import MatchScore, Scene
from dealer.person.table_sentences import game_sentence
from dealer.person.table_settings import SEAT
from dealer.person.terminal_table import (
    Entries,
    show_again,
    show_event,
    show_heading,
    show_keys,
    show_players,
    show_position,
    show_prompt,
)
from engine import Action, Card, Deal, Game, Position, Seat, Seed, betting_start, deals, hand_values
from engine.betting import BettingState
from engine.errors import quoted
from engine.text import count_of, listed, shown
from logs import HandRecord, PlayerComment
from logs.document import Column, Table
from logs.estimation.mean import chips_text

MIN_BANKROLL: Final = 100
MAX_BANKROLL: Final = 100_000
_ROUNDING: Final = 1e-6
_REQUESTS: Final = (
    ("w", "the chips of each player"),
    ("s", "show the last hand again, with the reasons of bots"),
    ("q", "leave"),
)


class _Person(Bot):
    """Place of the person among the bots, which is never asked."""

    def act(self, view: View) -> Action:
        raise AssertionError("the person acts at the terminal")


class _Left(Exception):
    """The person leaves."""


def whole_chips(values: Sequence[float]) -> list[int]:
    """Round the net chips of a hand to whole chips; the odd chips of a pot go to the first winners after the button.

    Args:
        values: net chips of each position, which sum to 0.
    """
    rounded = [math.floor(value + _ROUNDING) for value in values]
    odd = -sum(rounded)
    for position, value in enumerate(values):
        if odd and value - rounded[position] > _ROUNDING:
            rounded[position] += 1
            odd -= 1
    return rounded


class BankrollMatch:
    """Match of a person against bots with chips that carry over.

    Args:
        game: game whose stacks the bankrolls replace.
        bots: opponents, in the seats after the person's.
        names: players by seat, the person first.
        bankroll: chips of every player at the beginning.
        seed: seed of the cards.

    Attributes:
        bankrolls: chips by seat.
        records: finished hands.

    Raises:
        ConfigError: the bankroll is below the big blind, or a bot refuses the game with other stacks.
    """

    def __init__(self, game: Game, bots: Sequence[Bot], names: Sequence[str], bankroll: int, seed: Seed) -> None:
        players = game.num_players
        if bankroll < game.big_blind:
            raise ConfigError(f"a bankroll of {bankroll} is below the big blind of {game.big_blind}")
        uneven = (bankroll, *[bankroll + 1] * (players - 1))
        for name, bot in zip(names[1:], bots, strict=True):
            for stacks in ((bankroll,) * players, uneven):
                refusal = bot.refusal(game._replace(stacks=stacks))
                if refusal is not None:
                    raise ConfigError(f"{name} cannot play with chips that carry over: {refusal}")
        self.game = game
        self.names = tuple(names)
        self.bankrolls = [bankroll] * players
        self.records: list[HandRecord] = []
        self._bots = tuple(bots)
        self._bankroll = bankroll
        self._deals = deals(game, seed)
        self._group: BotGroup | None = None

    @property
    def broke(self) -> list[str]:
        """Players with fewer chips than the big blind."""
        return [name for name, chips in zip(self.names, self.bankrolls, strict=True) if chips < self.game.big_blind]

    def play_hand(self, ask: Callable[[Scene], Action], see: Callable[[Scene], None]) -> HandRecord:
        """Play the next hand, and pay it from the bankrolls.

        Args:
            ask: returns the person's action at a scene.
            see: receives every scene of the hand.

        Raises:
            BotFailure: a bot's code raised, or its action is illegal.
        """
        players = self.game.num_players
        number = len(self.records)
        seats = tuple([Seat((position + number) % players) for position in range(players)])
        game = self.game._replace(stacks=tuple([self.bankrolls[seat] for seat in seats]))
        deal = next(self._deals)
        betting = betting_start(game)
        group = self._group = BotGroup([_Person(), *self._bots], game)
        comments: tuple[PlayerComment, ...] = ()
        actions = 0
        _raise_first(group.begin_hand(number, deal, seats, betting))
        while not betting.finished:
            scene = self._scene(number, seats, deal, betting)
            see(scene)
            if scene.is_your_turn:
                action = ask(scene)
            else:
                action = group.ask(betting)
                for line in group.comments:
                    text = line.decode("utf-8", "replace").rstrip("\r\n")
                    comments += (PlayerComment(seats[betting.acting_position], actions, text),)
            betting = betting.after(action)
            actions += 1
        _raise_first(group.end_hand(betting))
        values = tuple(hand_values(betting, deal))
        for seat, chips in zip(seats, whole_chips(values), strict=True):
            self.bankrolls[seat] += chips
        record = HandRecord(
            game=game,
            match_name="bankroll",
            hand_number=number,
            names_by_seat=tuple(self.names),
            seats=seats,
            deal=deal,
            betting=betting,
            values=values,
            comments=comments,
        )
        self.records.append(record)
        see(self._scene(number, seats, deal, betting))
        return record

    def close(self) -> None:
        """Notify the bots of the end of the match.

        Raises:
            BotFailure: a bot's code raised.
        """
        if self._group is not None:
            _raise_first(self._group.end_match())

    def _scene(self, number: int, seats: Sequence[Seat], deal: Deal, betting: BettingState) -> Scene:
        position = Position(seats.index(SEAT))
        shows_down = betting.finished and len(betting.in_pot) > 1
        hole_cards: list[tuple[Card, ...]] = []
        for other, cards in enumerate(deal.hole_cards):
            is_seen = other == position or (shows_down and other in betting.in_pot)
            hole_cards.append(cards if is_seen else ())
        return Scene(
            names=tuple([self.names[seat] for seat in seats]),
            position=position,
            hand_number=number,
            all_hole_cards=tuple(hole_cards),
            board=deal.board[: betting.game.board_cards_by_round[betting.round]],
            betting=betting,
            score=MatchScore(
                hands=len(self.records), chips=tuple([chips - self._bankroll for chips in self.bankrolls]), seat=SEAT
            ),
        )


def _raise_first(failures: Sequence[Exception]) -> None:
    if failures:
        raise failures[0]


def play_bankroll(
    match: BankrollMatch,
    screen: Screen,
    entries: Entries,
    *,
    hands: int | None = None,
    keep: Callable[[HandRecord], None] = lambda _: None,
) -> str:
    """Let a person play a match in a terminal, and return a sentence about its end.

    Args:
        hands: hands to play; None until a player is broke or the person leaves.
        keep: receives every finished hand.

    Raises:
        BotFailure: a bot failed.
    """
    screen.say(f"{game_sentence(match.game._replace(stacks=tuple(match.bankrolls)))}, which carry over.")
    screen.say(f"You are {shown(match.names[SEAT])}; ? shows the keys, q leaves.")
    terminal = _Terminal(match, screen, entries)
    end = ""
    try:
        while not end:
            keep(terminal.play_hand())
            if match.broke:
                verb = "is" if len(match.broke) == 1 else "are"
                end = f"{listed(list(map(shown, match.broke)))} {verb} broke"
            elif hands is not None and len(match.records) >= hands:
                end = "All hands are played"
            else:
                terminal.wait()
    except (_Left, KeyboardInterrupt):
        end = "You have left the table"
    match.close()
    chips = [f"{shown(name)} {chips:,}" for name, chips in zip(match.names, match.bankrolls, strict=True)]
    return f"{end} after {count_of(len(match.records), 'hand')}. Chips: {', '.join(chips)}."


class _Terminal:
    """A person's entries and what is printed for them."""

    def __init__(self, match: BankrollMatch, screen: Screen, entries: Entries) -> None:
        self._match = match
        self._screen = screen
        self._entries = entries
        self._scene: Scene | None = None
        self._events_seen = 0

    def play_hand(self) -> HandRecord:
        record = self._match.play_hand(self._ask, self._see)
        scene = self._scene
        assert scene is not None
        won = whole_chips(record.values)[scene.position]
        chips = self._match.bankrolls[SEAT]
        self._screen.say(f"{chips_text(won)} in this hand, you have {chips:,}.")
        return record

    def wait(self) -> None:
        """Wait for the person after a hand."""
        scene = self._scene
        assert scene is not None
        show_prompt(scene, self._screen, is_last=False)
        while entry := self._read(scene):
            self._screen.say(f"{quoted(entry, 40)} is not clear after a hand. Enter deals the next hand, q leaves.")

    def _see(self, scene: Scene) -> None:
        if self._scene is None or self._scene.hand_number != scene.hand_number:
            self._events_seen = 0
            show_heading(scene, self._screen)
        for event in scene.history[self._events_seen :]:
            show_event(event, scene, self._screen)
        self._events_seen = len(scene.history)
        self._scene = scene

    def _ask(self, scene: Scene) -> Action:
        show_position(scene, self._screen)
        show_prompt(scene, self._screen, is_last=False)
        while True:
            try:
                return read_entry(self._read(scene), scene)
            except UnclearEntry as error:
                self._screen.say(str(error))

    def _read(self, scene: Scene) -> str:
        """Read lines until one is not a request to show something.

        Raises:
            _Left: the person leaves, or the input has ended.
        """
        while True:
            entry = self._entries.prompt(self._screen)
            if entry is None or entry.lower() in ("q", "quit", "exit"):
                raise _Left
            match entry.lower():
                case "?" | "h" | "help":
                    show_keys(scene.game, self._screen, _REQUESTS)
                case "t" | "table" if scene.is_your_turn:
                    show_position(scene, self._screen)
                    show_players(scene, self._screen)
                case "w" | "score":
                    rows = zip(self._match.names, self._match.bankrolls, strict=True)
                    self._screen.table(Table.of("", ("player", Column("chips", ",")), rows))
                case "s" | "show" if self._match.records:
                    show_again(self._match.records[-1], self._screen)
                case _:
                    return entry
