"""States in words, and prompt templates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bots.errors import BotFileError
from bots.llm.prompts import MAX_NOTES_CHARS, Prompts, Situation, ask_again, ask_notes, rules_in_words
from bots.sdk.view import View
from protocol import find_game, shipped_games

ViewOf = Callable[[str, str], View]
FLOP = ("nolimit", "MATCHSTATE:0:7:r300c/cr600:AhKs|/2c7d9h")


def test_prompt_has_the_state_in_words(view_of: ViewOf) -> None:
    prompt = Prompts("plain").ask_action(view_of(*FLOP), "")
    _, _, state = prompt.partition("This is hand 8.")
    assert state == (
        """ You are BB. The players:
- You (BB): 19,700 chips (197 BB) left
- SB: 19,400 chips (194 BB) left

The hand so far:
- SB posts the small blind of 50.
- You (BB) post the big blind of 100.
- SB raises to 300 (3 BB in this round).
- You (BB) call 200 (3 BB in this round).
- Flop: 2c 7d 9h, the pot is 600 chips (6 BB).
- You (BB) check.
- SB bets 300 (3 BB in this round).

It is your turn in flop.
Your cards: Ah Ks
Board: 2c 7d 9h
Pot: 900 chips (9 BB)
To call: 300 chips (3 BB)
Your stack: 19,700 chips (197 BB)

Legal actions:
- fold: give up the hand.
- call: add 300 chips (3 BB).
- raise: to a total of yours in this betting round, from 600 chips (6 BB) to 19,700 chips (197 BB).

Answer with a JSON object: {"reason": "one or two sentences", "action": "fold|call|raise", "amount": null}.
For a raise, set amount to your total of chips in this betting round.
If you cannot write JSON, end with the line "ACTION: " and the action, such as "ACTION: call".
"""
    )


def test_odds_and_equity(view_of: ViewOf) -> None:
    prompt = Prompts("with-odds").ask_action(view_of(*FLOP), "")
    assert "a call pays if you win more than 25.0 % of the time" in prompt  # 300 of 1,200
    assert "Equity: 52.3 % of the pot" in prompt
    without = Prompts("with-odds").ask_action(view_of("leduc", "MATCHSTATE:0:1:cc/:As|/Ks"), "")
    assert "Equity" not in without
    assert "Pot odds" not in without


@pytest.mark.parametrize("game", shipped_games())
def test_rules_have_at_most_ten_lines(game: str) -> None:
    lines = rules_in_words(find_game(game)[1])
    assert len(lines) == len(set(lines)) <= 10


def test_notes_of_a_finished_hand(view_of: ViewOf) -> None:
    view = view_of("nolimit", "MATCHSTATE:0:7:r300c/cr600c/cc/cc:AhKs|2d2h/2c7d9h/3s/4s")
    prompt = ask_notes(view, "It folds often.")
    assert "SB shows 2d 2h, three of a kind, Deuces." in prompt
    assert "You won -600 chips in this hand." in prompt
    assert "Your notes so far:\nIt folds often.\n" in prompt
    assert f"{MAX_NOTES_CHARS:,} characters" in prompt
    assert "Your notes on earlier hands:\nIt folds often." in Prompts("plain").ask_action(
        view_of(*FLOP), "It folds often."
    )


def test_second_question_has_the_reason_and_the_legal_actions(view_of: ViewOf) -> None:
    text = ask_again("That is not allowed.", view_of(*FLOP))
    assert text.startswith("That is not allowed. The legal actions are: fold: give up the hand. call: add 300 chips")


def test_own_template_may_extend_a_shipped_one(view_of: ViewOf, tmp_path: Path) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text('{% extends "with-odds" %}{% block odds %}{{ super() }}Be bold & "brave".{% endblock %}')
    prompt = Prompts(str(path)).ask_action(view_of(*FLOP), "")
    assert "Equity: 52.3 %" in prompt
    assert 'Be bold & "brave".' in prompt


def test_every_variable_can_be_used(view_of: ViewOf, tmp_path: Path) -> None:
    path = tmp_path / "all.jinja"
    path.write_text("".join(f"{name}={{{{ {name} }}}}\n" for name in Situation._fields))
    prompt = Prompts(str(path)).ask_action(view_of(*FLOP), "")
    assert "pot=900\nto_call=300\nstack=19700\n" in prompt
    assert "min_raise=600\nmax_raise=19700\npot_odds=0.25\n" in prompt


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ nothing }}", "the template fails: 'nothing' is undefined"),
        ("{{ pot / 0 }}", "the template fails: division by zero"),
        ("{% if %}", "it is not a template of Jinja: Expected an expression, got 'end of statement block'"),
        (
            "{{ ''.__class__.__mro__ }}",
            "the template fails: access to attribute '__class__' of 'str' object is unsafe.",
        ),
        ("\xff", "it is not UTF-8"),
    ],
)
def test_faulty_template_is_refused(view_of: ViewOf, tmp_path: Path, template: str, problem: str) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text(template, "latin-1")
    with pytest.raises(BotFileError) as raised:
        Prompts(str(path)).ask_action(view_of(*FLOP), "")
    assert str(raised.value) == f"{path}: {problem}"


def test_missing_template_is_refused(view_of: ViewOf, tmp_path: Path) -> None:
    with pytest.raises(BotFileError, match="No such file or directory; the shipped templates are plain and with-odds"):
        Prompts(str(tmp_path / "gone"))
    path = tmp_path / "mine.jinja"
    path.write_text('{% extends "gone" %}')
    with pytest.raises(BotFileError, match="gone"):
        Prompts(str(path)).ask_action(view_of(*FLOP), "")
