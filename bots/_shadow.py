"""Tells the author of a bot that a file of his own hides one of our packages.

The folder of a script is the first place where Python looks for modules. An ``engine.py`` beside ``my_bot.py`` is
therefore taken for our ``engine``, and what follows is an ImportError about names its author has never heard of. This
module asks the import system where a package would come from, without running it, and says what happened.

It imports nothing of ours: it has to work when nothing of ours can be imported.
"""

from __future__ import annotations

import os
import sys

__all__ = ["refuse_shadowed"]


def refuse_shadowed(*packages: str) -> None:
    """Check that each package would come from the folder that holds `bots`.

    Raises:
        ImportError: something else of that name is found first; the sentence says where and what to do.
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for package in packages:
        found = _origin(package)
        ours = os.path.join(home, package, "__init__.py")
        if found is None or found == ours or os.path.realpath(found) == os.path.realpath(ours):
            continue
        raise ImportError(
            f"{found} hides the package '{package}' of acpc-arena, which 'bots' needs: Python looks beside your script "
            f"first. Rename that file, or run your bot with `python -P`.",
            name=package,
            path=found,
        )


def _origin(package: str) -> str | None:
    """The file that `import package` runs or has run; None where there is none to be found."""
    loaded = sys.modules.get(package)
    if loaded is not None:
        return getattr(loaded, "__file__", None)
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None:
            return os.path.abspath(spec.origin) if spec.origin else None
    return None
