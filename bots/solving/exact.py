"""Exact exploitability and expected winnings of a policy in a small game, over all deals.

    result = exact_exploitability(find_game("kuhn")[1], make_bot("calling"), "calling")
    result.exploitability, result.exploitability_mbb

The *exploitability* is the mean gain of best responses over all positions, that is, NashConv divided by the number of
players. In a game of two players it is 0 for an equilibrium and positive for every other policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bots.evaluation.policies import certain_policy_at
from bots.sdk.view import View
from bots.solving.engine_games import DecisionPoint, small_game
from bots.solving.sequence_form import (
    ROUNDING,
    Plan,
    Plans,
    SequenceForm,
    best_response,
    expected_values,
    others_of,
    sequence_form,
    strategy_of,
)
from engine import Card, Game, parse_cards
from logs.document import TEXT, Column, Document, Fact, Part, Section, Table
from protocol import format_action
from protocol.game_definition import short_name

if TYPE_CHECKING:
    from bots.evaluation.policies import Policy


def plan_of_policy(form: SequenceForm, player: int, policy: Policy, name: str) -> Plan:
    """Return the plan of a policy in one position, without asking it about states that its own play never reaches.

    Args:
        form: sequence form of `small_game`, with position 0 as player 0.
        name: name of the policy in errors.

    Raises:
        PolicyError: the policy has no probabilities in a state, or impossible ones.
    """
    holdings = [tuple(parse_cards(text)) for text in form.game.classes[player]]
    plan = np.zeros(form.plan_shape(player))
    plan[0] = 1
    for choice in form.choices[player]:
        for index, holding in enumerate(holdings):
            reach = plan[choice.parent, index]
            if not reach or not set(holding).isdisjoint(choice.point.board):
                # Unreachable by the policy or by the cards: such entries have no weight in any value.
                plan[choice.sequences, index] = reach / len(choice.actions)
            else:
                plan[choice.sequences, index] = reach * np.array(_chances(policy, choice.point, holding, name))
    return plan


def view_of(point: DecisionPoint, holding: tuple[Card, ...]) -> View:
    return View.from_holding(point.betting, point.betting.acting_position, holding, point.board)


def _chances(policy: Policy, point: DecisionPoint, holding: tuple[Card, ...], name: str) -> list[float]:
    reason = " (Bot.policy), so nothing can be computed without playing"
    reported = certain_policy_at(policy, view_of(point, holding), name, reason)
    if not point.betting.game.is_limit:
        return [float(reported.get(action, 0)) for action in point.actions]
    # In limit games policies may state the size of a raise or not, so kinds are compared.
    chances = []
    for action in point.actions:
        chances.append(sum(chance for played, chance in reported.items() if played.kind == action.kind))
    return chances


@dataclass(frozen=True, slots=True)
class StateAnswer:
    """Policy and best response in a state that the best response can reach.

    Attributes:
        betting: betting so far, as in a match state, with the board cards of later rounds after each slash.
        state: match state without a hand number.
        policy: probabilities of the policy by action, None if its own play never reaches the state.
        answer: probabilities of the best response by action.
        is_met: whether the state can be reached against the policy. If not, every action is a best response.
    """

    position: int
    betting: str
    holding: str
    board: str
    state: str
    policy: Mapping[str, float] | None
    answer: Mapping[str, float]
    is_met: bool


@dataclass(frozen=True, slots=True)
class ExactExploitability:
    """Winnings of a policy and of best responses to it, in chips per hand.

    Attributes:
        values: winnings of the policy in each position when it plays all positions.
        best_values: winnings of a best response in each position when the policy plays the others.
    """

    game: Game
    values: tuple[float, ...]
    best_values: tuple[float, ...]
    answers: tuple[StateAnswer, ...]

    @property
    def nash_conv(self) -> float:
        """Gain of best responses over the policy itself, summed over the positions, at least 0."""
        return max(0.0, sum(self.best_values) - sum(self.values))

    @property
    def exploitability(self) -> float:
        """Mean loss to best responses over the positions, in chips per hand."""
        return self.nash_conv / len(self.values)

    @property
    def exploitability_mbb(self) -> float:
        """Exploitability in thousandths of a big blind per hand."""
        return 1000 * self.exploitability / self.game.big_blind


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploitabilityData:
    """Output of ``arena exploit exact --json``, with winnings in chips per hand."""

    schema_version: int = 1
    game: str
    bot: str
    big_blind: int
    values: tuple[float, ...]
    best_values: tuple[float, ...]
    nash_conv: float
    exploitability: float
    exploitability_mbb: float
    answers: tuple[StateAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationData:
    """Output of ``arena exploit against --json`` for a small game.

    Attributes:
        values: winnings of `bot` by position, in chips per hand.
    """

    schema_version: int = 1
    game: str
    bot: str
    against: str
    values: tuple[float, ...]
    mbb_per_game: float


def exact_exploitability(game: Game, policy: Policy, name: str) -> ExactExploitability:
    """Compute best responses to a policy in every position.

    Raises:
        SolvingError: the game is too large.
        PolicyError: the policy has no probabilities in a state, or impossible ones.
    """
    form = sequence_form(small_game(game))
    players = range(game.num_players)
    plans = tuple(plan_of_policy(form, player, policy, name) for player in players)
    best = [best_response(form, player, *others_of(plans, player)) for player in players]
    answers: list[StateAnswer] = []
    for player in players:
        answers += _answers_of(form, plans, player, best[player].plan)
    return ExactExploitability(
        game=game,
        values=expected_values(form, plans),
        best_values=tuple(response.value for response in best),
        answers=tuple(answers),
    )


def _answers_of(form: SequenceForm, plans: Plans, player: int, response: Plan) -> Iterator[StateAnswer]:
    """Yield the states that the best response of a player can reach.

    Args:
        plans: plans of the policy in all positions.
    """
    own = strategy_of(form, player, plans[player])
    answer = strategy_of(form, player, response)
    for choice in form.choices[player]:
        point = choice.point
        names = [format_action(action) for action in point.actions]
        opponent_holdings = []
        for other in range(form.game.players):
            if other != player:
                opponent_holdings.append(_holdings_at(form, other, plans[other], choice.name))
        for index, holding in enumerate(form.game.classes[player]):
            chances = answer[choice.name][:, index]
            view = view_of(point, tuple(parse_cards(holding)))
            # The response never gets there, or the board has a card of the holding.
            if np.isnan(chances[0]) or {*view.hole_cards} & {*view.board}:
                continue
            # The hand number is left out, because the state is that of every hand.
            _, state, _, rest = view.match_state.format().split(":", 3)
            yield StateAnswer(
                position=player,
                betting=choice.name,
                holding=holding,
                board=view.board_text,
                state=f"MATCHSTATE:{state}::{rest}",
                # Probabilities of a state that the policy never reaches are NaN, none of which is above 0.
                policy=_possible(names, own[choice.name][:, index].tolist()) or None,
                answer=_possible(names, chances.tolist()),
                is_met=_can_be({*view.hole_cards, *view.board}, opponent_holdings),
            )


def _holdings_at(form: SequenceForm, player: int, plan: Plan, name: str) -> list[frozenset[Card]]:
    """Return the holdings with which a player's plan can lead to a decision."""
    reach = reach_of(form, player, plan, name)
    holdings = []
    for holding, chance in zip(form.game.classes[player], reach, strict=True):
        if chance:
            holdings.append(frozenset(parse_cards(holding)))
    return holdings


