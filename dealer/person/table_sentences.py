"""What every face shows in words: the game, what a person may do and why no more, the end of a hand, the score."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dealer.person.entries import verb_of
from dealer.person.seat import MatchScore, Scene
from dealer.person.table_session import TableSession
from dealer.person.table_settings import SEAT
from engine import Game, Rule
from engine.game import DEFAULT_STACK
from engine.holdem import is_holdem
from engine.text import count_of, listed, shown
from logs.estimation.mean import chips_text


def game_sentence(game: Game) -> str:
    """What is played, in a sentence without its full stop."""
    blinds = "/".join(str(blind) for blind in sorted(game.blinds) if blind)
    bets = "/".join(map(str, dict.fromkeys(game.raise_sizes)))
    name = "Limit" if game.is_limit else "No-limit"
    if is_holdem(game):
        name += f" hold'em {bets}".rstrip()
    else:
        name += f" with a deck of {len(game.deck)} cards"
        if bets:
            name += f", bets {bets}"
    sentence = f"{name}, {game.num_players} players, blinds {blinds}"
    if game.stacks[0] < DEFAULT_STACK:
        sentence += f", stacks {game.stacks[0]:,}"
    return sentence


def score_text(score: MatchScore) -> str:
    """The score in a few words: ``+20 after 3 hands``."""
    return f"{chips_text(score.yours)} after {count_of(score.hands, 'hand')}"


def score_remark(score: MatchScore) -> str:
    """What a score shows about strength, in brackets."""
    rate = score.rate
    if rate is None or rate.half_width is None:
        return "(too few to separate skill from luck)"
    verdict = "more than luck explains"
    if abs(rate.mean) <= rate.half_width:
        verdict = "which may be luck"
    return f"({rate.text()} at 95 %, {verdict})"


def result_sentence(scene: Scene) -> str:
    """The end of a hand: what it meant for the person, and the score."""
    value = 0.0
    if scene.values is not None:
        value = scene.values[scene.position]
    return f"{chips_text(value)} in this hand, {score_text(scene.score)} {score_remark(scene.score)}."


_WHY_NO_RAISE: Final = {
    Rule.RAISE_CAP: "the raises that the game allows in a round are made",
    Rule.NOBODY_TO_RAISE: "nobody else has chips left to answer it",
    Rule.STACK_TOO_SMALL: "a call takes all your chips",
    Rule.ACTION_LIMIT: "this round has as many actions as a round can have",
}


def reasons(scene: Scene) -> tuple[str, ...]:
    """What the rules allow the person here and why no more, in sentences; nothing unless it is asked."""
    if not scene.is_your_turn:
        return ()
    return _about_calling(scene), _about_raising(scene)


def _about_calling(scene: Scene) -> str:
    to_call = scene.view.to_call
    if not to_call:
        return "Nobody has bet more than you, so you may check for nothing, and there is nothing to fold to."
    share = Fraction(to_call, scene.pot + to_call)
    return (
        f"A call adds {to_call:,} to a pot of {scene.pot:,}: played to a showdown without more bets, "
        f"it pays if you win more than {float(share):.1%} of the time."
    ).replace("%", " %")


def _about_raising(scene: Scene) -> str:
    view = scene.view
    verb = verb_of(scene).lower()
    smallest = view.min_raise_street_total
    largest = view.max_raise_street_total
    if not view.can_raise:
        rule = scene.betting.raise_refusal()
        reason = "the rules forbid it"
        if rule is not None:
            reason = _WHY_NO_RAISE.get(rule, reason)
        return f"You cannot raise: {reason}."
    if scene.game.is_limit:
        return f"The game fixes the size: you may {verb} {smallest:,}, your total for this round."
    if smallest == largest:
        return f"You may {verb} {largest:,}: all your chips, and less is no raise."
    size = "the big blind"
    if any(view.street_committed):
        size = "as much more as the last bet or raise"
    return (
        f"You may {verb} anything from {smallest:,}, which is {size}, to {largest:,}, "
        "which is all-in. Sizes are your total for this round."
    )


def waiting_sentence(session: TableSession) -> str:
    """Who is waited for; empty where it is the person, or no one."""
    scene = session.scene
    if session.moments.is_asked or not session.is_dealing:
        return ""
    remote = []
    local = []
    for player in session.awaited:
        if player.name == session.names[SEAT]:
            continue
        if player.is_remote and player.port:
            remote.append(f"{shown(player.name)} to connect at {player.address}")
        else:
            local.append(shown(player.name))
    if remote:
        return f"Waiting for {listed(remote)}."
    if local:
        return f"Waiting for {listed(local)} to sit down."
    if scene is not None and not scene.finished and scene.betting.acting_position != scene.position:
        return f"Waiting for {shown(scene.names[scene.betting.acting_position])}."
    return "The next hand is being dealt."
