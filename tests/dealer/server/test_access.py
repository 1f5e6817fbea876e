"""Access to seeds, cards, faults and output by every address and every command, as in `dealer.server.access`.

The server is a database with jobs of every kind in every state, and the folders of their runs. It plays only at tables
of people. Each secret is a unique text, which the tests search for in every byte that the server sends. An address or
a command that is missing in the tables `SERVES` and `SAYS` fails the test.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import shutil
import sqlite3
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import quote

import pytest
from starlette.routing import Mount, Route, WebSocketRoute

import dealer.library
from dealer.cli.shell.event_folder import publish
from dealer.match.causes import Failure, NoAnswer
from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.match.writers import format_fault
from dealer.person.table_settings import table_config
from dealer.run.choices import Seating
from dealer.run.folder import RESULT_NAME
from dealer.run.results import FailureReport
from dealer.run.run import new_run
from dealer.run.run_settings import BotSettings
from dealer.server.access import DELAY_HANDS, Person, access_to, public_hands, sees_cards
from dealer.server.accounts import Accounts, Scope, add_token
from dealer.server.computing import Computing
from dealer.server.db import event_records, records
from dealer.server.db.bot_registry import register_user_bot
from dealer.server.db.records import Job, JobKind, JobRequest, JobState, Match, RunSeat, RunState, new_job
from dealer.server.db.run_changes import RunReport, add_job, add_table, begin_run, close_table, end_job, end_run
from dealer.server.db.store import DATABASE_NAME, Store
from dealer.server.db.users import User, add_user
from dealer.server.hosting import Hosting, Line
from dealer.server.queue.ladder import LADDER_USER
from dealer.server.server import ServerParts
from dealer.server.server_settings import UploadSettings
from dealer.server.service import Service
from dealer.server.textport.port import TextPort
from dealer.table.loop import new_event_loop
from dealer.web.pages.monitoring import Metrics
from dealer.web.pages.shown_runs import HandCounter
from dealer.web.server_site import make_server_site, server_routes
from dealer.web.site import make_app
from dealer.web.slumbot.interface import SlumbotSessions, owner_for_token
from dealer.web.slumbot.luck import LuckCorrection
from engine import CARD_TEXTS, DealKey, Seat, Seed
from logs import HandRecord
from logs.estimation import Estimate
from logs.hand_source import find
from protocol import find_game, format_game_definition
from protocol.benchmark import OWN_SEAT, BenchmarkEvent, BenchmarkSession, ClientCommand, Verb
from protocol.joining import Cancel, Challenge, ContestTerms, Join, Joined, SeatOver, SeatText, ServerMessage, encode
from tests.dealer.agents.agents import connected_agent, local_seats
from tests.dealer.match.test_causes import NAMES
from tests.dealer.server.servers import Peer, shared_workers
from tests.dealer.web.visits import small_house

GAME: Final = "holdem.limit.2p.reverse_blinds"
SLUMBOT_GAME: Final = "holdem.nolimit.2p.reverse_blinds"
SESSION: Final = "a-session-of-slumbots-interface"

KINDS: Final[dict[str, dict[str, Any]]] = {
    "text port": {"seating": Seating.SINGLE},
    "own agent": {"seating": Seating.SINGLE, "players": (OWN_SEAT, "calling")},
    "duplicate": {"seating": Seating.ROTATIONS, "has_key": True, "deals": 2},
    "one seating": {"seating": Seating.SINGLE, "has_key": True, "deals": 2},
    "chosen seed": {"seating": Seating.ROTATIONS, "deals": 2},
    "joined bot": {"seating": Seating.ROTATIONS, "has_key": True, "deals": 2, "players": ("bobs-bot", "calling")},
    "ladder": {"seating": Seating.ROTATIONS, "has_key": True, "deals": 2, "kind": JobKind.LADDER},
}
STATES: Final = (
    *("queued", "running", "one of two done", "finished"),
    *("failed at once", "failed long ago", "cancelled", "being stopped"),
)
QUICK_STATES: Final = ("running", "finished", "failed at once")
FAILED: Final = ("finished", "failed at once", "failed long ago")
"""States with a failure that quotes output."""
OVER: Final = ("finished", "failed at once", "failed long ago", "cancelled", "closed")
SEED_IS_KNOWN: Final = ("text port", "own agent", "chosen seed")
"""Kinds of jobs whose user knows the seed from the start."""


def kind_params(*quick: str, others: Sequence[str] = ("table",)) -> list[Any]:
    """Kinds of jobs as parameters of a test; all but `quick` are marked slow."""
    slow = [kind for kind in (*KINDS, *others) if kind not in quick]
    return [*quick, *(pytest.param(kind, marks=pytest.mark.slow) for kind in slow)]


CARDS: Final = {"seed", "cards"}
HANDS: Final = {"cards"}
FAULTS: Final = {"faults"}
ENDS: Final = {"output"}
NOTHING: Final[set[str]] = set()
EVENTS: Final = "GET /runs/{run}/matches/{match}/events"
SERVES: Final[dict[str, set[str]]] = {
    "GET /": NOTHING,
    "GET /healthz": NOTHING,
    "GET /metrics": NOTHING,
    "GET /results.atom": NOTHING,
    "GET /bots/{game}/{name}": NOTHING,
    "POST /bots/{game}/{name}/free": NOTHING,
    "POST /organiser/users/{name}/free": NOTHING,
    "GET /login": NOTHING,
    "POST /login": NOTHING,
    "POST /logout": NOTHING,
    "GET /invitation/{secret}": NOTHING,
    "POST /invitation/{secret}": NOTHING,
    "GET /api/v1/openapi.json": NOTHING,
    "GET /api/v1/me": NOTHING,
    "DELETE /api/v1/bots/{name}": NOTHING,
    "GET /api/v1/series": NOTHING,
    "POST /api/v1/series": NOTHING,
    "GET /api/v1/series/{name}": NOTHING,
    "GET /api/v1/teams": NOTHING,
    "POST /api/v1/teams": NOTHING,
    "POST /api/v1/teams/{name}/join": NOTHING,
    "POST /api/v1/team/invitations": NOTHING,
    "DELETE /api/v1/team": NOTHING,
    "GET /series": NOTHING,
    "POST /series": NOTHING,
    "GET /series/{name}": NOTHING,
    "POST /series/{name}/withdraw": NOTHING,
    "POST /account/names/free": NOTHING,
    "POST /account/team": NOTHING,
    "POST /account/team/invite": NOTHING,
    "POST /account/team/accept": NOTHING,
    "POST /account/team/leave": NOTHING,
    "GET /api/v1/games": NOTHING,
    "GET /api/v1/bots": NOTHING,
    "GET /api/v1/jobs": {"seed"},
    "POST /api/v1/jobs": NOTHING,
    "GET /api/v1/jobs/{job}": {"seed", "output"},
    "DELETE /api/v1/jobs/{job}": NOTHING,
    "GET /api/v1/runs": ENDS,
    "GET /api/v1/runs/{run}": ENDS,
    "GET /api/v1/runs/{run}/scores/{player}": NOTHING,
    "GET /api/v1/runs/{run}/matches/{match}/hands": HANDS,
    "GET /api/v1/runs/{run}/matches/{match}/log": CARDS,
    "GET /api/v1/runs/{run}/matches/{match}/export/{format}": CARDS,
    "GET /api/v1/faults": FAULTS,
    "GET /api/v1/games/{game}/standings": NOTHING,
    "GET /api/v1/games/{game}/pairs": NOTHING,
    "GET /api/v1/events": NOTHING,
    "GET /api/v1/scheduled-events": NOTHING,
    "GET /api/v1/scheduled-events/{name}": NOTHING,
    "POST /api/v1/scheduled-events": NOTHING,
    "PUT /api/v1/scheduled-events/{name}": NOTHING,
    "DELETE /api/v1/scheduled-events/{name}": NOTHING,
    "POST /api/v1/scheduled-events/{name}/disqualified": NOTHING,
    "GET /api/v1/uploads": NOTHING,
    "POST /api/v1/uploads": NOTHING,
    "GET /api/v1/uploads/{upload}": NOTHING,
    "DELETE /api/v1/uploads/{upload}": NOTHING,
    "GET /events": NOTHING,
    "POST /events": NOTHING,
    "GET /events/{name}": NOTHING,
    "POST /events/{name}/edit": NOTHING,
    "POST /events/{name}/disqualify": NOTHING,
    "POST /events/{name}/withdraw": NOTHING,
    "GET /play": NOTHING,
    "POST /play": NOTHING,
    "GET /play/{table}": {"own cards"},
    "POST /play/{table}": NOTHING,
    "GET /play/{table}/part": {"own cards"},
    "POST /play/{table}/leave": NOTHING,
    "GET /play/{table}/end": NOTHING,
    "POST /play/{table}/end": NOTHING,
    "GET /organiser": NOTHING,
    "GET /organiser/changes": NOTHING,
    "GET /organiser/users": NOTHING,
    "POST /organiser/users": NOTHING,
    "GET /organiser/users/{name}": NOTHING,
    "POST /organiser/users/{name}/link": NOTHING,
    "POST /organiser/users/{name}/disable": NOTHING,
    "POST /organiser/users/{name}/enable": NOTHING,
    "POST /organiser/users/{name}/disconnect": NOTHING,
    "POST /organiser/users/{name}/remove": NOTHING,
    "POST /organiser/jobs/{job}/cancel": NOTHING,
    "GET /organiser/texts": NOTHING,
    "POST /organiser/texts": NOTHING,
    "GET /rules": NOTHING,
    "GET /account": FAULTS,
    "GET /account/uploads": NOTHING,
    "POST /account/uploads": NOTHING,
    "GET /account/uploads/{upload}": NOTHING,
    "POST /account/uploads/{upload}/remove": NOTHING,
    "GET /account/request": NOTHING,
    "POST /account/request": NOTHING,
    "POST /account/jobs/{job}/cancel": NOTHING,
    "GET /account/settings": NOTHING,
    "GET /account/runs/{run}": FAULTS | ENDS,
    "GET /account/runs/{run}/{match}/{kind}": CARDS | FAULTS,
    "GET /account/faults": FAULTS,
    "POST /account/tokens": NOTHING,
    "POST /account/tokens/{token}/revoke": NOTHING,
    "POST /account/password": NOTHING,
    "GET /standings": NOTHING,
    "GET /standings/{game}": NOTHING,
    "GET /tables/{game}": NOTHING,
    "GET /pairs/{game}/{number}": NOTHING,
    "GET /live/home": NOTHING,
    "GET /live/runs": NOTHING,
    "GET /runs": NOTHING,
    "GET /runs/{run}": FAULTS | ENDS | HANDS,
    "GET /runs/{run}/contest/{contest}": FAULTS | ENDS | HANDS,
    "GET /runs/{run}/contest-events/{contest}": FAULTS | ENDS,
    "GET /runs/{run}/leaks": NOTHING,
    "GET /runs/{run}/matches/{match}": HANDS,
    EVENTS: HANDS | ENDS,
    "GET /runs/{run}/matches/{match}/export/{format}": CARDS,
    "GET /runs/{run}/matches/{match}/hands/{number}": CARDS,
    "GET /runs/{run}/matches/{match}/hands/{number}/{format}": HANDS,
    **{
        f"POST {prefix}/{call}": NOTHING
        for prefix in ("/api", "/slumbot/api", "/slumbot/{bot}/api")
        for call in ("login",)
    },
    **{
        f"POST {prefix}/{call}": {"own cards"}
        for prefix in ("/api", "/slumbot/api", "/slumbot/{bot}/api")
        for call in ("new_hand", "act")
    },
}
"""Kinds of content that an address may show, each to at least one person in the test."""

SAYS: Final[dict[str, tuple[str, set[str]]]] = {
    "HELP": ("HELP", NOTHING),
    "GAMES": ("GAMES", NOTHING),
    "QUEUE": ("QSTAT", NOTHING),
    "RequestRuns": (f"RUNMATCHES {GAME} 1 new 0 random calling", NOTHING),
    "Malformed": ("RUNMATCHES", NOTHING),
    "UNKNOWN": ("MUMBLE", NOTHING),
    "CANCEL": ("CANCEL {tag}", NOTHING),
    "RESULT": ("RESULT {tag}", ENDS),
    "LOG": ("LOG {tag}", CARDS),
    "Login": ("nobody nothing", NOTHING),
    "QUIT": ("QUIT", NOTHING),
}
"""Line of each command, and the kinds of content that its answer may show."""


# ---- the server


def secret_text(seed: Seed) -> str:
    """Text of a seed from which the cards follow: its number, or the hexadecimal digits of a key."""
    return seed.secret.hex() if isinstance(seed, DealKey) else str(seed)


@dataclass
class Secrets:
    """Secrets of a run, or of a job that has no run.

    Attributes:
        texts: secret texts with their kinds.
    """

    job: int
    kind: str
    state: str
    run: int | None = None
    texts: dict[str, str] = field(default_factory=dict)


def enter_in_event(db: sqlite3.Connection, job: int) -> None:
    """Make a job a contest of an event that has the name of one of its bots."""
    definition = format_game_definition(find_game("limit")[1])
    db.execute(
        "INSERT INTO scheduled_events (id, name, game, opens_s, closes_s, closed_s, definition) "
        "VALUES (1, 'calling', ?, 1, 2, 2, ?) ON CONFLICT DO NOTHING",
        (GAME, definition),
    )
    db.execute("INSERT OR IGNORE INTO entries SELECT 1, versions.id FROM versions")
    db.execute("INSERT INTO event_jobs VALUES (?, 1, '[1, 2]')", (job,))


@dataclass
class House:
    """Server that is not started, with jobs, runs and tables in its database.

    Attributes:
        users: by name.
        tokens: by name of the user.
        cookies: by name of the user, for users who have logged in with a browser.
        hidden: secrets of every job and every run.
        secret: owner and kind of each secret text.
        bot_name: name of the first player in causes of failures, and of its seat if it is the built-in random.
    """

    parts: ServerParts
    users: dict[str, User] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    hidden: list[Secrets] = field(default_factory=list)
    secret: dict[str, tuple[Secrets, str]] = field(default_factory=dict)
    bot_name: str = "random"

    @property
    def store(self) -> Store:
        return self.parts.store

    def add_user(self, name: str, scopes: Sequence[Scope]) -> None:
        number = self.store.write_now(lambda db: add_user(db, name))
        self.users[name] = User(number, name)
        self.tokens[name] = self.store.write_now(lambda db: add_token(db, number, scopes))

    def hide(self, secrets: Secrets) -> None:
        self.hidden.append(secrets)
        self.secret |= {text: (secrets, kind) for text, kind in secrets.texts.items()}

    def add_job(self, kind: str, state: str) -> None:
        """Add a job in a state, with the folders of its runs."""
        job_fields = KINDS[kind]
        user = self.users[LADDER_USER if kind == "ladder" else "ann"]
        number = len(self.hidden)
        tag = f"{kind}-{state}".replace(" ", "-")
        runs = 2 if state == "one of two done" else 1
        has_key = job_fields.get("has_key", False)
        seed = DealKey.from_text(f"{number + 1:064x}") if has_key else 1_234_500_000 + number
        terms = ContestTerms(deals=job_fields.get("deals"), seating=job_fields["seating"])
        request = JobRequest(
            GAME,
            job_fields.get("players", ("random", "calling")),
            tag,
            runs,
            kind=job_fields.get("kind", JobKind.REQUEST),
            terms=terms,
        )
        row = self.store.write_now(lambda db: add_job(db, new_job(user, request, seed)))
        self.hide(Secrets(row.id, kind, state, None, {secret_text(row.seed): "seed"}))
        if kind == "ladder":
            self.store.write_now(lambda db: enter_in_event(db, row.id))
        if state != "queued":
            self.add_run(row, kind, state)
        if state in (*OVER, "being stopped"):
            is_stopped = state in ("cancelled", "being stopped")
            ended = JobState.CANCELLED if is_stopped else JobState.DONE
            self.store.write_now(lambda db: end_job(db, row.id, ended))

    def add_run(self, job: Job, kind: str, state: str) -> None:
        versions = [
            None if name == OWN_SEAT else records.versions(self.store, GAME, name)[0].version for name in job.players
        ]
        row = self.store.write_now(lambda db: begin_run(db, job, versions, 1))
        names = tuple("ann" if name == OWN_SEAT else name for name in job.players)
        texts, matches = self.play(row.folder, row.seed, names, Seating(job.terms.seating))
        secrets = Secrets(job.id, kind, state, row.id, texts)
        if state.startswith("failed"):
            # A run that failed before the first hand has no log, and only the sentence in its result.
            shutil.rmtree(self.parts.folder / row.folder / "pokerstars")
            for log in (self.parts.folder / row.folder).glob("match*"):
                log.unlink()
            texts = {text: kind for text, kind in texts.items() if kind in ("seed", "output")}
            matches = ()
        if state in ("running", "being stopped"):
            (self.parts.folder / row.folder / RESULT_NAME).unlink()
        else:
            (output,) = [text for text, kind in texts.items() if kind == "output"]
            lines = [(text, int(kind[-1])) for text, kind in texts.items() if kind.startswith("faults")]
            faults = tuple(("match", _fault(text, player)) for text, player in lines)
            seats = tuple(
                RunSeat(player=seat, name=self.bot_name if name == "random" else name, chips=0.0, won=Estimate(0.0))
                for seat, name in enumerate(names)
            )
            report = RunReport(RunState.FAILED, "", 2, seats=seats, matches=matches, faults=faults)
            cause = FailureReport.of(failure(self.bot_name, output))
            if state == "cancelled":
                report = replace(report, state=RunState.CANCELLED, reason="it was cancelled.")
            elif state == "failed long ago":
                # Older versions of the server stored the sentence instead of the cause.
                report = replace(report, reason=cause.sentence(shows_output=True))
            else:
                report = replace(report, cause=cause)
            self.store.write_now(lambda db: end_run(db, row.id, report))
            self.write_cause(self.parts.folder / row.folder / RESULT_NAME, None if report.cause is None else cause)
        self.hide(secrets)

    def write_cause(self, path: Path, cause: FailureReport | None) -> None:
        """Change a result to a failure. Without a cause it is one of an older version."""
        result = json.loads(path.read_text())
        output = f"OUTPUT-{path.parent.name}"
        sentence = FailureReport.of(failure(self.bot_name, output)).sentence(shows_output=True)
        result |= {"outcome": "failed", "reason": sentence}
        result["sentence"] += f" It ended early: {sentence}"
        if cause is None:
            result.pop("cause")
        else:
            result["cause"] = cause.model_dump(mode="json")
        path.write_text(json.dumps(result))

    def play(
        self, where: str, seed: Seed, names: Sequence[str], seating: Seating
    ) -> tuple[dict[str, str], tuple[Match, ...]]:
        """Play a run; return its secret texts with their kinds, and its matches."""
        folder = self.parts.folder / where
        folder.parent.mkdir(exist_ok=True)
        bots = [f"{name}={name if name in ('random', 'calling') else 'random'}" for name in names]
        dealer.library.play("limit", bots, out=folder, deals=2, seed=seed, seating=seating, in_process=True)
        key = folder.name
        texts = {secret_text(seed): "seed", f"OUTPUT-{key}": "output"}
        for player in (0, 1):
            texts[f"FAULTY-{key}-{player}"] = f"faults of {player}"
        logs = sorted(folder.glob("match*.log"))
        for log in logs:
            for line in log.read_text().splitlines():
                if line.startswith("STATE"):
                    # Logs write cards without spaces, hand histories write a flop with spaces.
                    cards = line.split(":")[3]
                    flops = cards.split("/")[1:2]
                    spaced = [" ".join(re.findall("..", flop)) for flop in flops]
                    texts |= dict.fromkeys((cards, *flops, *spaced), "cards")
            texts[f"REMARK-{key}-{log.stem}"] = "cards"
            log.with_suffix(".comments").write_text(f"REMARK-{key}-{log.stem}\n")
        # In the first seating, players sit in the order of their names.
        faults = [format_fault(_fault(f"FAULTY-{key}-{player}", player)) for player in (0, 1)]
        logs[0].with_suffix(".faults").write_text("".join(faults))
        return texts, tuple(Match(name=log.stem, log=log.name, first_hand=0, hands=2) for log in logs)

    def add_table(self, owner: str, game: str, state: str) -> None:
        """Add a table of ann, or one of Slumbot's interface."""
        seed = 1_234_600_000 + len(self.hidden)
        user = self.users["ann"]
        versions = [None, records.versions(self.store, game, "calling")[0].version]
        row = self.store.write_now(
            lambda db: add_table(db, owner, user.id, game, players=("calling",), versions=versions, seed=seed)
        )
        run = records.run(self.store, row.id)
        assert run is not None
        kind = "slumbot" if owner.startswith("slumbot") else "table"
        texts = {secret_text(seed): "seed"}
        if state == "open":
            others = [BotSettings(bot="calling")]
            new_run(table_config(game, others, name="ann", seed=seed), self.parts.folder / row.folder)
        else:
            texts, matches = self.play(row.folder, seed, ("ann", "calling"), Seating.SINGLE)
            seats = (RunSeat(player=0, name="ann", chips=0.0), RunSeat(player=1, name="calling", chips=0.0))
            report = RunReport(RunState.CANCELLED, "it was ended.", seats=seats, matches=matches)
            self.store.write_now(lambda db: close_table(db, row.id, report))
        self.hide(Secrets(run.job, kind, state, row.id, texts))

    def may_see(self, person: Person, secrets: Secrets, kind: str) -> bool:
        """Return whether `dealer.server.access` lets a person see a secret of this kind."""
        job = records.job(self.store, secrets.job)
        assert job is not None
        if kind in ("seed", "cards"):
            return sees_cards(self.store, job, person)
        run = records.run(self.store, secrets.run or 0)
        assert run is not None
        access = access_to(self.store, run, job, person)
        if kind == "output":
            return access.can_read_output
        name = run.seats[int(kind[-1])].name
        return access.can_read_faults(name) and (access.sees_cards or access.is_own(name))


