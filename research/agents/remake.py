"""Play the match of research/tables/agents.md against a fake model, and write its output into the page.

    python research/agents/remake.py FOLDER

FOLDER gets the run, unless it has one already. The fake model answers on a local port: it raises with
much equity, calls if the pot odds allow it, and sends nonsense at times. Its key must be in no file of the run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "research" / "tables" / "agents.md"
MATCH: Final = ["arena", "play", "nolimit", "Model=llm?model=fake,url=URL,prompt=with-odds", "cfr"]
OPTIONS: Final = ["--deals", "100", "--seed", "7", "--workers", "2"]
LUCK: Final = ["arena", "luck", "RUN", "--known", "cfr"]

sys.path[:0] = [str(ROOT), str(ROOT / "research")]

from blocks import with_blocks  # noqa: E402

from tests.endpoints import KEY, Reply, fake_endpoint  # noqa: E402


def answer(request: dict[str, Any]) -> Reply:
    """Return the fake model's answer, which depends on the prompt alone."""
    prompt = request["messages"][-1]["content"]
    draw = zlib.crc32(prompt.encode()) % 100
    if draw < 3:
        return Reply("I need more time to think about this.")
    equity = re.search(r"Equity: ([\d.]+) %", prompt)
    price = re.search(r"more than ([\d.]+) %", prompt)
    share = float(equity[1]) if equity else 50.0
    bounds = re.search(r"- (bet|raise): .* from ([\d,]+) chips", prompt)
    if bounds is not None and share > 62 and draw < 70:
        action, amount = bounds[1], int(bounds[2].replace(",", ""))
    elif price is None:
        action, amount = "check", None
    else:
        action, amount = ("call" if share > float(price[1]) + 5 else "fold"), None
    reason = f"{share:.0f} % of the pot against random cards"
    return Reply(json.dumps({"reason": reason, "action": action, "amount": amount}))


def ran(words: list[str], replaced: dict[str, str]) -> str:
    """Return the output of a command, without the folder of this machine."""
    command = words
    for name, text in replaced.items():
        command = [word.replace(name, text) for word in command]
    environment = {**os.environ, "OPENAI_API_KEY": KEY, "COLUMNS": "140"}
    done = subprocess.run(
        [str(Path(sys.executable).with_name("arena")), *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    text = done.stdout
    return text.replace(replaced["RUN"], "runs/model")


def block(text: str) -> str:
    return f"```text\n{text.strip()}\n```\n"


def main() -> None:
    folder = str(Path(sys.argv[1]).absolute())
    if not (Path(folder) / "result.json").exists():
        with fake_endpoint() as endpoint:
            endpoint.script = answer
            ran([*MATCH, *OPTIONS, "--out", "RUN"], {"URL": endpoint.url, "RUN": folder})
    played = ran(["arena", "show", "RUN"], {"RUN": folder})
    without_luck = ran(LUCK, {"RUN": folder})
    for path in Path(folder).rglob("*"):
        if path.is_file() and KEY.encode() in path.read_bytes():
            sys.exit(f"{path} contains the key")
    page = with_blocks(PAGE.read_text("utf-8"), {"model": block(played), "luck": block(without_luck)})
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
