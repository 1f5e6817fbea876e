"""Whether a configuration and its environment are fit to serve: what ``arena serve doctor`` looks at.

Nothing is changed, and the database is not brought up to date. Each check gives one line: what was looked at, what was
found, and what to do about it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import sqlite3
import ssl
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bots.sdk.registry import builtin_names
from dealer.errors import DealerError
from dealer.run.choices import Seating
from dealer.run.folder import is_busy
from dealer.run.run import new_run
from dealer.server.db.audit import BACKED_UP
from dealer.server.db.store import DATABASE_NAME, MIGRATIONS
from dealer.server.resources import FILE_LIMIT_REMEDY, file_limit_problem, free_bytes, raise_limit
from dealer.server.server_bots import process_environment, run_config
from dealer.server.server_settings import ServerGame, ServerSettings, UploadSettings, uploads_refusal
from dealer.table.bubblewrap import has_scopes
from dealer.table.loop import new_event_loop
from engine.text import ago, count_of
from logs.document import TEXT, Column, Document, Section, Table, Tone, Toned
from protocol.joining import ContestTerms

_BACKUP_DAYS: Final = 7
_CERTIFICATE_DAYS: Final = 21
_DAY_S: Final = 86_400.0
_YEAR_2020_S: Final = 1_577_836_800.0
_PARTIAL_CHAIN: Final = 0x80000
"""A certificate is its own authority (X509_V_FLAG_PARTIAL_CHAIN), which Python names from 3.13 on."""
_WORDS: Final = {Tone.GOOD: "ok", Tone.DOUBTFUL: "warning", Tone.BAD: "fault"}


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was looked at.

    Attributes:
        remedy: what to do; empty where nothing is to be done.
    """

    what: str
    tone: Tone
    found: str
    remedy: str = ""


def examine(settings: ServerSettings, data: Path, *, has_pages: bool, now_s: float | None = None) -> Iterator[Check]:
    """Look at everything, one thing after the other."""
    now_s = time.time() if now_s is None else now_s
    there = next(folder for folder in (data.absolute(), *data.absolute().parents) if folder.exists())
    yield _folder(data, there)
    yield _disk(settings, there)
    yield from _ports(settings, has_pages=has_pages, is_running=data.is_dir() and is_busy(data))
    yield from _database(data / DATABASE_NAME, now_s)
    if problem := file_limit_problem(settings, raise_limit()):
        yield Check("open files", Tone.DOUBTFUL, problem, FILE_LIMIT_REMEDY)
    else:
        yield Check("open files", Tone.GOOD, "as many as the configuration admits", "")
    yield from _certificates(settings, now_s)
    yield from _ways_in(settings, has_pages=has_pages)
    yield from _bots(settings, data)
    if settings.uploads is not None:
        yield _uploads(settings.uploads, data)


def checkup_document(checks: Sequence[Check]) -> Document:
    """The checks as a table, with a sentence that counts what is wrong."""
    faults, warnings = (sum(check.tone is tone for check in checks) for tone in (Tone.BAD, Tone.DOUBTFUL))
    rows = [(check.what, Toned(_WORDS[check.tone], check.tone), check.found, check.remedy) for check in checks]
    columns = (Column("check"), Column("state"), Column("found", TEXT), Column("what to do", TEXT))
    table = Table.of("Checks", columns, rows).without_empty()
    verdict = f"{count_of(faults, 'fault')}, {count_of(warnings, 'warning')}."
    return Document("Server", (verdict,), (), (Section(table.title, (table,)),))


def _folder(data: Path, there: Path) -> Check:
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        remedy = "give it to the user who starts the server, or name another with --data"
        return Check("folder", Tone.BAD, f"{there} cannot be written to: {error.strerror}", remedy)
    return Check("folder", Tone.GOOD, f"{data} can be {'written to' if there == data.absolute() else 'made'}")


def _disk(settings: ServerSettings, there: Path) -> Check:
    free_mb, least_mb = free_bytes(there) // 10**6, settings.least_free_mb
    tone = Tone.BAD if free_mb < least_mb else Tone.DOUBTFUL if free_mb < 3 * least_mb else Tone.GOOD
    remedy = "" if tone is Tone.GOOD else "remove or move folders of runs that have ended, or set keep_days"
    return Check("disk", tone, f"{free_mb:,} MB are free, and least_free_mb is {least_mb:,}", remedy)


