"""Warns users when something else has taken the name of one of our packages.

Python looks for modules in the script's folder first: an ``engine.py`` there is taken for our ``engine``. Other
distributions install packages called ``protocol`` or ``bots``, ahead of ours or over ours. What follows is an
ImportError about names the reader has never heard of. Packages that import from the floors below do so in

    with ours("engine", "protocol"):
        ...

On the way in it asks the import system where each package would come from, without running it, and compares paths. On
the way out, only if something failed, it asks the metadata of the installed distributions which other packages have
written there.

It imports nothing of ours. The packages above load it by path, not by name: `engine` may be the package that is hidden.
"""

from __future__ import annotations

import os
import sys


class ours:
    """Code that needs these packages to be those of acpc-arena.

    Raises:
        ImportError: on entry, when something else is found first under such a name; on exit after a failure, when
            another distribution has overwritten one of them. One sentence says what and where, and what to do.
    """

    def __init__(self, *packages: str) -> None:
        self._packages = packages

    def check(self) -> None:
        """Compare the paths, as on entry.

        Raises:
            ImportError: as on entry.
        """
        for package in self._packages:
            # A module may be source or bytecode, in a folder or in a zip file: only where it lies is compared.
            found = _origin(package)
            expected = os.path.join(_HOME, package)
            folder = os.path.dirname(found or expected)
            if found is None or folder == expected or os.path.realpath(folder) == os.path.realpath(expected):
                continue
            if owner := _owner(package, found):
                problem = (
                    f"the distribution {owner} hides the package '{package}' of acpc-arena with {found}. Uninstall it, "
                    f"or install acpc-arena into an environment of its own."
                )
            else:
                problem = (
                    f"{found} hides the package '{package}' of acpc-arena: Python searches the folder of your script "
                    f"first. Rename that file, or run your script with `python -P`."
                )
            raise ImportError(problem, name=package, path=found)

    def __enter__(self) -> None:
        self.check()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception):
            return
        for package in self._packages:
            found = os.path.join(_HOME, package, "__init__.py")
            owner = _owner(package, found)
            problem = (
                f"the distribution {owner} has overwritten files of acpc-arena in {os.path.dirname(found)}. Uninstall "
                f"it and reinstall acpc-arena, or install acpc-arena into an environment of its own."
            )
            # A package further down may have said it already.
            if owner and str(error) != problem:
                raise ImportError(problem, name=package, path=found) from error


_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _origin(package: str) -> str | None:
    loaded = sys.modules.get(package)
    if loaded is not None:
        path: str | None = getattr(loaded, "__file__", None)
        if path:
            return os.path.abspath(path)
        return None
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None:
            if spec.origin:
                return os.path.abspath(spec.origin)
            return None
    return None


def _owner(package: str, found: str) -> str | None:
    from importlib import metadata

    folder = os.path.dirname(found)
    if os.path.basename(found) == "__init__.py":
        folder = os.path.dirname(folder)
    # Those of this folder alone: reading what every distribution on the path holds takes half a second.
    for distribution in metadata.distributions(path=[folder]):
        name = distribution.metadata["Name"]
        tops = (distribution.read_text("top_level.txt") or "").split() or [
            file.parts[0].removesuffix(".py") for file in distribution.files or () if file.suffix == ".py"
        ]
        if name and package in tops and name.lower().replace("_", "-") != "acpc-arena":
            return f"'{name}' {distribution.version}"
    return None