def _fault(text: str, player: int) -> Fault:
    return Fault(Seat(player), FaultKind.MALFORMED_REPLY, 0, text.encode(), Remedy.IGNORED)


def failure(name: str, output: str) -> Failure:
    """Failure that quotes the output everywhere where a failure may quote a player."""
    cause = NoAnswer(Seat(0), 1, 1, is_closed=True, line=output.encode())
    return Failure(cause, (name, "calling"), 0, 3, (output, f"The last {name} wrote:", output))


@contextlib.contextmanager
def house(folder: Path, kinds: Sequence[str] = (), names: Sequence[str] = (), states: Sequence[str] = STATES) -> Any:
    """Create a server with jobs of these kinds and states, and failed runs of bots with these names."""
    folder.mkdir()
    settings = replace(small_house(requests_per_minute=10**9), uploads=UploadSettings())
    with contextlib.closing(Store(folder / DATABASE_NAME)) as store:
        service = Service(settings, folder, store, Computing(shared_workers()))
        server = House(ServerParts(settings, folder, store, service, Accounts(store)))
        for name in ("ann", "eve", "bob", LADDER_USER):
            server.add_user(name, (Scope.READ, Scope.PLAY))
        server.add_user("root", tuple(Scope))
        store.write_now(lambda db: register_user_bot(db, server.users["bob"].id, GAME, "bobs-bot", "1"))
        for server.bot_name, state in itertools.product(names, FAILED):
            server.add_job("ladder", state)
        for kind in kinds:
            if kind == "table":
                owner = f"user {server.users['ann'].id}"
                server.add_table(owner, GAME, "open")
                server.add_table(owner, GAME, "closed")
            elif kind == "slumbot":
                server.add_table(owner_for_token(SESSION), SLUMBOT_GAME, "open")
                server.add_table(owner_for_token("another"), GAME, "closed")
            else:
                for state in states:
                    server.add_job(kind, state)
        yield server


