"""Policies of bots, files and programs, and the cost of deviating from one.

    parse_policy("mfs?k=2")                a bot, named as in a match (`bots.sdk.registry`)
    parse_policy("file:new.policy")        a file, below
    parse_policy("ask:./my_policy --x")    a program, below

A line has a state, as a dealer sends it to the player in turn, and pairs of an action and its probability. In no-limit
games raises have their hand totals:

    MATCHSTATE:1:30:cr300:|9s8h    f 0.2 c 0.5 r900 0.3

A *file* has such lines, with ``?`` for a state without probabilities. A line without a hand number
(``MATCHSTATE:1::cr300:|9s8h``) is for every hand. ``#`` begins a comment. Other states have no policy.

A *program* is started once, with the path of the game definition in ``ARENA_GAME``. It reads one state per line and
writes one line with the probabilities, or ``?``, for each. It should exit at the end of its input.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import random
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from bots.errors import PolicyError
from bots.sdk.bot import Bot, choose_action, draw, uniform
from bots.sdk.program import split_command, write_game
from bots.sdk.registry import make_bot
from bots.sdk.view import View
from engine import (
    RAISE,
    Action,
    ActionKind,
    BettingState,
    Deal,
    Game,
    betting_steps,
    hand_values,
    raise_to,
)
from engine.errors import quoted
from engine.hand import decisions
from engine.holdem import is_holdem
from engine.text import count_of
from logs.errors import LeaksRefused
from logs.leaks.divergences import divergence_at
from logs.leaks.search import MIN_DEALS, Leaks, PlayerCount, check_game, deals_of_player
from logs.record import HandRecord
from protocol import FormatError, format_action
from protocol.match_state import parse_match_state

if TYPE_CHECKING:
    from bots.sdk.holdings import HoldingChances
    from engine import Game

_TOLERANCE: Final = 1e-4
"""Maximum deviation of a sum of probabilities from 1, because files round them. They are then divided by the sum."""
_ROUNDING: Final = 1e-12
_KINDS: Final[Mapping[str, ActionKind]] = {"f": ActionKind.FOLD, "c": ActionKind.CALL, "r": ActionKind.RAISE}
_ACTION: Final = re.compile(r"([fcr])([0-9]{0,9})", re.ASCII)
_UNKNOWN: Final = "?"
_ANY_HAND: Final = re.compile(r"(MATCHSTATE:[0-9]+:)[0-9]+(:)", re.ASCII)


class Policy(Protocol):
    """A `Bot`, or another policy of this module."""

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the probability of each action in a state, or None if they are unknown."""
        ...


def parse_policy(text: str, game: Game) -> Policy:
    """Parse a policy, and start its program or prepare its bot.

    Raises:
        SpecError: there is no such bot.
        PolicyError: the file or program fails, or the bot reports no policy in this game.
    """
    kind, _, rest = text.partition(":")
    if kind == "file" and rest:
        return FilePolicy(rest, game)
    if kind == "ask" and rest:
        return AskedPolicy(rest, game)
    bot = make_bot(text)
    refusal = bot.refusal(game)
    if refusal is not None:
        raise PolicyError(f"{text} has no policy in this game: {refusal}")
    if type(bot).policy is Bot.policy:
        raise PolicyError(f"{text} has no policy: it does not report the probabilities of its actions")
    bot.prepare(game)
    return bot


@contextlib.contextmanager
def open_policy(text: str, game: Game) -> Iterator[Policy]:
    """Open a policy as `parse_policy` does, and end its program with the block."""
    policy = parse_policy(text, game)
    with contextlib.closing(policy) if isinstance(policy, AskedPolicy) else contextlib.nullcontext():
        yield policy


