"""Tasks for worker processes, which import this module and so none of the packages for tests."""

from __future__ import annotations

import os
import time
from pathlib import Path

from bots.workers import is_wanted, send_progress


def wait_for_one(path: str, number: int) -> int:
    """Return the number; for 1, wait for the file first."""
    while number == 1 and not Path(path).exists():
        time.sleep(0.01)
    return number


def square(number: int) -> int:
    return number * number


def die_once(path: str, number: int) -> int:
    """Kill the worker the first time that task 2 runs."""
    if number == 2:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return number * number
        os._exit(9)
    return number * number


def die(number: int) -> int:
    os._exit(9)


def fail(number: int) -> int:
    raise ValueError(f"task {number} cannot be done")


def count_up(most: int) -> int:
    for number in range(most):
        send_progress(number, 7)
    return most


def until_unwanted(path: str) -> None:
    while is_wanted():
        send_progress(99)
        time.sleep(0.01)
    Path(path).touch()
