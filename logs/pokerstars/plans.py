"""The lines of a hand that follow from its betting and from who sits where, with gaps for the rest.

In every hand with the same betting and seats these lines differ only in the cards. Bettings recur: 100,000 hands of
heads-up limit between players who do anything have 6,500 different ones. So they are made once, as a `BettingPlan`, and
with the winners of each pot as a `PlannedEnding`: a text with gaps (``%s``) for cards and hand names, which neither
names nor amounts hold. In limit games streets recur even more: unless a player is all-in, every line of a street
follows from its actions. A `TableText` has the lines that are the same as long as every player keeps its position.
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
_MOST_STREETS: Final = 4096
"""Streets of limit games remembered."""
_TABLE_SIZES: Final = (2, 3, 6, 9, 10)


class BettingPlan:
    """What follows from the betting of a hand and from who sits where.

    Attributes:
        betting: the betting.
        text: the actions, street by street, and the uncalled bet. Gaps: the cards of the streets' lines.
        street: the last street dealt, 0-based.
        pots: the main pot first.
        rake_cents: what the house takes of all of them.
        showing: positions at the showdown, in order; empty if all but one folded.
        folded_texts: what the summary has of each position that folded; empty for the others.
        alone: who wins each pot without a showdown, where one player is left for all of them.
        shown_by_seat: the places in `showing`, in the order of the seats.
        endings: by the winners of each pot, and by the order of the hands that are shown, from 0 for the worst, as far
            as they were met.
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
    """A hand whose winners are known.

    Attributes:
        pieces: the hand, with an empty text for each gap: its number and time, the hero's line, the cards of the
            streets' lines; cards and hand name of all who show, in the order of the showdown; the board; cards and
            hand name of all who show, in the order of the seats.
        winners: of each pot.
        values: net chips of each position that were found right for it; None before any were looked at.
    """

    __slots__ = ("pieces", "values", "winners")

    def __init__(self, template: str, winners: tuple[tuple[Position, ...], ...]) -> None:
        self.pieces = [""] * (2 * template.count("%s") + 1)
        self.pieces[::2] = template.split("%s")
        self.winners = winners
        self.values: tuple[float, ...] | None = None


class _Street(NamedTuple):
    """One street.

    Attributes:
        text: its lines.
        folded: who folded, and what the summary has of it.
        shows_first: who would show first if it was the last street with actions.
    """

    text: str
    folded: tuple[tuple[Position, str], ...]
    shows_first: Position


