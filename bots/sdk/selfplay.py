"""Play hands between bots in this process, for training, evaluation and notebooks.

    from bots import self_play
    from bots.sdk.registry import make_bot

    bots = [make_bot("raising"), make_bot("random", seed=1)]
    won = {"RaisingBot": 0.0, "RandomBot": 0.0}
    for record in self_play("limit", bots, deals=100, seed=7):
        for position, value in enumerate(record.values):
            won[record.name_at(position)] += value
    print(won)

`self_play` deals the same cards as the dealer for the same game, seed and hand number, and applies the actions.
`BotGroup` runs the bots for it and for matches in the dealer's process. It shows each bot only what the bot would see
over TCP, calls the same hooks in the same order, and checks every action.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from bots.errors import BotFailure, IllegalReply, in_one_line, is_interrupt, line_in_code, own_frames
from bots.sdk.bot import Bot
from bots.sdk.conversation import call_hook, overrides, require_bot, require_legal
from bots.sdk.registry import make_bot
from bots.sdk.view import MAX_WAITING_COMMENTS, View
from engine import (
    CALL,
    FOLD,
    RAISE,
    Action,
    BettingState,
    Card,
    Deal,
    Game,
    Position,
    Seat,
    betting_start,
    deals,
    hand_values,
)
from logs import HandRecord, PlayerComment
from protocol import find_game


class BotGroup:
    """Bots of one match, one per seat.

    The caller deals, applies the actions and knows the acting position. A bot that would end its program over TCP,
    because its code raises or its action is illegal, is removed, and a `BotFailure` is returned or raised. Each seat
    needs a bot object of its own, unless a bot keeps no state.

    Attributes:
        comments: comments sent with the last action of `ask`, as lines.
        running_seat: seat of the bot whose code is running, or None.
    """

    def __init__(self, bots: Sequence[Bot], game: Game) -> None:
        """Check the bots and seat them in order.

        Raises:
            TypeError: an object is not a bot.
            GameRefused: a bot does not play the game.
            ValueError: the number of bots is not that of the game's players.
        """
        for bot in bots:
            require_bot(bot)
            bot.require_game(game)
        players = game.num_players
        if len(bots) != players:
            raise ValueError(f"the game needs {players} bots, {len(bots)} given")
        self._game = game
        self._is_prepared = False
        self.comments: list[bytes] = []
        self.running_seat: Seat | None = None
        self._bots = tuple(bots)
        # Making a view takes time, so only seats whose bots override a hook are called.
        self._starters = [seat for seat in range(players) if overrides(bots[seat], "hand_started")]
        self._enders = [seat for seat in range(players) if overrides(bots[seat], "hand_finished")]
        self._present = list(range(players))
        self._waiting: list[list[bytes]] = [[] for _ in range(players)]
        self._board_ends = game.board_cards_by_round
        self._unseen: tuple[tuple[Card, ...], ...] = ((),) * players

        # State of the current hand.
        self._number = -1
        self._deal = Deal((), ())
        self._seats: Sequence[Seat] = ()
        self._seen: list[tuple[tuple[Card, ...], ...]] = []
        """Hole cards that each position sees until the end of the hand."""
        self._round = -1
        self._board: tuple[Card, ...] = ()
        self._is_new = False
        """No bot has seen a state of this hand."""
        self._first_view: View | None = None
        """View of `hand_started` that the bot with the first turn gets again for `act`."""

    def begin_hand(self, number: int, deal: Deal, seats: Sequence[Seat], betting: BettingState) -> Sequence[BotFailure]:
        """Begin a hand: call `hand_started`, and before the first hand `prepare`.

        If no player can act, `end_hand` calls `hand_started`, since the first state is also the last.

        Args:
            number: 0-based number of the hand.
            seats: seat of each position.
            betting: state of the betting before any action.

        Returns:
            the failures; their bots have been removed.
        """
        self._number = number
        self._deal = deal
        self._seats = seats
        unseen = self._unseen
        self._seen = []
        for position, cards in enumerate(deal.hole_cards):
            self._seen.append((*unseen[:position], cards, *unseen[position + 1 :]))
        self._round = -1
        self._is_new = True
        self._first_view = None
        failures = () if self._is_prepared else self._prepare()
        if betting.finished:
            return failures
        self._is_new = False
        for seat in self._starters:
            position = self._position(seat)
            view = self._view(betting, position, self._seen[position])
            failure = self._call(seat, self._bots[seat].hand_started, view)
            if failure is not None:
                failures = (*failures, failure)
            elif position == betting.acting_position:
                # `ask` uses this view again and takes its comments then.
                self._first_view = view
            elif view.comments:
                self._keep_comments(seat, view)
        return self._remove_failed(failures)

    def ask(self, betting: BettingState) -> Action:
        """Return the action of the bot whose turn it is, and set `comments`.

        Raises:
            BotFailure: the bot's code raised or its action is illegal. It has been removed.
        """
        position = betting.acting_position
        seat = self._seats[position]
        view = self._first_view
        if view is None:
            view = self._view(betting, position, self._seen[position])
        else:
            self._first_view = None
        self.running_seat = seat
        try:
            answer = self._bots[seat].act(view)
        except BaseException as error:
            if is_interrupt(error):
                raise
            failure = self._describe_failure(seat, error, view)
            self._remove_failed([failure])
            raise failure from error
        finally:
            self.running_seat = None
        if view.comments:
            self._keep_comments(seat, view)
        self.comments = self._waiting[seat]
        if self.comments:
            self._waiting[seat] = []
        # Always legal on a bot's turn.
        if answer is CALL:
            return CALL
        if (answer is RAISE or answer is FOLD) and betting.after_if_legal(answer) is not None:
            # Measured: 0.1 us, against 1.2 us for `require_legal`.
            return answer
        try:
            return require_legal(answer, view)
        except IllegalReply as error:
            failure = BotFailure(str(error), seat, self._number, error.state)
            self._remove_failed([failure])
            raise failure from error

    def end_hand(self, betting: BettingState) -> Sequence[BotFailure]:
        """End a hand: call `hand_finished`. Return the failures; their bots have been removed."""
        failures: Sequence[BotFailure] = ()
        for seat in self._present if self._is_new else self._enders:
            position = self._position(seat)
            view = self._view(betting, position, self._seen_at_end(betting, position))
            bot = self._bots[seat]
            failure = None
            if self._is_new:
                failure = self._call(seat, bot.hand_started, view)
            failure = failure or self._call(seat, bot.hand_finished, view)
            if failure is not None:
                failures = (*failures, failure)
            elif view.comments:
                self._keep_comments(seat, view)
        return self._remove_failed(failures)

    def end_match(self) -> Sequence[BotFailure]:
        """Call `match_finished` and return the failures. A second call does nothing."""
        calls = [self._call(seat, self._bots[seat].match_finished) for seat in self._present]
        failures = [failure for failure in calls if failure is not None]
        self._present = self._starters = self._enders = []
        return failures

    def remove(self, seat: Seat) -> None:
        """Remove a bot. None of its methods is called again; do not `ask` on its turn."""
        self._present = [other for other in self._present if other != seat]
        self._starters = [other for other in self._starters if other != seat]
        self._enders = [other for other in self._enders if other != seat]

    # ---- views

    def _position(self, seat: int) -> Position:
        seats = self._seats
        return Position((seat - seats[0]) % len(seats))

    def _view(self, betting: BettingState, position: Position, seen: tuple[tuple[Card, ...], ...]) -> View:
        if betting.round != self._round:
            self._round = betting.round
            self._board = self._deal.board[: self._board_ends[betting.round]]
        return View(betting, position, self._number, seen, self._board)

    def _seen_at_end(self, betting: BettingState, position: Position) -> tuple[tuple[Card, ...], ...]:
        """Return the hole cards that a position sees at the end, at a showdown all not folded."""
        folded = betting.folded
        holes = self._deal.hole_cards
        if not betting.is_showdown:
            return self._seen[position]
        if not folded:
            return holes
        seen = list(holes)
        for other in range(len(holes)):
            if folded >> other & 1 and other != position:
                seen[other] = ()
        return tuple(seen)

    def _keep_comments(self, seat: int, view: View) -> None:
        self._waiting[seat] = (self._waiting[seat] + view.comments)[:MAX_WAITING_COMMENTS]

    # ---- bots that fail

    def _prepare(self) -> Sequence[BotFailure]:
        """Call `prepare` and return the failures; their bots have been removed."""
        self._is_prepared = True
        calls = [self._call(seat, self._bots[seat].prepare, self._game) for seat in self._present]
        return self._remove_failed([failure for failure in calls if failure is not None])

    def _call(self, seat: int, hook: Callable[..., None], *arguments: View | Game) -> BotFailure | None:
        self.running_seat = Seat(seat)
        try:
            call_hook(hook, *arguments)
        except BaseException as error:
            if is_interrupt(error):
                raise
            return self._describe_failure(Seat(seat), error, *arguments)
        finally:
            self.running_seat = None
        return None

    def _describe_failure(self, seat: Seat, error: BaseException, seen: View | Game | None = None) -> BotFailure:
        """Describe an exception of a bot's code by a sentence and a traceback of its own frames."""
        reason = in_one_line(error)
        text = "".join(traceback.format_exception(type(error), error, own_frames(error)))
        place = line_in_code(error)
        if place:
            place = f" ({place})"
        if not isinstance(seen, View):
            moment = "before the first hand"
            if seen is None:
                moment = "when the match was over"
            failure = BotFailure(f"the bot's own code failed {moment}{place}: {reason}", seat, None, "", text)
        else:
            state = seen.match_state.format()
            sentence = f"the bot's own code failed in hand {self._number}{place}: {reason}; the state was {state}"
            failure = BotFailure(sentence, seat, self._number, state, text)
        failure.__cause__ = error
        return failure

    def _remove_failed(self, failures: Sequence[BotFailure]) -> Sequence[BotFailure]:
        for failure in failures:
            self.remove(failure.seat)
        return failures


