"""What a player gives away where an equilibrium is known: decision by decision, the cost of each exact.

    found = deviations_of(deals_in(find(["runs/x"])), "New")
    for one in found.situations:
        print(one.name, one.cost.mean, one.cost.half_width)

The cost of an action is what the best one would win more, against an opponent who plays the equilibrium and with the
best play that follows: chips that follow from the rules, with no luck of cards or opponents in them. The costs of a
player's decisions, each weighted with the chance that the equilibrium lets it come to them, are together what it loses
to the equilibrium beyond the value of the game. Here they are counted as often as the hands show them; so the interval
of a situation is only about how often the player comes to it and errs. An action that costs nothing may still be one
that a better opponent exploits: `arena exploit` has the amount.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod, sqrt
from statistics import NormalDist
from typing import Final

from bots.equilibrium.bot import GAMES, EquilibriumBot, state_of
from bots.sdk.view import View
from bots.solving.engine_games import small_game
from bots.solving.exact import plan_of_policy, reach_of, view_of
from bots.solving.sequence_form import sequence_form, sequence_values
from engine import Action, ActionKind, Game, Move, Step, betting_steps, parse_cards
from engine.hand import decisions
from engine.holdem import position_names
from engine.text import count_of, times_of
from logs.document import TEXT, Column, Document, Fact, Section, Table, text_of
from logs.errors import LeaksRefused
from logs.estimation import Estimate
from logs.leaks.search import deals_of_player
from logs.record import HandRecord
from protocol import find_game

FEWEST_DEALS: Final = 30
"""Deals in which a situation has to come up to have an interval."""
_ROUNDING: Final = 1e-9
"""Chips: a cost below is that of an equilibrium's own actions, which the table has to ten digits."""
_MOST_NAMED: Final = 20
_MOVES: Final = {Move.FOLD: "fold", Move.CHECK: "check", Move.CALL: "call", Move.BET: "bet", Move.RAISE: "raise"}


@dataclass(frozen=True, slots=True)
class ChosenAction:
    """What a player did in a situation, such as ``fold``; its chance in equilibrium, and its cost in chips."""

    did: str
    times: int
    chance: float
    cost: float


@dataclass(frozen=True, slots=True)
class SituationCost:
    """Costs of a player's decisions in one situation, named by position, betting and cards.

    Attributes:
        deals: in how many deals it came up.
        cost: chips that the player gave away there, per hundred of all its hands; the interval holds together with
            those of all others, 95 %. There is none for fewer than `FEWEST_DEALS` deals.
        choices: what the player did, the most expensive first.
    """

    name: str
    deals: int
    cost: Estimate
    choices: tuple[ChosenAction, ...]


@dataclass(frozen=True, slots=True)
class Deviations:
    """Costs of all decisions of a player.

    Attributes:
        deals: of the same cards; the units of the intervals.
        unmet: decisions that an equilibrium never lets come up, which have no cost.
        cost: chips given away, per hundred hands; the interval is one of those that hold together.
        situations: the most expensive first.
    """

    player: str
    hands: int
    deals: int
    decisions: int
    unmet: int
    cost: Estimate
    situations: tuple[SituationCost, ...]
    schema_version: int = 1


def is_solved(game: Game) -> bool:
    return any(find_game(name)[1] == game for name in GAMES)


@cache
def action_costs(game: Game) -> Mapping[tuple[int, tuple[str, str]], Mapping[ActionKind, float]]:
    """What each action costs, in chips, by position and state (`bots.equilibrium.bot.state_of`), in a solved game.

    States to which an equilibrium's opponent never comes are left out.
    """
    form = sequence_form(small_game(game))
    plans = [plan_of_policy(form, player, EquilibriumBot(seed=1), "equilibrium") for player in range(2)]
    found: dict[tuple[int, tuple[str, str]], dict[ActionKind, float]] = {}
    for player in range(2):
        other = 1 - player
        values = sequence_values(form, player, plans[other])
        own = [frozenset(parse_cards(text)) for text in form.game.classes[player]]
        others = [frozenset(parse_cards(text)) for text in form.game.classes[other]]
        for choice in reversed(form.choices[player]):
            point = choice.point
            of_actions = values[choice.sequences]
            values[choice.parent] += of_actions.max(axis=0)
            reach = reach_of(form, other, plans[other], choice.name)
            known = 2 + len(point.board)
            deals = prod(len(game.deck) - at for at in range(known))
            for at, holding in enumerate(own):
                taken = holding | {*point.board}
                if len(taken) < known - 1:
                    continue
                ways = 0.0
                for cards, part in zip(others, reach, strict=True):
                    if cards.isdisjoint(taken):
                        ways += part
                chance = ways / deals
                if chance <= _ROUNDING:
                    continue
                lost = (of_actions[:, at].max() - of_actions[:, at]) / chance
                costs = {}
                for action, cost in zip(point.actions, lost.tolist(), strict=True):
                    costs[action.kind] = cost if cost >= _ROUNDING else 0.0
                found[player, state_of(view_of(point, tuple(holding)))] = costs
    return found