def persons(server: House) -> dict[str, Person]:
    """Strangers and all users by name, as programs with a token."""
    return {"": Person()} | {name: Person(user, name == "root") for name, user in server.users.items()}


# ---- rules of access


def test_finished_hands_are_public_when_none_of_their_cards_is_dealt_again() -> None:
    key = DealKey(bytes(32))
    assert public_hands(7, [100, 100]) == 0, "other cards follow from those of a seed"
    assert public_hands(None, [100]) == 0
    assert public_hands(key, [100, 0]) == 0, "a seating has still to play them"
    assert public_hands(key, [100, DELAY_HANDS]) == 0
    assert public_hands(key, [100, DELAY_HANDS + 1]) == 1
    assert public_hands(key, [100]) == 100 - DELAY_HANDS


@pytest.mark.parametrize("kind", kind_params("text port", "joined bot", "table", others=("slumbot",)))
def test_seeds_and_cards_are_hidden_until_the_job_is_over(tmp_path: Path, kind: str) -> None:
    with house(tmp_path / "data", [kind]) as server:
        for secrets, (name, person) in itertools.product(server.hidden, persons(server).items()):
            job = records.job(server.store, secrets.job)
            assert job is not None
            is_visible = secrets.state in OVER or (name == "ann" and kind in SEED_IS_KNOWN)
            assert sees_cards(server.store, job, person) is is_visible, (secrets.state, name)


