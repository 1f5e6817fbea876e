"""The lines of a hand that follow from its betting or from who sits where, with gaps for the rest.

In every hand with the same betting these lines differ only in the names and the cards. Bettings recur: 100,000 hands of
heads-up limit between players who do anything have 6,500 different ones. So they are made once, as a `Plan`, and with
the winners of each pot as an `Outcome`. Both are texts with gaps: ``%s`` for cards and hand names, and one character
for each name, that of `NAME_GAPS`. Neither names nor amounts hold any of these. A `Table` has the lines that are the
same as long as every player keeps its position.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Final

from engine import BettingState, Game, Position, Seat
from engine.actions import Move
from engine.holdem import Blinds
from engine.pots import Pot, side_pots, uncalled
from engine.steps import Step
from logs.errors import LogsError
from logs.holdem import shown_stacks
from logs.money import shares, split
from logs.pokerstars.stakes import Money
from logs.rake import RakeFunction
from logs.record import HandRecord
from logs.steps import showdown_order, street_actions

__all__ = ["NAME_GAPS", "Outcome", "Plan", "Planner", "Table"]

_STREETS: Final = (
    "",
    "*** FLOP *** [%s]\n",
    "*** TURN *** [%s] [%s]\n",
    "*** RIVER *** [%s %s] [%s]\n",
)
_BOARDS: Final = ("", "Board [%s]\n", "Board [%s %s]\n", "Board [%s %s %s]\n")
_FOLDED: Final = ("folded before Flop", "folded on the Flop", "folded on the Turn", "folded on the River")
_VERBS: Final = tuple(f"{move.name.lower()}s" for move in Move)
_TABLE_SIZES: Final = (2, 3, 6, 9, 10)
_FIRST_GAP: Final = 0x10

NAME_GAPS: Final = tuple(chr(_FIRST_GAP + position) for position in range(10))
"""Placeholders for the name of each position: control characters that are not line ends."""


class Plan:
    """What follows from the betting of a hand.

    Attributes:
        text: the actions, street by street, and what nobody called. Gaps: the cards of the streets' lines.
        street: the last street dealt, 0-based.
        pots: the main pot first.
        rake_cents: what the house takes of all of them.
        showing: positions at the showdown, in order; nobody if all but one folded.
        folded_texts: what the summary says of each position that folded; empty for the others.
        alone: who wins each pot without a showdown, where one player is left for all of them.
        outcomes: by the winners of each pot, as far as they were met.
    """

    __slots__ = ("alone", "folded_texts", "outcomes", "pots", "rake_cents", "showing", "street", "text")

    def __init__(
        self,
        text: str,
        street: int,
        pots: Sequence[Pot],
        rake_cents: int,
        showing: Sequence[Position],
        folded_texts: Sequence[str],
    ) -> None:
        self.text = text
        self.street = street
        self.pots = tuple(pots)
        self.rake_cents = rake_cents
        self.showing = tuple(showing)
        self.folded_texts = tuple(folded_texts)
        self.alone = tuple([pot.players for pot in self.pots])
        self.outcomes: dict[tuple[tuple[Position, ...], ...], Outcome] = {}


class Outcome:
    """The end of a hand whose winners are known.

    Attributes:
        text: the lines from the showdown to the board of the summary. Gaps: cards and hand name of everybody who
            shows, in the order of the showdown; the board.
        seat_texts: what the summary says of each position. Gaps: cards and hand name of players who show.
        values: net chips of each position that were found right for it; None before any were looked at.
    """

    __slots__ = ("seat_texts", "text", "values")

    def __init__(self, text: str, seat_texts: Sequence[str]) -> None:
        self.text = text
        self.seat_texts = tuple(seat_texts)
        self.values: tuple[float, ...] | None = None


class Planner:
    """Makes plans and outcomes for one game."""

    def __init__(self, money: Money, rake: RakeFunction | None, line_end: str) -> None:
        self._money, self._rake, self._line_end = money, rake, line_end

    def plan(self, record: HandRecord) -> Plan:
        """The plan of a hand's betting.

        Raises:
            LogsError: the format cannot express the betting, or the rake is not between 0 and the pot.
        """
        betting = record.betting
        actions = _without_idle_checks(betting, street_actions(betting))
        pots = side_pots(betting.spent, betting.folded)
        rake_cents = 0 if self._rake is None else self._rake_cents(record, sum(pot.amount for pot in pots))
        folded_texts = [""] * len(betting.spent)
        text = "".join(self._action_lines(betting, actions, folded_texts)).replace("\n", self._line_end)
        return Plan(text, betting.round, pots, rake_cents, showdown_order(record, actions), folded_texts)

    def outcome(
        self, plan: Plan, winners: tuple[tuple[Position, ...], ...], unknown: Container[Position] = ()
    ) -> Outcome:
        """The end of a hand.

        Args:
            plan: what its betting says.
            winners: of each pot.
            unknown: positions at the showdown whose cards are not known.
        """
        scale, money = self._money.scale, self._money
        texts = list(plan.folded_texts)
        won_cents = [0] * len(texts)
        amounts = [pot.amount for pot in plan.pots]
        left = [scale.units(amount) for amount in amounts]
        if plan.rake_cents:
            rakes = split(plan.rake_cents, amounts)
            left = [cents - rake for cents, rake in zip(left, rakes, strict=True)]
        collecting = []
        for pot in reversed(range(len(left))):
            for position, cents in zip(winners[pot], shares(left[pot], len(winners[pot])), strict=True):
                won_cents[position] += cents
                collecting.append(f"{NAME_GAPS[position]} collected {money.text(cents)} from {_pot_name(pot, left)}\n")
        won = {position: f"({money.text(won_cents[position])})" for sharing in winners for position in sharing}
        lines = ["*** SHOW DOWN ***\n"] if plan.showing else []
        for position in plan.showing:
            if position not in unknown:
                lines.append(f"{NAME_GAPS[position]}: shows [%s] (%s)\n")
                result = f"won {won[position]}" if position in won else "lost"
                texts[position] = f"showed [%s] and {result} with %s"
            elif position not in won:
                lines.append(f"{NAME_GAPS[position]}: mucks hand \n")
                texts[position] = "mucked"
        lines += collecting
        for position, amount in won.items():
            if not texts[position]:
                texts[position] = f"collected {amount}"
                if not plan.showing:
                    lines.append(f"{NAME_GAPS[position]}: doesn't show hand \n")
        lines += self._summary(plan, left)
        return Outcome("".join(lines).replace("\n", self._line_end), [text + self._line_end for text in texts])

    def _rake_cents(self, record: HandRecord, pot_chips: int) -> int:
        assert self._rake is not None
        scale = self._money.scale
        rake = scale.rounded_units(self._rake(pot_chips, record.betting.round > 0))
        if not 0 <= rake <= scale.units(pot_chips):
            raise LogsError(
                f"hand {record.hand_number}: a rake of {scale.number(rake)} from a pot of {scale.amount(pot_chips)}"
            )
        return rake

    def _action_lines(self, betting: BettingState, actions: Sequence[Step], folded_texts: list[str]) -> list[str]:
        """The actions street by street, and behind the last of them the bet that nobody called.

        What the summary says of players who fold goes into `folded_texts`.
        """
        lines: list[str] = []
        chips, street = self._money.chips, 0
        for _, _, round_, position, _, move, added, street_total, _, raised_by, is_all_in in actions:
            while street < round_:
                street += 1
                lines.append(_STREETS[street])
            verb = _VERBS[move]
            if added:
                amount = f"{chips(raised_by)} to {chips(street_total)}" if move is Move.RAISE else chips(added)
                lines.append(f"{NAME_GAPS[position]}: {verb} {amount}{' and is all-in' if is_all_in else ''}\n")
            else:
                lines.append(f"{NAME_GAPS[position]}: {verb} \n")
                if move is Move.FOLD:
                    folded_texts[position] = _FOLDED[round_] + ("" if betting.spent[position] else " (didn't bet)")
        returned_to, returned = uncalled(betting.spent)
        if returned:
            lines.append(f"Uncalled bet ({chips(returned)}) returned to {NAME_GAPS[returned_to]}\n")
        lines += _STREETS[street + 1 : betting.round + 1]
        return lines

    def _summary(self, plan: Plan, left_cents: Sequence[int]) -> Iterator[str]:
        """The summary without its seats.

        Args:
            plan: what the betting says.
            left_cents: of each pot after rake.
        """
        money = self._money
        parts = ""
        if len(left_cents) > 1:
            names = [_pot_name(pot, left_cents) for pot in range(len(left_cents))]
            parts = "".join(
                f"{name[0].upper()}{name[1:]} {money.text(cents)}. "
                for name, cents in zip(names, left_cents, strict=True)
            )
        yield "*** SUMMARY ***\n"
        total = money.text(sum(left_cents) + plan.rake_cents)
        yield f"Total pot {total} {parts}| Rake {money.text(plan.rake_cents)} \n"
        yield _BOARDS[plan.street]


def _pot_name(pot: int, all_pots: Sequence[int]) -> str:
    if len(all_pots) == 1:
        return "pot"
    if pot == 0:
        return "main pot"
    return "side pot" if len(all_pots) == 2 else f"side pot-{pot}"


def _without_idle_checks(betting: BettingState, actions: Sequence[Step]) -> Sequence[Step]:
    """The actions without checks for which no table would ask.

    The last player with chips left is not asked at a table when everybody else in the hand is all-in for no more than
    its bet, as happens after a big blind that puts a player all-in. The ACPC asks it.
    """
    stacks = betting.game.stacks
    if not any(spent == stack for spent, stack in zip(betting.spent, stacks, strict=True)):
        return actions
    able = {Position(p) for p, blind in enumerate(betting.game.blinds) if blind < stacks[p]}
    kept = []
    for action in actions:
        if able != {action.position} or action.move is not Move.CHECK:
            kept.append(action)
        if action.move is Move.FOLD or action.is_all_in:
            able.discard(action.position)
    return kept


class Table:
    """Where the players of a hand sit.

    Attributes:
        names: of the players, as the format has them, by position.
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
