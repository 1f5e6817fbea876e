"""Errors of this package.

    DealerError
    ├── ConfigError            settings of a run are invalid (also a ValueError)
    │   └── PlayerError        the text of a player is invalid
    ├── CommandError           a command of `arena` cannot continue
    ├── UsageError             the command line of `acpc-dealer` is invalid
    ├── ResultError            a file is not a readable result
    ├── AgentError             a call of an agent's tool is refused
    ├── ServerError            error of a server
    │   ├── RefusedError       a request is rejected
    │   ├── StoreError         the database cannot be read or written
    │   └── WebError           a request over HTTP is rejected
    ├── JoinError              a server rejects a bot
    ├── ServerLostError        the connection to a server is lost; never leaves `dealer.joining`
    ├── StartError             a run cannot start or continue
    │   ├── FolderTakenError   the folder of a new run is not empty
    │   ├── FolderBusyError    another process runs in the folder
    │   ├── LaunchError        a bot, socket, folder or file is unavailable
    │   │   └── ListenError    a player's address is unavailable
    │   ├── DealerLostError    a dealer process ended during a match
    │   ├── RecoveryError      a file is not that of the interrupted match
    │   ├── RemoteError        another machine cannot play a contest
    │   ├── TrainingError      a player's memory cannot be read or written
    │   └── ValuationError     hands cannot be valued by the strategy of a known player
    ├── MatchFailure           a match is over, or a player is lost; never leaves `dealer.match`
    └── UnreadLinesError       a player does not read its lines (also an OSError); never leaves a match

Errors compose their sentences from the facts they carry. The names of command-line options are added by the command
line (`ConfigError.text`).
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
    """Base class of all errors of this package."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Base class of the reasons why a match is over or a player is lost, see `dealer.match.causes`."""


class SettingProblem(NamedTuple):
    """Problem of a setting of `dealer.run.run_settings.RunSettings`.

    Attributes:
        setting: name of the setting; empty if the problem is about none.
        problem: sentence that names the valid values.
    """

    setting: str
    problem: str


class ConfigError(DealerError, ValueError):
    """The settings are invalid.

    Attributes:
        problems: at least one problem.
        source: file of the settings, or empty.
    """

    def __init__(self, *problems: SettingProblem | str, source: str = "") -> None:
        super().__init__(*problems)
        self.problems = tuple(
            SettingProblem("", problem) if isinstance(problem, str) else problem for problem in problems
        )
        self.source = source

    def text(self, name_of: Callable[[str], str]) -> str:
        """Compose a sentence with all problems.

        Args:
            name_of: returns the name to show for a setting, or an empty text. Settings from a file keep their names.
        """
        texts = []
        for setting, problem in self.problems:
            name = setting if self.source else name_of(setting)
            texts.append(f"{name}: {problem}" if name else problem)
        sentence = "; ".join(texts)
        if self.source:
            return f"{self.source}: {sentence}"
        return sentence

    def __str__(self) -> str:
        return self.text(str)


class PlayerError(ConfigError):
    """The text of a player is invalid. The sentence lists the alternatives."""


@dataclass(eq=False, repr=False)
class CommandError(DealerError):
    """A command of `arena` cannot continue.

    Attributes:
        text: message for the user.
        code: exit code of the command.
    """

    text: str
    code: int

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False, repr=False)
class UsageError(DealerError):
    """The command line of `acpc-dealer` is invalid, or asks for help.

    Attributes:
        text: message with its line end.
        to_stdout: print it to standard output instead of standard error, as the reference dealer does.
    """

    text: str
    to_stdout: bool = field(default=False, kw_only=True)


@dataclass(eq=False, repr=False)
class ResultError(DealerError):
    """A file is not a readable result."""

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class AgentError(DealerError):
    """A call of an agent's tool is refused. The sentence is for the agent."""


class ServerError(DealerError):
    """Base class of errors of the server."""


class RefusedError(ServerError):
    """The server rejects a request. The sentence is for the client."""


@dataclass(eq=False, repr=False)
class StoreError(ServerError):
    """The server's database cannot be read or written."""

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


@dataclass(eq=False, repr=False)
class WebError(ServerError):
    """The server rejects a request over HTTP.

    Attributes:
        status: HTTP status.
        sentence: problem and remedy, for the client.
        limit: name of the limit that has been reached; empty for other errors.
        wait_s: seconds to wait before the next request; 0 if waiting does not help.
    """

    status: int
    sentence: str
    limit: str = ""
    wait_s: int = 0

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def of(cls, refused: RefusedError, status: int) -> WebError:
        """Convert a rejected request for a client over HTTP."""
        return cls(status, f"{capitalized(str(refused)).rstrip('.')}.")


class JoinError(DealerError):
    """A server rejects a bot or cannot be reached."""


class ServerLostError(DealerError):
    """The connection to a server is lost."""


class StartError(DealerError):
    """A run cannot start or continue."""


@dataclass(eq=False, repr=False)
class FolderTakenError(StartError):
    """The folder of a new run is not empty.

    Attributes:
        holds_run: it is the folder of an interrupted or finished run.
    """

    folder: Path
    holds_run: bool

    def __str__(self) -> str:
        return f"{self.folder} is not empty"


@dataclass(eq=False, repr=False)
class FolderBusyError(StartError):
    """Another process runs in the folder."""

    folder: Path

    def __str__(self) -> str:
        return f"the run in {self.folder} is still running in another process"


@dataclass(eq=False, repr=False)
class LaunchError(StartError):
    """A bot, socket, folder or file of a run is unavailable.

    Attributes:
        action: action that failed, which completes "cannot ...".
        reason: text of the system's error, or another value that is shown as text.
    """

    action: str
    reason: object

    def __str__(self) -> str:
        return f"cannot {self.action}: {self.reason}"


class ListenError(LaunchError):
    """A player's address cannot be listened on. Port 0 means any port."""

    def __init__(self, host: str, port: int, seat: Seat, reason: object) -> None:
        super().__init__(f"listen on {host} port {port or 'any'}", reason)
        # For pickling, which passes `args` to the constructor.
        self.args = (host, port, seat, reason)
        self.host = host
        self.port = port
        self.seat = seat

    def __str__(self) -> str:
        return f"{super().__str__()}; choose another address or port"


@dataclass(eq=False, repr=False)
class RecoveryError(StartError):
    """A file in the folder of an interrupted match is not that of the match. Lines count from 1."""

    path: Path
    line_number: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line_number}: {self.problem}"


class TrainingError(StartError):
    """A player's memory cannot be read or written."""


class ValuationError(StartError):
    """Hands cannot be valued by the strategy of a known player."""


@dataclass(eq=False, repr=False)
class DealerLostError(StartError):
    """A dealer process ended during a match."""

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
    """A match is over, or a player is lost."""

    cause: Cause


class UnreadLinesError(DealerError, OSError):
    """More lines wait for a player than allowed, because it does not read them."""
