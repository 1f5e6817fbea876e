"""What a bot's process may have: a user of its own, so much memory, so much time of the processor.

The limits are the system's own (``setrlimit``): each process that a bot starts has its own, and all of them together
have none. They need Linux or macOS; another user needs a dealer that runs as root.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from dealer.table import confine


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a process may have.

    Attributes:
        user: the name of the user as which it runs; empty for our own.
        memory_mb: of address space, in millions of bytes; 0 for any.
        cpu_s: time of the processor, in seconds; 0 for any.
    """

    user: str = ""
    memory_mb: int = 0
    cpu_s: int = 0

    def refusal(self) -> str | None:
        """Why this system cannot do it, as a clause; None if it can."""
        if os.name == "nt":
            return "limits on a bot's process need Linux or macOS"
        return self._refusal_of_user() if self.user else None

    def _refusal_of_user(self) -> str | None:
        import pwd

        try:
            entry = pwd.getpwnam(self.user)
        except KeyError:
            return f"there is no user {self.user!r} on this machine"
        if os.geteuid() not in (0, entry.pw_uid):
            return f"only root can start a bot as another user, {self.user!r}"
        return None

    def command(self, command: list[str]) -> list[str]:
        """The command line that starts another one within these limits."""
        memory, cpu = str(self.memory_mb * 1_000_000), str(self.cpu_s)
        script = str(Path(confine.__file__).absolute())
        return [sys.executable, "-I", "-S", script, self.user, memory, cpu, "--", *command]