def test_faults_and_output_are_shown_to_those_concerned(tmp_path: Path) -> None:
    with house(tmp_path / "data", ["joined bot"]) as server:
        of_runs = [secrets for secrets in server.hidden if secrets.run is not None]
        (over,) = [secrets for secrets in of_runs if secrets.state == "finished"]
        (early,) = [secrets for secrets in of_runs if secrets.state == "one of two done"]

        def visible_kinds(secrets: Secrets) -> dict[str, set[str]]:
            kinds = ("faults of 0", "faults of 1", "output")
            return {
                name: {kind for kind in kinds if server.may_see(person, secrets, kind)}
                for name, person in persons(server).items()
            }

        everything = {"faults of 0", "faults of 1", "output"}
        nothing: dict[str, set[str]] = {"": set(), "eve": set(), LADDER_USER: set(), "bob": {"faults of 0"}}
        assert visible_kinds(over) == nothing | {"ann": everything, "root": everything}
        assert visible_kinds(early) == nothing | {"ann": set(), "root": set()}


# ---- over HTTP


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


async def call(
    app: Any, method: str, path: str, query: str = "", headers: Mapping[str, str] = {}, sent: bytes = b""
) -> Answer:
    """Answer to a request; of a stream of events, the first two pieces."""
    status = 0
    body = b""
    pieces = 0
    head: dict[str, str] = {}
    is_over = asyncio.Event()
    is_request_read = False

    async def receive() -> dict[str, Any]:
        nonlocal is_request_read
        if not is_request_read:
            is_request_read = True
            return {"type": "http.request", "body": sent, "more_body": False}
        await is_over.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status, body, pieces, head
        if message["type"] == "http.response.start":
            status = message["status"]
            head = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        body += message.get("body", b"")
        pieces += 1
        is_endless = head.get("content-type", "").startswith("text/event-stream")
        if not message.get("more_body", False) or (is_endless and pieces == 2):
            is_over.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    task = asyncio.create_task(app(scope, receive, send))
    ended = asyncio.create_task(is_over.wait())
    await asyncio.wait([task, ended], return_when=asyncio.FIRST_COMPLETED)
    for pending in (task, ended):
        pending.cancel()
    await asyncio.gather(task, ended, return_exceptions=True)
    return Answer(status, head, body.decode("utf-8", "replace"))


