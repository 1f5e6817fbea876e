"""Script that executes a program as another user, with less memory and processor time.

    python -I -S confine.py USER MEMORY_BYTES CPU_S -- PROGRAM ARGUMENT...

An empty user or a limit of 0 means no change. If a limit cannot be set, nothing is started. With ``-I -S`` the
interpreter imports nothing from the present folder, from site-packages or from folders in environment variables.
"""

from __future__ import annotations

import os
import sys

_NOT_STARTED = 126
"""Exit code of a shell for a program that cannot be executed."""


def main(words: list[str]) -> int:
    """Execute the program in place of this process; return an exit code only on failure."""
    user, memory, cpu, _, *command = words
    try:
        _limit(int(memory), int(cpu))
        if user:
            _become(user)
        os.execvp(command[0], command)
    except PermissionError:
        sys.stderr.write(f"{command[0]} cannot be executed by {user or 'the user of the dealer'}\n")
    except (OSError, KeyError, ValueError) as error:
        sys.stderr.write(f"{command[0]} cannot be started within its limits: {error}\n")
    return _NOT_STARTED


def _limit(memory: int, cpu: int) -> None:
    import resource

    # A core dump could fill the disk, and may hold the cards.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if cpu:
        # The soft limit sends SIGXCPU, which a program may catch. The hard limit, a second later, kills it.
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))


def _become(user: str) -> None:
    import pwd

    entry = pwd.getpwnam(user)
    if os.getuid() == entry.pw_uid:
        return
    # The user last: after setuid, the process may not change its groups.
    os.initgroups(user, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.environ.update(HOME=entry.pw_dir, USER=user, LOGNAME=user)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
