"""Repeat the commands of `docs/learner-tables.md` and write their output into the page.

    python docs/learner/commands.py FOLDER [training] [report]

runs all commands of the page, or those named, in this process. Their files go to FOLDER, and their output to files next
to this script and from there into the page. The tests compare the page with those files. Review the sentences of both
pages when the figures have changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "learner-tables.md"

COMMANDS: Final[Mapping[str, str]] = {
    "training": "arena train learner -n 8000 --memory training.memory --out training.html",
    "report": "arena study learner report --out report.html",
}
"""The commands of the page, by the names of the files with their output."""

_FENCE: Final = "```text\n"


def stored(name: str) -> str | None:
    """The output of a command; None where it has not been run."""
    path = HERE / f"{name}.txt"
    return path.read_text("utf-8") if path.exists() else None


def with_outputs(page: str) -> str:
    """The page with the output of each command below it."""
    for name, command in COMMANDS.items():
        if (output := stored(name)) is None:
            continue
        before, _, rest = page.partition(f"    {command}\n\n")
        if rest.startswith(_FENCE):
            rest = rest.removeprefix(_FENCE).partition("\n```\n\n")[2]
        page = f"{before}    {command}\n\n{_FENCE}{output}```\n\n{rest}"
    return page


def run(command: str) -> str:
    """The output of a command, which writes its files into the current folder."""
    from typer.testing import CliRunner

    from dealer.cli import commands_for
    from dealer.cli.app import application

    words = command.split()[1:]
    result = CliRunner().invoke(application(commands_for(words)), [*words, "--force"], prog_name="arena")
    if result.exit_code:
        raise SystemExit(f"{command}: exit code {result.exit_code}\n{result.output}")
    return "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines())


def main(arguments: Sequence[str]) -> None:
    folder, *names = arguments
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for name in names or COMMANDS:
        (HERE / f"{name}.txt").write_text(run(COMMANDS[name]), "utf-8")
    PAGE.write_text(with_outputs(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