def addresses(routes: Sequence[Any], prefix: str = "") -> list[str]:
    """Methods and paths of all routes, in the form of `SERVES`."""
    paths = []
    for route in routes:
        if isinstance(route, Mount):
            paths += addresses(route.routes, prefix + route.path)
            continue
        if isinstance(route, WebSocketRoute):
            # See `test_no_message_to_a_joined_client_shows_more_than_permitted`.
            continue
        assert isinstance(route, Route), f"{route!r} is not a single address"
        path = prefix + re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path)
        paths += [f"{method} {path}" for method in sorted((route.methods or {"GET"}) - {"HEAD"})]
    return paths


def parameter_values(server: House, address: str, secrets: Secrets) -> list[dict[str, str]]:
    """Values of the parameters of an address for a run or a job; empty if it needs a run and there is none."""
    path = address.split(" ")[1]
    names = re.findall(r"\{(\w+)\}", path)
    if secrets.run is None and "run" in names:
        return []
    folder = server.parts.folder / "runs" / f"{secrets.run or 0:08}"
    matches = sorted(log.stem for log in folder.glob("match*.log")) or ["match"]
    is_api = path.startswith("/api/")
    choices: dict[str, Sequence[object]] = {
        "run": [secrets.run],
        "job": [secrets.job],
        "match": [0] if is_api else matches[:1],
        "table": [secrets.run or 0],
        "game": [GAME],
        "player": [0],
        "number": [0],
        "format": ["phh"] if is_api else ["log"] if "/export/" in path else ["acpc"],
        "kind": ["log", "times", "faults", "comments"],
        "contest": [""],
        "token": [1],
        "upload": [1],
        "bot": ["calling"],
        "name": ["calling"],
        "secret": ["guessed"],
    }
    return [
        dict(zip(names, map(str, values), strict=True)) for values in itertools.product(*(choices[n] for n in names))
    ]


