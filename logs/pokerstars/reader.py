"""Reading PokerStars hand histories: cash hands of hold'em, our own files and genuine ones.

    for record in read_pokerstars("HH20260103 m1 - $50-$100.txt", on_problem=print):
        ...

Rules it obeys:

- A hand is accepted only if all of it agrees: it is played again by the rules, every amount must be what the rules make
  it, the pots must be what was put in, and the winners must have collected them, less the rake.
- A hand that a game definition cannot express is left out and reported, and the rest is read: antes, straddles, dead
  blinds, a big blind that is all-in for less, boards dealt twice, tournaments, games other than hold'em.
- Cards that were never shown are not in the record (`Deal.hole_cards` is empty there); who won what then follows from
  the lines that say who collected. Values are those before rake, as everywhere in this package.
- The players of a hand are those who posted or acted; position 0 is the first of them left of the button. Seats are
  counted without the empty ones.
- A pot-limit hand is a hand of the no-limit game in which nobody raised too much.
- A chip is a cent, and a hundredth of a chip of play money, by default. Where a limit game of
  the ACPC has no stacks, the record has those that our writer shows for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final

from engine import CALL, FOLD, RAISE, Deal, Game, GameError, IllegalAction, Position, Seat, betting_start
from engine.actions import raise_to
from engine.game import BettingType
from engine.hand import hand_values
from engine.holdem import NO_CAP, holdem_game
from engine.showdown import Pot, side_pots, uncalled
from logs.errors import HandError, LogError, LogsError, ProblemKind, ProblemReporter
from logs.formats import HandReader
from logs.money import Scale
from logs.pokerstars.grammar import HEADER, HandText, Move, Post, parse_hand
from logs.record import HandRecord
from logs.steps import check_values

__all__ = ["read_pokerstars"]

_MOST_CHARACTERS: Final = 1 << 16
"""Of a hand."""
_LIMIT_CAPS: Final = (3, 4, 4, 4)
"""A bet and three raises; before the flop the big blind is the bet."""
_STREETS: Final = ("deal", "flop", "turn", "river")


def _read(lines: Iterator[str], problems: ProblemReporter, scale: Scale) -> Iterator[HandRecord]:
    chip_cents = 100 * Fraction(scale.chip_value)
    count = 0
    for start, hand_lines, is_last in _hands(lines):
        count += 1
        try:
            text = parse_hand(hand_lines)
            record = _Replay(text, chip_cents).record()
        except HandError as error:
            # Cut off in or before the line of the pot: what comes after it is not needed.
            is_cut = is_last and not any(line.startswith("Total pot ") for line in hand_lines[:-1])
            kind = ProblemKind.HALF_WRITTEN if is_cut else ProblemKind.SKIPPED
            problems.report(start + error.line, None, f"hand #{_number(hand_lines[0])}: {error.problem}", kind)
            continue
        yield record
    if not count:
        raise LogError(problems.path, "there is no hand in it: a PokerStars hand begins with 'PokerStars Hand #'")


def _number(header: str) -> str:
    found = HEADER.match(header)
    return "" if found is None else found[1]


def _hands(lines: Iterator[str]) -> Iterator[tuple[int, list[str], bool]]:
    """The lines of each hand without their ends, the number of the first, and whether it is the file's last hand."""
    start, held, size, margin = 0, list[str](), 0, ""
    for line_number, line in enumerate(lines, 1):
        if line.startswith(("PokerStars", " PokerStars", "\ufeff")) and HEADER.match(line.lstrip(" ")):
            if held:
                yield start, held, False
            # In old archives every line begins with a blank.
            margin = " " if line.startswith(" ") else ""
            start, held, size = line_number, [line.removeprefix(margin).rstrip("\r\n")], 0
        elif held and size <= _MOST_CHARACTERS:
            # What a hand has beyond the bound is cut off: its summary is missing then.
            held.append(line.removeprefix(margin).rstrip("\r\n"))
            size += len(line)
    if held:
        yield start, held, True


def _shown(cents: int | Fraction) -> str:
    """Hundredths of the money as an amount of it."""
    return f"{float(cents) / 100:g}"


