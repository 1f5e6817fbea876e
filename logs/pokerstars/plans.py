"""Lines of a hand that follow from its betting and seating, with gaps for the rest.

Hands with the same betting and seats differ only in the cards, and bettings recur: 100,000 hands of heads-up limit
have about 6,500 different ones. So the lines are made once, as a `BettingPlan`, and with the winners of each pot as a
`PlannedEnding`. A `TableText` has the lines that are the same as long as every player keeps its position.

The gaps are ``%s``, which neither names nor amounts contain.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from operator import eq, itemgetter
from typing import Final, NamedTuple

from engine import BettingState, Game, Position, Seat
from engine.betting import RoundActions, Step
from engine.betting_rules import Move
from engine.hand import Pot, side_pots, uncalled
from engine.holdem import Blinds
from logs.formats.card_room_games import shown_stacks
from logs.formats.money import RakeFunction, equal_shares, split_by_weight
from logs.formats.settlement import order_of_showing, rake_units, street_actions
from logs.pokerstars.stakes import Money
from logs.record import HandRecord

_STREETS: Final = (
    "",
    "*** FLOP *** [%s]\n",
    "*** TURN *** [%s] [%s]\n",
    "*** RIVER *** [%s %s] [%s]\n",
)
_BOARDS: Final = ("", "Board [%s]\n", "Board [%s %s]\n", "Board [%s %s %s]\n")
_FOLDED: Final = ("folded before Flop", "folded on the Flop", "folded on the Turn", "folded on the River")
_FOLD = Move.FOLD
_CHECK = Move.CHECK
_BET = Move.BET
_RAISE = Move.RAISE
_ROUND: Final = itemgetter(Step._fields.index("round"))
_MAX_STREETS: Final = 4096
"""Streets of limit games in the cache."""
# PokerStars has tables of these sizes. Importers take the number of seats from the line of the table.
_TABLE_SIZES: Final = (2, 3, 6, 9, 10)


class BettingPlan:
    """Facts and lines of a hand that follow from its betting and seating.

    Attributes:
        text: the actions, street by street, and the uncalled bet. Gaps: the cards of the streets' lines.
        street: the last street dealt, 0-based.
        pots: the main pot first.
        rake_cents: total of all pots.
        showing: positions at the showdown, in order; empty if all but one folded.
        folded_texts: by position, the result in the summary of players who folded; empty for the others.
        alone: winners of each pot if there is no showdown.
        shown_by_seat: indices into `showing`, in the order of the seats.
        endings: endings so far, by the winners of each pot and also by the order of the hands shown, from 0 for the
            worst.
    """

    __slots__ = (
        "alone",
        "betting",
        "endings",
        "folded_texts",
        "pots",
        "rake_cents",
        "showing",
        "shown_by_seat",
        "street",
        "text",
    )

    def __init__(
        self,
        betting: BettingState,
        text: str,
        pots: Sequence[Pot],
        rake_cents: int,
        showing: Sequence[Position],
        by_seat: Sequence[Position],
        folded_texts: Sequence[str],
    ) -> None:
        self.betting = betting
        self.text = text
        self.street = betting.round
        self.pots = tuple(pots)
        self.rake_cents = rake_cents
        self.showing = tuple(showing)
        self.folded_texts = tuple(folded_texts)
        self.alone = tuple([pot.players for pot in pots])
        self.shown_by_seat = tuple([showing.index(position) for position in by_seat if position in showing])
        self.endings: dict[tuple[object, ...], PlannedEnding] = {}


class PlannedEnding:
    """Text of a hand whose winners are known.

    Attributes:
        pieces: the text, cut at the gaps, with an empty text for each gap. The gaps are number and time, the hero's
            line, the cards of the streets' lines, cards and hand name of each player who shows in the order of the
            showdown, the board, and cards and hand name of each player who shows in the order of the seats.
        winners: positions that win each pot.
        values: net chips by position of the last hand that was checked against the winners; None before the first.
    """

    __slots__ = ("pieces", "values", "winners")

    def __init__(self, template: str, winners: tuple[tuple[Position, ...], ...]) -> None:
        self.pieces = [""] * (2 * template.count("%s") + 1)
        self.pieces[::2] = template.split("%s")
        self.winners = winners
        self.values: tuple[float, ...] | None = None


class _Street(NamedTuple):
    """Lines of one street.

    Attributes:
        text: the lines.
        folded: positions that folded, with their results in the summary.
        shows_first: position that shows first if no street with actions follows.
    """

    text: str
    folded: tuple[tuple[Position, str], ...]
    shows_first: Position


class Planner:
    """Planner of the bettings and endings of one match."""

    def __init__(self, money: Money, rake: RakeFunction | None, line_end: str) -> None:
        self._money = money
        self._rake = rake
        self._line_end = line_end
        self._headings = [heading.replace("\n", line_end) for heading in _STREETS]
        self._boards = [board.replace("\n", line_end) for board in _BOARDS]
        # Streets of limit games recur even more than bettings: unless a player is all-in, every line of a street
        # follows from its round, actions and names.
        self._streets: dict[tuple[int, RoundActions, tuple[str, ...]], _Street] = {}

    def plan(self, record: HandRecord, table: TableText) -> BettingPlan:
        """Plan the betting of a hand.

        Raises:
            LogsError: the format cannot express the betting, or the rake is not between 0 and the pot.
        """
        betting = record.betting
        is_all_in = any(map(eq, betting.spent, betting.game.stacks))
        if betting.game.is_limit and not is_all_in:
            streets = self._limit_streets(betting, table)
        else:
            steps: Sequence[Step] = street_actions(betting)
            if is_all_in:
                steps = _without_idle_checks(betting, steps)
            streets = [self._street(round_, list(group), table) for round_, group in groupby(steps, _ROUND)]
        pots = side_pots(betting.spent, betting.folded)
        rake_cents = rake_units(self._rake, record, pots, self._money.scale)
        folded_texts = [""] * len(betting.spent)
        parts: list[str] = []
        for text, folded, _ in streets:
            parts.append(text)
            for position, folded_text in folded:
                folded_texts[position] = folded_text
        # An uncalled bet is returned where the betting ends, before the streets that are dealt without actions.
        returned_to, returned = uncalled(betting.spent)
        if returned:
            amount = self._money.chips(returned)
            parts.append(f"Uncalled bet ({amount}) returned to {table.names[returned_to]}{self._line_end}")
        parts += self._headings[max(1, len(streets)) : betting.round + 1]
        shows_first = Position(0)
        if streets:
            shows_first = streets[-1].shows_first
        return BettingPlan(
            betting,
            "".join(parts),
            pots,
            rake_cents,
            showing=order_of_showing(betting, shows_first),
            by_seat=table.by_seat,
            folded_texts=folded_texts,
        )

    def ending(
        self,
        plan: BettingPlan,
        table: TableText,
        winners: tuple[tuple[Position, ...], ...],
        unknown: Container[Position] = (),
    ) -> PlannedEnding:
        """Return the whole hand.

        Args:
            winners: positions that win each pot.
            unknown: positions at the showdown whose cards are not known.
        """
        end = self._line_end
        results = list(plan.folded_texts)
        pots_cents = self._payouts(plan)
        won_cents = [0] * len(results)
        collecting: list[str] = []
        # Side pots are paid before the main pot, as in genuine hands.
        for pot in reversed(range(len(pots_cents))):
            name = _pot_name(pot, len(pots_cents))
            shares = equal_shares(pots_cents[pot], len(winners[pot]))
            for position, cents in zip(winners[pot], shares, strict=True):
                won_cents[position] += cents
                collecting.append(f"{table.names[position]} collected {self._money.text(cents)} from {name}{end}")
        won: dict[Position, str] = {}
        for pot_winners in winners:
            for position in pot_winners:
                won[position] = f"({self._money.text(won_cents[position])})"
        lines = [table.head, "%s", plan.text]
        if plan.showing:
            lines.append(f"*** SHOW DOWN ***{end}")
        # Losers show as well, so that trackers see all cards. Only unknown hands are mucked.
        for position in plan.showing:
            if position not in unknown:
                lines.append(f"{table.names[position]}: shows [%s] (%s){end}")
                if position in won:
                    results[position] = f"showed [%s] and won {won[position]} with %s"
                else:
                    results[position] = "showed [%s] and lost with %s"
            elif position not in won:
                lines.append(f"{table.names[position]}: mucks hand {end}")
                results[position] = "mucked"
        lines += collecting
        for position, amount in won.items():
            if not results[position]:
                results[position] = f"collected {amount}"
                if not plan.showing:
                    lines.append(f"{table.names[position]}: doesn't show hand {end}")
        lines += self._summary(plan, pots_cents)
        for position in table.by_seat:
            lines.append(f"{table.seat_texts[position]}{results[position]}{end}")
        # Importers split a file at runs of empty lines, so there is none within a hand.
        lines += (end, end)
        return PlannedEnding("".join(lines), winners)

    def _payouts(self, plan: BettingPlan) -> list[int]:
        """Return the cents that the winners of each pot receive."""
        chips = [pot.amount for pot in plan.pots]
        payouts = [self._money.scale.units(amount) for amount in chips]
        if plan.rake_cents:
            rakes = split_by_weight(plan.rake_cents, chips)
            payouts = [cents - rake for cents, rake in zip(payouts, rakes, strict=True)]
        return payouts

    def _limit_streets(self, betting: BettingState, table: TableText) -> list[_Street]:
        """Return the streets of a limit game in which no player is all-in."""
        streets: list[_Street] = []
        steps: Sequence[Step] | None = None
        for round_, actions in enumerate(betting.rounds):
            key = round_, actions, table.names
            street = self._streets.get(key)
            if street is None:
                steps = steps or street_actions(betting)
                if len(self._streets) >= _MAX_STREETS:
                    self._streets.clear()
                street = self._street(round_, [step for step in steps if step.round == round_], table)
                self._streets[key] = street
            streets.append(street)
        return streets

    def _street(self, round_: int, steps: Sequence[Step], table: TableText) -> _Street:
        lines = [self._headings[round_]]
        folded: list[tuple[Position, str]] = []
        shows_first = steps[0].position
        chips = self._money.chips
        words = table.words
        end = self._line_end
        for _, _, _, position, _, move, added, street_total, _, raised_by, is_all_in in steps:
            if added:
                if move >= _BET:
                    shows_first = position
                # A raise names the increase of the bet and the total of the street; a call names the chips added.
                if move is _RAISE:
                    amount = f"{chips(raised_by)} to {chips(street_total)}"
                else:
                    amount = chips(added)
                if is_all_in:
                    amount += " and is all-in"
                lines.append(f"{words[position][move]}{amount}{end}")
                continue
            lines.append(words[position][move] + end)
            if move is _FOLD:
                result = _FOLDED[round_]
                if not round_ and not street_total:
                    result += " (didn't bet)"
                folded.append((position, result))
        return _Street("".join(lines), tuple(folded), shows_first)

    def _summary(self, plan: BettingPlan, pots_cents: Sequence[int]) -> Iterator[str]:
        """Yield the lines of the summary above the seats.

        Args:
            pots_cents: payout of each pot, after rake.
        """
        money = self._money
        end = self._line_end
        parts = ""
        if len(pots_cents) > 1:
            for pot, cents in enumerate(pots_cents):
                name = _pot_name(pot, len(pots_cents))
                parts += f"{name[0].upper()}{name[1:]} {money.text(cents)}. "
        total = money.text(sum(pots_cents) + plan.rake_cents)
        yield f"*** SUMMARY ***{end}Total pot {total} {parts}| Rake {money.text(plan.rake_cents)} {end}"
        yield self._boards[plan.street]


def _pot_name(pot: int, pot_count: int) -> str:
    if pot_count == 1:
        return "pot"
    if pot == 0:
        return "main pot"
    if pot_count == 2:
        return "side pot"
    return f"side pot-{pot}"


def _without_idle_checks(betting: BettingState, actions: Sequence[Step]) -> Sequence[Step]:
    """Return the actions without checks that no card room would ask for.

    A room does not ask the last player with chips left if all others in the hand are all-in for no more than its bet,
    as can happen after a big blind that puts a player all-in. The ACPC does.
    """
    # A set of positions as bits: a comparison with one bit is cheaper than counting.
    able = 0
    for position, stack in enumerate(betting.game.stacks):
        if betting.game.blinds[position] < stack:
            able |= 1 << position
    kept: list[Step] = []
    for action in actions:
        bit = 1 << action.position
        if able != bit or action.move is not _CHECK:
            kept.append(action)
        if action.move is _FOLD or action.is_all_in:
            able &= ~bit
    return kept


class TableText:
    """Lines of a hand that depend on the seating alone.

    Attributes:
        names: players' names in the history, by position.
        words: beginnings of the lines of actions, by position and move.
        by_seat: positions in the order of the seats.
        seat_texts: beginnings of the summary's lines, by position.
        head: the lines before the cards are dealt. Gaps: number and time of the hand.
    """

    def __init__(
        self,
        game: Game,
        blinds: Blinds,
        seats: Sequence[Seat],
        names: Sequence[str],
        *,
        first_line: str,
        table_name: str,
        money: Money,
        line_end: str,
    ) -> None:
        """Make the lines.

        Args:
            blinds: positions that post them.
            seats: seat of each position.
            names: players' names in the history, by seat.
            first_line: the first line of every hand, without its end, with the gaps.
            table_name: the table's name in the history.
            money: format of amounts.
            line_end: end of every line.
        """
        self.names = tuple([names[seat] for seat in seats])
        # "NAME: folds " and "NAME: checks " keep the space at their end, as genuine lines do; one importer needs it.
        self.words = [[f"{name}: {move.name.lower()}s " for move in Move] for name in self.names]
        self.by_seat = tuple(sorted(map(Position, range(len(seats))), key=lambda position: seats[position]))
        seat_texts: list[str] = []
        for position, seat in enumerate(seats):
            tags = _tags(Position(position), blinds)
            seat_texts.append(f"Seat {seat + 1}: {self.names[position]}{tags} ")
        self.seat_texts = tuple(seat_texts)
        size = next(size for size in _TABLE_SIZES if size >= len(seats))
        play_money = "" if money.code else " (Play Money)"
        lines = [
            first_line,
            f"Table '{table_name}' {size}-max{play_money} Seat #{seats[blinds.button] + 1} is the button",
        ]
        stacks = shown_stacks(game)
        for position in self.by_seat:
            stack = money.chips(stacks[position])
            lines.append(f"Seat {seats[position] + 1}: {self.names[position]} ({stack} in chips) ")
        for blind_name, position in (("small", blinds.small), ("big", blinds.big)):
            blind = game.blinds[position]
            line = f"{self.names[position]}: posts {blind_name} blind {money.chips(blind)}"
            if blind == game.stacks[position]:
                line += " and is all-in"
            lines.append(line)
        self.head = line_end.join([*lines, "*** HOLE CARDS ***", ""])


def _tags(position: Position, blinds: Blinds) -> str:
    tags = ""
    if position == blinds.button:
        tags += " (button)"
    if position == blinds.small:
        tags += " (small blind)"
    if position == blinds.big:
        tags += " (big blind)"
    return tags
