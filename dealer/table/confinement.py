"""What a bot's process may have: a user of its own, so much memory, so much time of the processor.

The limits are the system's own (``setrlimit``): each process that a bot starts has its own, and all of them together
have none. They need Linux or macOS; another user needs a dealer that runs as root.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dealer.table import confine

_MOST_HEAD_BYTES: Final = 256
_FIRST_DENIED: Final = 'for path; do test -x "$path" || { printf %s "$path"; exit; }; done'


def _interpreter_of(program: str) -> list[str]:
    """The interpreter that a script names in its first line, if it is one."""
    try:
        with open(program, "rb") as file:
            head = file.readline(_MOST_HEAD_BYTES)
    except OSError:
        return []
    if not head.startswith(b"#!"):
        return []
    return [os.fsdecode(word) for word in head[2:].split()[:1]]


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

    def refusal(self, program: str = "") -> str | None:
        """Why this system cannot do it, as a clause; None if it can.

        Args:
            program: the path of what is to be started, which the user has to be allowed to execute; empty for none.
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
        # Only the system knows what another user may do; the shell asks it as that user.
        asked = subprocess.run(
            ["/bin/sh", "-c", _FIRST_DENIED, "sh", program, *_interpreter_of(program)],
            user=entry.pw_uid,
            group=entry.pw_gid,
            extra_groups=os.getgrouplist(self.user, entry.pw_gid),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if not asked.stdout:
            return None
        denied = os.path.realpath(os.fsdecode(asked.stdout))
        return f"{denied} cannot be executed by {self.user}: it and all folders above it have to be open to that user"

    def command(self, command: list[str]) -> list[str]:
        """The command line that starts another one within these limits."""
        memory = str(self.memory_mb * 1_000_000)
        cpu = str(self.cpu_s)
        script = str(Path(confine.__file__).absolute())
        return [sys.executable, "-I", "-S", script, self.user, memory, cpu, "--", *command]
