"""What somebody asks a server to play: a contest as `arena play` has it, so many times.

`checked` refuses what can never be played, in a sentence; what passes is settled by the very code that plays it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from dealer.contest.config import RunConfig
from dealer.contest.schedule import Seating, number_of_seatings
from dealer.contest.settling import settle
from dealer.errors import ConfigError, RefusedError
from dealer.match.faults import FaultPolicy
from dealer.server.ledger import JobKind
from dealer.server.queue import never_fits
from dealer.server.server_bots import run_config
from dealer.server.settings import ServerGame, ServerSettings, most_hands, slot_of
from logs.errors import StopRuleError
from logs.estimation import FixedHands, parse_stop_rule
from protocol.benchmark import MOST_TAG_BYTES, OWN_SEAT, RequestRuns

__all__ = ["JobRequest", "check_contest", "check_request", "matches_at_once", "of_text_port", "shown"]


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A contest to be played so many times.

    Attributes:
        game: its name on this server.
        players: by seat of the first seating: the server's own bots, bots of users (`dealer.server.lobby`), or
            `protocol.benchmark.OWN_SEAT` for an agent that the client itself brings.
        tag: what the user calls it.
        runs: how often.
        seed: of all runs together; 0 has the server draw a key, and only then can the result count in the standings.
        seed_index: the only run in the sequence of seeds; None for the sequence from its start.
        hands: the most deals of one run; None for as many as are set for the game.
        seating: in which seatings each deal is played.
        stop: the rule that may end a run before, in the words of ``arena play --stop``.
        on_fault: what becomes of a player that times out, disconnects or floods.
        kind: where it comes from.
    """

    game: str
    players: tuple[str, ...]
    tag: str = ""
    runs: int = 1
    seed: int = 0
    seed_index: int | None = None
    hands: int | None = None
    seating: Seating = Seating.ROTATIONS
    stop: str | None = None
    on_fault: FaultPolicy = FaultPolicy.END
    kind: JobKind = JobKind.REQUEST


def of_text_port(request: RequestRuns) -> JobRequest:
    """What a line of the text port asks for: one seating, as on the reference's server, of a seed that is told."""
    return JobRequest(
        request.game,
        request.players,
        request.tag,
        request.runs,
        request.seed or secrets.randbelow(2**32 - 1) + 1,
        request.index,
        seating=Seating.SINGLE,
    )


def check_request(
    settings: ServerSettings, request: JobRequest, *, user: str, refusal: Callable[[str, str], str]
) -> ServerGame:
    """The game of a request that can be played.

    Args:
        settings: of the server.
        request: what is asked for.
        user: who asks.
        refusal: why a bot that is not one of the server's own bots cannot play a game, as a clause; empty if it can.

    Raises:
        RefusedError: it can never be played; the sentence says why.
    """
    game = settings.game(request.game)
    if game is None:
        raise RefusedError(f"there is no game {shown(request.game)}; GAMES lists those there are")
    if request.runs > game.most_runs:
        raise RefusedError(f"{game.name} is played at most {game.most_runs} times for one request")
    if len(f"{user}{request.tag}".encode("utf-8", "surrogateescape")) > MOST_TAG_BYTES - 3:
        raise RefusedError(f"the tag is too long: with the name, {MOST_TAG_BYTES - 3} bytes are taken")
    seats = game.game.num_players
    players = request.players[:seats]
    if len(players) < seats:
        raise RefusedError(f"{game.name} has {seats} seats, and {len(players)} players are named")
    for player in players:
        if player != OWN_SEAT and game.bot(player) is None and (why := refusal(game.name, player)):
            raise RefusedError(why)
    if not game.hands:
        raise RefusedError(f"{game.name} is set to be played for 0 hands")
    at_once = matches_at_once(game, request.seating, request.stop)
    if problem := never_fits(slot_of(game, players, user=0, at_once=at_once), settings.limits):
        raise RefusedError(problem)
    return game


def matches_at_once(game: ServerGame, seating: Seating, stop: str | None) -> int:
    """How many matches of a contest sit at tables at a time: all seatings where a rule looks at the scores.

    Raises:
        RefusedError: the rule is none.
    """
    try:
        is_fixed = stop is None or isinstance(parse_stop_rule(stop), FixedHands)
    except StopRuleError as error:
        raise RefusedError(f"stop: {error}") from None
    return 1 if is_fixed else number_of_seatings(seating, game.game.num_players)


def check_contest(settings: ServerSettings, game: ServerGame, request: JobRequest) -> None:
    """Refuse what is too long, and what `arena play` would refuse; looking at every bot takes a moment.

    Raises:
        RefusedError: it can never be played.
    """
    if request.seating is Seating.SINGLE and request.stop is None and request.hands is None:
        # As the server has set it.
        return
    hands = most_hands(game, request.hands, request.stop)
    most = max(game.most_hands, game.hands)
    if not 1 <= hands <= most:
        raise RefusedError(f"{game.name} is played for 1 to {most} deals here, not {hands}")
    try:
        settle(_config(settings, game, request))
    except ConfigError as error:
        raise RefusedError(str(error)) from None


def _config(settings: ServerSettings, game: ServerGame, request: JobRequest) -> RunConfig:
    return run_config(
        settings,
        game,
        request.players[: game.game.num_players],
        user="user",
        seed=1,
        hands=request.hands,
        seating=request.seating,
        stop=request.stop,
        on_fault=request.on_fault,
    )


def shown(word: str) -> str:
    """A word of somebody else's, safe to show."""
    return "".join(char if char.isprintable() else "?" for char in word[:60])
