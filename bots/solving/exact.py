"""How much a policy can lose in a small game: exactly, by the best answers to it, counted over every deal.

    found = exact_exploitability(find_game("kuhn")[1], make_bot("calling"), "calling")
    found.exploitability, found.exploitability_mbb

The *exploitability* is what best answers win from the policy on average over all positions (`NashConv` divided by the
players); in a game of two players it is 0 for an equilibrium and above it for everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Return the plan of a policy in one position; skip states that its own play never leads to.

    The form is that of `small_game`, with position 0 as player 0.

    Raises:
        PolicyError: the policy has no probabilities in a state, or impossible ones; the sentence begins with the name.
    """
    holdings = [tuple(parse_cards(text)) for text in form.game.classes[player]]
    plan = np.zeros(form.plan_shape(player))
    plan[0] = 1
    for choice in form.choices[player]:
        for at, holding in enumerate(holdings):
            reach = plan[choice.parent, at]
            if not reach or not set(holding).isdisjoint(choice.point.board):
                # The policy never comes here, or a card is on the board: such entries do not count.
                plan[choice.sequences, at] = reach / len(choice.actions)
            else:
                plan[choice.sequences, at] = reach * np.array(_chances(policy, choice.point, holding, name))
    return plan


def view_of(point: DecisionPoint, holding: tuple[Card, ...]) -> View:
    return View.from_holding(point.betting, point.betting.acting_position, holding, point.board)


def _chances(policy: Policy, point: DecisionPoint, holding: tuple[Card, ...], name: str) -> list[float]:
    why = " (Bot.policy), so nothing can be computed without playing"
    policy_here = certain_policy_at(policy, view_of(point, holding), name, why)
    if not point.betting.game.is_limit:
        return [float(policy_here.get(action, 0)) for action in point.actions]
    # In limit games the rules give a raise its size, and policies may name it or not.
    chances = []
    for action in point.actions:
        chances.append(sum(chance for played, chance in policy_here.items() if played.kind == action.kind))
    return chances


@dataclass(frozen=True, slots=True)
class StateAnswer:
    """What the policy and the best answer to it do in one state, to which the best answer can come.

    Attributes:
        betting: the betting so far, as in a match state, with the board cards of later rounds after each slash.
        state: the match state, of any hand.
        policy: the probabilities of the policy by action; None where its own play never leads there.
        is_met: whether the policy, in the other positions, ever lets it come to that; if not, any answer is as good.
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
    """What a policy wins and loses, in chips per hand.

    Attributes:
        values: what the policy wins in each position when it has all of them.
        best_values: what the best answer wins in each position, the policy having all others.
    """

    game: Game
    values: tuple[float, ...]
    best_values: tuple[float, ...]
    answers: tuple[StateAnswer, ...]

    @property
    def nash_conv(self) -> float:
        """What best answers win more than the policy itself, summed over the positions, at least 0."""
        return max(0.0, sum(self.best_values) - sum(self.values))

    @property
    def exploitability(self) -> float:
        """What the policy loses to best answers on average over the positions, in chips per hand."""
        return self.nash_conv / len(self.values)

    @property
    def exploitability_mbb(self) -> float:
        """The same in thousandths of a big blind per hand."""
        return 1000 * self.exploitability / self.game.big_blind


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploitabilityData:
    """Best answers to a bot, as ``arena exploit exact --json`` prints them; winnings are chips per hand."""

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
    """What a bot wins from another, by position in chips per hand, as ``arena exploit against --json`` prints it."""

    schema_version: int = 1
    game: str
    bot: str
    against: str
    values: tuple[float, ...]
    mbb_per_game: float


def exact_exploitability(game: Game, policy: Policy, name: str) -> ExactExploitability:
    """Count what best answers win from a policy in every position; a `SolvingError` if the game is too large."""
    form = sequence_form(small_game(game))
    players = range(game.num_players)
    plans = tuple(plan_of_policy(form, player, policy, name) for player in players)
    best = [best_response(form, player, *others_of(plans, player)) for player in players]
    answers: list[StateAnswer] = []
    for player in players:
        own = strategy_of(form, player, plans[player])
        answer = strategy_of(form, player, best[player].plan)
        for choice in form.choices[player]:
            point = choice.point
            opponent_holdings = []
            for other in players:
                if other != player:
                    opponent_holdings.append(_holdings_at(form, other, plans[other], choice.name))
            for at, holding in enumerate(form.game.classes[player]):
                chances = answer[choice.name][:, at]
                view = view_of(point, tuple(parse_cards(holding)))
                if np.isnan(chances[0]) or {*view.hole_cards} & {*view.board}:
                    continue
                names = [format_action(action) for action in point.actions]
                _, state, _, rest = view.match_state.format().split(":", 3)
                answers.append(
                    StateAnswer(
                        position=player,
                        betting=choice.name,
                        holding=holding,
                        board=view.board_text,
                        state=f"MATCHSTATE:{state}::{rest}",
                        policy=_possible(names, own[choice.name][:, at].tolist()) or None,
                        answer=_possible(names, chances.tolist()),
                        is_met=_can_be({*view.hole_cards, *view.board}, opponent_holdings),
                    )
                )
    return ExactExploitability(
        game=game,
        values=expected_values(form, plans),
        best_values=tuple(one.value for one in best),
        answers=tuple(answers),
    )


def _holdings_at(form: SequenceForm, player: int, plan: Plan, name: str) -> list[frozenset[Card]]:
    """Holdings with which a player does its part on the way to a decision."""
    reach = reach_of(form, player, plan, name)
    holdings = []
    for holding, chance in zip(form.game.classes[player], reach, strict=True):
        if chance:
            holdings.append(frozenset(parse_cards(holding)))
    return holdings


def exact_expectation(game: Game, policies: tuple[Policy, Policy], names: tuple[str, str]) -> tuple[float, ...]:
    """What a policy wins in each position, in chips per hand, another one having all other positions; every deal is
    counted. A `SolvingError` if the game is too large.
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
    """The best answers as a file of probabilities (`bots.evaluation.policies.FilePolicy`)."""
    lines: dict[str, None] = {}
    for answer in found.answers:
        chances = [f"{action} {chance:g}" for action, chance in answer.answer.items()]
        lines[f"{answer.state} {' '.join(chances)}\n"] = None
    return "".join(lines)