def self_play(
    game: Game | str,
    bots: Sequence[Bot],
    *,
    deals: int,
    seed: int = 0,
    seating: Literal["rotations", "single"] = "rotations",
    first_hand: int = 0,
    match_name: str = "match",
    names: Sequence[str] | None = None,
) -> Iterator[HandRecord]:
    """Play deals and yield the finished hands. Each hand is played when its record is requested.

    With `seating="rotations"`, the hands of one deal follow each other and have the same number, so iteration can stop
    after any deal with complete duplicates. A bot must not remember cards from one hand to the next.

    Args:
        game: a game, the name of a shipped one, or the path of a definition file.
        bots: one per seat. The same object may have several seats if it keeps no state between calls.
        deals: number of deals, each played once in every seating.
        seed: seed of the cards. Bots have seeds of their own.
        seating: every rotation of the bots over the seats, or only their order in `bots`.
        first_hand: number of the first deal, for a match that is split between processes.
        match_name: name of the match in the records; rotations append a letter each (``match.a``).
        names: different names of the bots, by default those of their classes, numbered if they repeat.

    Returns:
        an iterator over the finished hands, without times. At its end, or when it is closed, it calls
        `Bot.match_finished`.

    Raises:
        GameDefinitionError: there is no such game.
        GameRefused: a bot does not play the game.
        TypeError: an object in `bots` is not a bot.
        ValueError: the number of bots or names is wrong, two names are equal, or a number is negative.
        BotFailure: during iteration, if a bot's own code raised or its action was illegal.
    """
    if isinstance(game, str):
        game = find_game(game)[1]
    if seating not in ("rotations", "single"):
        raise ValueError(f"seating is 'rotations' or 'single', not {seating!r}")
    if deals < 0 or first_hand < 0:
        raise ValueError(f"deals and first_hand cannot be negative: {deals}, {first_hand}")
    group = BotGroup(bots, game)
    names = tuple(names) if names is not None else _class_names(bots)
    if len(set(names)) != len(names) or len(names) != len(bots):
        raise ValueError(f"{len(bots)} bots need as many different names, not {', '.join(names)}")
    rotations = [(match_name, names)]
    if seating == "rotations":
        rotations = []
        for shift in range(len(names)):
            letter = chr(ord("a") + shift)
            # Without a shift, the first slice is the whole tuple and the second is empty.
            rotations.append((f"{match_name}.{letter}", names[-shift:] + names[:-shift]))
    return _play_hands(game, group, range(first_hand, first_hand + deals), seed, rotations)