def deviations_of(deals: Iterable[Sequence[tuple[str, HandRecord]]], player: str | None = None) -> Deviations:
    """What a player, by default the first one of the first hand, gave away in a game whose equilibrium is known.

    The deals have all hands of the same cards with the paths they come from (`logs.leaks.deals_in`).

    Raises:
        LeaksRefused: the hands do not show it, with the reason.
    """
    count: _Count | None = None
    for name, hands in deals_of_player(deals, player):
        for _, record in hands:
            if count is None:
                if not is_solved(record.game):
                    raise LeaksRefused(
                        f"leaks are reported in hold'em, and in games with an equilibrium, {', '.join(GAMES)}: not in "
                        "this game"
                    )
                count = _Count(record.game, name)
            if record.game != count.game:
                raise LeaksRefused("the hands are of different games; leaks need the hands of one game")
        assert count is not None
        count.add([record for _, record in hands])
    assert count is not None
    return count.deviations()


class _Count:
    def __init__(self, game: Game, player: str) -> None:
        self.game = game
        self.player = player
        self._costs = action_costs(game)
        self._bot = EquilibriumBot(seed=1)
        self._hands = self._deals = self._decisions = self._unmet = 0
        self._times: dict[str, dict[str, tuple[int, float, float]]] = {}
        self._by_deal: dict[str, dict[int, float]] = {}

    def add(self, hands: Sequence[HandRecord]) -> None:
        self._deals += 1
        self._hands += len(hands)
        for record in hands:
            self._add(record)

    def _add(self, record: HandRecord) -> None:
        position = record.names.index(self.player)
        hole = record.deal.hole_cards[position]
        if not hole:
            raise LeaksRefused(
                f"hand {record.hand_number} of {record.match_name} does not show the cards of the player"
            )
        before: list[str] = []
        for step, (state, _) in zip(betting_steps(record.betting), decisions(record.betting), strict=True):
            move = _move(step)
            if step.position == position:
                board = record.deal.board[: self.game.board_cards_by_round[step.round]]
                view = View.from_holding(state, step.position, hole, board, record.hand_number)
                self._decide(view, move, step.action, before)
            while len(before) < step.round + 1:
                before.append("")
            if before[step.round]:
                before[step.round] += ", "
            before[step.round] += move

    def _decide(self, view: View, move: str, action: Action, before: list[str]) -> None:
        self._decisions += 1
        costs = self._costs.get((view.position, state_of(view)))
        if costs is None:
            self._unmet += 1
            return
        kind = action.kind
        cost = costs[kind]
        chances = self._bot.policy(view)
        chance = sum(part for one, part in chances.items() if one.kind == kind)
        name = _words(view, before)
        times, _, _ = self._times.setdefault(name, {}).get(move, (0, 0.0, 0.0))
        self._times[name][move] = times + 1, chance, cost
        of_deals = self._by_deal.setdefault(name, {})
        of_deals[self._deals] = of_deals.get(self._deals, 0.0) + cost

    def deviations(self) -> Deviations:
        if self._deals < FEWEST_DEALS:
            raise LeaksRefused(
                f"{self.player} played {count_of(self._deals, 'deal')}; leaks need at least {FEWEST_DEALS}"
            )
        asked = sum(len(of_deals) >= FEWEST_DEALS for of_deals in self._by_deal.values()) + 1
        width = NormalDist().inv_cdf(1 - 0.025 / asked)
        everything: dict[int, float] = {}
        for of_deals in self._by_deal.values():
            for deal, lost in of_deals.items():
                everything[deal] = everything.get(deal, 0.0) + lost
        situations = []
        for name, of_deals in self._by_deal.items():
            choices = [ChosenAction(did, *of_choice) for did, of_choice in self._times[name].items()]
            choices.sort(key=lambda one: (-one.times * one.cost, one.did))
            if len(of_deals) >= FEWEST_DEALS:
                cost = self._cost(of_deals, width)
            else:
                cost = self._cost(of_deals, None)
            situations.append(SituationCost(name, len(of_deals), cost, tuple(choices)))
        situations.sort(key=lambda one: (-one.cost.mean, one.name))
        return Deviations(
            player=self.player,
            hands=self._hands,
            deals=self._deals,
            decisions=self._decisions,
            unmet=self._unmet,
            cost=self._cost(everything, width),
            situations=tuple(situations),
        )

    def _cost(self, of_deals: Mapping[int, float], width: float | None) -> Estimate:
        """The cost of some decisions per hundred hands; the interval is `width` standard errors on each side."""
        total = sum(of_deals.values())
        scale = 100 / self._hands
        squares = sum(cost**2 for cost in of_deals.values()) - self._deals * (total / self._deals) ** 2
        error = scale * sqrt(max(0.0, squares) * self._deals / (self._deals - 1))
        half_width = None
        if width is not None:
            half_width = width * error
        return Estimate(scale * total, half_width, error)


