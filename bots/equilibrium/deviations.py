"""Costs of a player's decisions in finished hands of a game whose equilibrium is known.

    result = deviations_of(deals_in(find(["runs/x"])), "New")
    for situation in result.situations:
        print(situation.name, situation.cost.mean, situation.cost.half_width)

The cost of an action is the difference from the best action in chips, against an equilibrium and with best play after
it. It is exact, so the interval of a situation covers only how often the player meets it and errs. An action without
cost can still be exploitable, which `arena exploit` measures.
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

_MIN_DEALS: Final = 30
"""Minimum number of deals of a situation for an interval."""
_ROUNDING: Final = 1e-9
"""Costs below this, in chips, count as 0, because the strategy tables have ten digits."""
_MAX_NAMED: Final = 20
_MOVES: Final = {Move.FOLD: "fold", Move.CHECK: "check", Move.CALL: "call", Move.BET: "bet", Move.RAISE: "raise"}


@dataclass(frozen=True, slots=True)
class ChosenAction:
    """Action of a player in a situation.

    Attributes:
        did: the action, such as ``fold``.
        chance: its probability in equilibrium.
        cost: its cost, in chips.
    """

    did: str
    times: int
    chance: float
    cost: float


@dataclass(frozen=True, slots=True)
class SituationCost:
    """Costs of a player's decisions in one situation, named by position, betting and cards.

    Attributes:
        deals: number of deals with this situation.
        cost: chips lost there per hundred of all hands of the player. The 95 % intervals of all situations hold
            jointly. Fewer than 30 deals have no interval.
        choices: actions of the player, the most expensive first.
    """

    name: str
    deals: int
    cost: Estimate
    choices: tuple[ChosenAction, ...]


@dataclass(frozen=True, slots=True)
class Deviations:
    """Costs of all decisions of a player.

    Attributes:
        deals: number of deals, the units of the intervals.
        unmet: number of decisions that an opponent in equilibrium never allows, which have no cost.
        cost: chips lost per hundred hands; its interval holds jointly with those of the situations.
        situations: situations, the most expensive first.
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
    """Return the cost of each action in chips, by position and state, in a solved game.

    States are those of `bots.equilibrium.bot.state_of`, without those that an opponent in equilibrium never allows.
    """
    form = sequence_form(small_game(game))
    plans = [plan_of_policy(form, player, EquilibriumBot(seed=1), "equilibrium") for player in range(2)]
    all_costs: dict[tuple[int, tuple[str, str]], dict[ActionKind, float]] = {}
    for player in range(2):
        other = 1 - player
        values = sequence_values(form, player, plans[other])
        own = [frozenset(parse_cards(text)) for text in form.game.classes[player]]
        opponent_holdings = [frozenset(parse_cards(text)) for text in form.game.classes[other]]
        # Descendants first, as in `best_response`: each choice has the best play after it.
        for choice in reversed(form.choices[player]):
            point = choice.point
            action_values = values[choice.sequences]
            values[choice.parent] += action_values.max(axis=0)
            reach = reach_of(form, other, plans[other], choice.name)
            # Ordered deals of one card to each player and the board.
            known = 2 + len(point.board)
            deals = prod(len(game.deck) - dealt for dealt in range(known))
            for index, holding in enumerate(own):
                taken = holding | {*point.board}
                if len(taken) < known - 1:
                    continue
                # Sum of the opponent's reach over its holdings, divided by the deals: the probability of the state.
                total = 0.0
                for cards, part in zip(opponent_holdings, reach, strict=True):
                    if cards.isdisjoint(taken):
                        total += part
                chance = total / deals
                if chance <= _ROUNDING:
                    continue
                losses = (action_values[:, index].max() - action_values[:, index]) / chance
                costs = {}
                for action, cost in zip(point.actions, losses.tolist(), strict=True):
                    costs[action.kind] = cost if cost >= _ROUNDING else 0.0
                all_costs[player, state_of(view_of(point, tuple(holding)))] = costs
    return all_costs


def deviations_of(deals: Iterable[Sequence[tuple[str, HandRecord]]], player: str | None = None) -> Deviations:
    """Compute the costs of a player's decisions in a game whose equilibrium is known.

    Args:
        deals: hands of the same cards with the paths of their files, as from `logs.leaks.deals_in`.
        player: the first player of the first hand by default.

    Raises:
        LeaksRefused: the game is not solved, there are several games, or a hand does not show the player's cards.
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
        if self._deals < _MIN_DEALS:
            raise LeaksRefused(
                f"{self.player} played {count_of(self._deals, 'deal')}; leaks need at least {_MIN_DEALS}"
            )
        asked = sum(len(of_deals) >= _MIN_DEALS for of_deals in self._by_deal.values()) + 1
        width = NormalDist().inv_cdf(1 - 0.025 / asked)
        everything: dict[int, float] = {}
        for of_deals in self._by_deal.values():
            for deal, lost in of_deals.items():
                everything[deal] = everything.get(deal, 0.0) + lost
        situations = []
        for name, of_deals in self._by_deal.items():
            choices = [ChosenAction(did, *of_choice) for did, of_choice in self._times[name].items()]
            choices.sort(key=lambda one: (-one.times * one.cost, one.did))
            if len(of_deals) >= _MIN_DEALS:
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
        """Estimate the cost of some decisions per hundred hands, with an interval of `width` standard errors."""
        total = sum(of_deals.values())
        scale = 100 / self._hands
        squares = sum(cost**2 for cost in of_deals.values()) - self._deals * (total / self._deals) ** 2
        error = scale * sqrt(max(0.0, squares) * self._deals / (self._deals - 1))
        half_width = None
        if width is not None:
            half_width = width * error
        return Estimate(scale * total, half_width, error)


def _move(step: Step) -> str:
    # Antes are no bet: the first raise of a round without a blind is called a bet.
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
    """Describe the costs of a player's decisions, the most expensive situations first."""
    costly = [situation for situation in found.situations if situation.cost.mean > 0]
    more = len(costly) - _MAX_NAMED
    title = "Most expensive decisions"
    note = ""
    if more > 0:
        note = f"{more} more that cost something are in --json."
    rows = []
    for situation in costly[:_MAX_NAMED]:
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
                meaning="chips lost per 100 hands against an equilibrium",
            ),
            Column(
                "actions",
                TEXT,
                meaning="how often; how often an equilibrium does it; the exact cost of doing it once, in chips",
            ),
        ),
        tuple(rows),
        note,
    )
    return Document(
        f"Costs of the decisions of {found.player}",
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
            f"{found.player} loses most here: {worst.name}, {rate} chips per hundred hands. It chose "
            f"{_choice_in_words(worst.choices[0])}.",
            f"Its decisions in these hands cost {whole} chips per hundred hands in all against an equilibrium. The "
            "costs are exact; the intervals, which hold together at 95 %, cover the frequency of the decisions and "
            "actions.",
        ]
    if found.unmet:
        sentences.append(
            f"{count_of(found.unmet, 'decision')} came up that an equilibrium never reaches; these have no cost."
        )
    return (*sentences, "Measure with arena exploit how much a better opponent could win from the player's policy.")


def _choice_in_words(played: ChosenAction) -> str:
    cost = "costs nothing"
    if played.cost:
        cost = f"costs {played.cost:,.4g}"
    return f"{played.did} {times_of(played.times)} ({100 * played.chance:.0f} % in an equilibrium, {cost})"
