"""Run matches between poker programs, from the command line (``arena``, ``acpc-dealer``) and from Python:

    from dealer import play

    result = play("limit", ["raising", "random"], deals=200, seed=1, in_process=True)
    print(result.sentence)
    print(result.rate())  # raising over random +1,315 ± 883 mbb/g
    print(result.rate("random").low)
    for player in result.players:
        print(player.name, player.chips, player.faults)

`play_async`, `tournament_async` and `resume_async` are for code that runs in an event loop. See the guide
docs/python-api.md. Names are loaded when they are first used, because every process of the dealer imports this
package.
"""

from __future__ import annotations

import importlib
import logging
from importlib.machinery import PathFinder as _PathFinder
from importlib.util import find_spec as _find_spec
from importlib.util import module_from_spec as _module_from_spec
from os.path import dirname as _dirname
from os.path import join as _join
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dealer.library import *  # noqa: F403

# Load engine.shadowing from its folder, because a user's own engine.py may hide our package of that name. A frozen
# program has no folders, so there the module is loaded by name.
_spec = _PathFinder.find_spec("engine.shadowing", [_join(_dirname(__path__[0]), "engine")])  # noqa: F405
_spec = _spec or _find_spec("engine.shadowing")
_shadowing = _module_from_spec(_spec)  # type: ignore[arg-type]
_spec.loader.exec_module(_shadowing)  # type: ignore[union-attr]
_ours = _shadowing.own_packages("engine", "protocol", "logs", "bots", "dealer")
_ours.check()

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("acpc-arena")
    if name == "__all__" or not name.startswith("_"):
        with _ours:
            library = importlib.import_module(f"{__name__}.library")
        if name == "__all__" or name in library.__all__:
            return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__version__"]
