"""Import of scripts, whose figures tests compare with the documentation."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.dealer.helpers import ROOT


def script(path: str) -> ModuleType:
    """Import the script at a path such as ``research/cfr/remake.py``, which may import its neighbours."""
    name = path.removesuffix(".py").replace("/", "_").replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str((ROOT / path).parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module
