"""Actions parsed from texts of a model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from jsonschema import Draft202012Validator

from bots.llm.answers import answer_schema, read_answer
from bots.sdk.view import View
from engine import CALL, FOLD, Action, raise_to

ViewOf = Callable[[str, str], View]

FACING_BET = ("nolimit", "MATCHSTATE:0:7:r300c/cr600:AhKs|/2c7d9h")
"""Both players put in 300 chips before the flop; a bet of 300 on the flop."""
UNOPENED = ("nolimit", "MATCHSTATE:0:7:r300c/:AhKs|/2c7d9h")
LIMIT = ("limit", "MATCHSTATE:1:0::|AhKs")


@pytest.mark.parametrize(
    ("state", "text", "action"),
    [
        (FACING_BET, '{"reason": "", "action": "fold", "amount": null}', FOLD),
        (FACING_BET, '{"action": "call"}', CALL),
        (FACING_BET, '{"action": "call", "amount": 300}', CALL),
        (FACING_BET, '{"action": "raise", "amount": 900}', raise_to(1200)),
        (FACING_BET, '{"action": "raise", "amount": 900.0}', raise_to(1200)),
        (FACING_BET, '{"action": "Raise", "amount": "1,200"}', raise_to(1500)),
        (FACING_BET, '{"action": "raise to 900"}', raise_to(1200)),
        (FACING_BET, '```json\n{"action": "raise", "amount": 600}\n```', raise_to(900)),
        (FACING_BET, 'I call.\n```\n{"action": "call"}\n```\nGood luck', CALL),
        (FACING_BET, "Strong.\nACTION: raise to 1,200", raise_to(1500)),
        (FACING_BET, "ACTION: call\nNo, wait.\n**Action: fold**", FOLD),
        (FACING_BET, "action: all-in", raise_to(20000)),
        (FACING_BET, "<think>{ACTION: fold}\nACTION: fold</think>ACTION: call", CALL),
        (UNOPENED, '{"action": "check"}', CALL),
        (UNOPENED, '{"action": "call"}', CALL),
        (UNOPENED, "ACTION: bet 100 chips.", raise_to(400)),
        (UNOPENED, "ACTION: raises 19700", raise_to(20000)),
        (LIMIT, '{"action": "raise", "amount": 7}', raise_to(20)),
        (LIMIT, "ACTION: raise", raise_to(20)),
    ],
)
def test_action_is_read(view_of: ViewOf, state: tuple[str, str], text: str, action: Action) -> None:
    assert read_answer(text, view_of(*state)) == (action, "")


@pytest.mark.parametrize(
    ("state", "text", "problem"),
    [
        (FACING_BET, " \n", "The answer was empty."),
        (FACING_BET, "I would call.", "The answer is neither a JSON object nor ends with a line ACTION: ..."),
        (FACING_BET, '{"action": "call"', "The answer is not valid JSON."),
        (FACING_BET, '{"a":' * 100_000, "The answer is not valid JSON."),
        (FACING_BET, '{"action": 3}', 'The JSON object has no text "action".'),
        (FACING_BET, "ACTION: run away", '"run away" is not an action.'),
        (FACING_BET, "ACTION: " + "x" * 100, f'"{"x" * 60}..." is not an action.'),
        (FACING_BET, "ACTION: check", "Checking is not allowed, because there is a bet of 300 chips to call."),
        (UNOPENED, "ACTION: fold", "Folding is not allowed, because there is no bet to call."),
        (FACING_BET, "ACTION: raise", "A raise needs an amount from 600 to 19,700 chips."),
        (
            FACING_BET,
            "ACTION: raise 599",
            "That amount is not allowed: the amount of a raise must be from 600 to 19,700 chips.",
        ),
        (FACING_BET, "ACTION: raise 600.5", "The amount must be a whole number of chips."),
        (FACING_BET, '{"action": "raise", "amount": true}', "The amount must be a whole number of chips."),
        (("kuhn", "MATCHSTATE:1:0:r:|Ks"), "ACTION: raise", "No bet or raise is allowed now."),
    ],
)
def test_unusable_answer_has_a_reason(view_of: ViewOf, state: tuple[str, str], text: str, problem: str) -> None:
    assert read_answer(text, view_of(*state)) == (None, problem)


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-5", "1" + "0" * 400, "19701"])
def test_amount_out_of_bounds_is_not_usable(view_of: ViewOf, amount: str) -> None:
    action, problem = read_answer(f'{{"action": "raise", "amount": {amount}}}', view_of(*FACING_BET))
    assert action is None
    assert "from 600 to 19,700 chips" in problem


def test_schema_has_the_legal_actions(view_of: ViewOf) -> None:
    for state, legal, illegal in ((FACING_BET, "fold", "check"), (UNOPENED, "bet", "fold"), (LIMIT, "raise", "check")):
        validator = Draft202012Validator(answer_schema(view_of(*state)))
        assert validator.is_valid({"reason": "", "action": legal, "amount": None})
        assert not validator.is_valid({"reason": "", "action": illegal, "amount": None})
        assert not validator.is_valid({"action": legal})