class Planner:
    """Makes plans and endings for one game."""

    def __init__(self, money: Money, rake: RakeFunction | None, line_end: str) -> None:
        self._money = money
        self._rake = rake
        self._line_end = line_end
        self._headings = [heading.replace("\n", line_end) for heading in _STREETS]
        self._boards = [board.replace("\n", line_end) for board in _BOARDS]
        self._streets: dict[tuple[int, RoundActions, tuple[str, ...]], _Street] = {}
        """Of limit games, by round, actions and names."""

    def plan(self, record: HandRecord, table: TableText) -> BettingPlan:
        """The plan of a hand's betting.

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
        parts = []
        for text, folded, _ in streets:
            parts.append(text)
            for position, folded_text in folded:
                folded_texts[position] = folded_text
        returned_to, returned = uncalled(betting.spent)
        if returned:
            amount = self._money.chips(returned)
            parts.append(f"Uncalled bet ({amount}) returned to {table.names[returned_to]}{self._line_end}")
        parts += self._headings[max(1, len(streets)) : betting.round + 1]
        showing = order_of_showing(betting, streets[-1].shows_first if streets else Position(0))
        return BettingPlan(
            betting, "".join(parts), pots, rake_cents, showing=showing, by_seat=table.by_seat, folded_texts=folded_texts
        )

    def ending(
        self,
        plan: BettingPlan,
        table: TableText,
        winners: tuple[tuple[Position, ...], ...],
        unknown: Container[Position] = (),
    ) -> PlannedEnding:
        """The whole hand.

        Args:
            plan: of its betting.
            table: who sits where.
            winners: of each pot.
            unknown: positions at the showdown whose cards are not known.
        """
        scale = self._money.scale
        money = self._money
        end = self._line_end
        names = table.names
        texts = list(plan.folded_texts)
        won_cents = [0] * len(texts)
        amounts = [pot.amount for pot in plan.pots]
        left = [scale.units(amount) for amount in amounts]
        if plan.rake_cents:
            rakes = split_by_weight(plan.rake_cents, amounts)
            left = [cents - rake for cents, rake in zip(left, rakes, strict=True)]
        collecting = []
        for pot in reversed(range(len(left))):
            name = _pot_name(pot, left)
            for position, cents in zip(winners[pot], equal_shares(left[pot], len(winners[pot])), strict=True):
                won_cents[position] += cents
                collecting.append(f"{names[position]} collected {money.text(cents)} from {name}{end}")
        won = {position: f"({money.text(won_cents[position])})" for sharing in winners for position in sharing}
        lines = [table.head, "%s", plan.text]
        if plan.showing:
            lines.append(f"*** SHOW DOWN ***{end}")
        for position in plan.showing:
            if position not in unknown:
                lines.append(f"{names[position]}: shows [%s] (%s){end}")
                result = f"won {won[position]}" if position in won else "lost"
                texts[position] = f"showed [%s] and {result} with %s"
            elif position not in won:
                lines.append(f"{names[position]}: mucks hand {end}")
                texts[position] = "mucked"
        lines += collecting
        for position, amount in won.items():
            if not texts[position]:
                texts[position] = f"collected {amount}"
                if not plan.showing:
                    lines.append(f"{names[position]}: doesn't show hand {end}")
        lines += self._summary(plan, left)
        lines += [f"{table.seat_texts[position]}{texts[position]}{end}" for position in table.by_seat]
        lines += (end, end)
        return PlannedEnding("".join(lines), winners)

    def _limit_streets(self, betting: BettingState, table: TableText) -> list[_Street]:
        """The streets of a limit game in which no player is all-in: what was bet before changes none of their lines."""
        found = []
        steps = None
        for round_, actions in enumerate(betting.rounds):
            key = round_, actions, table.names
            street = self._streets.get(key)
            if street is None:
                steps = steps or street_actions(betting)
                if len(self._streets) >= _MOST_STREETS:
                    self._streets.clear()
                here = [step for step in steps if step.round == round_]
                street = self._streets[key] = self._street(round_, here, table)
            found.append(street)
        return found

    def _street(self, round_: int, steps: Sequence[Step], table: TableText) -> _Street:
        lines = [self._headings[round_]]
        folded = []
        shows_first = steps[0].position
        chips = self._money.chips
        words = table.words
        end = self._line_end
        for _, _, _, position, _, move, added, street_total, _, raised_by, is_all_in in steps:
            if added:
                if move >= _BET:
                    shows_first = position
                amount = f"{chips(raised_by)} to {chips(street_total)}" if move is _RAISE else chips(added)
                lines.append(f"{words[position][move]}{amount}{' and is all-in' if is_all_in else ''}{end}")
            else:
                lines.append(words[position][move] + end)
                if move is _FOLD:
                    has_bet = round_ or street_total
                    folded.append((position, _FOLDED[round_] if has_bet else f"{_FOLDED[0]} (didn't bet)"))
        return _Street("".join(lines), tuple(folded), shows_first)

    def _summary(self, plan: BettingPlan, left_cents: Sequence[int]) -> Iterator[str]:
        """The summary without its seats.

        Args:
            plan: of the betting.
            left_cents: of each pot after rake.
        """
        money = self._money
        end = self._line_end
        parts = ""
        if len(left_cents) > 1:
            names = [_pot_name(pot, left_cents) for pot in range(len(left_cents))]
            parts = "".join(
                f"{name[0].upper()}{name[1:]} {money.text(cents)}. "
                for name, cents in zip(names, left_cents, strict=True)
            )
        total = money.text(sum(left_cents) + plan.rake_cents)
        yield f"*** SUMMARY ***{end}Total pot {total} {parts}| Rake {money.text(plan.rake_cents)} {end}"
        yield self._boards[plan.street]


def _pot_name(pot: int, all_pots: Sequence[int]) -> str:
    if len(all_pots) == 1:
        return "pot"
    if pot == 0:
        return "main pot"
    if len(all_pots) == 2:
        return "side pot"
    return f"side pot-{pot}"


def _without_idle_checks(betting: BettingState, actions: Sequence[Step]) -> Sequence[Step]:
    """The actions without checks for which no table would ask.

    The last player with chips left is not asked at a table when all others in the hand are all-in for no more than its
    bet, as happens after a big blind that puts a player all-in. The ACPC asks it.
    """
    blinds = betting.game.blinds
    able = sum(1 << position for position, stack in enumerate(betting.game.stacks) if blinds[position] < stack)
    kept = []
    for action in actions:
        bit = 1 << action.position
        if able != bit or action.move is not _CHECK:
            kept.append(action)
        if action.move is _FOLD or action.is_all_in:
            able &= ~bit
    return kept


class TableText:
    """Where the players of a hand sit.

    Attributes:
        names: of the players, as the format has them, by position.
        words: by position and move, how the line of an action begins.
        by_seat: the positions in the order of the seats.
        seat_texts: how a position's line in the summary begins.
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
            game: the game.
            blinds: who posts them.
            seats: the seat of each position.
            names: by seat, as the format has them.
            first_line: of every hand, without its end; it has the gaps.
            table_name: as the format has it.
            money: what chips are worth.
            line_end: of every line.
        """
        self.names = tuple([names[seat] for seat in seats])
        self.words = [[f"{name}: {move.name.lower()}s " for move in Move] for name in self.names]
        self.by_seat = tuple(sorted(map(Position, range(len(seats))), key=lambda position: seats[position]))
        self.seat_texts = tuple(
            f"Seat {seat + 1}: {name}{_tags(Position(position), blinds)} "
            for position, (seat, name) in enumerate(zip(seats, self.names, strict=True))
        )
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
        for what, position in (("small", blinds.small), ("big", blinds.big)):
            ending = " and is all-in" if game.blinds[position] == game.stacks[position] else ""
            lines.append(f"{self.names[position]}: posts {what} blind {money.chips(game.blinds[position])}{ending}")
        self.head = line_end.join([*lines, "*** HOLE CARDS ***", ""])


def _tags(position: Position, blinds: Blinds) -> str:
    places = ((blinds.button, "button"), (blinds.small, "small blind"), (blinds.big, "big blind"))
    return "".join(f" ({what})" for place, what in places if place == position)
