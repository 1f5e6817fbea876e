"""Limits on the process of a bot: its user, its memory and its processor time.

The limits are set with ``setrlimit``, so they apply to each process of a bot, not to all of them together. They need
Linux or macOS, and another user needs a dealer that runs as root. `dealer.table.bubblewrap` confines more strictly.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dealer.table import confine

_MAX_SHEBANG_BYTES: Final = 256
"""Length to which Linux reads the ``#!`` line of a script."""
_PRINT_FIRST_DENIED: Final = 'for path; do test -x "$path" || { printf %s "$path"; exit; }; done'
"""Shell script that prints the first of its arguments that the user may not execute."""


def _shebang_interpreter(program: str) -> str | None:
    """Interpreter in the ``#!`` line of a script; None for any other program."""
    try:
        with open(program, "rb") as file:
            line = file.readline(_MAX_SHEBANG_BYTES)
    except OSError:
        return None
    words = line[2:].split()
    if not line.startswith(b"#!") or not words:
        return None
    return os.fsdecode(words[0])


@dataclass(frozen=True, slots=True)
class Confinement:
    """Limits on a process.

    Attributes:
        user: name of the user to run as; empty for the dealer's own.
        memory_mb: limit for the address space, in millions of bytes; 0 for none.
        cpu_s: limit for processor time, in seconds; 0 for none.
    """

    user: str = ""
    memory_mb: int = 0
    cpu_s: int = 0

    def refusal(self, program: str = "") -> str | None:
        """Explain why this system cannot set the limits, as a clause, or return None.

        Args:
            program: path of the program, which the user has to be able to execute; empty to skip this check.
        """
        if os.name == "nt":
            return "limits on a bot's process need Linux or macOS"
        if not self.user:
            return None
        return self._refusal_of_user(program)

    def _refusal_of_user(self, program: str) -> str | None:
        import pwd

        try:
            entry = pwd.getpwnam(self.user)
        except KeyError:
            return f"there is no user {self.user!r} on this machine"
        if os.geteuid() not in (0, entry.pw_uid):
            return f"only root can start a bot as another user, {self.user!r}"
        if not program or os.geteuid() == entry.pw_uid:
            return None
        paths = [program]
        interpreter = _shebang_interpreter(program)
        if interpreter is not None:
            paths.append(interpreter)
        # Permissions depend on every folder above, groups and ACLs, so let a shell of that user test them.
        trial = subprocess.run(
            ["/bin/sh", "-c", _PRINT_FIRST_DENIED, "sh", *paths],
            user=entry.pw_uid,
            group=entry.pw_gid,
            extra_groups=os.getgrouplist(self.user, entry.pw_gid),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if not trial.stdout:
            return None
        denied = os.path.realpath(os.fsdecode(trial.stdout))
        return f"{denied} cannot be executed by {self.user}: it and all folders above it have to be open to that user"

    def command(self, command: list[str]) -> list[str]:
        """Return the command line that executes a command within the limits."""
        memory = str(self.memory_mb * 1_000_000)
        cpu = str(self.cpu_s)
        script = str(Path(confine.__file__).absolute())
        return [sys.executable, "-I", "-S", script, self.user, memory, cpu, "--", *command]
