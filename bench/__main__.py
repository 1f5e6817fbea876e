"""Speed of the arena and of its peers, measured in turn in one run; needs the extra `bench`.

    python -m bench NAME [--json] [--OPTION VALUE]

measures one of the modules of this folder; the options are the arguments of its `measure`.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Sequence

from dealer.bench import speed_document
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import show_document

MEASURED = (
    "dealers",
    "environments",
    "equity",
    "evaluator",
    "export",
    "fresh",
    "instructions",
    "match",
    "replies",
    "selfplay",
    "server",
    "startup",
    "viewers",
    "web",
)


def main(arguments: Sequence[str]) -> None:
    """Measure one module and print its rows, or exit with 1 and a sentence."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    commands = parser.add_subparsers(dest="name", required=True)
    for name in MEASURED:
        measure = importlib.import_module(f"bench.{name}").measure
        command = commands.add_parser(name, help=inspect.getdoc(measure).partition("\n")[0])
        command.add_argument("--json", action="store_true", dest="as_json")
        command.set_defaults(measure=measure)
        for option in inspect.signature(measure).parameters.values():
            if isinstance(option.default, (int, float, str)):
                command.add_argument(f"--{option.name}", type=type(option.default), default=option.default)
            elif option.default == ():
                command.add_argument(f"--{option.name}", nargs="+", default=())
    options = vars(parser.parse_args(arguments))
    measure, as_json, name = options.pop("measure"), options.pop("as_json"), options.pop("name")
    try:
        rows = measure(**options)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"{name}: {error}")
    show_document(Terminal(), speed_document(f"Speed: {name}", rows), as_json=as_json)


if __name__ == "__main__":
    main(sys.argv[1:])
