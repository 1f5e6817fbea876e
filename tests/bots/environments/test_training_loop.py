"""The training loop of research/tables/agents.md, run unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bots.sdk.registry import make_bot
from bots.solving.engine_games import small_game
from bots.solving.exact import plan_of_policy
from bots.solving.sequence_form import best_response, sequence_form
from protocol import find_game

PAGE = Path(__file__).resolve().parents[3] / "research" / "tables" / "agents.md"


@pytest.mark.slow
def test_loop_prints_the_output_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    block = re.search(r"<!-- loop -->(.*)<!-- end of loop -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    code, output = re.findall(r"```(?:python|text)\n(.*?)```", block[1], re.DOTALL)
    exec(compile(code, "agents.md", "exec"), {})
    assert capsys.readouterr().out == output


def test_best_response_wins_the_amount_on_the_page() -> None:
    form = sequence_form(small_game(find_game("kuhn")[1]))
    for player in (0, 1):
        opponent = plan_of_policy(form, 1 - player, make_bot("random"), "random")
        assert best_response(form, player, opponent).value == pytest.approx(1 / 3)
