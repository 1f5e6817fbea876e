"""The runs of a pair from the worst on: what somebody looks at who wants to know why a bot loses."""

from __future__ import annotations

from dealer.server.records import RunRecord, runs_by_number
from dealer.server.store import Store

__all__ = ["worst_runs"]


def worst_runs(
    store: Store, pair: int, version: int, *, after: int | None = None, most: int = 50
) -> tuple[RunRecord, ...]:
    """Runs that count in a pair, those in which a player won least first; of the same result, the oldest first.

    An index has them in this order, so a page takes as long however many there are.

    Args:
        store: the database.
        pair: its number.
        version: the player.
        after: the last run of the page before; the answer is empty if it does not count in the pair.
        most: how many at most.
    """
    beyond, values = "", [pair, version]
    if after is not None:
        beyond = "AND (mbb_per_game, run) > (SELECT last.mbb_per_game, run FROM seats AS last WHERE run = ? "
        beyond += "AND lineup = ? AND version = ?) "
        values += [after, pair, version]
    query = f"SELECT run FROM seats WHERE lineup = ? AND version = ? {beyond}ORDER BY mbb_per_game, run LIMIT ?"
    numbers = [row["run"] for row in store.read(query, *values, most)]
    found = runs_by_number(store, numbers)
    return tuple(found[number] for number in numbers)
