"""Play a round robin on a build server, and fail the build if the new bot does not beat the old one.

    python examples/tournament_in_ci.py New=new.py:MyBot Old=old.py:MyBot calling random

The first bot is the one under test, the second its last release; name both as above. The exit code is 0 if the interval
of New against Old lies above the bound, 1 if it lies below, and 3 if more deals are needed. junit.xml has a test case
per opponent.
"""

import sys
from typing import Any
from xml.etree import ElementTree

from dealer import tournament

BOUND_MBB = -50.0
"""Loss that is tolerated, in mbb/g."""


def main(
    bots: list[str], deals: int = 2000, folder: str = "runs/ci", on_fault: str = "restart", **settings: Any
) -> int:
    """Play all pairs and return the exit code."""
    new, old = (bot.split("=")[0] for bot in bots[:2])
    cup = tournament(["limit"], bots, deals=deals, seed=7, on_fault=on_fault, out=folder, **settings)
    (standings,) = cup.standings
    suite = ElementTree.Element("testsuite", name="tournament")
    code = 3
    for cell in standings.crosstable:
        if cell.player != new:
            continue
        case = ElementTree.SubElement(suite, "testcase", classname="limit", name=f"{new} against {cell.opponent}")
        ElementTree.SubElement(case, "system-out").text = str(cell.rate)
        print(cell.rate)
        if cell.opponent != old or cell.rate is None or cell.rate.low is None:
            continue
        if cell.rate.low >= BOUND_MBB:
            code = 0
        elif cell.rate.high < BOUND_MBB:
            code = 1
            ElementTree.SubElement(case, "failure", message=f"{new} loses more than {-BOUND_MBB:g} mbb/g to {old}")
    ElementTree.ElementTree(suite).write("junit.xml", encoding="utf-8", xml_declaration=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
