"""Read cash hands of hold'em from PokerStars and GGPoker histories, our own files and genuine ones.

    for record in read_pokerstars("HH20260103 m1 - $50-$100.txt", on_problem=print):
        ...

Each hand is parsed (`logs.pokerstars.hand_text`), then played again by the rules. It is accepted only if all of it
agrees. A hand that a game definition cannot express, such as one with antes, is reported and left out. Amounts are
chips of a cent, or of a hundredth of a chip of play money, unless the caller sets the value of a chip.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from operator import sub
from typing import Final

from engine import (
    CALL,
    FOLD,
    RAISE,
    BettingType,
    Deal,
    Game,
    GameError,
    IllegalAction,
    Position,
    Seat,
    betting_start,
    rank_hand,
)
from engine.betting_rules import raise_to
from engine.errors import quoted
from engine.hand import Pot, hand_values, side_pots, uncalled
from engine.holdem import NO_CAP, holdem_game
from logs.errors import HandError, LogError, LogsError, ProblemKind, ProblemReporter
from logs.formats.export_format import HandReader
from logs.formats.hand_numbers import is_exported_number
from logs.formats.money import Scale
from logs.formats.settlement import check_values, paid_values
from logs.pokerstars.hand_text import FIRST_WORDS, HEADER, ActionLine, HandText, Payment, Result, parse_hand
from logs.record import HandRecord

_MAX_CHARACTERS: Final = 1 << 16
"""Characters of a hand that are kept."""
# A bet and three raises; before the flop the big blind is the bet.
_LIMIT_CAPS: Final = (3, 4, 4, 4)
_STREETS: Final = ("deal", "flop", "turn", "river")
# In old archives every line begins with a blank.
_HEADER_STARTS: Final = (*FIRST_WORDS, *(f" {words}" for words in FIRST_WORDS), "\ufeff")


def _read(lines: Iterator[str], problems: ProblemReporter, scale: Scale) -> Iterator[HandRecord]:
    chip_cents: Fraction | int = 100 * Fraction(scale.chip_value)
    if chip_cents.denominator == 1:
        # Arithmetic with int takes a tenth of the time of Fraction.
        chip_cents = chip_cents.numerator
    count = 0
    for start, hand_lines, is_last in _hands(lines):
        count += 1
        text: HandText | None = None
        try:
            text = parse_hand(hand_lines)
            record = _Replay(text, chip_cents).record()
        except HandError as error:
            kind = ProblemKind.UNFINISHED if is_last and _is_cut(hand_lines) else ProblemKind.SKIPPED
            problem = f"hand #{_number(hand_lines[0])}: {error.problem}"
            if text is not None and text.puzzle is not None:
                line, words = text.puzzle
                problem += f"; line {start + line} is not understood: {quoted(words.strip(), 60)}"
            problems.report(start + error.line, None, problem, kind)
            continue
        yield record
    if not count:
        raise LogError(problems.path, "there is no hand in it: a PokerStars hand begins with 'PokerStars Hand #'")


def _is_cut(lines: list[str]) -> bool:
    """Return whether the last hand of a file ends in or before the line of the pot; later lines are not needed."""
    if not lines[-1] or any(line.startswith("Hand cancel") for line in lines):
        return False
    # The line of the pot follows that of the summary. If it is the file's last line, it may be cut itself.
    return not any(line.startswith("*** SUMMARY") for line in lines[:-2])


def _number(header: str) -> str:
    match = HEADER.match(header)
    if match is None:
        return ""
    return f"{match[1] or ''}{match[2]}"


def _hands(lines: Iterator[str]) -> Iterator[tuple[int, list[str], bool]]:
    """Yield the number of each hand's first line, its lines without their ends, and a flag for the file's last hand."""
    start = 0
    size = 0
    margin = ""
    hand_lines: list[str] = []
    for line_number, line in enumerate(lines, 1):
        if line.startswith(_HEADER_STARTS) and HEADER.match(line.lstrip(" ")):
            if hand_lines:
                yield start, hand_lines, False
            margin = ""
            if line.startswith(" "):
                margin = " "
            start = line_number
            hand_lines = [line.removeprefix(margin).rstrip("\r\n")]
            size = 0
        elif hand_lines and size <= _MAX_CHARACTERS:
            # A hand is cut at the bound, and then its summary is missing.
            hand_lines.append(line.removeprefix(margin).rstrip("\r\n"))
            size += len(line)
    if hand_lines:
        yield start, hand_lines, True


def _money(cents: int | Fraction) -> str:
    return f"{float(cents) / 100:g}"


class _Replay:
    """Replay of a hand by the rules, which requires every amount to be that of the rules.

    Facts that the text states twice must agree: blinds and stakes, the size of a raise, all-ins and stacks, the button,
    the pots, the board and the results of the summary, the cards of winners. Facts that it omits are not compared.
    """

    def __init__(self, text: HandText, chip_cents: Fraction | int) -> None:
        self._text = text
        self._chip = chip_cents
        if not text.seats:
            raise HandError("no line names a seat, such as 'Seat 1: NAME ($100 in chips)'", 0)
        if text.button < 0:
            raise HandError("no line names the button, such as \"Table 'NAME' 6-max Seat #1 is the button\"", 0)
        # Seated players who neither post nor act are sitting out.
        playing = {line.name for line in (*text.posts, *text.moves)}
        if not 2 <= len(playing) <= 10:
            raise HandError(f"{len(playing)} of {len(text.seats)} players post or act, and a hand has 2 to 10", 0)
        self._check_table()
        self._by_seat = sorted(playing, key=self._seat_number)
        # Position 0 is the first player left of the button, and the button is last.
        self._names = sorted(self._by_seat, key=lambda name: self._seat_number(name) <= text.button)
        self._position_of = {name: Position(position) for position, name in enumerate(self._names)}
        self._betting = betting_start(self._game())
        # Chips that each position had put in before the current street.
        self._before: tuple[int, ...] = (0,) * len(self._names)

    def _seat_number(self, name: str) -> int:
        number, _ = self._text.seats[name]
        return number

    def record(self) -> HandRecord:
        """Return the hand; raise `HandError` if the rules or the amounts contradict the text."""
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
        cards = list(deal.board)
        for hole in deal.hole_cards:
            cards += hole
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
            currency=text.currency,
            number_prefix=text.number_prefix,
        )
        self._check_shown(deal, pots, winners, last_line)
        self._check_summary()
        try:
            check_values(record, pots, winners)
        except LogsError:
            raise HandError("by their cards, other players should have won", last_line) from None
        return record

    def _game(self) -> Game:
        text = self._text
        stacks = [self._chips(0, text.seats[name][1]) for name in self._names]
        blinds, big_position = self._blinds(stacks)
        sizes: tuple[int, ...] = ()
        caps = (NO_CAP,) * 4
        if text.betting is BettingType.LIMIT:
            small_bet, big_bet = [self._chips(0, stake) for stake in text.stakes_cents]
            sizes = (small_bet, small_bet, big_bet, big_bet)
            if self._is_capped():
                caps = _LIMIT_CAPS
        first = Position((big_position + 1) % len(stacks))
        try:
            return holdem_game(text.betting, tuple(stacks), tuple(blinds), sizes, caps, first)
        except GameError as error:
            raise HandError(f"this game cannot be played: {error}", 0) from None

    def _blinds(self, stacks: list[int]) -> tuple[list[int], Position]:
        """Return the blinds in chips by position, and the position of the first big blind."""
        text = self._text
        blinds = [0] * len(stacks)
        big: ActionLine | None = None
        small: ActionLine | None = None
        is_limit = text.betting is BettingType.LIMIT
        small_cents, big_cents = text.stakes_cents
        if is_limit:
            # The header of a limit game has the bets, and the small bet is the big blind.
            big_cents = small_cents
        for post in text.posts:
            position = self._position_of[post.name]
            is_small = post.verb == "small blind"
            if not is_small and post.verb != "big blind":
                posted = post.verb.removeprefix("the ")
                raise HandError(f"{post.name} posts {posted}, which a game definition cannot express", post.line)
            if blinds[position] or (is_small and (small is not None or big is not None)):
                problem = f"{post.name} posts a dead blind, which a game definition cannot express"
                raise HandError(problem, post.line)
            blinds[position] = self._chips(post.line, post.cents)
            if is_small:
                small = post
            else:
                # A limit game of the ACPC may have other blinds than card rooms have for its bets.
                if not (is_limit and is_exported_number(text.number)):
                    self._check_big_blind(post, big_cents)
                big = big or post
            self._check_all_in(post, blinds[position] == stacks[position])
        if big is None:
            raise HandError("the hand has no big blind", 0)
        if small is not None:
            self._check_small_blind(small, big.cents if is_limit else big_cents)
        big_position = self._position_of[big.name]
        self._check_button(small, big_position)
        return blinds, big_position

    def _is_capped(self) -> bool:
        """Return whether no street has more raises than limit games allow."""
        raises = [0, 0, 0, 0]
        for move in self._text.moves:
            if move.verb in ("bets", "raises"):
                raises[move.street] += 1
        return all(count <= cap for count, cap in zip(raises, _LIMIT_CAPS, strict=True))

    def _chips(self, line: int, cents: int) -> int:
        chip = self._chip
        # An int has a numerator and a denominator, too.
        chips, rest = divmod(cents * chip.denominator, chip.numerator)
        if rest:
            problem = f"{_money(cents)} is not a whole number of chips of {_money(chip)}: give a smaller chip value"
            raise HandError(problem, line)
        return chips

    def _check_table(self) -> None:
        text = self._text
        if text.stakes_cents[0] > text.stakes_cents[1]:
            raise HandError("the first of the stakes is more than the second", 0)
        if text.max_seats is None:
            return
        for name, (number, _) in text.seats.items():
            if not 1 <= number <= text.max_seats:
                raise HandError(f"{name} has seat {number} at a table of {text.max_seats}", 0)
        if not 1 <= text.button <= text.max_seats:
            raise HandError(f"seat {text.button} is the button at a table of {text.max_seats}", 0)

    def _check_big_blind(self, post: ActionLine, stake_cents: int) -> None:
        if post.cents < stake_cents and post.is_all_in:
            problem = "the big blind is less than that of the stakes, which a game definition cannot express"
            raise HandError(problem, post.line)
        if post.cents != stake_cents:
            raise HandError(self._against_stakes(post, stake_cents), post.line)

    def _check_small_blind(self, post: ActionLine, big_cents: int) -> None:
        is_limit = self._text.betting is BettingType.LIMIT
        max_cents = self._text.stakes_cents[0]
        # The header of a limit game has no small blind, so all that is known is that it is at most the big one.
        if is_limit:
            max_cents = big_cents
        may_be_less = is_limit or post.is_all_in
        if post.cents > max_cents or (post.cents < max_cents and not may_be_less):
            raise HandError(self._against_stakes(post, max_cents), post.line)

    def _against_stakes(self, post: ActionLine, stake_cents: int) -> str:
        return f"{post.name} posts a {post.verb} of {_money(post.cents)}, but the stakes make it {_money(stake_cents)}"

    def _check_button(self, small: ActionLine | None, big: Position) -> None:
        """Require the blinds to be posted left of the button, whose own seat may be empty."""
        # With two players, old clients sometimes dealt the button the big blind. The summary names the button then.
        if small is None or len(self._names) == 2:
            return
        if (self._position_of[small.name], big) != (0, 1):
            raise HandError(
                f"{small.name} posts the small blind and {self._names[big]} the big blind, which contradicts "
                f"the button in seat {self._text.button}",
                small.line,
            )

    def _check_all_in(self, line: ActionLine, is_all_in: bool) -> None:
        if line.is_all_in and not is_all_in:
            raise HandError(
                f"{line.name} is all-in by this line, but has chips left by the line of its seat", line.line
            )

    def _play(self, move: ActionLine) -> None:
        position = self._position_of[move.name]
        while self._betting.acting_position != position or self._betting.round != move.street:
            if not self._pass_idle():
                raise HandError(self._not_next(move), move.line)
        betting = self._betting
        chips = self._chips(move.line, move.cents)
        spent = betting.spent[position]
        if move.verb == "folds":
            action = FOLD
            total = spent
        elif move.verb in ("checks", "calls"):
            action = CALL
            total = spent + chips
        else:
            total = self._before[position] + chips
            action = RAISE
            if not betting.game.is_limit:
                action = raise_to(total)
        try:
            after = betting.after_played(action)
        except IllegalAction as error:
            raise HandError(f"{move.name} {move.verb}: {error.fact}", move.line) from None
        if after.spent[position] != total:
            wanted = _money((after.spent[position] - spent) * self._chip)
            raise HandError(f"{move.name} {move.verb}, which by the rules adds {wanted}", move.line)
        self._check_all_in(move, after.spent[position] == betting.game.stacks[position])
        if move.verb == "raises":
            bet = max(map(sub, betting.spent, self._before))
            raised_by = (chips - bet) * self._chip
            if move.raised_by_cents != raised_by:
                wanted = f"{_money(raised_by)} to {_money(move.cents)}"
                raise HandError(
                    f"{move.name} raises {_money(move.raised_by_cents)}, but the raise is {wanted}", move.line
                )
        if after.round != betting.round:
            self._before = after.spent
        self._betting = after

    def _pass_idle(self) -> bool:
        """Check for the acting player if no table would ask it; return whether that was so.

        No other player can bet then, and there is nothing to call. The ACPC asks.
        """
        betting = self._betting
        if betting.finished or betting.to_call:
            return False
        able = [position for position in range(len(self._names)) if betting.is_able(position)]
        if len(able) != 1:
            return False
        self._betting = betting.after(CALL)
        return True

    def _not_next(self, move: ActionLine) -> str:
        betting = self._betting
        if betting.finished:
            return f"{move.name} {move.verb} after the end of the betting"
        if betting.round != move.street:
            return f"{move.name} {move.verb} on the {_STREETS[move.street]}, which is not the street of the betting"
        return f"{move.name} {move.verb}, but it is the turn of {self._names[betting.acting_position]}"

    def _winners(self, pots: list[Pot]) -> list[tuple[Position, ...]]:
        """Return the positions that collected each pot, whose payments must be the chips put in."""
        text = self._text
        collected = self._collected(pots)
        last_line = text.payments[-1].line if text.payments else 0
        put_in = sum([pot.amount for pot in pots]) * self._chip
        collected_cents = sum([sum(shares.values()) for shares in collected])
        if text.total_cents != put_in or collected_cents + text.rake_cents != put_in:
            raise HandError(
                f"the players put in {_money(put_in)}, but the pot is {_money(text.total_cents)}, "
                f"with {_money(collected_cents)} collected and a rake of {_money(text.rake_cents)}",
                last_line,
            )
        # Equal shares differ by the smallest coin at most, which is a whole chip in play money.
        coin = self._chip
        if text.amounts.symbol:
            coin = 1
        for pot, shares in zip(pots, collected, strict=True):
            amounts = list(shares.values())
            taken = pot.amount * self._chip - sum(amounts)
            if not amounts or max(amounts) - min(amounts) > coin or not 0 <= taken <= text.rake_cents:
                money = _money(pot.amount * self._chip)
                raise HandError(f"a pot of {money} is not shared equally by those who collect it", last_line)
        self._check_parts(collected)
        return [tuple(sorted(shares)) for shares in collected]

    def _collected(self, pots: list[Pot]) -> list[dict[Position, int]]:
        """Return the cents that each position collected from each pot."""
        collected: list[dict[Position, int]] = [{} for _ in pots]
        has_returned = False
        for payment in self._text.payments:
            position = self._position_of.get(payment.name)
            if position is None:
                raise HandError(f"{payment.name} gets money, but is not in the hand", payment.line)
            if payment.pot < 0:
                if has_returned:
                    raise HandError("the uncalled bet is returned twice", payment.line)
                self._check_uncalled(payment, position)
                has_returned = True
                continue
            if payment.pot >= len(pots) or position not in pots[payment.pot].players:
                raise HandError(f"{payment.name} does not play for this pot", payment.line)
            shares = collected[payment.pot]
            shares[position] = shares.get(position, 0) + payment.cents
        return collected

    def _check_uncalled(self, payment: Payment, position: Position) -> None:
        returned_to, returned = uncalled(self._betting.spent)
        if not returned:
            raise HandError("a bet is returned, but it was called in full", payment.line)
        if position != returned_to or payment.cents != returned * self._chip:
            uncalled_bet = f"{_money(returned * self._chip)} of {self._names[returned_to]}"
            raise HandError(f"the uncalled bet is {uncalled_bet}", payment.line)

    def _check_parts(self, collected: list[dict[Position, int]]) -> None:
        """Compare the payouts with the line of the total, which states them if there are several pots."""
        text = self._text
        if text.parts_cents and len(text.parts_cents) != len(collected):
            problem = f"the line of the total has {len(text.parts_cents)} pots, but the betting makes {len(collected)}"
            raise HandError(problem, text.total_line)
        for pot, cents in text.parts_cents.items():
            paid = 0
            if pot < len(collected):
                paid = sum(collected[pot].values())
            if paid != cents:
                name = "the main pot"
                if pot:
                    name = f"side pot {pot}"
                raise HandError(f"{name} is {_money(cents)}, but {_money(paid)} is collected from it", text.total_line)

    def _check_shown(self, deal: Deal, pots: list[Pot], winners: list[tuple[Position, ...]], line: int) -> None:
        """Require each pot to be won by the best of the hands for it that are known."""
        if not self._betting.is_showdown:
            return
        ranks: dict[Position, int] = {}
        for position in self._betting.in_pot:
            if deal.hole_cards[position]:
                ranks[position] = rank_hand((*deal.hole_cards[position], *deal.board))
        for pot, pot_winners in zip(pots, winners, strict=True):
            known = [position for position in pot.players if position in ranks]
            known_winners = [position for position in pot_winners if position in ranks]
            if not known_winners:
                continue
            best = max([ranks[position] for position in known])
            for position in known:
                if (ranks[position] == best) != (position in known_winners):
                    raise HandError("by their cards, other players should have won", line)

    def _check_summary(self) -> None:
        text = self._text
        if text.summary_board is not None and text.summary_board[1] != text.board:
            raise HandError("the board of the summary is not the one that was dealt", text.summary_board[0])
        won: dict[str, int] = {}
        for payment in text.payments:
            if payment.pot >= 0:
                won[payment.name] = won.get(payment.name, 0) + payment.cents
        folds: dict[str, int] = {}
        for move in text.moves:
            if move.verb == "folds":
                folds[move.name] = move.street
        posts = {(post.verb, post.name) for post in text.posts}
        for result in text.results:
            self._check_result(result, won.get(result.name, 0), folds.get(result.name), posts)

    def _check_result(
        self, result: Result, won_cents: int, fold_street: int | None, posts: set[tuple[str, str]]
    ) -> None:
        name = result.name
        is_playing = name in self._position_of
        for tag in result.tags:
            if tag == "button":
                is_right = self._text.seats[name][0] == self._text.button
            else:
                is_right = (tag, name) in posts
            if is_playing and not is_right:
                raise HandError(f"{name} is the {tag} in the summary only", result.line)
        if result.won_cents is not None and result.won_cents != won_cents:
            summary = f"{name} won {_money(result.won_cents)} in the summary"
            raise HandError(f"{summary}, but collected {_money(won_cents)} before", result.line)
        if not is_playing:
            return
        if result.fold_street is not None and result.fold_street != fold_street:
            before = "did not fold"
            if fold_street is not None:
                before = f"folded on the {_STREETS[fold_street]}"
            summary = f"{name} folded on the {_STREETS[result.fold_street]} in the summary"
            raise HandError(f"{summary}, but {before} before", result.line)
        spent = self._betting.spent[self._position_of[name]]
        if not result.has_bet and spent:
            put_in = _money(spent * self._chip)
            raise HandError(f"{name} did not bet by the summary, but put in {put_in}", result.line)

    def _values(self, deal: Deal, pots: list[Pot], winners: list[tuple[Position, ...]]) -> tuple[float, ...]:
        """Return the net chips of each position, by the cards if they are known, else by the payments."""
        betting = self._betting
        if betting.is_showdown and any(not deal.hole_cards[position] for position in betting.in_pot):
            return paid_values(betting, pots, winners)
        return tuple(hand_values(betting, deal))


read_pokerstars: Final = HandReader(_read, _MAX_CHARACTERS, Decimal("0.01"))
"""Reader of PokerStars hand histories. Hands keep the numbers of the file, and their match is named after the table."""
