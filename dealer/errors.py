"""The errors of this package.

    DealerError
    ├── ConfigError            the settings of a run make no sense (also a ValueError)
    │   └── PlayerError        a player's description names nobody who could be seated
    ├── UsageError             the command line of `acpc-dealer` cannot be run
    ├── ResultError            a file is not a result that can be read
    ├── ServerError            the server cannot do something
    │   ├── RefusedError       a request that it does not take
    │   ├── StoreError         what it keeps cannot be read or written
    │   └── WebError           a request over HTTP that is not answered as asked
    ├── JoinError              a server does not take a bot
    ├── ServerLostError        the connection to a server has broken; never leaves `dealer.server.joining`
    ├── StartError             a run cannot start or go on
    │   ├── FolderTakenError   its folder holds something already
    │   ├── FolderBusyError    another process is running in its folder
    │   ├── LaunchError        a bot, a socket, a folder or a file cannot be had
    │   │   └── ListenError    a player's address cannot be listened on
    │   ├── RecoveryError      a file is not that of the interrupted match
    │   ├── RemoteError        another machine cannot play a contest
    │   └── TrainingError      what a player has learnt cannot be read or kept
    ├── MatchFailure           a match, or a player's part in it, is over; never leaves `dealer.match`
    ├── UnreadLinesError       a player does not read what it is sent (also an OSError); never leaves a match
    └── ConversationError      a bot under examination sends no more; never leaves `dealer.doctor`

Every error composes its sentence from the facts it carries. None names an option of a command line: the command line
adds what it would have people type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from engine import Seat
from engine.errors import PortableError

if TYPE_CHECKING:
    from pathlib import Path


class DealerError(PortableError):
    """The root of all errors of this package; the facts of most are the fields of a dataclass."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a match, or a player's part in it, is over; `dealer.match.causes` holds those there are."""


class SettingProblem(NamedTuple):
    """What is wrong with a setting.

    Attributes:
        setting: its name in `dealer.run.settings.RunSettings`; empty if no single one is wrong.
        problem: what is wrong, and what it may be.
    """

    setting: str
    problem: str


class ConfigError(DealerError, ValueError):
    """The settings make no sense.

    Attributes:
        problems: what is wrong, at least one.
        source: the file the settings stand in; empty if they do not come from a file.
    """

    def __init__(self, *problems: SettingProblem | str, source: str = "") -> None:
        super().__init__(*problems)
        self.problems = tuple(
            SettingProblem("", problem) if isinstance(problem, str) else problem for problem in problems
        )
        self.source = source

    def text(self, name_of: Callable[[str], str]) -> str:
        """All problems in a sentence.

        Args:
            name_of: what a person calls a setting, such as the option that sets it; empty leaves it out.
        """
        names = [setting if self.source else name_of(setting) for setting, _ in self.problems]
        told = [f"{name}: {text}" if name else text for name, (_, text) in zip(names, self.problems, strict=True)]
        return (f"{self.source}: " if self.source else "") + "; ".join(told)

    def __str__(self) -> str:
        return self.text(str)


class PlayerError(ConfigError):
    """Nobody can be seated under this description; the sentence says what there is."""


@dataclass(eq=False, repr=False)
class UsageError(DealerError):
    """The command line of `acpc-dealer` cannot be run; the text is printed as it is, with its line end.

    Attributes:
        to_stdout: whether it goes to standard output, as the usage text does; else to standard error.
    """

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
    """The server cannot do something; the sentence says what and why."""


class RefusedError(ServerError):
    """A request that the server does not take; the sentence is for whoever made it."""


@dataclass(eq=False, repr=False)
class StoreError(ServerError):
    """What the server keeps cannot be read or written."""

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


@dataclass(eq=False, repr=False)
class WebError(ServerError):
    """A request over HTTP that is not answered as asked.

    Attributes:
        sentence: what is wrong and what to do, for whoever asked.
        limit: the name of the limit that has been reached; empty if it is none.
        wait_s: how long to wait before asking again; 0 if waiting does not help.
    """

    status: int
    sentence: str
    limit: str = ""
    wait_s: int = 0

    def __str__(self) -> str:
        return self.sentence


class JoinError(DealerError):
    """A server does not take a bot, or cannot be reached; the sentence says why."""


class ServerLostError(DealerError):
    """The connection to a server has broken; the sentence says how."""


class StartError(DealerError):
    """A run cannot start or go on."""


@dataclass(eq=False, repr=False)
class FolderTakenError(StartError):
    """The folder of a new run holds something already.

    Attributes:
        holds_run: whether it is an interrupted or finished run.
    """

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
    """A bot, a socket, a folder or a file of a run cannot be had.

    Attributes:
        reason: why it failed, in the words of the system.
    """

    action: str
    reason: object

    def __str__(self) -> str:
        return f"cannot {self.action}: {self.reason}"


class ListenError(LaunchError):
    """A player's address cannot be listened on.

    Attributes:
        port: the port asked for; 0 for any.
        reason: why it failed, in the words of the system.
    """

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
    """A file in the folder of an interrupted match is not that match's.

    Attributes:
        line_number: of the offending line, from 1.
    """

    path: Path
    line_number: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line_number}: {self.problem}"


class TrainingError(StartError):
    """What a player has learnt cannot be read or kept; the sentence says why."""


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
    """More waits to be sent to a player than may: it does not read."""


@dataclass(eq=False, repr=False)
class ConversationError(DealerError):
    """The conversation with a bot under examination cannot continue.

    Attributes:
        ending: why, as a `dealer.doctor.dialogue.Ending`.
    """

    ending: Any

    def __str__(self) -> str:
        return f"the conversation is over: {self.ending.value}"
