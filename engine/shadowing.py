"""Detect modules that hide the packages of acpc-arena.

Python searches the folder of a script first, so a user's own ``engine.py`` hides our package of that name, and other
distributions install packages called ``protocol`` or ``bots``. Without a check, the user gets an ImportError about
names that mean nothing to them. Each package therefore imports those below it in

    with own_packages("engine", "protocol"):
        ...
"""

from __future__ import annotations

import os
import sys

# This module imports nothing from acpc-arena. It is loaded by its path, because `engine` may be the hidden package.


class own_packages:
    """Context manager for imports from packages that something else may hide.

    Raises:
        ImportError: another module would be imported in place of one of the packages or, after an import has failed,
            another distribution has overwritten one of them.
    """

    def __init__(self, *packages: str) -> None:
        self._packages = packages

    def check(self) -> None:
        """Check that each package would be imported from acpc-arena.

        Raises:
            ImportError: another module would be imported.
        """
        for package in self._packages:
            path = _find_origin(package)
            if path is None:
                continue
            # Compare folders, because the module can be source or bytecode, in a folder or in a zip file.
            expected = os.path.join(_HOME, package)
            folder = os.path.dirname(path)
            if folder == expected or os.path.realpath(folder) == os.path.realpath(expected):
                continue
            owner = _find_owner(package, path)
            if owner:
                problem = (
                    f"the distribution {owner} hides the package '{package}' of acpc-arena with {path}. Uninstall it, "
                    f"or install acpc-arena into an environment of its own."
                )
            else:
                problem = (
                    f"{path} hides the package '{package}' of acpc-arena, because Python searches the folder of your "
                    f"script first. Rename that file, or run your script with `python -P`."
                )
            raise ImportError(problem, name=package, path=path)

    def __enter__(self) -> None:
        self.check()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception):
            return
        for package in self._packages:
            path = os.path.join(_HOME, package, "__init__.py")
            owner = _find_owner(package, path)
            problem = (
                f"the distribution {owner} has overwritten files of acpc-arena in {os.path.dirname(path)}. Uninstall "
                f"it and reinstall acpc-arena, or install acpc-arena into an environment of its own."
            )
            # The error may come from the same check in a package below.
            if owner and str(error) != problem:
                raise ImportError(problem, name=package, path=path) from error


_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _find_origin(package: str) -> str | None:
    """Return the file from which a package was or would be imported, without importing it."""
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


def _find_owner(package: str, path: str) -> str | None:
    """Return the name and version of another distribution that has installed a package at a path."""
    from importlib import metadata

    folder = os.path.dirname(path)
    if os.path.basename(path) == "__init__.py":
        folder = os.path.dirname(folder)
    # Search this folder only. Reading the files of all distributions on the path takes half a second.
    for distribution in metadata.distributions(path=[folder]):
        name = distribution.metadata["Name"]
        modules = (distribution.read_text("top_level.txt") or "").split()
        if not modules:
            files = distribution.files or ()
            modules = [file.parts[0].removesuffix(".py") for file in files if file.suffix == ".py"]
        if name and package in modules and name.lower().replace("_", "-") != "acpc-arena":
            return f"'{name}' {distribution.version}"
    return None