def exact_expectation(game: Game, policies: tuple[Policy, Policy], names: tuple[str, str]) -> tuple[float, ...]:
    """Return the winnings of a policy in each position against another in all other positions, in chips per hand.

    Raises:
        SolvingError: the game is too large.
        PolicyError: a policy has no probabilities in a state, or impossible ones.
    """
    form = sequence_form(small_game(game))
    players = range(game.num_players)
    ours = [plan_of_policy(form, player, policies[0], names[0]) for player in players]
    theirs = [plan_of_policy(form, player, policies[1], names[1]) for player in players]
    values = []
    for player in players:
        plans = (*theirs[:player], ours[player], *theirs[player + 1 :])
        values.append(expected_values(form, plans)[player])
    return tuple(values)


def policy_lines(found: ExactExploitability) -> str:
    """Format the best responses as a file of probabilities (`bots.evaluation.policies.FilePolicy`)."""
    lines: dict[str, None] = {}
    for answer in found.answers:
        chances = [f"{action} {chance:g}" for action, chance in answer.answer.items()]
        lines[f"{answer.state} {' '.join(chances)}\n"] = None
    return "".join(lines)


def exact_document(game: str, bot: str, found: ExactExploitability, *, is_whole: bool = False) -> Document:
    """Describe the best responses to a bot, those of the first round only unless `is_whole`."""
    players = len(found.values)
    if found.exploitability <= ROUNDING:
        sentences = [f"{bot} is not exploitable (exact): no response wins more than {bot} would against itself."]
    else:
        sentences = [
            f"Exploitability of {bot}: {found.exploitability:.6f} chips per hand, {found.exploitability_mbb:,.3f} "
            "mbb/g, on average over the positions (exact)."
        ]
    if players > 2:
        conv = "0"
        if found.nash_conv > ROUNDING:
            conv = f"{found.nash_conv:.6f}"
        sentences.append(
            f"With {players} players one of them answers, and {bot} has all other positions; with such answers all "
            f"together would win {conv} chips per hand more (NashConv)."
        )
    met = [answer for answer in found.answers if answer.is_met]
    answers = met
    if not is_whole:
        answers = [answer for answer in met if "/" not in answer.betting]
    left_out = len(met) - len(answers)
    parts: list[Part] = []
    if left_out:
        parts.append(f"{left_out} more states come later: --out shows them, --save and --json write them.")
    for position in range(players):
        parts.append(_answers_table(found.game, bot, position, answers))
    return Document(
        f"{bot} in {short_name(game)}, exactly",
        tuple(sentences),
        (Fact("game", short_name(game)), Fact("bot", bot)),
        (Section("Values", (_values_table(bot, found),)), Section("Best responses", tuple(parts))),
        data=ExploitabilityData(
            game=game,
            bot=bot,
            big_blind=found.game.big_blind,
            values=found.values,
            best_values=found.best_values,
            nash_conv=found.nash_conv,
            exploitability=found.exploitability,
            exploitability_mbb=found.exploitability_mbb,
            answers=found.answers,
        ),
    )


