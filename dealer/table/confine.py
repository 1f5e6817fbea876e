"""Starts a program with less than we have ourselves: another user, less memory, less time of the processor.

It is run as a script by an interpreter that imports nothing else, and becomes the program:

    python -I -S confine.py USER MEMORY_BYTES CPU_S -- PROGRAM ARGUMENT...

A limit of 0, or an empty user, is none. What is not possible is reported on standard error, and nothing is started.
"""

from __future__ import annotations

import os
import sys

_NOT_STARTED = 126
"""The exit code for what a shell cannot start, either."""


def main(words: list[str]) -> int:
    """Become the program; returns only if that cannot be done."""
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

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if cpu:
        # A second more than the first signal, which a program may catch.
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))


def _become(user: str) -> None:
    import pwd

    entry = pwd.getpwnam(user)
    if os.getuid() == entry.pw_uid:
        return
    os.initgroups(user, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.environ.update(HOME=entry.pw_dir, USER=user, LOGNAME=user)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
