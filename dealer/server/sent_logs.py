"""Logs as the text port sends them: which may be sent, and in which form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dealer.server.ledger import JobRow, JobState, RunState, runs_of
from dealer.server.store import Store

__all__ = ["log_lines", "may_be_sent"]

_LINES_AT_ONCE = 200


def may_be_sent(store: Store, job: JobRow) -> bool:
    """Whether the user of a job may see its seeds and cards.

    Everybody may when nothing of it is left to play. Before that only who has known the seed all along: who chose it,
    or was told it in the answer to a request on the text port. Any other job has a key that the server keeps.
    """
    is_going = any(run.state is RunState.RUNNING for run in runs_of(store, job.id))
    if job.state is not JobState.QUEUED and not is_going:
        return True
    if store.read("SELECT 1 FROM runs JOIN tables ON tables.run = runs.id WHERE runs.job = ?", job.id):
        return False
    return not job.is_seed_drawn


def log_lines(job: JobRow, path: Path) -> Iterator[str]:
    """The whole lines of a log, some at a time; it is called what the reference would have called it."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as log:
            first = log.readline()
            if not first.endswith("\n"):
                return
            hands, seed = first.split()[-2:]
            lines = [f"# name/game/hands/seed logs/{job.user.name}.{job.tag} {job.game} {hands} {seed}\n"]
            for line in log:
                if line.endswith("\n"):
                    lines.append(line)
                if len(lines) >= _LINES_AT_ONCE:
                    yield "".join(lines)
                    lines = []
            yield "".join(lines)
    except (OSError, ValueError):
        return