def policy_at(policy: Policy, view: View) -> Mapping[Action, float] | None:
    """Return the probabilities of a policy in a state, or None if it has none there.

    Raises:
        PolicyError: an action is illegal, or the probabilities do not sum to 1.
    """
    chances = policy.policy(view)
    if chances is None:
        return None
    for action, chance in chances.items():
        if chance and not _is_legal(view, action):
            raise PolicyError(f"in {_text_of(view)} the policy contains an illegal action: {format_action(action)}")
        if not chance >= 0:
            raise PolicyError(f"in {_text_of(view)} the policy has an invalid probability: {chance:g}")
    total = math.fsum(chances.values())
    # Not `>`: the comparison is also false for NaN.
    if not abs(total - 1) <= _TOLERANCE:
        raise PolicyError(f"in {_text_of(view)} the probabilities of the policy sum to {total:g}, not to 1")
    if total == 1:
        return chances
    return {action: chance / total for action, chance in chances.items()}


def _is_legal(view: View, action: Action) -> bool:
    legal = view.legal
    if action.kind == ActionKind.CALL:
        return True
    if action.kind == ActionKind.FOLD:
        return legal.can_fold
    if not legal.can_raise:
        return False
    return view.game.is_limit or legal.raise_min <= action.hand_total <= legal.raise_max


def certain_policy_at(policy: Policy, view: View, name: str, reason: str) -> Mapping[Action, float]:
    """Return the probabilities of a policy that must have some in every state.

    Args:
        name: name of the policy, with which errors begin.
        reason: end of the error for a state without probabilities.

    Raises:
        PolicyError: the policy has no probabilities, an illegal action, or a wrong sum.
    """
    try:
        chances = policy_at(policy, view)
    except PolicyError as error:
        raise PolicyError(f"{name}: {error}") from error
    if chances is None:
        raise PolicyError(f"{name} has no policy in {_text_of(view)}{reason}")
    return chances


def policy_by_holding_at(policy: Policy, view: View) -> HoldingChances | None:
    """Return a bot's probabilities by holding in a state of hold'em, or None if it reports only single holdings.

    Args:
        view: without hole cards.

    Raises:
        PolicyError: the probabilities with a possible holding do not sum to 1.
    """
    if not isinstance(policy, Bot) or not is_holdem(view.game):
        return None
    chances = policy.policy_by_holding(view)
    if chances is None:
        return None
    import numpy as np

    from engine.ranges import HOLDINGS, are_free

    # Policies that look at no cards may name thousands of raises.
    by_cards = [chance for chance in chances.values() if isinstance(chance, np.ndarray)]
    total = np.full(
        len(HOLDINGS), math.fsum(chance for chance in chances.values() if not isinstance(chance, np.ndarray))
    )
    for chance in by_cards:
        total += chance
    free = are_free(view.board)
    off = float(np.abs(total[free] - 1).max())
    if not off <= _TOLERANCE:
        raise PolicyError(f"in {_text_of(view)} the probabilities of the policy by holding do not sum to 1")
    if off <= _ROUNDING:
        return chances
    return {action: np.where(free, chance / np.where(free, total, 1.0), 0.0) for action, chance in chances.items()}


