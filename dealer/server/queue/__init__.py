"""Requests on their way: checked, queued, played by `dealer.runs`, counted and rated."""
