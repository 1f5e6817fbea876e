"""Output of ``--json``, validated against the documented schemas."""

from __future__ import annotations

import json
import shlex
from typing import Final

from jsonschema import Draft202012Validator

from tests.dealer.cli.conftest import Arena
from tests.scripts import script

REFERENCE = script("docs/reference.py")
RUNS: Final = {
    "run": "play kuhn calling random -n 60 --seed 3 --in-process --quiet",
    "limit": "play limit random raising -n 40 --seed 3 --in-process --quiet",
    "cup": "tournament kuhn calling raising folding -n 10 --seed 3 --in-process --quiet",
}
COMMANDS: Final = {
    "show run": "result",
    "show cup": "result",
    "runs .": "runs",
    "stats run": "statistics",
    "luck run": "estimates",
    "leaks run --player calling": "deviations",
    "doctor calling --game kuhn --situation folds": "doctor",
    "bench bot calling --game kuhn --deals 5": "speed",
    "solve kuhn3 --iterations 10": "solution",
    "leaks limit --player random": "leaks",
    "doctor --list": "situations",
    "equity AhKd QQ --board 2h7dTc": "equity",
    "equity AhKd random random --trials 100": "equity",
    "export limit --format phh --out exported": "export",
    "hands limit": "hands",
    "hands limit --hand 1": "hands",
    "gate limit --min-mbb 5": "gate",
    "games": "games",
    "games kuhn": "games",
    "bots": "bots",
    "bots random": "bots",
    "exploit exact kuhn random": "exploitability",
    "exploit against kuhn random calling": "exploitability",
    "exploit bound limit raising --hands 2 --actions fcr": "exploitability",
}


def test_output_has_its_schema(arena_here: Arena) -> None:
    for name, command in RUNS.items():
        arena_here(*shlex.split(command), "--out", name)
    schemas = REFERENCE.schemas()
    for command, name in COMMANDS.items():
        output = json.loads(arena_here(*shlex.split(command), "--json").out)
        Draft202012Validator(schemas[name]).validate(output)
        assert isinstance(output, list) or isinstance(output["schema_version"], int)
        assert any({*listed.split()} <= {*command.split()} for listed in REFERENCE.PRINTED[name])


def test_every_schema_is_listed_and_refuses_other_values() -> None:
    schemas = REFERENCE.schemas()
    assert schemas.keys() == REFERENCE.PRINTED.keys()
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
        assert not Draft202012Validator(schema).is_valid({"title": 1})