class _Replay:
    """A hand played again by the rules."""

    def __init__(self, text: HandText, chip_cents: Fraction) -> None:
        """Take what the lines say, and what a chip is worth in hundredths of the money."""
        self._text = text
        self._chip = chip_cents
        playing = {post.name for post in text.posts} | {move.name for move in text.moves}
        seated = sorted((number, name) for name, (number, _) in text.seats.items() if name in playing)
        if not 2 <= len(seated) <= 10:
            raise HandError(f"{len(seated)} players post or act, and a hand has 2 to 10", 0)
        self._by_seat = [name for _, name in seated]
        # The seats behind the button come first, the button last.
        turned = sorted(seated, key=lambda seat: (seat[0] <= text.button, seat[0]))
        self._names = [name for _, name in turned]
        self._position_of = {name: Position(position) for position, name in enumerate(self._names)}
        self._betting = betting_start(self._game())
        self._before: tuple[int, ...] = (0,) * len(turned)
        """Chips each position had put in before the present street."""

    def record(self) -> HandRecord:
        """The hand.

        Raises:
            HandError: the rules or the amounts contradict the text.
        """
        text = self._text
        for move in text.moves:
            self._play(move)
        last_line = text.moves[-1].line if text.moves else 0
        while not self._betting.finished:
            if not self._pass_idle():
                raise HandError("the hand is not over after its last action", last_line)
        betting = self._betting
        if len(text.board) != betting.game.board_cards_by_round[betting.round]:
            raise HandError(f"the board has {len(text.board)} cards at the end of the hand", last_line)
        deal = Deal(tuple([text.holes.get(name, ()) for name in self._names]), text.board)
        cards = [card for hole in deal.hole_cards for card in hole] + list(deal.board)
        if len(set(cards)) != len(cards):
            raise HandError("a card is dealt twice", last_line)
        pots = side_pots(betting.spent, betting.folded)
        winners = self._winners(pots)
        record = HandRecord(
            game=betting.game,
            match_name=text.table,
            hand_number=text.number,
            names_by_seat=tuple(self._by_seat),
            seats=tuple([Seat(self._by_seat.index(name)) for name in self._names]),
            deal=deal,
            betting=betting,
            values=self._values(deal, pots, winners),
            dealt_us=text.begin_us,
        )
        try:
            check_values(record, pots, winners)
        except LogsError:
            raise HandError("by their cards, other players should have won", last_line) from None
        return record

    # ---- the game

    def _game(self) -> Game:
        text = self._text
        stacks = [self._chips(0, text.seats[name][1]) for name in self._names]
        blinds = [0] * len(stacks)
        big: Post | None = None
        has_small = False
        for post in text.posts:
            position = self._position_of[post.name]
            is_small = post.what == "small blind"
            if not is_small and post.what != "big blind":
                what = post.what.removeprefix("the ")
                raise HandError(f"{post.name} posts {what}, which a game definition cannot express", post.line)
            if blinds[position] or (is_small and (has_small or big is not None)):
                dead = f"{post.name} posts a dead blind, which a game definition cannot express"
                raise HandError(dead, post.line)
            blinds[position] = self._chips(post.line, post.cents)
            has_small |= is_small
            if not is_small and big is None:
                big = post
        if big is None:
            raise HandError("nobody posts a big blind", 0)
        big_position = self._position_of[big.name]
        is_limit = text.betting is BettingType.LIMIT
        is_all_in = blinds[big_position] == stacks[big_position]
        if big.cents < text.stakes_cents[1 - is_limit] and (is_all_in or not is_limit):
            problem = "the big blind is less than the stakes say, and a game definition knows no other bet to call"
            raise HandError(problem, big.line)
        sizes = tuple([self._chips(0, stake) for stake in text.stakes_cents for _ in range(2)]) if is_limit else ()
        raises = Counter(move.street for move in text.moves if move.verb in ("bets", "raises"))
        is_capped = is_limit and all(raises[street] <= cap for street, cap in enumerate(_LIMIT_CAPS))
        caps = _LIMIT_CAPS if is_capped else (NO_CAP,) * 4
        first = Position((big_position + 1) % len(stacks))
        try:
            return holdem_game(text.betting, tuple(stacks), tuple(blinds), sizes, caps, first)
        except GameError as error:
            raise HandError(f"this game cannot be played: {error}", 0) from None

    def _chips(self, line: int, cents: int) -> int:
        chips, rest = divmod(cents * self._chip.denominator, self._chip.numerator)
        if rest:
            problem = (
                f"{_shown(cents)} is not a whole number of chips of {_shown(self._chip)}: give a smaller chip value"
            )
            raise HandError(problem, line)
        return chips

    # ---- the actions

    def _play(self, move: Move) -> None:
        position = self._position_of[move.name]
        while self._betting.acting_position != position or self._betting.round != move.street:
            if not self._pass_idle():
                raise HandError(self._not_next(move), move.line)
        betting = self._betting
        chips = self._chips(move.line, move.cents)
        spent = betting.spent[position]
        if move.verb == "folds":
            action, total = FOLD, spent
        elif move.verb in ("checks", "calls"):
            action, total = CALL, spent + chips
        else:
            total = self._before[position] + chips
            action = RAISE if betting.game.is_limit else raise_to(total)
        try:
            after = betting.after_played(action)
        except IllegalAction as error:
            raise HandError(f"{move.name} {move.verb}: {error.fact}", move.line) from None
        if after.spent[position] != total:
            wanted = _shown((after.spent[position] - spent) * self._chip)
            raise HandError(f"{move.name} {move.verb}, which by the rules adds {wanted}", move.line)
        if after.round != betting.round:
            self._before = after.spent
        self._betting = after

    def _pass_idle(self) -> bool:
        """Check for a player whom a table does not ask: nobody else can bet, and there is nothing to call.

        Returns whether there was one.
        """
        betting = self._betting
        able = sum(map(betting.is_able, range(len(self._names))))
        if betting.finished or able != 1 or betting.to_call:
            return False
        self._betting = betting.after(CALL)
        return True

    def _not_next(self, move: Move) -> str:
        betting = self._betting
        if betting.finished:
            return f"{move.name} {move.verb} after the end of the betting"
        if betting.round != move.street:
            return f"{move.name} {move.verb} on the {_STREETS[move.street]}, where the betting is not yet or no more"
        return f"{move.name} {move.verb}, and it is the turn of {self._names[betting.acting_position]}"

    # ---- the money

    def _winners(self, pots: list[Pot]) -> list[tuple[Position, ...]]:
        """Who collected each pot; what they got is held against what was put in."""
        text, betting = self._text, self._betting
        returned_to, returned = uncalled(betting.spent)
        collected: list[dict[Position, int]] = [{} for _ in pots]
        for payment in text.payments:
            position = self._position_of.get(payment.name)
            if position is None:
                raise HandError(f"{payment.name} gets money and is not in the hand", payment.line)
            if payment.pot < 0:
                if position != returned_to or payment.cents != returned * self._chip:
                    raise HandError(f"the bet that nobody called is {_shown(returned * self._chip)}", payment.line)
                continue
            if payment.pot >= len(pots) or position not in pots[payment.pot].players:
                raise HandError(f"{payment.name} does not play for this pot", payment.line)
            shares = collected[payment.pot]
            shares[position] = shares.get(position, 0) + payment.cents
        last_line = text.payments[-1].line if text.payments else 0
        put_in = sum(pot.amount for pot in pots) * self._chip
        got = sum(cents for shares in collected for cents in shares.values())
        if text.total_cents != put_in or got + text.rake_cents != put_in:
            raise HandError(
                f"the players put in {_shown(put_in)}, and the pot is {_shown(text.total_cents)}: "
                f"{_shown(got)} collected and a rake of {_shown(text.rake_cents)}",
                last_line,
            )
        coin = 1 if text.symbol else self._chip
        for pot, shares in zip(pots, collected, strict=True):
            amounts = list(shares.values())
            taken = pot.amount * self._chip - sum(amounts)
            if not amounts or max(amounts) - min(amounts) > coin or not 0 <= taken <= text.rake_cents:
                money = _shown(pot.amount * self._chip)
                raise HandError(f"a pot of {money} is not shared equally by those who collect it", last_line)
        return [tuple(sorted(shares)) for shares in collected]

    def _values(self, deal: Deal, pots: list[Pot], winners: list[tuple[Position, ...]]) -> tuple[float, ...]:
        """Net chips of each position: by the cards where all that matter are known, else by who collected."""
        betting = self._betting
        if not betting.is_showdown or all(deal.hole_cards[position] for position in betting.in_pot):
            return tuple(hand_values(betting, deal))
        values = [float(-chips) for chips in betting.spent]
        returned_to, returned = uncalled(betting.spent)
        values[returned_to] += returned
        for pot, sharing in zip(pots, winners, strict=True):
            for position in sharing:
                values[position] += pot.amount / len(sharing)
        return tuple(values)


read_pokerstars: Final = HandReader(_read, _MOST_CHARACTERS, Decimal("0.01"))
"""Reads PokerStars hand histories. Hands keep the numbers of the file; their match is named after the table."""