def _move(step: Step) -> str:
    """What a player did; antes are not a bet, so that the first raise of a round without a blind is one."""
    if step.move is Move.RAISE and not step.to_call:
        return "bet"
    return _MOVES[step.move]


def _words(view: View, before: list[str]) -> str:
    rounds = [moves or "nothing" for moves in before[: view.round + 1]] or ["nothing"]
    if len(rounds) <= view.round:
        rounds.append("nothing")
    betting = "to open"
    if rounds != ["nothing"]:
        betting = "after " + " / ".join(rounds)
    cards, *board = [card[0] for card in view.game.shown_cards((*view.hole_cards, *view.board))]
    if board:
        cards += f" on {board[0]}"
    return f"{position_names(view.game)[view.position]}, {cards}, {betting}"


def deviations_document(found: Deviations) -> Document:
    """What was given away, the most expensive decisions first."""
    costly = [one for one in found.situations if one.cost.mean > 0]
    more = len(costly) - _MOST_NAMED
    title = "What costs most"
    note = ""
    if more > 0:
        note = f"{more} more that cost something are in --json."
    rows = []
    for situation in costly[:_MOST_NAMED]:
        choices = "; ".join(map(_choice_in_words, situation.choices))
        rows.append((situation.name, situation.deals, situation.cost, choices))
    table = Table(
        title,
        (
            Column("decision", TEXT, meaning="position, card, betting"),
            Column("deals", ",", meaning="in which it came up", rank=1),
            Column(
                "chips/100",
                ",.1f",
                meaning="chips given away per hundred of all hands, against an equilibrium",
            ),
            Column(
                "what it did",
                TEXT,
                meaning="how often; how often an equilibrium does it; the exact cost of doing it once, in chips",
            ),
        ),
        tuple(rows),
        note,
    )
    return Document(
        f"What {found.player} gives away",
        _sentences(found, costly),
        (
            Fact("player", found.player),
            Fact("hands", found.hands),
            Fact("deals", found.deals),
            Fact("decisions", found.decisions),
        ),
        (Section(title, (table,)),) if costly else (),
        data=found,
    )


def _sentences(found: Deviations, costly: list[SituationCost]) -> tuple[str, ...]:
    if not costly:
        sentences = [f"None of the decisions of {found.player} in these hands costs anything against an equilibrium."]
    else:
        worst = costly[0]
        rate = text_of(worst.cost, ",.1f")
        whole = text_of(found.cost, ",.1f")
        sentences = [
            f"{found.player} gives away most here: {worst.name}, {rate} chips per hundred hands: "
            f"{_choice_in_words(worst.choices[0])}.",
            f"Its decisions in these hands cost {whole} chips per hundred hands in all, each counted as if an "
            "equilibrium had been the opponent. That cost is exact; the intervals are about how often it comes to a "
            "decision and what it then does, and hold together at 95 %.",
        ]
    if found.unmet:
        sentences.append(
            f"{count_of(found.unmet, 'decision')} came up that an equilibrium never reaches; these have no cost."
        )
    return (*sentences, "How much a better opponent could win from the player's policy is measured by arena exploit.")


def _choice_in_words(played: ChosenAction) -> str:
    cost = "costs nothing"
    if played.cost:
        cost = f"costs {played.cost:,.4g}"
    return f"{played.did} {times_of(played.times)} ({100 * played.chance:.0f} % in an equilibrium, {cost})"
