"""Requests on their way: checked, queued, played by `dealer.library`, counted and rated."""