def _values_table(bot: str, found: ExactExploitability) -> Table:
    others = "the best response"
    if len(found.values) > 2:
        others = "a best response to the others"
    rows = []
    for position, (value, best) in enumerate(zip(found.values, found.best_values, strict=True), 1):
        # A policy that is a best response itself can differ from it by rounding.
        rows.append((str(position), value, best, max(0.0, best - value)))
    return Table(
        "Chips per hand by position",
        (
            Column("position", meaning="1 acts first"),
            Column(bot, "+.6f", meaning="winnings of the bot against itself"),
            Column("best response", "+.6f", meaning=f"what {others} wins in this position"),
            Column("more", ".6f", meaning="the difference", rank=4),
        ),
        tuple(rows),
    )


def _answers_table(game: Game, bot: str, position: int, answers: list[StateAnswer]) -> Table:
    rows = []
    for answer in answers:
        if answer.position == position:
            holding = "".join(game.shown_cards(parse_cards(answer.holding)))
            rows.append((answer.betting or "nothing", holding, _mixture(answer.policy), _mixture(answer.answer)))
    return Table(
        f"Position {position + 1}",
        (
            Column("after", TEXT, meaning="the betting so far, with the cards of each round after '/'"),
            Column("holding", meaning="the hole cards"),
            Column(bot, TEXT, meaning="action of the bot; 'never here' if its own play does not lead to this state"),
            Column("best response", TEXT, meaning="action that wins most against the bot"),
        ),
        tuple(rows),
    )


def _mixture(chances: Mapping[str, float] | None) -> str:
    if not chances:
        return "never here"
    played = []
    for action, chance in chances.items():
        played.append(action if chance == 1 else f"{action} {chance:.4f}")
    return ", ".join(played)


def expectation_document(game: str, bot: str, other: str, values: tuple[float, ...], big_blind: int) -> Document:
    """Describe the winnings of a bot against another in a small game, in chips per hand by position."""
    mbb = 1000 * sum(values) / len(values) / big_blind
    table = Table(
        "Chips per hand by position",
        (
            Column("position", meaning="1 acts first"),
            Column(bot, "+.6f", meaning=f"what it wins there, {other} having the other positions"),
        ),
        tuple((str(at), value) for at, value in enumerate(values, 1)),
    )
    return Document(
        f"{bot} against {other} in {short_name(game)}",
        (f"{bot} wins {mbb:+,.3f} mbb/g from {other} on average over the positions (exact).",),
        (Fact("game", short_name(game)), Fact("bot", bot), Fact("against", other)),
        (Section("Values", (table,)),),
        data=ExpectationData(game=game, bot=bot, against=other, values=values, mbb_per_game=mbb),
    )


def reach_of(form: SequenceForm, player: int, plan: Plan, name: str) -> NDArray[np.float64]:
    """Return the player's own probability of playing to a decision, by holding."""
    reach: NDArray[np.float64] = plan[0]
    # Names of decisions start with those of the decisions before, and parents come first. A digit after the prefix
    # means another raise: "r3" is no prefix of "r30".
    for choice in form.choices[player]:
        for sequence, action in enumerate(choice.actions, choice.first):
            after = f"{choice.name}{action}"
            if name.startswith(after) and not name[len(after) : len(after) + 1].isdigit():
                reach = plan[sequence]
    return reach


def _can_be(taken: set[Card], holdings: Sequence[Sequence[frozenset[Card]]]) -> bool:
    """Return whether each player can have one of its holdings without any card twice."""
    if not holdings:
        return True
    return any(cards.isdisjoint(taken) and _can_be(taken | cards, holdings[1:]) for cards in holdings[0])


def _possible(actions: list[str], chances: list[float]) -> Mapping[str, float]:
    return {action: chance for action, chance in zip(actions, chances, strict=True) if chance > 0}
