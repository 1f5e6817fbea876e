"""Output of bots that play in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from dealer.match.events import BotWrote, Event, Watcher
from dealer.run import bot_match
from dealer.run.bot_match import BotMatch
from dealer.run.choices import Seating
from tests.dealer.helpers import contest_plan

_TALKER = """
from bots import Bot

class Talker(Bot):
    def act(self, view):
        print("hello", end="")
        return view.call()
"""


class _Output(Watcher):
    wants = frozenset({BotWrote})

    def __init__(self) -> None:
        self.texts: list[str] = []

    def notice(self, event: Event) -> None:
        assert isinstance(event, BotWrote)
        self.texts.append(event.text)


@pytest.mark.parametrize(("limit", "kept"), [(12, "hellohellohe"), (10, "hellohello")])
def test_output_beyond_the_limit_is_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, kept: str
) -> None:
    monkeypatch.setattr(bot_match, "_MAX_OUTPUT_CHARACTERS", limit)
    path = tmp_path / f"talker_{limit}.py"
    path.write_text(_TALKER, "utf-8")
    players = (f"{path}:Talker", "calling")
    plan = contest_plan(tmp_path / "out", *players, deals=5, seating=Seating.SINGLE, in_process=True)
    output = _Output()
    match = BotMatch(plan, plan.match_plans[0], [output], is_echoed=False)
    match.play(5)
    match.close()
    note = f"\n[Talker wrote more than {limit} characters in one match: the rest is left out]\n"
    assert "".join(output.texts) == kept + note
