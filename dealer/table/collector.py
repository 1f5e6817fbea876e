"""Settings of the garbage collector for processes that create few reference cycles, such as dealers."""

from __future__ import annotations

import gc


def relax_collector() -> None:
    """Run the collector rarely, and not over existing objects. Call this once everything is imported."""
    # Modules and their tables live to the end, yet each full collection would walk over them.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
