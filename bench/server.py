"""A server with many joined bots and a database of many matches: hands, memory, and times of pages and events.

Each page is opened at rest, where the processor time of the server is also counted, and again while all bots play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bench.joined import ServerBench, serving
from bench.served import spent_by, until
from bench.times import answer_time_s, event_times, page_times, row_of_times
from dealer.bench import Row
from dealer.server.db.store import Store
from dealer.server.db.users import add_user
from dealer.server.server_settings import default_settings
from protocol import find_game
from tests.filled import USERS, enter_ratings, fill

_PLAYED_HANDS: Final = 1000
_MOST_EVENTS: Final = 50


def measure(
    *,
    bots: int = 200,
    seconds: float = 10.0,
    rounds: int = 3,
    calls: int = 100,
    runs: int = 50_000,
    game: str = "limit",
    bot: str = "random",
    show: Callable[[str], None] = lambda line: None,
) -> list[Row]:
    """Hands per second compared with `arena play`, memory of a bot, milliseconds of pages, calls and events.

    Args:
        bots: that join; two of them to a match.
        seconds: over which hands are counted.
        rounds: how often the server and `arena play` are counted.
        calls: of each page.
        runs: number of earlier runs in the database.
        game: of two players.
        bot: all bots are this one.
        show: gets each step of the measurement, in words.

    Raises:
        OSError: a program cannot be started.
        RuntimeError: the server or a bot fails.
        ValueError: the game has other than two players, or the bots are an odd number.
    """
    full, rules = find_game(game)
    if rules.num_players != 2:
        raise ValueError(f"--game {game}: the game must have two players, not {rules.num_players}")
    if bots % 2:
        raise ValueError(f"--bots {bots}: two bots play a match, so their number must be even")
    of_server = next(one for one in default_settings().games if one.name == full)

    def enter(store: Store) -> None:
        show(f"entering {runs:,} matches")
        for number in range(USERS):
            store.write_now(lambda db, number=number: add_user(db, f"user{number}"))
        store.write_now(lambda db: fill(db, of_server, runs))
        enter_ratings(store, of_server)

    with serving(bots=bots, game=game, bot=bot, show=show, fill=enter) as bench:
        pages = _Pages(bench, calls)
        at_rest = pages.at_rest(runs)
        return [*bench.rows(seconds, rounds, pages.while_playing), *at_rest]


class _Pages:
    """Calls of pages and of the HTTP interface, each `calls` times."""

    def __init__(self, bench: ServerBench, calls: int) -> None:
        self._bench = bench
        self._calls = calls

    def at_rest(self, runs: int) -> list[Row]:
        """Measure pages and calls over the whole database while no bot plays."""
        call = self._bench.caller.call
        job = {"game": self._bench.game, "players": ["random", "calling"], "deals": _PLAYED_HANDS, "seating": "single"}
        number = call("POST", "/jobs", job)["id"]
        until(lambda: call("GET", f"/jobs/{number}")["job"]["state"] == "done", every_s=0.1)
        self._bench.show(f"asking for pages over {runs:,} matches")
        return self._answers(f"{runs:,} matches played, nobody plays", is_alone=True)

    def while_playing(self) -> list[Row]:
        """Measure pages, calls and events while all bots play."""
        bench = self._bench
        group = f"{bench.bots} bots play"
        bench.show(f"{group}: asking for pages")
        rows = self._answers(group, is_alone=False)
        events = min(self._calls, _MOST_EVENTS)
        bench.show(f"{group}: listening to events")
        contest = {"game": bench.game, "players": ["random", "calling"], "deals": 1, "seating": "single"}
        event_times_s = event_times(bench.caller, events, contest)
        bench.show(f"{group}: watching a match")
        seen = page_times(
            bench.caller,
            bench.server.text_port,
            bench.user,
            bench.token,
            game_name=bench.game,
            game=find_game(bench.game)[1],
            count=events,
        )
        return [
            *rows,
            row_of_times(group, "an event's way to a listener", event_times_s, f"{events} events"),
            row_of_times(group, "an action's way to a watching page", seen, f"{events} actions; it looks every 250 ms"),
        ]

    def _answers(self, group: str, *, is_alone: bool) -> list[Row]:
        newest = self._bench.caller.call("GET", "/runs?state=finished&limit=1")["runs"][0]["id"]
        paths = (
            "/",
            f"/bots/{self._bench.game}/bot7",
            f"/standings/{self._bench.game}",
            f"/pairs/{self._bench.game}/7",
            "/runs",
            "/runs?bot=bot7",
            f"/runs?after={max(2, newest // 2)}",
            f"/runs/{newest}",
            f"/runs/{newest}/matches/match",
            f"/api/v1/games/{self._bench.game}/standings",
            "/api/v1/runs",
            "/api/v1/jobs",
        )
        return [self._answer(group, path, is_alone=is_alone) for path in paths]

    def _answer(self, group: str, path: str, *, is_alone: bool) -> Row:
        """Time of a page, and on an idle server also its processor time."""
        before = spent_by(self._bench.server.process)
        taken = [answer_time_s(self._bench.caller, path) for _ in range(self._calls)]
        after = spent_by(self._bench.server.process)
        row = row_of_times(group, f"GET {path}", taken, f"{self._calls} calls")
        if not is_alone:
            return row
        used = [(b - a) / self._calls * 1e6 for a, b in zip(before, after, strict=True)]
        return replace(row, user_us=used[0], system_us=used[1])
