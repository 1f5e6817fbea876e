"""``arena evolve``: the evolution of agents."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.live import Live
from rich.text import Text

from bots.errors import BotsError
from dealer.cli.console import Terminal, abort
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED
from dealer.results.sentences import count_of

if TYPE_CHECKING:
    from bots.evolution import StopRule
    from bots.evolved.runs import Progress, Run
    from bots.workers import Workers

__all__ = ["app"]

app = typer.Typer(help="Evolve agents by genetic algorithms.", no_args_is_help=True)

_PLAIN_EVERY_S: Final = 10.0
_TRAINING: Final = "Training"
_STOP: Final = "When to stop"
