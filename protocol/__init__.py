r"""ACPC protocol 2.0.0 without I/O: sessions, match states, actions and game definitions.

A session turns the bytes of a connection into events and events into bytes. Sockets, clocks and threads are the
caller's.

    >>> from engine import CALL
    >>> from protocol import DealerSession, Handshake, PlayerSession, Reply, find_game
    >>> _, game = find_game("kuhn")
    >>> dealer, player = DealerSession(game), PlayerSession(game)
    >>> dealer.receive_data(player.send(Handshake()))
    >>> dealer.next_event().version
    (2, 0, 0)
    >>> player.receive_data(dealer.send(b"MATCHSTATE:0:0::Ks|\r\n", is_question=True))
    >>> player.next_event().is_my_turn
    True
    >>> dealer.receive_data(player.send(Reply(CALL)))
    >>> dealer.next_event().raw
    b'MATCHSTATE:0:0::Ks|:c\r\n'
"""

from importlib.machinery import PathFinder as _PathFinder
from importlib.util import find_spec as _find_spec
from importlib.util import module_from_spec as _module_from_spec
from os.path import dirname as _dirname
from os.path import join as _join

# Load engine.shadowing from its folder, because a user's own engine.py may hide our package of that name. A frozen
# program has no folders, so there the module is loaded by name.
_spec = _PathFinder.find_spec("engine.shadowing", [_join(_dirname(__path__[0]), "engine")])
_spec = _spec or _find_spec("engine.shadowing")
_shadowing = _module_from_spec(_spec)  # type: ignore[arg-type]
_spec.loader.exec_module(_shadowing)  # type: ignore[union-attr]

with _shadowing.own_packages("engine"):
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
