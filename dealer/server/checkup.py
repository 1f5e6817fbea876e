"""Checks of ``arena serve doctor``: is a configuration and its environment fit to serve?

Nothing is changed, and the database is not migrated. Each check gives a finding, and a remedy if one is needed.
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
"""X509_V_FLAG_PARTIAL_CHAIN, which accepts a certificate as its own authority. Python has a name for it since 3.13."""
_STATES: Final = {Tone.GOOD: "ok", Tone.DOUBTFUL: "warning", Tone.BAD: "fault"}


@dataclass(frozen=True, slots=True)
class Check:
    """Finding of a check.

    Attributes:
        what: name of the check.
        remedy: empty if none is needed.
    """

    what: str
    tone: Tone
    finding: str
    remedy: str = ""


def examine(settings: ServerSettings, data: Path, *, has_pages: bool, now_s: float | None = None) -> Iterator[Check]:
    """Run all checks, one after the other."""
    now_s = time.time() if now_s is None else now_s
    # The folder of the server may not exist yet.
    existing = next(folder for folder in (data.absolute(), *data.absolute().parents) if folder.exists())
    yield _folder(data, existing)
    yield _disk(settings, existing)
    yield from _ports(settings, has_pages=has_pages, is_running=data.is_dir() and is_busy(data))
    yield from _database(data / DATABASE_NAME, now_s)
    if problem := file_limit_problem(settings, raise_limit()):
        yield Check("open files", Tone.DOUBTFUL, problem, FILE_LIMIT_REMEDY)
    else:
        yield Check("open files", Tone.GOOD, "as many as the configuration needs", "")
    yield from _certificates(settings, now_s)
    yield from _access(settings, has_pages=has_pages)
    yield from _bots(settings, data)
    if settings.uploads is not None:
        yield _uploads(settings.uploads, data)


def checkup_document(checks: Sequence[Check]) -> Document:
    """Make a table of checks, with a sentence that counts faults and warnings."""
    faults = sum(check.tone is Tone.BAD for check in checks)
    warnings = sum(check.tone is Tone.DOUBTFUL for check in checks)
    rows = [(check.what, Toned(_STATES[check.tone], check.tone), check.finding, check.remedy) for check in checks]
    columns = (Column("check"), Column("state"), Column("found", TEXT), Column("what to do", TEXT))
    table = Table.of("Checks", columns, rows).without_empty()
    verdict = f"{count_of(faults, 'fault')}, {count_of(warnings, 'warning')}."
    return Document("Server", (verdict,), (), (Section(table.title, (table,)),))


def _folder(data: Path, existing: Path) -> Check:
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        remedy = "give it to the user who starts the server, or name another with --data"
        return Check("folder", Tone.BAD, f"{existing} cannot be written to: {error.strerror}", remedy)
    finding = f"{data} is writable" if existing == data.absolute() else f"{data} can be created"
    return Check("folder", Tone.GOOD, finding)


def _disk(settings: ServerSettings, existing: Path) -> Check:
    free_mb = free_bytes(existing) // 10**6
    min_mb = settings.least_free_mb
    finding = f"{free_mb:,} MB are free, and least_free_mb is {min_mb:,}"
    if free_mb >= 3 * min_mb:
        return Check("disk", Tone.GOOD, finding)
    tone = Tone.BAD if free_mb < min_mb else Tone.DOUBTFUL
    return Check("disk", tone, finding, "remove or move folders of finished runs, or set keep_days")


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
                user = _port_user(port)
                finding = f"{port} is in use by {user}" if user else f"{port} is in use"
                yield Check(what, Tone.BAD, finding, "end that program, or set another port")


def _port_user(port: int) -> str:
    """Program that listens at a port; empty if the system does not say."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            is_listening = connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            if is_listening and connection.pid:
                return f"{psutil.Process(connection.pid).name()}, process {connection.pid}"
    return ""


