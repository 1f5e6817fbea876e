"""The errors of this package.

    DealerError
    ├── ConfigError            the settings of a run are invalid (also a ValueError)
    │   └── PlayerError        a player's description is not a player that can be seated
    ├── CommandError           a command of `arena` cannot continue
    ├── UsageError             the command line of `acpc-dealer` cannot be run
    ├── ResultError            a file is not a result that can be read
    ├── ServerError            the server cannot do something
    │   ├── RefusedError       a request that it rejects
    │   ├── StoreError         its database cannot be read or written
    │   └── WebError           a request over HTTP that is not answered as asked
    ├── JoinError              a server rejects a bot
    ├── ServerLostError        the connection to a server has broken; never leaves `dealer.joining`
    ├── StartError             a run cannot start or continue
    │   ├── FolderTakenError   its folder holds something already
    │   ├── FolderBusyError    another process is running in its folder
    │   ├── LaunchError        a bot, a socket, a folder or a file cannot be started, opened or written
    │   │   └── ListenError    a player's address cannot be listened on
    │   ├── DealerLostError    a dealer process has ended in the middle of a match
    │   ├── RecoveryError      a file is not that of the interrupted match
    │   ├── RemoteError        another machine cannot play a contest
    │   └── TrainingError      a player's memory cannot be read or kept
    ├── MatchFailure           a match, or a player's part in it, is over; never leaves `dealer.match`
    └── UnreadLinesError       a player does not read what it is sent (also an OSError); never leaves a match

Every error composes its sentence from the facts it carries. None names an option of a command line: the command line
adds these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from engine import Seat
from engine.errors import PortableError
from engine.text import capitalized

if TYPE_CHECKING:
    from pathlib import Path


class DealerError(PortableError):
    """The root of all errors of this package."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a match, or a player's part in it, is over; see `dealer.match.causes`."""


class SettingProblem(NamedTuple):
    """A problem of a setting of `dealer.run.run_settings.RunSettings`, with the valid values; its name may be empty."""

    setting: str
    problem: str


class ConfigError(DealerError, ValueError):
    """The settings are invalid, for at least one reason; `source` is their file, or empty."""

    def __init__(self, *problems: SettingProblem | str, source: str = "") -> None:
        super().__init__(*problems)
        self.problems = tuple(
            SettingProblem("", problem) if isinstance(problem, str) else problem for problem in problems
        )
        self.source = source

    def text(self, name_of: Callable[[str], str]) -> str:
        """All problems in a sentence, with settings under the names that `name_of` gives them, if any."""
        names = [setting if self.source else name_of(setting) for setting, _ in self.problems]
        texts = [f"{name}: {text}" if name else text for name, (_, text) in zip(names, self.problems, strict=True)]
        return (f"{self.source}: " if self.source else "") + "; ".join(texts)

    def __str__(self) -> str:
        return self.text(str)


class PlayerError(ConfigError):
    """A description is not a player that can be seated; the sentence lists the alternatives."""


@dataclass(eq=False, repr=False)
class CommandError(DealerError):
    """A command of `arena` cannot continue; `code` is its exit code."""

    text: str
    code: int

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False, repr=False)
class UsageError(DealerError):
    """The command line of `acpc-dealer` cannot be run; the text has its line end. It goes `to_stdout` or to stderr."""

    text: str
    to_stdout: bool = field(default=False, kw_only=True)


@dataclass(eq=False, repr=False)
class ResultError(DealerError):
    """A file is not a result that can be read."""

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class ServerError(DealerError):
    """The server cannot do something."""


class RefusedError(ServerError):
    """A request that the server rejects; the sentence is for the client."""


@dataclass(eq=False, repr=False)
class StoreError(ServerError):
    """The server's database cannot be read or written."""

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


@dataclass(eq=False, repr=False)
class WebError(ServerError):
    """A request over HTTP that is not answered as asked.

    Attributes:
        sentence: what is wrong and what to do, for the client.
        limit: the name of the limit that has been reached; empty for other errors.
        wait_s: how long to wait before asking again; 0 if waiting does not help.
    """

    status: int
    sentence: str
    limit: str = ""
    wait_s: int = 0

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def of(cls, refused: RefusedError, status: int) -> WebError:
        """A rejected request, for a client over HTTP."""
        return cls(status, f"{capitalized(str(refused)).rstrip('.')}.")


class JoinError(DealerError):
    """A server rejects a bot or cannot be reached."""


class ServerLostError(DealerError):
    """The connection to a server has broken."""


class StartError(DealerError):
    """A run cannot start or continue."""


@dataclass(eq=False, repr=False)
class FolderTakenError(StartError):
    """The folder of a new run is not empty; `holds_run` if it is that of an interrupted or finished run."""

    folder: Path
    holds_run: bool

    def __str__(self) -> str:
        return f"{self.folder} is not empty"


@dataclass(eq=False, repr=False)
class FolderBusyError(StartError):
    """Another process is running in the folder."""

    folder: Path

    def __str__(self) -> str:
        return f"the run in {self.folder} is still running in another process"


@dataclass(eq=False, repr=False)
class LaunchError(StartError):
    """A bot, a socket, a folder or a file of a run cannot be started, opened or written."""

    action: str
    reason: object

    def __str__(self) -> str:
        return f"cannot {self.action}: {self.reason}"


class ListenError(LaunchError):
    """A player's address cannot be listened on; port 0 means any."""

    def __init__(self, host: str, port: int, seat: Seat, reason: object) -> None:
        super().__init__(f"listen on {host} port {port or 'any'}", reason)
        self.args = (host, port, seat, reason)
        self.host = host
        self.port = port
        self.seat = seat

    def __str__(self) -> str:
        return f"{super().__str__()}; choose another address or port"


@dataclass(eq=False, repr=False)
class RecoveryError(StartError):
    """A file in the folder of an interrupted match is not that match's; lines count from 1."""

    path: Path
    line_number: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line_number}: {self.problem}"


class TrainingError(StartError):
    """A player's memory cannot be read or kept."""


@dataclass(eq=False, repr=False)
class DealerLostError(StartError):
    """A dealer process has ended in the middle of a match."""

    match: str

    def __str__(self) -> str:
        return f"the dealer process of {self.match} ended unexpectedly"


@dataclass(eq=False, repr=False)
class RemoteError(StartError):
    """Another machine cannot play a contest."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


@dataclass(eq=False, repr=False)
class MatchFailure(DealerError):
    """A match is over, or a player's part in it."""

    cause: Cause


class UnreadLinesError(DealerError, OSError):
    """More lines wait for a player than allowed: it does not read."""