@contextlib.asynccontextmanager
async def running_site(server: House) -> AsyncIterator[tuple[Any, list[str]]]:
    """Run the application of a server; yield it and all of its addresses."""
    site = make_server_site(server.parts)
    assert site.table_manager is not None
    assert site.sessions is not None
    counter = HandCounter()
    slumbot_sessions = SlumbotSessions(server.parts, site.table_manager)
    routes = server_routes(site, server.parts, slumbot_sessions, counter, Metrics(server.parts))
    for name, user in server.users.items():
        token = server.parts.accounts.find_token(server.tokens.get(name, ""))
        server.cookies[name] = await site.sessions.begin(user, token)
    server.parts.service.feed.publish("job-changed", job=1, user="ann", game=GAME, state="queued")
    server.parts.service.feed.publish("job-changed", job=2, user="ann", game=GAME, state="queued")
    try:
        async with site.table_manager:
            unlimited = replace(server.parts.settings.web, page_requests_per_minute=1_000_000)
            yield make_app(site, routes, unlimited), addresses(routes)
    finally:
        counter.close()
        await slumbot_sessions.close()


async def visit(
    server: House, app: Any, address: str, values: Mapping[str, str], name: str
) -> tuple[str, Person, Answer]:
    """Request an address as a user; return the path, the person that the server sees, and the answer."""
    method, path = address.split(" ")
    filled = path.format(**{key: quote(value, safe="") for key, value in values.items()})
    is_program = path.startswith("/api/v1")
    headers = {"last-event-id": "1"} if address == "GET /api/v1/events" else {}
    if name and is_program:
        headers["authorization"] = f"Bearer {server.tokens[name]}"
    elif name:
        headers["cookie"] = f"arena-80={server.cookies[name]}"
    answer = await call(app, method, filled, "player=bobs-bot" * path.endswith("/leaks"), headers)
    person = persons(server)[name]
    if not is_program:
        # On pages, access to runs and jobs does not depend on the token with which a user logged in.
        person = Person(person.user)
    return filled, person, answer


def secrets_pattern(server: House) -> re.Pattern[str]:
    """Pattern that matches every secret text."""
    words = "|".join(map(re.escape, sorted(server.secret, key=len, reverse=True)))
    return re.compile(rf"\b(?:{words})\b")


def check(server: House, pattern: re.Pattern[str], text: str, person: Person, where: str) -> set[str]:
    """Check that a person may see every secret in a text; return the kinds of these secrets."""
    kinds = set()
    for secret in set(pattern.findall(text)):
        secrets, kind = server.secret[secret]
        assert server.may_see(person, secrets, kind), (
            f"{where} shows {person.user} the {kind} of a {secrets.kind} that is {secrets.state}: {secret}"
        )
        kinds.add(kind.split()[0])
    return kinds


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("joined bot", QUICK_STATES),
        *(pytest.param(kind, STATES, marks=pytest.mark.slow) for kind in (*KINDS, "table", "slumbot")),
    ],
)
def test_no_address_shows_more_than_permitted(tmp_path: Path, kind: str, states: Sequence[str]) -> None:
    async def walk(server: House) -> dict[str, set[str]]:
        pattern = secrets_pattern(server)
        shown: dict[str, set[str]] = {}
        async with running_site(server) as (app, all_addresses):
            assert set(all_addresses) == set(SERVES), "SERVES lists every address"
            for address in all_addresses:
                # One request per run and job; a single one if the address names neither.
                places = {
                    json.dumps(values): (secrets, values)
                    for secrets in server.hidden
                    for values in parameter_values(server, address, secrets)
                }
                for (secrets, values), name in itertools.product(places.values(), persons(server)):
                    path, person, answer = await visit(server, app, address, values, name)
                    assert answer.status < 429, (address, answer.text)
                    kinds = check(server, pattern, answer.text, person, address)
                    if re.search("[♣♦♥♠]| of (clubs|diamonds|hearts|spades)", answer.text):
                        is_own = "{table}" in address and name == "ann" and secrets.kind == "table"
                        assert is_own or server.may_see(person, secrets, "cards"), f"{path}, {name}"
                        kinds.add("own cards" if is_own else "cards")
                    assert kinds <= SERVES[address], f"{address} shows {kinds}, against SERVES"
                    shown.setdefault(address, set()).update(kinds)
        return shown

    with (
        house(tmp_path / "data", [kind], states=states) as server,
        asyncio.Runner(loop_factory=new_event_loop) as runner,
    ):
        shown = runner.run(walk(server))
    if kind == "table":
        assert {address for address, kinds in shown.items() if "own cards" in kinds} >= {
            "GET /play/{table}",
            "GET /play/{table}/part",
        }
    if kind == "joined bot":
        # The search finds all kinds that an address may show.
        for address, kinds in SERVES.items():
            expected = kinds - {"own cards"}
            if "cards" in kinds:
                # Hands and logs contain the fingerprint of a key, not the key.
                expected = expected - {"seed"}
            # The last event of a match has the outcome only after its hands have been counted.
            optional = ENDS if address == EVENTS else NOTHING
            assert shown[address] - optional == expected - optional, address