class FilePolicy:
    def __init__(self, path: str | os.PathLike[str], game: Game) -> None:
        """Read the file.

        Raises:
            PolicyError: a line cannot be read.
        """
        self._known: dict[str, Mapping[Action, float] | None] = {}
        try:
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    words = line.partition("#")[0].split()
                    if words:
                        self._read(f"{os.fspath(path)}:{number}", words, game)
        except OSError as error:
            raise PolicyError(f"{os.fspath(path)}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise PolicyError(f"{os.fspath(path)}: is not a text in UTF-8") from error

    def _read(self, place: str, words: list[str], game: Game) -> None:
        state, *rest = words
        # A line for every hand has no number, and is parsed with the number 0.
        text = re.sub(r"^(MATCHSTATE:[0-9]+:)(:)", r"\g<1>0\2", state)
        try:
            parse_match_state(text, game)
        except FormatError as error:
            raise PolicyError(f"{place}: {quoted(state, 100)} is not a state of the game: {error.problem}") from error
        try:
            chances = _parse_probabilities(rest)
        except ValueError as error:
            raise PolicyError(f"{place}: {error}") from error
        if self._known.setdefault(state, chances) != chances:
            raise PolicyError(f"{place}: {state} has other probabilities than before")

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Return the probabilities for this hand, else those for every hand, or None if the file has neither."""
        text = _text_of(view)
        if text in self._known:
            return self._known[text]
        return self._known.get(_ANY_HAND.sub(r"\1\2", text, count=1))


class AskedPolicy:
    """Policy of a program, which runs until `close`."""

    def __init__(
        self, command: str, game: Game, *, reply_timeout_s: float = 60.0, leave_timeout_s: float = 1.0
    ) -> None:
        """Start the program; its command is split as by a shell.

        Raises:
            PolicyError: the program cannot be started.
        """
        self._command = command
        self._reply_timeout_s = reply_timeout_s
        self._leave_timeout_s = leave_timeout_s
        self._folder = tempfile.TemporaryDirectory()
        try:
            self._process = subprocess.Popen(
                split_command(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **write_game(Path(self._folder.name) / "policy.game", game).variables},
            )
        except (OSError, ValueError) as error:
            self._folder.cleanup()
            raise PolicyError(f"{command!r} cannot be started: {getattr(error, 'strerror', None) or error}") from error
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)
        # The end of the output. A line has at least its line break, so it is never empty.
        self._lines.put(b"")

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(self._leave_timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # Its output ends with it, unless something that it has started holds it open.
        self._listener.join(self._leave_timeout_s)
        self._folder.cleanup()

    def policy(self, view: View) -> Mapping[Action, float] | None:
        """Ask the program for the probabilities of a state.

        Raises:
            PolicyError: the program has exited, is too slow, or its reply cannot be read.
        """
        state = _text_of(view)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, which reading finds
            self._process.stdin.write(state.encode("ascii") + b"\n")
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=self._reply_timeout_s)
        except queue.Empty:
            raise PolicyError(
                f"{self._command!r} has not answered {state} within {self._reply_timeout_s:g} s"
            ) from None
        if not line:
            raise PolicyError(f"{self._command!r} ended instead of answering {state}")
        text = line.decode("utf-8", "replace").strip()
        try:
            return _parse_probabilities(text.split())
        except ValueError as error:
            raise PolicyError(f"{self._command!r} answered {state} with {quoted(text, 100)}: {error}") from error


def _parse_probabilities(words: list[str]) -> Mapping[Action, float] | None:
    """Parse pairs of actions and probabilities, or a question mark, for which None is returned.

    Raises:
        ValueError: the text has another format.
    """
    if words == [_UNKNOWN]:
        return None
    if not words or len(words) % 2:
        raise ValueError("probabilities are pairs such as f 0.2 c 0.8, or one ?")
    chances: dict[Action, float] = {}
    for name, text in zip(words[::2], words[1::2], strict=True):
        match = _ACTION.fullmatch(name)
        if match is None or (match[1] != "r" and match[2]):
            raise ValueError(f"{quoted(name, 40)} is not an action: f, c, r, or r with a hand total")
        kind = _KINDS[match[1]]
        if kind == ActionKind.RAISE:
            # Without a total it is the raise of a limit game.
            action = raise_to(int(match[2] or 0))
        else:
            action = Action(kind)
        try:
            chance = float(text)
        except ValueError:
            chance = math.nan
        if not 0 <= chance <= 1 + _TOLERANCE:
            raise ValueError(f"{quoted(text, 40)} is not a probability")
        if action in chances:
            raise ValueError(f"{name} is named twice")
        chances[action] = chance
    if not abs(math.fsum(chances.values()) - 1) <= _TOLERANCE:
        raise ValueError(f"the probabilities sum to {math.fsum(chances.values()):g}, not to 1")
    return chances


def _text_of(view: View) -> str:
    return view.match_state.format()


# Different seeds for the actions to compare, for the play after them and for the boards, so that draws are independent.
_CHOICES: Final = 17
_PLAY: Final = 18
_BOARDS: Final = 19


def leaks_against_policy(
    deals: Iterable[Sequence[tuple[str, HandRecord]]], player: str | None, policy: Policy, name: str
) -> Leaks:
    """Estimate the cost of a player's deviations from a policy in finished hands of hold'em.

    For each decision an action is drawn from the policy. If it differs from the player's, both are played out with the
    policy in every seat and with the same cards and draws, and the difference in chips is the cost. For a player that
    plays the policy itself, costs are symmetric around 0, so the intervals of `logs.leaks.search`, which change the
    signs of decisions, are exact.

    Args:
        deals: hands of the same cards with the paths of their files, as from `logs.leaks.deals_in`.
        player: None for the first player of the first hand.
        policy: must have probabilities in every state.

    Raises:
        LeaksRefused: the hands do not have the necessary information.
        PolicyError: the policy lacks probabilities or has invalid ones.
    """
    game: Game | None = None
    count: PlayerCount | None = None
    for its_name, hands in deals_of_player(deals, player):
        count = count or PlayerCount(its_name, 0)
        for path, record in hands:
            game = game or record.game
            check_game(record, game)
            count.begin_hand(name)
            _compare(record, path, count, policy, name)
    assert count is not None
    if count.units < MIN_DEALS:
        raise LeaksRefused(f"{count.player} made {count_of(count.units, 'decision')}; leaks need at least {MIN_DEALS}")
    return count.leaks()


def _compare(record: HandRecord, path: str, count: PlayerCount, policy: Policy, name: str) -> None:
    position = record.names.index(count.player)
    deal = _whole(record)
    for number, (state, action) in enumerate(decisions(record.betting)):
        if state.acting_position == position:
            view = view_at(state, deal, record.hand_number)
            theirs = _drawn(policy, view, _CHOICES, name)
            divergence = None
            # In limit games the rules give raises their size.
            if action.kind != theirs.kind or (action != theirs and not record.game.is_limit):
                other = betting_steps(state.after(theirs))[-1]
                values = [
                    _played_out(state.after(played), deal, record.hand_number, policy, name)[position]
                    for played in (action, theirs)
                ]
                divergence = replace(divergence_at(record, number, other), chips=values[0], others_chips=values[1])
            count.add_decision(divergence, path)


def _whole(record: HandRecord) -> Deal:
    """Return the deal with a full board; missing cards are drawn from those that no player holds."""
    deal = record.deal
    game = record.game
    seen = {*deal.board, *(card for hole in deal.hole_cards for card in hole)}
    rest = [card for card in game.deck if card not in seen]
    missing = game.board_cards_by_round[-1] - len(deal.board)
    # The missing cards follow from the hand alone, so a comparison can be repeated.
    chance = random.Random(f"{_BOARDS} {record.hand_number} {sorted(seen)}")
    return Deal(deal.hole_cards, (*deal.board, *chance.sample(rest, missing)))


def view_at(state: BettingState, deal: Deal, hand_number: int) -> View:
    position = state.acting_position
    board = deal.board[: state.game.board_cards_by_round[state.round]]
    return View.from_holding(state, position, deal.hole_cards[position], board, hand_number)


def _drawn(policy: Policy, view: View, seed: int, name: str) -> Action:
    chances = policy_at(policy, view)
    if chances is None:
        state = view.match_state.format()
        raise LeaksRefused(f"{name} has no policy in {state}, so nothing can be compared")
    action = choose_action(chances, uniform(draw(seed, view)))
    if view.game.is_limit and action.kind == ActionKind.RAISE:
        return RAISE
    return action


def _played_out(state: BettingState, deal: Deal, number: int, policy: Policy, name: str) -> Sequence[float]:
    """Return the chips that each position wins if the policy plays the rest of the hand in every seat."""
    while not state.finished:
        state = state.after(_drawn(policy, view_at(state, deal, number), _PLAY, name))
    return hand_values(state, deal)