def _play_hands(
    game: Game, group: BotGroup, numbers: range, seed: int, rotations: Sequence[tuple[str, tuple[str, ...]]]
) -> Iterator[HandRecord]:
    """Play the hands of `self_play`.

    Args:
        rotations: name of the match and names of the bots by seat, for each rotation.
    """
    players = game.num_players
    start = betting_start(game)
    seats_in_order = [Seat(seat) for seat in range(players)]
    # The button moves on by one seat from hand to hand, as in the dealer's matches.
    seats_by_button = [tuple(seats_in_order[offset:] + seats_in_order[:offset]) for offset in range(players)]
    try:
        for number, deal in zip(numbers, deals(game, seed, numbers.start), strict=False):
            seats = seats_by_button[number % players]
            for shift, (match_name, names) in enumerate(rotations):
                # In the group a bot's seat is its index among the bots, whichever seat this rotation gives it.
                if failures := group.begin_hand(number, deal, seats_by_button[(number - shift) % players], start):
                    raise failures[0]
                betting = start
                actions = 0
                comments: tuple[PlayerComment, ...] = ()
                while not betting.finished:
                    position = betting.acting_position
                    betting = betting.after(group.ask(betting))
                    if group.comments:
                        for line in group.comments:
                            text = line.decode("utf-8", "replace").rstrip("\r\n")
                            comments += (PlayerComment(seats[position], actions, text),)
                    actions += 1
                failures = group.end_hand(betting)
                values = tuple(hand_values(betting, deal))
                yield HandRecord(
                    game=game,
                    match_name=match_name,
                    hand_number=number,
                    names_by_seat=names,
                    seats=seats,
                    deal=deal,
                    betting=betting,
                    values=values,
                    times=(),
                    comments=comments,
                )
                if failures:
                    raise failures[0]
    finally:
        failures = group.end_match()
    # After its hand, which the bots have played to the end.
    if failures:
        raise failures[0]


