"""The garbage collector in processes that make hardly any cycles: those that deal, and those that read hands."""

from __future__ import annotations

import gc


def relax_collector() -> None:
    """Let it look seldom, and never at what is there now: called when the process has imported everything."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