def _database(path: Path, now_s: float) -> Iterator[Check]:
    if not path.is_file():
        yield Check("database", Tone.GOOD, "created at the first start")
        yield _clock(now_s, 0.0)
        return
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
            (last_s,) = db.execute("SELECT coalesce(max(max(started_s), max(ended_s)), 0) FROM runs").fetchone()
            backup_s = None
            # Version 4 introduced the table.
            if version >= 4:
                query = "SELECT max(made_s) FROM audit WHERE what LIKE ? || '%'"
                (backup_s,) = db.execute(query, (BACKED_UP,)).fetchone()
    except sqlite3.Error as error:
        yield Check("database", Tone.BAD, f"{path.name} cannot be read: {error}", "restore a backup")
        return
    if state != "ok":
        yield Check("database", Tone.BAD, f"{path.name} is damaged: {state}", "restore a backup")
    elif version > len(MIGRATIONS):
        finding = f"version {version}, and this program reads versions up to {len(MIGRATIONS)}"
        yield Check("database", Tone.BAD, finding, "use the newer program, or restore a backup")
    elif version < len(MIGRATIONS):
        finding = f"version {version}; the next start makes it version {len(MIGRATIONS)}"
        yield Check("database", Tone.DOUBTFUL, finding, "copy it first: arena serve backup FILE")
    else:
        yield Check("database", Tone.GOOD, f"version {version}, {path.stat().st_size / 1e6:,.1f} MB")
    yield _backup(backup_s, now_s)
    yield _clock(now_s, last_s)


def _backup(backup_s: float | None, now_s: float) -> Check:
    remedy = "run arena serve backup FILE every day"
    if backup_s is None:
        return Check("backup", Tone.DOUBTFUL, "there is none", remedy)
    finding = f"the last was {ago(backup_s, now_s)}"
    if now_s - backup_s > _BACKUP_DAYS * _DAY_S:
        return Check("backup", Tone.DOUBTFUL, finding, remedy)
    return Check("backup", Tone.GOOD, finding)


def _clock(now_s: float, last_s: float) -> Check:
    remedy = "set the clock, and keep it right by NTP"
    if now_s < _YEAR_2020_S:
        return Check("clock", Tone.BAD, f"it shows {datetime.fromtimestamp(now_s, UTC):%Y-%m-%d}", remedy)
    if now_s < last_s:
        return Check("clock", Tone.BAD, "it is before the last run in the database", remedy)
    return Check("clock", Tone.GOOD, "not before the last run")


def _certificates(settings: ServerSettings, now_s: float) -> Iterator[Check]:
    web = settings.web
    if settings.certificate:
        yield from _check_certificate("certificate of the text port", settings.certificate, settings.key, (), now_s)
    if web.certificate:
        yield from _check_certificate("certificate of the pages", web.certificate, web.key, web.names, now_s)


def _check_certificate(what: str, path: str, key: str, names: Sequence[str], now_s: float) -> Iterator[Check]:
    remedy = "renew it"
    try:
        end_s, patterns = _certificate(path, key or None)
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        yield Check(what, Tone.BAD, f"{path}: {reason}", remedy)
        return
    missing = [name for name in names if not _matches_any(name, patterns)]
    days = (end_s - now_s) / _DAY_S
    if missing:
        yield Check(what, Tone.DOUBTFUL, f"it is not for {', '.join(missing)}", "get one for all names")
    if days < 0:
        yield Check(what, Tone.BAD, f"it expired {ago(end_s, now_s)}", remedy)
    elif days < _CERTIFICATE_DAYS:
        yield Check(what, Tone.DOUBTFUL, f"it expires in {count_of(round(days), 'day')}", remedy)
    elif not missing:
        yield Check(what, Tone.GOOD, f"valid for {count_of(round(days), 'day')}")