def _class_names(bots: Sequence[Bot]) -> tuple[str, ...]:
    names = [type(bot).__name__ for bot in bots]
    numbered = []
    for index, name in enumerate(names):
        if names.count(name) > 1:
            numbered.append(f"{name}#{names[: index + 1].count(name)}")
        else:
            numbered.append(name)
    return tuple(numbered)


_OPPONENT: Final = "random"


def decision_times(
    bot: Bot, game: Game, *, deals: int, seed: int, clock_ns: Callable[[], int] = time.thread_time_ns
) -> Mapping[str, list[float]]:
    """Measure a bot's decisions against random opponents, in every seat of each deal.

    Args:
        clock_ns: clock, by default the processor time of this thread. A bot in another process needs a wall clock.

    Returns:
        the time of each decision in milliseconds, by the name of the betting round.
    """
    opponents = [make_bot(_OPPONENT, seed + seat) for seat in range(1, game.num_players)]
    act = bot.act
    spent_ms = dict[str, list[float]]()

    def timed_act(view: View) -> Action:
        start_ns = clock_ns()
        action = act(view)
        spent_ms.setdefault(view.round_name, []).append((clock_ns() - start_ns) / 1e6)
        return action

    bot.act = timed_act  # type: ignore[method-assign]
    for _ in self_play(game, [bot, *opponents], deals=deals, seed=seed):
        pass
    return spent_ms