@pytest.mark.parametrize("names", [NAMES[3:4], pytest.param(NAMES, marks=pytest.mark.slow)], ids=["one", "all"])
def test_name_of_a_bot_reveals_no_output(tmp_path: Path, names: list[str]) -> None:
    """Request every page, API answer, feed and published folder as a stranger, a user and an organiser."""

    async def walk(server: House) -> None:
        pattern = secrets_pattern(server)
        texts: dict[tuple[str, str], str] = {}
        async with running_site(server) as (app, all_addresses):
            for address in all_addresses:
                if not address.startswith("GET "):
                    continue
                places = {
                    json.dumps(values): values
                    for secrets in server.hidden
                    for values in parameter_values(server, address, secrets)
                }
                for values, name in itertools.product(places.values(), ("", "eve", "root")):
                    path, person, answer = await visit(server, app, address, values, name)
                    texts[path, name] = answer.text
                    check(server, pattern, answer.text, person, path)
        for secrets in server.hidden:
            if secrets.run is None:
                continue
            run = records.run(server.store, secrets.run)
            assert run is not None
            name, output = run.seats[0].name, f"OUTPUT-{secrets.run:08}"
            public = f"{name} closed the connection in hand 0. Its process ended with exit code 3."
            whole = f"{public} The last it wrote:\n    {output}\n    The last {name} wrote:\n    {output}"
            reasons = {
                person: json.loads(texts[f"/api/v1/runs/{secrets.run}", person])["run"]["reason"]
                for person in ("eve", "root")
            }
            is_old = secrets.state == "failed long ago"
            assert reasons == {"eve": "a player or an error ended it." if is_old else public, "root": whole}

    with house(tmp_path / "data", names=names) as server, asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(walk(server))
        event = event_records.event(server.store, "calling")
        assert event is not None
        published = tmp_path / "site"
        assert publish(server.store, server.parts.folder, event, published) == len(FAILED) * len(names)
        pages = [path for path in published.rglob("*") if path.is_file()]
        assert len(pages) > len(FAILED) * len(names)
        for page in pages:
            check(server, secrets_pattern(server), page.read_text("utf-8"), Person(), str(page))


def test_session_shows_its_cards_to_the_holder_of_its_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_correction(*arguments: Any) -> None:
        del arguments

    monkeypatch.setattr(LuckCorrection, "values", no_correction)

    async def ask(server: House) -> None:
        pattern = secrets_pattern(server)
        async with running_site(server) as (app, _):
            for prefix in ("/api", "/slumbot/api", "/slumbot/calling/api"):
                for token, status in ((SESSION, 200), ("another", 401), ("guessed", 401)):
                    sent = json.dumps({"token": token}).encode()
                    answer = await call(app, "POST", f"{prefix}/new_hand", sent=sent)
                    assert answer.status == status, answer.text
                    check(server, pattern, answer.text, Person(), prefix)
                    message = json.loads(answer.text)
                    assert ("hole_cards" in message) is (token == SESSION)
                    assert "bot_hole_cards" not in message

    with house(tmp_path / "data", ["slumbot"]) as server, asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(ask(server))


# ---- at the text port


def member_names(union: Any) -> set[str]:
    """Names of all types of a union, nested ones included."""
    names: set[str] = set()
    for member in get_args(union):
        names |= member_names(member) or {member.__name__}
    return names


def test_every_command_of_the_text_port_is_in_the_table() -> None:
    assert set(SAYS) == (member_names(BenchmarkEvent) - {"ClientCommand"}) | {verb.name for verb in Verb}
    for name, (line, _) in SAYS.items():
        session = BenchmarkSession()
        if name != "Login":
            session.receive_data(b"ann token\n")
            session.next_event()
            session.admit()
        session.receive_data(f"{line.format(tag='t', user='ann')}\n".encode())
        event = session.next_event()
        assert (event.verb.name if isinstance(event, ClientCommand) else type(event).__name__) == name


@pytest.mark.parametrize("kind", kind_params("text port"))
def test_no_command_shows_more_than_permitted(tmp_path: Path, kind: str) -> None:
    async def talk_to(server: House) -> dict[str, set[str]]:
        pattern = secrets_pattern(server)
        shown: dict[str, set[str]] = {}
        port = TextPort(server.parts.service, server.parts.accounts)
        await port.start()
        tags = dict.fromkeys(row["tag"] for row in server.store.read("SELECT tag FROM jobs"))
        # A stranger receives a refusal, which is not examined here.
        people = {name: person for name, person in persons(server).items() if name}
        try:
            for command, (line, expected) in SAYS.items():
                for name, person in people.items():
                    peer = Peer(*await asyncio.open_connection(*port.addresses[0]))
                    peer.listen()
                    if command != "Login":
                        peer.send(f"{name} {server.tokens[name]}\n")
                    for text in dict.fromkeys(line.format(tag=tag, user=name) for tag in tags):
                        peer.send(f"{text}\n")
                    if command in ("Login", "QUIT"):
                        await peer.until(lambda peer=peer: peer.is_closed)  # type: ignore[misc]
                    else:
                        await peer.settle()
                    where = f"{command} of the text port"
                    kinds = check(
                        server,
                        pattern,
                        peer.received.decode("utf-8", "replace"),
                        replace(person, is_admin=False),
                        where,
                    )
                    assert kinds <= expected, f"{command} shows {kinds}, against SAYS"
                    shown.setdefault(command, set()).update(kinds)
                    await peer.close()
        finally:
            await port.close()
        return shown

    with house(tmp_path / "data", [kind]) as server, asyncio.Runner(loop_factory=new_event_loop) as runner:
        shown = runner.run(talk_to(server))
    if kind == "text port":
        assert shown == {command: expected for command, (_, expected) in SAYS.items()}


