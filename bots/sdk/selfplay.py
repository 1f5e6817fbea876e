"""Hands without sockets, clocks and a second process, for training, evaluation and notebooks.

    from bots import self_play
    from bots.sdk.registry import make_bot

    bots = [make_bot("raising"), make_bot("random", seed=1)]
    won = {"RaisingBot": 0.0, "RandomBot": 0.0}
    for record in self_play("limit", bots, deals=100, seed=7):
        for position, value in enumerate(record.values):
            won[record.name_at(position)] += value
    print(won)

`BotGroup` does for bot objects what a `bots.sdk.conversation.Conversation` each does over TCP: it shows every bot the
views that the dealer's lines would have amounted to, calls the same hooks in the same order, passes on comments
together with the next answer, and lets no illegal answer through. The caller deals, plays the answers and computes
whose turn it is: `self_play`, or the dealer.

The rules it obeys:

- A bot sees what it would see over TCP, nothing else: its own cards, the board so far, at a showdown the
  hands that were not folded. The first state of a hand is shown before any action; a bot that is to act first
  gets the same `View` object for `hand_started` and for `act`.
- What ends a bot's program over TCP (its own code fails, its answer is illegal) ends its part here: `BotFailure` has
  the bot, the hand and the state. The bot is not called again.
- Every seat has an object of its own, unless a bot keeps nothing between calls.
- Views are made for bots with hooks: a hook that a bot does not have costs nothing.

Of `self_play`:

- The cards are those that the dealer deals for the same game, seed and hand number; the button moves on from hand to
  hand as there.
- Under "rotations" a deal is played once in every rotation of the bots over the seats, one hand right after the other,
  with the same number: stopping early leaves whole duplicates. A bot should not remember cards from hand to hand.
- Nothing is played before it is asked for, and nothing is kept: a billion hands need no more memory than one.
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
    """One bot per seat, from the first hand to the end of the match.

    Attributes:
        comments: the comments that went with the last answer of `ask`, as the lines that would have been sent.
        running_seat: of the bot whose code runs; None while none does.
    """

    def __init__(self, bots: Sequence[Bot], game: Game) -> None:
        """Seat the bots.

        Raises:
            TypeError: one of them is not a bot.
            GameRefused: one of them does not play the game.
            ValueError: there are more or fewer than the game has players.
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
        self._starters = [seat for seat in range(players) if overrides(bots[seat], "hand_started")]
        self._enders = [seat for seat in range(players) if overrides(bots[seat], "hand_finished")]
        self._present = list(range(players))
        self._waiting: list[list[bytes]] = [[] for _ in range(players)]
        self._board_ends = game.board_cards_by_round
        self._unseen: tuple[tuple[Card, ...], ...] = ((),) * players

        # The hand being played.
        self._number = -1
        self._deal = Deal((), ())
        self._seats: Sequence[Seat] = ()
        self._seen: list[tuple[tuple[Card, ...], ...]] = []
        """By position, the hole cards it sees until the hand is over."""
        self._round = -1
        self._board: tuple[Card, ...] = ()
        self._is_new = False
        """No bot has been shown a state of this hand."""
        self._first_view: View | None = None
        """What the bot that opens the betting has been shown already."""

    def begin_hand(self, number: int, deal: Deal, seats: Sequence[Seat], betting: BettingState) -> Sequence[BotFailure]:
        """A hand begins: bots with that hook are shown its first state. Before the first hand, all prepare.

        Where no player can act, the first state is the last: it is shown at the end.

        Returns:
            the bots that failed, already removed.
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
                # Its comments are still on the view when it answers.
                self._first_view = view
            elif view.comments:
                self._keep_comments(seat, view)
        return self._without(failures)

    def ask(self, betting: BettingState) -> Action:
        """The answer of the bot whose turn it is; its comments are in `comments`.

        Raises:
            BotFailure: its own code failed or its answer is illegal. It has been removed.
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
            failure = self._failure(seat, error, view)
            self._without([failure])
            raise failure from error
        finally:
            self.running_seat = None
        if view.comments:
            self._keep_comments(seat, view)
        self.comments = said = self._waiting[seat]
        if said:
            self._waiting[seat] = []
        if answer is CALL:
            return CALL
        if (answer is RAISE or answer is FOLD) and betting.after_if_legal(answer) is not None:
            # Measured: 0.1 us, where asking what else it may be takes 1.2.
            return answer
        try:
            return require_legal(answer, view)
        except IllegalReply as error:
            self._without([failure := BotFailure(str(error), seat, self._number, error.state)])
            raise failure from error

    def end_hand(self, betting: BettingState) -> Sequence[BotFailure]:
        """A hand is over: bots with that hook are shown its last state; returns the failed ones, already removed."""
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
        return self._without(failures)

    def end_match(self) -> Sequence[BotFailure]:
        """The match is over; returns the bots that failed at it. A second call does nothing."""
        calls = [self._call(seat, self._bots[seat].match_finished) for seat in self._present]
        failures = [failure for failure in calls if failure is not None]
        self._present = self._starters = self._enders = []
        return failures

    def remove(self, seat: Seat) -> None:
        """Remove a bot: it is shown nothing more and must not be asked."""
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
        """The hole cards a position sees when the hand is over: at a showdown, all hands that were not folded."""
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
        """Have the bots prepare for the match; returns those that failed, already removed."""
        self._is_prepared = True
        calls = [self._call(seat, self._bots[seat].prepare, self._game) for seat in self._present]
        return self._without([failure for failure in calls if failure is not None])

    def _call(self, seat: int, hook: Callable[..., None], *arguments: View | Game) -> BotFailure | None:
        self.running_seat = Seat(seat)
        try:
            call_hook(hook, *arguments)
        except BaseException as error:
            if is_interrupt(error):
                raise
            return self._failure(Seat(seat), error, *arguments)
        finally:
            self.running_seat = None
        return None

    def _failure(self, seat: Seat, error: BaseException, seen: View | Game | None = None) -> BotFailure:
        """What a bot's own code raised, as a sentence and as a traceback of its own frames."""
        what = in_one_line(error)
        text = "".join(traceback.format_exception(type(error), error, own_frames(error)))
        place = line_in_code(error)
        if place:
            place = f" ({place})"
        if not isinstance(seen, View):
            moment = "before the first hand"
            if seen is None:
                moment = "when the match was over"
            failure = BotFailure(f"the bot's own code failed {moment}{place}: {what}", seat, None, "", text)
        else:
            state = seen.match_state.format()
            sentence = f"the bot's own code failed in hand {self._number}{place}: {what}; the state was {state}"
            failure = BotFailure(sentence, seat, self._number, state, text)
        failure.__cause__ = error
        return failure

    def _without(self, failures: Sequence[BotFailure]) -> Sequence[BotFailure]:
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
    """Play deals, each hand when it is asked for.

    Args:
        game: what is played: a game, the name of a shipped one, or the path of a definition file.
        bots: one per seat of the first seating. One object may have several seats if it keeps nothing between calls.
        deals: how many, each played once in every seating.
        seed: of the cards. Bots have seeds of their own.
        seating: every rotation of the bots over the seats, or only the one given.
        first_hand: number of the first deal. Parts of a match can so be played in several processes.
        match_name: of the records; with several seatings, each adds its letter (``match.a``).
        names: of the bots, all different; by default those of their classes, numbered where they repeat.

    Returns:
        the finished hands, without times. When it ends, or is closed, `Bot.match_finished` has been called.

    Raises:
        GameDefinitionError: there is no such game.
        GameRefused: one of the bots does not play it.
        TypeError: one of the bots is not a bot.
        ValueError: the number of bots or names does not fit the game, two names are equal, or a number is negative.
        BotFailure: while hands are played: a bot's own code failed, or its answer was illegal.
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
            rotations.append((f"{match_name}.{letter}", names[-shift:] + names[:-shift]))
    return _hands(game, group, range(first_hand, first_hand + deals), seed, rotations)


def _hands(
    game: Game, group: BotGroup, numbers: range, seed: int, rotations: Sequence[tuple[str, tuple[str, ...]]]
) -> Iterator[HandRecord]:
    """Play the hands; `rotations` has the name of the match and the names by seat of each."""
    players = game.num_players
    start = betting_start(game)
    seats_in_order = [Seat(seat) for seat in range(players)]
    turns = [tuple(seats_in_order[offset:] + seats_in_order[:offset]) for offset in range(players)]
    try:
        for number, deal in zip(numbers, deals(game, seed, numbers.start), strict=False):
            seats = turns[number % players]
            for shift, (match_name, names) in enumerate(rotations):
                # To the group a bot's seat is its index: the bot of each position, not its seat in this rotation.
                if failures := group.begin_hand(number, deal, turns[(number - shift) % players], start):
                    raise failures[0]
                betting = start
                actions = 0
                comments: tuple[PlayerComment, ...] = ()
                while not betting.finished:
                    position = betting.acting_position
                    betting = betting.after(group.ask(betting))
                    if group.comments:
                        texts = [line.decode("utf-8", "replace").rstrip("\r\n") for line in group.comments]
                        comments += tuple([PlayerComment(seats[position], actions, text) for text in texts])
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
    """The milliseconds of each decision of a bot in every seat of so many deals, by the name of the round.

    Args:
        clock_ns: processor time of this thread by default, which a bot in another process does not use.
    """
    opponents = [make_bot(_OPPONENT, seed + seat) for seat in range(1, game.num_players)]
    act = bot.act
    spent_ms = dict[str, list[float]]()

    def timed(view: View) -> Action:
        began_ns = clock_ns()
        action = act(view)
        spent_ms.setdefault(view.round_name, []).append((clock_ns() - began_ns) / 1e6)
        return action

    bot.act = timed  # type: ignore[method-assign]
    for _ in self_play(game, [bot, *opponents], deals=deals, seed=seed):
        pass
    return spent_ms
