"""``acpc-dealer``: the drop-in for the reference dealer of the ACPC.

The same command line, ports line, standard output and error, log, transaction log, resume (``-a``), clocks and exit
codes. Accidents of the reference are not repeated: a player that has gone does not kill this dealer by SIGPIPE, nor an
odd hand by an assertion, it deals a hand in which the blinds put everybody all-in to its end, and the time to connect
also covers naming the version. SIGTERM and SIGHUP end it as they end any program.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from dealer.errors import ListenError, UsageError
from dealer.match import Match, MatchSetup, Phase, events
from dealer.match.clocks import TimeLimits
from dealer.reference.options import EXTENSIONS, USAGE, Options, parse_hands, parse_options, parse_seed
from dealer.reference.sentences import event_text, lonely_text
from dealer.run.writers import LogWriter, TransactionWriter
from dealer.table.collector import spare_collector
from dealer.table.connections import Connections
from dealer.table.loop import new_event_loop
from engine import Game, GameError
from logs import format_header, format_score_line, parse_transactions
from logs.transaction_log import Transaction
from logs.whole_file import LineFile
from protocol import parse_game_definition
from protocol.framing import LineReader

_LONELY_S = 10.0
"""After this time without a player, standard error says where it is awaited."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the dealer; returns the exit code. As in the reference, complaints about options begin with ``argv[0]``."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except UsageError as error:
        _Output(sys.stdout if error.to_stdout else sys.stderr).print(str(error))
        return 1
    except KeyboardInterrupt:
        _Output(sys.stderr).print("ERROR: interrupted\n")
        return 130


class _Output:
    """A standard stream that may be closed, full or without a reader: the match and its log go on all the same.

    It is not buffered by Python, which would complain at exit about bytes that could not be written.

    Attributes:
        is_open: whether anything still arrives.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.is_open = stream is not None
        self._fd = -1 if stream is None else stream.fileno()

    def write(self, data: bytes) -> None:
        try:
            while data and self.is_open:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self.is_open = False

    def print(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogateescape"))


def _run(arguments: Sequence[str]) -> int:
    options = parse_options(arguments, sys.argv[0])
    if options.help:
        _Output(sys.stdout).print(USAGE + EXTENSIONS)
        return 0
    setup = _setup_of(options)
    limits = setup.limits
    header = format_header(
        setup.name,
        options.positionals[1],
        setup.hands,
        setup.seed,
        t_response_ms=limits.response_us // 1000,
        t_hand_ms=limits.hand_us // 1000,
        t_per_hand_ms=limits.match_us(setup.hands) // setup.hands // 1000,
    )
    watchers: list[events.Watcher] = []
    earlier: list[Transaction] = []
    log = None
    if options.log:
        log = _open(f"{setup.name}.log", "ERROR: could not open log file ", options.append)
        watchers.append(LogWriter(log, setup.names))
    if options.transaction_log:
        path = f"{setup.name}.tlog"
        if options.append:
            earlier = _read_transactions(path, setup.game)
        watchers.append(TransactionWriter(_open(path, "ERROR: could not open transaction file ", options.append)))
    watchers.append(Transcript(_Output(sys.stderr), quiet=options.quiet, setup=setup))
    match = Match(setup, watchers, earlier)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_play(match, options, lambda: _write_header(header, log)))
    return 0 if match.phase is Phase.FINISHED else 1


def _setup_of(options: Options) -> MatchSetup:
    if len(options.positionals) < 4:
        raise UsageError(USAGE, to_stdout=True)
    name, game_file, hands, seed, *names = options.positionals
    game = _read_game(game_file)
    if len(names) < game.num_players:
        raise UsageError(USAGE, to_stdout=True)
    return MatchSetup(
        game=game,
        name=name,
        hands=parse_hands(hands),
        seed=parse_seed(seed),
        names=tuple(names[: game.num_players]),
        fixed_seats=options.fixed_seats,
        limits=TimeLimits(options.response_us, options.hand_us, options.per_hand_us, options.start_us),
    )


def _read_game(path: str) -> Game:
    try:
        with open(path, "rb") as file:
            text = file.read().decode("latin-1")
    except IsADirectoryError:
        text = ""
    except OSError:
        raise UsageError(f"ERROR: could not open game definition {path}\n") from None
    try:
        return parse_game_definition(text)
    except GameError as error:
        raise UsageError(f"{error}\nERROR: could not read game {path}\n") from None


def _open(path: str, complaint: str, append: bool) -> LineFile:
    try:
        return LineFile(path, append=append)
    except (OSError, ValueError):
        raise UsageError(f"{complaint}{path}\n") from None


def _read_transactions(path: str, game: Game) -> list[Transaction]:
    reader = LineReader()
    try:
        with open(path, "rb") as file:
            reader.feed(file.read())
    except OSError:
        return []
    reader.feed_eof()
    lines = (line.decode("utf-8", "surrogateescape") for line in iter(reader.pop, None))
    return parse_transactions(lines, is_limit=game.is_limit)


def _write_header(header: str, log: LineFile | None) -> None:
    _Output(sys.stderr).print(header)
    if log is not None:
        try:
            log.write(header)
        except OSError as error:
            raise UsageError(f"ERROR: could not write {log.path}: {error.strerror}\n") from None


async def _play(match: Match, options: Options, write_header: Callable[[], None]) -> None:
    connections = Connections(match, host=options.host, coalesce_s=options.coalesce_s)
    spare_collector()
    try:
        ports = connections.listen(options.ports)
    except ListenError as error:
        raise UsageError(f"ERROR: could not create listen socket for player {error.seat + 1}\n") from None
    output = _Output(sys.stdout)
    output.print(" ".join(map(str, ports)) + "\n")
    write_header()

    def tell_lonely() -> None:
        missing = [(seat, ports[seat]) for seat in match.missing_seats()] if match.phase is Phase.CONNECTING else []
        if missing:
            _Output(sys.stderr).print(lonely_text(connections.hosts, missing, _LONELY_S))

    timer = asyncio.get_running_loop().call_later(_LONELY_S, tell_lonely)
    await connections.run()
    timer.cancel()
    if match.phase is Phase.FINISHED:
        output.print(format_score_line(match.totals, match.setup.names))


class Transcript(events.Watcher):
    """What the reference prints to standard error while it plays.

    Its warnings are printed even when it is quiet.
    """

    def __init__(self, output: _Output, *, quiet: bool, setup: MatchSetup) -> None:
        self._output = output
        self._quiet = quiet
        self._names = setup.names
        self._collected: list[bytes] = []
        self.wants = frozenset({events.VersionDiffers, events.FaultSeen, events.MatchEnded})
        if not quiet:
            self.wants |= {events.MatchStarted, events.LineSent, events.LineReceived, events.HandClosed, events.Settled}

    def notice(self, event: events.Event) -> None:
        """Collect what the reference prints, and write it when the match waits for a player or has ended."""
        self._collected.append(event_text(event, self._names, is_quiet=self._quiet))
        if self._quiet or isinstance(event, events.Settled | events.MatchEnded):
            self._output.write(b"".join(self._collected))
            self._collected.clear()