def _ports(settings: ServerSettings, *, has_pages: bool, is_running: bool) -> Iterator[Check]:
    pages = (("port of the pages", settings.web.port),) if has_pages else ()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for what, port in (("text port", settings.port), *pages):
        try:
            with socket.create_server((settings.host, port), family=family):
                yield Check(what, Tone.GOOD, "any free one" if port == 0 else f"{port} is free")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                remedy = "set host to an address of this machine, and a port above 1023"
                yield Check(what, Tone.BAD, f"{settings.host} port {port}: {error.strerror or error}", remedy)
            elif is_running:
                yield Check(what, Tone.GOOD, f"{port} is in use, and a server is running in the folder")
            else:
                found = f"{port} is in use{_by_whom(port)}"
                yield Check(what, Tone.BAD, found, "end that program, or set another port")


def _by_whom(port: int) -> str:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr.port == port and one.pid:
                return f" by {psutil.Process(one.pid).name()}, process {one.pid}"
    return ""


def _database(path: Path, now_s: float) -> Iterator[Check]:
    if not path.is_file():
        yield Check("database", Tone.GOOD, "made at the first start")
        yield _clock(now_s, 0.0)
        return
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
            (last_s,) = db.execute("SELECT coalesce(max(max(started_s), max(ended_s)), 0) FROM runs").fetchone()
            # Version 4 has the table.
            noted = "SELECT max(made_s) FROM audit WHERE what LIKE ? || '%'"
            backup_s = db.execute(noted, (BACKED_UP,)).fetchone()[0] if version >= 4 else None
    except sqlite3.Error as error:
        yield Check("database", Tone.BAD, f"{path.name} cannot be read: {error}", "restore a backup")
        return
    if state != "ok":
        yield Check("database", Tone.BAD, f"{path.name} is damaged: {state}", "restore a backup")
    elif version > len(MIGRATIONS):
        found = f"version {version}, and this program reads versions up to {len(MIGRATIONS)}"
        yield Check("database", Tone.BAD, found, "use the newer program, or restore a backup")
    elif version < len(MIGRATIONS):
        found = f"version {version}; the next start makes it version {len(MIGRATIONS)}"
        yield Check("database", Tone.DOUBTFUL, found, "copy it first: arena serve backup FILE")
    else:
        yield Check("database", Tone.GOOD, f"version {version}, {path.stat().st_size / 1e6:,.1f} MB")
    is_recent = backup_s is not None and now_s - backup_s <= _BACKUP_DAYS * _DAY_S
    found = "there is none" if backup_s is None else f"the last was {ago(backup_s, now_s)}"
    remedy = "" if is_recent else "arena serve backup FILE, every day"
    yield Check("backup", Tone.GOOD if is_recent else Tone.DOUBTFUL, found, remedy)
    yield _clock(now_s, last_s)


def _clock(now_s: float, last_s: float) -> Check:
    remedy = "set the clock, and have it kept right by NTP"
    if now_s < _YEAR_2020_S:
        return Check("clock", Tone.BAD, f"it shows {datetime.fromtimestamp(now_s, UTC):%Y-%m-%d}", remedy)
    if now_s < last_s:
        return Check("clock", Tone.BAD, "it is before the last run in the database", remedy)
    return Check("clock", Tone.GOOD, "not before the last run")


def _certificates(settings: ServerSettings, now_s: float) -> Iterator[Check]:
    for what, one, names in (
        ("certificate of the text port", settings, ()),
        ("certificate of the pages", settings.web, settings.web.names),
    ):
        if not one.certificate:
            continue
        remedy = "renew it"
        try:
            end_s, known = _certificate(one.certificate, one.key or None)
        except ssl.SSLError as error:
            found = getattr(error, "verify_message", "") or error.reason or str(error)
            yield Check(what, Tone.BAD, f"{one.certificate}: {found}", remedy)
            continue
        missing = [name for name in names if not any(_fits(name, pattern) for pattern in known)]
        days = (end_s - now_s) / _DAY_S
        if missing:
            yield Check(what, Tone.DOUBTFUL, f"it is not for {', '.join(missing)}", "get one for all names")
        if days < 0:
            yield Check(what, Tone.BAD, f"it ended {ago(end_s, now_s)}", remedy)
        elif days < _CERTIFICATE_DAYS:
            yield Check(what, Tone.DOUBTFUL, f"it ends in {count_of(round(days), 'day')}", remedy)
        elif not missing:
            yield Check(what, Tone.GOOD, f"good for {count_of(round(days), 'day')}")


