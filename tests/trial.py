"""Try the whole product as its users do.

    python -m tests.trial [PART]...

The parts join a server by the documented commands, attack its ratings, watch a match with 200 viewers, and print every
command in narrow windows. All together take about ten minutes. The exit code is 1 if a part fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Final

_ALL_TESTS: Final = ("-m", "pytest", "-q", "-m", "slow or not slow")
PARTS: Final = {
    "join": (*_ALL_TESTS, "tests/dealer/joining/test_pages.py"),
    "puppets": ("research/serve/puppets.py",),
    "viewers": ("-m", "bench", "viewers", "--rounds", "3"),
    "windows": (*_ALL_TESTS, "tests/dealer/cli/test_windows.py"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.trial", description=__doc__.partition("\n\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    parts = parser.parse_args().parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}, only {', '.join(PARTS)}")
    results = []
    for part in parts:
        print(f"== {part}: python {' '.join(PARTS[part])}", flush=True)
        start = time.monotonic()
        code = subprocess.run([sys.executable, *PARTS[part]], check=False).returncode
        results.append((part, "passed" if not code else f"failed with {code}", time.monotonic() - start))
    for part, result, seconds in results:
        print(f"{part:8} {result:16} {seconds:6.0f} s")
    sys.exit(any(result != "passed" for _, result, _ in results))


if __name__ == "__main__":
    main()
