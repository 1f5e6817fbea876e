"""A competition from its announcement to its publication, with a flood of names and a server that is killed.

    python research/serve/competition.py FOLDER

uses the commands and settings of `docs/competition.md`. An event is announced, one user names 100 bots for it, others
enter one bot each, and the event is edited: fewer deals, and it closes soon. While it is played, the bot of the flood
is disqualified and the server is killed three times with SIGKILL. At the end it is published. Every contest of the
other bots must have been played once, and the published standings must be the means of these contests. FOLDER, which
must not exist, keeps everything.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

from course import Course, table_of_steps
from joining import COMPETITION, configuration
from websockets.sync.client import connect

sys.path.append(str(Path(__file__).resolve().parents[1]))
from blocks import APPENDIX, with_blocks

PAGE: Final = APPENDIX / "benchmarks.md"
MEASURED: Final = Path(__file__).resolve().parent / "measured-competition.json"
USERS: Final = 6
FLOOD: Final = 100
FLOODER: Final = "eve"
DEALS: Final = 100
KILLS: Final = 3
_OPENS_FOR_S: Final = 3_600
_CLOSES_IN_S: Final = 10


def flood(course: Course, token: str) -> Counter[str]:
    """Connect bots of as many names; return how often the server gave which answer."""
    answers: Counter[str] = Counter()
    address = f"{course.url.replace('http', 'ws')}/api/v1/join"
    for number in range(FLOOD):
        with connect(address, additional_headers={"Authorization": f"Bearer {token}"}) as server:
            name = f"flood{number}"
            server.send(json.dumps({"type": "join", "bot": name, "session": name, "games": ["kuhn"]}))
            answer = json.loads(server.recv())
        # The last limit states a waiting time, which differs.
        answers[answer.get("reason", "joined").split(";")[0]] += 1
    return answers


def check_standings(published: dict[str, Any]) -> None:
    """Check that the winnings of each bot are the mean over its published contests."""
    won: dict[str, list[float]] = {name: [] for name in published["event"]["entrants"]}
    for contest in published["contests"]:
        if contest["state"] == "done":
            for seat in contest["run"]["seats"]:
                won[seat["name"]].append(seat["mbb_per_game"])
    for name, contests in won.items():
        shown = published["standings"]["won"][name]["raw"]["mean"]
        if len(contests) != len(won) - 1 or not math.isclose(statistics.fmean(contests), shown, abs_tol=1e-6):
            raise SystemExit(f"the standings have {shown} for {name}, but it has won {contests}")
    ranked = {rank["player"] for rank in published["standings"]["total_bankroll"]}
    if ranked != set(won):
        raise SystemExit(f"the standings have {sorted(ranked)}, not {sorted(won)}")


def with_tables(page: str, measured: dict[str, Any]) -> str:
    """Return the page with the steps of the competition."""
    return with_blocks(page, {"competition": table_of_steps(measured)})


def main(folder: Path) -> None:
    """Run the competition, and write its times."""
    settings = tomllib.loads(configuration(COMPETITION, 'name = "final"'))
    entries = f"entries_per_user = {settings['entries_per_user']}"
    course = Course(folder, USERS, 0)
    course.arena("serve", "users", "students.csv", "--data", "data", "--address", course.url, "--out", "links.csv")
    token = course.arena("serve", "user", FLOODER, "--data", "data").split()[-1]
    course.serve()
    with course:
        course.accept_invitations()
        course.tell(f"{USERS} users have accepted invitations, and the server has started")
        course.schedule(("new",), f"deals = {settings['deals']}\n{entries}", _OPENS_FOR_S)
        course.tell(f"the event is announced, with {settings['deals']} deals")
        answers = flood(course, token)
        for answer, count in answers.items():
            course.tell(f"of {FLOOD} names of one user, {count}: {answer}")
        course.join()
        entrants = course.await_event(lambda event: sum("-joined" in name for name in event["entrants"]) == USERS)
        flooding = [name for name in entrants["entrants"] if name.startswith("flood")]
        if len(flooding) != settings["entries_per_user"]:
            raise SystemExit(f"of the flood, there are {flooding} in the event")
        others = len(entrants["entrants"]) - len(flooding)
        course.tell(f"{others} bots have entered beside {' and '.join(flooding)}")
        course.schedule(("edit", "final"), f"deals = {DEALS}\n{entries}", _CLOSES_IN_S)
        course.tell(f"the event is edited: {DEALS} deals, closing in {_CLOSES_IN_S} s")
        contests = course.await_event(lambda event: event["contests"] > 0)["contests"]
        course.tell(f"it has closed, with {contests} contests")
        reason = ("--reason", "a flood of names")
        course.arena("serve", "event", "disqualify", "final", *flooding, *reason, "--data", "data")
        left = course.await_event(lambda event: event["contests"] < contests)["contests"]
        course.tell(f"{flooding[0]} is disqualified, and {left} contests are left")
        for kill in range(1, KILLS + 1):
            ended = course.kill_after(left * kill // (KILLS + 1))
            course.tell(f"after {ended} contests the server was killed, and has started again")
        course.await_event(lambda event: event["state"] == "finished")
        course.tell("all contests have ended")
        course.arena("serve", "event", "publish", "final", "published", "--data", "data")
        published = course.check(DEALS, cancelled=contests - left)
        check_standings(published)
        if [bot["bot"] for bot in published["event"]["disqualified"]] != flooding:
            raise SystemExit("the published event does not name the disqualified bot")
        course.tell(f"the event is published; its standings have all {left} contests, each played once")
    measured = course.write_steps(MEASURED)
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), measured), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
