"""A bot that asks a language model for each action, at any endpoint with OpenAI's chat interface.

    export LLM_URL=http://127.0.0.1:11434/v1 LLM_MODEL=llama3.2 LLM_KEY=none
    arena play nolimit examples/language_model_bot.py:LanguageModelBot calling -n 20 --t-response 60

It is the whole loop in one file, without a library: a prompt, a request, and a safe action if the answer is unusable.
The built-in bot `llm` (docs/agents.md) also repeats failed requests, asks again, and records every exchange.
"""

import json
import os
import re
import urllib.request

from bots import Action, Bot, View, run

RULES = (
    "You play poker. Sizes are your total chips in the hand. Reply with one line and nothing else: "
    "ACTION: fold, ACTION: call (also to check), or ACTION: raise TOTAL."
)


def ask(prompt: str, timeout_s: float = 30) -> str:
    """Send a prompt to the endpoint and return the text of the answer."""
    body = {
        "model": os.environ["LLM_MODEL"],
        "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": prompt}],
    }
    request = urllib.request.Request(
        os.environ["LLM_URL"].rstrip("/") + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('LLM_KEY', '')}"},
    )
    with urllib.request.urlopen(request, timeout=timeout_s) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def describe(view: View) -> str:
    """Describe a decision in words."""
    lines = [
        f"Your cards: {view.hole_text}. Board: {view.board_text or 'none'}. Pot: {view.pot}. To call: {view.to_call}.",
        f"Betting so far: {view.match_state.format().split(':')[3] or 'none'} (f fold, c call, r raise to).",
        f"You have {view.stack_left} chips left.",
    ]
    if view.can_raise:
        lines.append(f"You may raise to {view.min_raise_hand_total} up to {view.max_raise_hand_total}.")
    return "\n".join(lines)


def parse(answer: str, view: View) -> Action | None:
    """Read the last action of an answer as a legal action; None without one."""
    actions = re.findall(r"ACTION:\s*(fold|call|check|raise)\D{0,8}(\d+)?", answer, re.IGNORECASE)
    if not actions:
        return None
    word, total = actions[-1]
    if word.lower() == "raise":
        return view.nearest_legal(view.raise_to(int(total))) if total else view.raise_min()
    return view.nearest_legal(view.fold() if word.lower() == "fold" else view.call())


class LanguageModelBot(Bot):
    """Plays the model's action; checks or folds if there is none."""

    def act(self, view: View) -> Action:
        """Ask once. A failed request or an unreadable answer must not end the match."""
        try:
            answer = ask(describe(view))
        except (OSError, KeyError, ValueError) as error:
            answer = f"no answer: {error!r}"
        view.comment(answer)
        return parse(answer, view) or (view.fold() if view.can_fold else view.call())


if __name__ == "__main__":
    run(LanguageModelBot())
