"""The console scripts, and Ctrl-C while they start and end.

An import cannot be interrupted cleanly: Python prints a traceback of whatever module it was in. So the first thing that
a script does, before it imports any package, is to let Ctrl-C end the process at once and silently, with status 130.
Once everything is imported, the commands handle a `KeyboardInterrupt` themselves, and what is left to do after them,
at the end of the interpreter, ends at once again. A process that ignores Ctrl-C, as in the background of a shell's
script, goes on ignoring it.
"""

import os
import sys
from _signal import (  # type: ignore[import-not-found]  # `signal` imports `enum`, which takes milliseconds
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)

__all__ = ["acpc_dealer", "arena", "raise_interrupts", "stop_when_interrupted"]


def stop_when_interrupted() -> None:
    """From here on Ctrl-C ends the process."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _stop)


def raise_interrupts() -> None:
    """From here on Ctrl-C raises `KeyboardInterrupt` again."""
    if getsignal(SIGINT) is _stop:
        signal(SIGINT, default_int_handler)


def _stop(number: int, frame: object) -> None:
    os._exit(130)


stop_when_interrupted()


def arena() -> None:
    """The script ``arena``."""
    try:
        from dealer.cli import main

        main(raise_interrupts)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        stop_when_interrupted()


def acpc_dealer() -> None:
    """The script ``acpc-dealer``."""
    try:
        from dealer.reference.command import main

        raise_interrupts()
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        stop_when_interrupted()
