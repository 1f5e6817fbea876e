"""Values of best responses to policies of small games, over all deals."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Bot, View
from bots.baseline import CallingBot
from bots.errors import PolicyError, SolvingError
from bots.evaluation.policies import FilePolicy
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.solving.exact import exact_exploitability, policy_lines
from engine import CALL, Action
from protocol import find_game

UNIFORM = "random?fold=1,call=1,raise=1"


@pytest.mark.parametrize(
    ("name", "bot", "best", "exploitability"),
    [
        ("kuhn", UNIFORM, (1 / 2, 5 / 12), 11 / 24),
        ("kuhn", "equilibrium", (-1 / 18, 1 / 18), 0),
        ("kuhn", "calling", (1 / 3, 1 / 3), 1 / 3),
        ("kuhn3", UNIFORM, (0.78125, 0.645833333333, 0.635416666667), 0.6875),
        ("leduc", UNIFORM, (2.0875, 2.659722222222), 2.373611111111),
        ("leduc", "equilibrium", (-0.0856064240780, 0.0856064240780), 0),
    ],
)
def test_known_values(name: str, bot: str, best: tuple[float, ...], exploitability: float) -> None:
    """OpenSpiel's values for the uniform players, Kuhn's own for his game, those of linear programs."""
    result = exact_exploitability(find_game(name)[1], make_bot(bot), bot)
    assert result.best_values == pytest.approx(best, abs=1e-11)
    assert result.exploitability == pytest.approx(exploitability, abs=1e-11)
    assert result.exploitability_mbb == pytest.approx(1000 * exploitability, abs=1e-8)
    assert sum(result.values) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "bot"), [("kuhn-depth", UNIFORM), pytest.param("leduc", "calling", marks=pytest.mark.slow)]
)
def test_best_responses_are_policies_that_win_their_value(name: str, bot: str, tmp_path: Path) -> None:
    """Written to a file and read again, the response wins the stated value from the bot."""
    game = find_game(name)[1]
    path = tmp_path / "best.policy"
    result = exact_exploitability(game, make_bot(bot), bot)
    path.write_text(policy_lines(result))
    answer = FilePolicy(path, game)

    class InTurn:
        """The response in one position, the bot in the other."""

        def __init__(self, position: int) -> None:
            self._position = position

        def policy(self, view: View) -> object:
            return (answer if view.position == self._position else make_bot(bot)).policy(view)

    for position in (0, 1):
        both = exact_exploitability(game, InTurn(position), "both")  # type: ignore[arg-type]
        assert both.values[position] == pytest.approx(result.best_values[position], abs=1e-12)


def test_unreached_states_have_an_answer() -> None:
    """The first player is never bet into, but its file needs a response."""
    result = exact_exploitability(find_game("kuhn")[1], CallingBot(), "calling")
    assert {answer.betting for answer in result.answers if answer.position == 0 and answer.is_met} == {""}
    assert {answer.betting for answer in result.answers if answer.position == 0} == {"", "cr"}
    rare = exact_exploitability(find_game("kuhn")[1], make_bot("equilibrium"), "equilibrium")
    met = {(answer.betting, answer.holding): answer.is_met for answer in rare.answers}
    assert met["cr", "As"], "a bet with nothing is met with the best card"
    never = [answer for answer in rare.answers if not answer.policy]
    assert {(answer.betting, answer.holding) for answer in never} == {("cr", "As")}


def test_winnings_of_the_best_response_approach_the_exact_value() -> None:
    """Over many hands, the response's winnings against the bot agree with the exact value up to chance."""
    game = find_game("kuhn")[1]
    result = exact_exploitability(game, make_bot(UNIFORM), UNIFORM)

    class Answer(Bot):
        def act(self, view: View) -> Action:
            _, state, _, rest = view.match_state.format().split(":", 3)
            return {"f": view.fold, "c": view.call, "r": view.raise_min}[known[f"MATCHSTATE:{state}::{rest}"]]()

    known = {one.state: next(iter(one.answer)) for one in result.answers}
    won = 0.0
    hands = 600
    for record in self_play(game, [Answer(), make_bot(UNIFORM, seed=3)], deals=hands, seed=5, names=["a", "u"]):
        won += sum(value for at, value in enumerate(record.values) if record.name_at(at) == "a")  # type: ignore[arg-type]
    exact = sum(result.best_values) / 2
    assert won / (2 * hands) == pytest.approx(exact, abs=4 * 1.5 / (2 * hands) ** 0.5)


def test_bots_without_policies_and_large_games_are_refused() -> None:
    class Silent(Bot):
        def act(self, view: View) -> Action:
            return CALL

    with pytest.raises(PolicyError, match="silent has no policy in MATCHSTATE"):
        exact_exploitability(find_game("kuhn")[1], Silent(), "silent")
    with pytest.raises(SolvingError, match="too large"):
        exact_exploitability(find_game("limit")[1], CallingBot(), "calling")