def _certificate(path: str, key: str | None) -> tuple[float, list[str]]:
    """When a certificate ends, and for which names it is; read in a handshake with itself.

    Raises:
        ssl.SSLError: it cannot be used.
    """
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    server.load_cert_chain(path, key)
    client.check_hostname = False
    client.load_verify_locations(path)
    client.verify_flags |= _PARTIAL_CHAIN
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server)
    there = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(3):
        for side in (here, there):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    found = here.getpeercert() or {}
    names = [str(pair[1]) for pair in found.get("subjectAltName", ())]
    return ssl.cert_time_to_seconds(str(found["notAfter"])), names


def _fits(name: str, pattern: str) -> bool:
    return name == pattern.lower() or (pattern.startswith("*.") and name.partition(".")[2] == pattern[2:].lower())


def _ways_in(settings: ServerSettings, *, has_pages: bool) -> Iterator[Check]:
    """Whether TLS, proxies, names and the address fit together."""
    if not has_pages:
        found = "there are none: packages are missing"
        yield Check("pages", Tone.DOUBTFUL, found, "install the extra web, or do without pages")
        return
    web, is_loopback = settings.web, settings.is_loopback
    if web.proxies and is_loopback and not web.names:
        found = "a proxy is trusted, and the pages answer to the names of this machine only"
        yield Check("proxy", Tone.BAD, found, "list the public host names under [web] names")
    elif web.proxies and not is_loopback:
        found = f"a proxy is trusted, and {settings.host} can be reached past it"
        yield Check("proxy", Tone.DOUBTFUL, found, 'set host = "127.0.0.1", or admit the proxy only by a firewall')
    elif not web.proxies and not is_loopback and not web.certificate:
        found = "pages for other machines are not encrypted: passwords can be read on the way"
        yield Check("encryption", Tone.DOUBTFUL, found, "set a certificate under [web], or put a proxy in front")
    else:
        found = "a proxy is in front of the pages" if web.proxies else "only this machine reaches the pages"
        yield Check("encryption", Tone.GOOD, "the pages have a certificate" if web.certificate else found)
    if not is_loopback and not web.names:
        yield Check("names", Tone.DOUBTFUL, "the pages answer to every host name", "list theirs under [web] names")
    if not is_loopback and not settings.certificate:
        found, remedy = "none for other machines: tokens can be read on the way", "set certificate, or use a tunnel"
        yield Check("encryption of the text port", Tone.DOUBTFUL, found, remedy)


def _bots(settings: ServerSettings, data: Path) -> Iterator[Check]:
    """Each bot that is not built in plays a deal against itself, as the server would start it."""
    builtin = 0
    for game in settings.games:
        for name, bot in game.bots.items():
            if bot.bot.partition("?")[0] in builtin_names():
                builtin += 1
                continue
            problem = _problem_of(settings, game, name, data)
            tone, remedy = (Tone.BAD, "correct it; 'arena doctor' examines a bot") if problem else (Tone.GOOD, "")
            yield Check(f"bot {name} in {game.shown}", tone, problem or "has played a hand", remedy)
    if builtin:
        yield Check("built-in bots", Tone.GOOD, f"{builtin}; they come with the program")


def _uploads(uploads: UploadSettings, data: Path) -> Check:
    """Confinement of uploaded bots; a server does not start without it."""
    if (refusal := uploads_refusal(uploads, data)) is not None:
        return Check("uploads", Tone.BAD, refusal.problem, refusal.remedy)
    found = "bubblewrap separates bots; the limits of memory and processor hold for each of their processes"
    if has_scopes():
        return Check("uploads", Tone.GOOD, f"{found}, and by systemd for each bot")
    remedy = (
        "loginctl enable-linger for the server's user, so that systemd bounds each bot, or MemoryMax for the server"
    )
    return Check("uploads", Tone.DOUBTFUL, found, remedy)


def _problem_of(settings: ServerSettings, game: ServerGame, name: str, data: Path) -> str:
    terms, environment = ContestTerms(deals=1, seating=Seating.SINGLE.value), process_environment(data)
    players = (name,) * game.game.num_players
    try:
        with tempfile.TemporaryDirectory(prefix="arena-doctor-") as folder:
            config = run_config(settings, game, players, terms, user="doctor", seed=1, environment=environment)
            run = new_run(config, Path(folder) / "run")
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                result = runner.run(run.play())
    except DealerError as error:
        return str(error)
    # What a bot wrote may have several lines.
    return "" if result.outcome.is_complete else " ".join(result.reason.split())