def _certificate(path: str, key: str | None) -> tuple[float, list[str]]:
    """Read the time of expiry and the host names of a certificate.

    Raises:
        ssl.SSLError: it is not valid.
    """
    # Python decodes a certificate only for the peer of a connection, so a client and a server shake hands in memory.
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(path, key)
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.load_verify_locations(path)
    client_context.verify_flags |= _PARTIAL_CHAIN
    to_server = ssl.MemoryBIO()
    to_client = ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(3):
        for side in (client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    certificate = client.getpeercert() or {}
    names = [str(pair[1]) for pair in certificate.get("subjectAltName", ())]
    return ssl.cert_time_to_seconds(str(certificate["notAfter"])), names


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(_matches(name, pattern) for pattern in patterns)


def _matches(name: str, pattern: str) -> bool:
    pattern = pattern.lower()
    if pattern.startswith("*."):
        return name.partition(".")[2] == pattern[2:]
    return name == pattern


def _access(settings: ServerSettings, *, has_pages: bool) -> Iterator[Check]:
    """Check that TLS, proxies, host names and the address fit together."""
    if not has_pages:
        finding = "there are none, because packages are missing"
        yield Check("pages", Tone.DOUBTFUL, finding, "install the extra web, or do without pages")
        return
    web, is_loopback = settings.web, settings.is_loopback
    if web.proxies and is_loopback and not web.names:
        finding = "a proxy is trusted, and the pages answer to the names of this machine only"
        yield Check("proxy", Tone.BAD, finding, "list the public host names under [web] names")
    elif web.proxies and not is_loopback:
        finding = f"a proxy is trusted, and {settings.host} can be reached past it"
        yield Check("proxy", Tone.DOUBTFUL, finding, 'set host = "127.0.0.1", or admit the proxy only by a firewall')
    elif not web.proxies and not is_loopback and not web.certificate:
        finding = "pages for other machines are not encrypted, so passwords can be read on the way"
        yield Check("encryption", Tone.DOUBTFUL, finding, "set a certificate under [web], or put a proxy in front")
    else:
        finding = "a proxy is in front of the pages" if web.proxies else "only this machine reaches the pages"
        yield Check("encryption", Tone.GOOD, "the pages have a certificate" if web.certificate else finding)
    if not is_loopback and not web.names:
        yield Check("names", Tone.DOUBTFUL, "the pages answer to every host name", "list theirs under [web] names")
    if not is_loopback and not settings.certificate:
        finding = "there is none for other machines, so tokens can be read on the way"
        yield Check("encryption of the text port", Tone.DOUBTFUL, finding, "set certificate, or use a tunnel")


def _bots(settings: ServerSettings, data: Path) -> Iterator[Check]:
    """Let each bot that is not built in play a deal against itself, started as the server would start it."""
    num_builtin = 0
    for game in settings.games:
        for name, bot in game.bots.items():
            if bot.bot.partition("?")[0] in builtin_names():
                num_builtin += 1
                continue
            what = f"bot {name} in {game.shown}"
            if problem := _play_deal(settings, game, name, data):
                yield Check(what, Tone.BAD, problem, "correct it; 'arena doctor' examines a bot")
            else:
                yield Check(what, Tone.GOOD, "has played a hand")
    if num_builtin:
        yield Check("built-in bots", Tone.GOOD, f"{num_builtin}; they come with the program")


def _uploads(uploads: UploadSettings, data: Path) -> Check:
    """Check the confinement of uploaded bots, without which a server does not start."""
    if (refusal := uploads_refusal(uploads, data)) is not None:
        return Check("uploads", Tone.BAD, refusal.problem, refusal.remedy)
    finding = "bubblewrap separates bots; the limits of memory and processor hold for each of their processes"
    if has_scopes():
        return Check("uploads", Tone.GOOD, f"{finding}, and by systemd for each bot")
    remedy = (
        "loginctl enable-linger for the server's user, so that systemd bounds each bot, or MemoryMax for the server"
    )
    return Check("uploads", Tone.DOUBTFUL, finding, remedy)


def _play_deal(settings: ServerSettings, game: ServerGame, name: str, data: Path) -> str:
    """Let a bot play a deal against itself; return the reason of a failure, empty for none."""
    terms = ContestTerms(deals=1, seating=Seating.SINGLE.value)
    environment = process_environment(data)
    players = (name,) * game.game.num_players
    try:
        with tempfile.TemporaryDirectory(prefix="arena-doctor-") as folder:
            config = run_config(settings, game, players, terms, user="doctor", seed=1, environment=environment)
            run = new_run(config, Path(folder) / "run")
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                result = runner.run(run.play())
    except DealerError as error:
        return str(error)
    # The reason may quote several lines of the bot's output.
    return "" if result.outcome.is_complete else " ".join(result.reason.split())