def exact_document(game: str, bot: str, found: ExactExploitability, *, is_whole: bool = False) -> Document:
    """The best answers to a bot; without `is_whole` those of the first round only."""
    players = len(found.values)
    if found.exploitability <= ROUNDING:
        sentences = [f"{bot} cannot be beaten: no answer wins more than {bot} itself would; every deal is counted."]
    else:
        sentences = [
            f"{bot} can lose {found.exploitability:.6f} chips per hand, {found.exploitability_mbb:,.3f} mbb/g, on "
            "average over the positions; every deal is counted, none is drawn."
        ]
    if players > 2:
        conv = "0"
        if found.nash_conv > ROUNDING:
            conv = f"{found.nash_conv:.6f}"
        sentences.append(
            f"With {players} players one of them answers, and {bot} has all other positions; with such answers all "
            f"together would win {conv} chips per hand more (NashConv)."
        )
    others = "a best answer to the others" if players > 2 else "the best answer"
    rows = []
    for position, (value, best) in enumerate(zip(found.values, found.best_values, strict=True), 1):
        rows.append((str(position), value, best, max(0.0, best - value)))
    values = Table(
        "Chips per hand by position",
        (
            Column("position", meaning="1 acts first"),
            Column(bot, "+.6f", meaning="what it wins against itself"),
            Column("best answer", "+.6f", meaning=f"what {others} wins in this position"),
            Column("more", ".6f", meaning="the difference", rank=4),
        ),
        tuple(rows),
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
        (Section("Values", (values,)), Section("The best answer", tuple(parts))),
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


def _answers_table(game: Game, bot: str, position: int, answers: list[StateAnswer]) -> Table:
    rows = []
    for answer in answers:
        if answer.position == position:
            holding = "".join(game.shown_cards(parse_cards(answer.holding)))
            rows.append((answer.betting or "nothing", holding, _mixture(answer.policy), _mixture(answer.answer)))
    return Table(
        f"Position {position + 1}",
        (
            Column("after", TEXT, meaning="the betting so far; the cards dealt with a round follow the stroke"),
            Column("holding", meaning="the hole cards"),
            Column(bot, TEXT, meaning="what it plays; never here: its own play does not lead to this state"),
            Column("best answer", TEXT, meaning="what wins most against it"),
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
    """What a bot wins from another in a small game, in chips per hand by position."""
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
        (f"{bot} wins {mbb:+,.3f} mbb/g from {other} on average over the positions; every deal is counted.",),
        (Fact("game", short_name(game)), Fact("bot", bot), Fact("against", other)),
        (Section("Values", (table,)),),
        data=ExpectationData(game=game, bot=bot, against=other, values=values, mbb_per_game=mbb),
    )


def reach_of(form: SequenceForm, player: int, plan: Plan, name: str) -> NDArray[np.float64]:
    """Probability with which each holding of a player does its part on the way to a decision."""
    reach: NDArray[np.float64] = plan[0]
    for choice in form.choices[player]:  # those before others first
        for sequence, action in enumerate(choice.actions, choice.first):
            after = f"{choice.name}{action}"
            if name.startswith(after) and not name[len(after) : len(after) + 1].isdigit():
                reach = plan[sequence]
    return reach


def _can_be(taken: set[Card], holdings: Sequence[Sequence[frozenset[Card]]]) -> bool:
    """Return whether each player can have one of its holdings, without a card twice."""
    if not holdings:
        return True
    return any(cards.isdisjoint(taken) and _can_be(taken | cards, holdings[1:]) for cards in holdings[0])


def _possible(actions: list[str], chances: list[float]) -> Mapping[str, float]:
    return {action: chance for action, chance in zip(actions, chances, strict=True) if chance > 0}