# ---- to clients of bots


@pytest.mark.parametrize("kind", kind_params("text port"))
def test_no_message_to_a_joined_client_shows_more_than_permitted(tmp_path: Path, kind: str) -> None:
    async def talk_to(server: House) -> set[str]:
        pattern = secrets_pattern(server)
        kinds: set[str] = set()
        hosting = Hosting(server.parts.service)
        tags = tuple(row["tag"] for row in server.store.read("SELECT DISTINCT tag FROM jobs"))
        for name, user in server.users.items():
            messages: list[ServerMessage] = []
            line = Line(hosting, user, "127.0.0.1", messages.append, lambda: None)
            await line.answer(Join(f"{name}s-bot", "s", challenges=tags))
            for request in (Challenge("c", GAME, ("random", "calling")), SeatText(1, "x"), SeatOver(1), Cancel("c")):
                await line.answer(request)
            line.disconnect(for_good=True)
            assert isinstance(messages[0], Joined)
            text = b"\n".join(map(encode, messages)).decode()
            kinds |= check(server, pattern, text, Person(user), "a message to a client with a bot")
        return kinds

    with house(tmp_path / "data", [kind]) as server, asyncio.Runner(loop_factory=new_event_loop) as runner:
        kinds = runner.run(talk_to(server))
    assert kinds <= ENDS
    if kind == "text port":
        assert kinds == ENDS


# ---- to agents


AGENT_TOOLS: Final[dict[str, set[str]]] = {
    "list_games": NOTHING,
    "list_bots": NOTHING,
    "start_match": {"own cards"},
    "state": {"own cards"},
    "act": {"own cards"},
    "hand": {"own cards"},
    "result": NOTHING,
    "resign": NOTHING,
}
"""Content of each tool's answers during a match. After it, the result contains the seed."""


def permitted_cards(tool: str, data: Mapping[str, Any], records: Mapping[int, HandRecord]) -> set[str]:
    """Return the cards that an agent may see in an answer, from the log of its match."""
    permitted: set[str] = set()
    for hand in [*data.get("finished_hands", []), *([data] if tool == "hand" else [])]:
        record = records[hand["number"]]
        position = record.names.index("agent")
        groups = [record.deal.hole_cards[position], *record.board_by_round]
        if record.betting.is_showdown:
            groups.append(record.deal.hole_cards[1 - position])
        permitted |= {CARD_TEXTS[card] for group in groups for card in group}
    if current := data.get("hand"):
        own = records.get(current["number"])
        if own is not None:
            assert current["cards"] == [CARD_TEXTS[card] for card in own.deal.hole_cards[own.names.index("agent")]]
        # The board is public.
        permitted |= {*current["cards"], *current["board"]}
    return permitted


async def test_agent_sees_the_cards_of_its_seat_only(tmp_path: Path) -> None:
    answers: list[tuple[str, dict[str, Any], str]] = []
    async with connected_agent(local_seats(tmp_path, random="random?fold=0.3")) as agent:

        async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            data = await agent.call(tool, **arguments)
            answers.append((tool, data, agent.texts[-1]))
            return data

        tools = (await agent.client.list_tools()).tools
        assert {tool.name for tool in tools} == set(AGENT_TOOLS), "AGENT_TOOLS lists every tool"
        await ask("list_games")
        await ask("list_bots", game="limit")
        state = await ask("start_match", game="limit", opponents=["random"], deals=40)
        (folder,) = tmp_path.iterdir()
        seed = str(tomllib.loads((folder / "run.toml").read_text("utf-8"))["seed"])
        while state["decision"] is not None and not state["decision"].startswith("20."):
            await ask("state")
            if any(hand["number"] for hand in state["finished_hands"]):
                await ask("hand")
                await ask("result")
            legal = [choice["action"] for choice in state["legal"]]
            action = "fold" if "fold" in legal and state["hand"]["number"] % 3 == 0 else "call"
            state = await ask("act", decision=state["decision"], action=action)
        before_end = len(answers)
        await ask("resign")
        await ask("result")
    records = {record.hand_number: record for record in find([folder]).hands()}
    finished_numbers = {hand["number"] for _, data, _ in answers for hand in data.get("finished_hands", [])}
    assert any(not records[number].betting.is_showdown for number in finished_numbers), "some cards must stay hidden"
    shown: dict[str, set[str]] = {tool: set() for tool in AGENT_TOOLS}
    for number, (tool, data, text) in enumerate(answers):
        permitted = permitted_cards(tool, data, records)
        visible = set(re.findall(r"\b[2-9TJQKA][cdhs]\b", text))
        assert visible <= permitted, (tool, visible - permitted)
        if visible:
            shown[tool].add("own cards")
        if number < before_end:
            assert not re.search(rf"\b{seed}\b", text), f"{tool} shows the seed"
    assert shown == AGENT_TOOLS
