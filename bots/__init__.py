"""The built-in bots, and an SDK for writing your own.

    >>> from bots import Bot, Category
    >>> from bots.sdk.testing import MockDealer, check
    >>> class PairRaiser(Bot):
    ...     def act(self, view):
    ...         return view.raise_min() if view.category >= Category.PAIR else view.call()
    >>> script = MockDealer("limit").ask("MATCHSTATE:1:0::|KhKd", "r").tell("MATCHSTATE:1:0:r:|KhKd")
    >>> check(PairRaiser(), script)

End the file with ``run(PairRaiser())`` and it plays over TCP: ``python my_bot.py HOST PORT``.
"""

from importlib.machinery import PathFinder as _PathFinder
from importlib.util import find_spec as _find_spec
from importlib.util import module_from_spec as _module_from_spec
from os.path import dirname as _dirname
from os.path import join as _join
from typing import TYPE_CHECKING, Any

# Load engine.shadowing from its folder, because a user's own engine.py may hide our package of that name. A frozen
# program has no folders, so there the module is loaded by name.
_spec = _PathFinder.find_spec("engine.shadowing", [_join(_dirname(__path__[0]), "engine")])
_spec = _spec or _find_spec("engine.shadowing")
_shadowing = _module_from_spec(_spec)  # type: ignore[arg-type]
_spec.loader.exec_module(_shadowing)  # type: ignore[union-attr]

# logs and dealer are not checked: a playing bot needs neither, so a file of that name next to it does no harm.
with _shadowing.own_packages("engine", "protocol"):
    from bots.errors import BotsError, ConnectError, DealerFailure, GameRefused, IllegalReply, SpecError
    from bots.sdk.bot import Bot
    from bots.sdk.client import play, run
    from bots.sdk.view import View
    from engine import CALL, FOLD, RAISE, Action, ActionKind, Category, Game, Position, nearest_legal, raise_to

__all__ = [
    "CALL",
    "FOLD",
    "RAISE",
    "Action",
    "ActionKind",
    "Bot",
    "BotsError",
    "Category",
    "ConnectError",
    "DealerFailure",
    "Game",
    "GameRefused",
    "IllegalReply",
    "Position",
    "SpecError",
    "View",
    "nearest_legal",
    "play",
    "raise_to",
    "run",
    "self_play",
]

if TYPE_CHECKING:
    from bots.sdk.selfplay import self_play


def __getattr__(name: str) -> Any:
    if name == "self_play":
        # Imported on first use: a bot that plays over TCP needs no hand records.
        with _shadowing.own_packages("logs"):
            from bots.sdk.selfplay import self_play
        return self_play
    if name == "__version__":
        from importlib.metadata import version

        return version("acpc-arena")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
