"""The ACPC texts: match states, actions, game definitions, framing, and the two sides of a conversation. No sockets."""

from importlib.machinery import SourceFileLoader
from os.path import dirname, join
from types import ModuleType

_shadowing = ModuleType("engine.shadowing")
_shadowing.__file__ = join(dirname(__path__[0]), "engine", "shadowing.py")
SourceFileLoader(_shadowing.__name__, _shadowing.__file__).exec_module(_shadowing)

with _shadowing.ours("engine"):
    from protocol.actions import format_action
    from protocol.errors import FormatError, GameDefinitionError, LocalProtocolError, ProtocolError, RemoteProtocolError
    from protocol.game_definition import find_game, format_game_definition, parse_game_definition, shipped_games
    from protocol.match_state import MatchState, parse_match_state
    from protocol.session import (
        NEED_DATA,
        BadAction,
        BadState,
        Closed,
        Comment,
        DealerEvent,
        DealerSession,
        Handshake,
        PlayerEvent,
        PlayerSession,
        ReceivedState,
        Reply,
        SessionState,
        StaleReply,
        UnknownAction,
    )

__all__ = [
    "NEED_DATA",
    "BadAction",
    "BadState",
    "Closed",
    "Comment",
    "DealerEvent",
    "DealerSession",
    "FormatError",
    "GameDefinitionError",
    "Handshake",
    "LocalProtocolError",
    "MatchState",
    "PlayerEvent",
    "PlayerSession",
    "ProtocolError",
    "ReceivedState",
    "RemoteProtocolError",
    "Reply",
    "SessionState",
    "StaleReply",
    "UnknownAction",
    "find_game",
    "format_action",
    "format_game_definition",
    "parse_game_definition",
    "parse_match_state",
    "shipped_games",
]
