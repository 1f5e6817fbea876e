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
        name += f" with a deck of {len(game.deck)} cards{', bets ' * bool(bets)}{bets}"
    depth = "" if game.stacks[0] >= DEFAULT_STACK else f", stacks {game.stacks[0]:,}"
    return f"{name}, {game.num_players} players, blinds {blinds}{depth}"


def score_text(score: MatchScore) -> str:
    """The score in a few words: ``+20 after 3 hands``."""
    return f"{chips_text(score.yours)} after {count_of(score.hands, 'hand')}"


def score_remark(score: MatchScore) -> str:
    """What a score shows about strength, in brackets."""
    rate = score.rate
    if rate is None or rate.half_width is None:
        return "(too few to separate skill from luck)"
    verdict = "which may be luck" if abs(rate.mean) <= rate.half_width else "more than luck explains"
    return f"({rate.text()} at 95 %, {verdict})"


def result_sentence(scene: Scene) -> str:
    """The end of a hand: what it meant for the person, and the score."""
    value = 0.0 if scene.values is None else scene.values[scene.position]
    return f"{chips_text(value)} in this hand, {score_text(scene.score)} {score_remark(scene.score)}."


_WHY_NO_RAISE: Final = {
    Rule.RAISE_CAP: "the raises that the game allows in a round are made",
    Rule.NOBODY_TO_RAISE: "nobody else has chips left to answer it",
    Rule.STACK_TOO_SMALL: "a call takes all your chips",
    Rule.ACTION_LIMIT: "this round has as many actions as a round can have",
}


def reasons(scene: Scene) -> tuple[str, ...]:
    """What the rules allow the person here and why no more, in sentences; nothing unless it is asked."""
    return (_about_calling(scene), _about_raising(scene)) if scene.is_your_turn else ()


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
    view, verb = scene.view, verb_of(scene).lower()
    least, most = view.min_raise_street_total, view.max_raise_street_total
    if not view.can_raise:
        rule = scene.betting.raise_refusal()
        return f"You cannot raise: {_WHY_NO_RAISE.get(rule, 'the rules forbid it') if rule else 'the rules forbid it'}."
    if scene.game.is_limit:
        return f"The game fixes the size: you may {verb} {least:,}, your total for this round."
    if least == most:
        return f"You may {verb} {most:,}: all your chips, and less is no raise."
    size = "as much more as the last bet or raise" if any(view.street_committed) else "the big blind"
    return (
        f"You may {verb} anything from {least:,}, which is {size}, to {most:,}, "
        "which is all-in. Sizes are your total for this round."
    )


def waiting_sentence(session: TableSession) -> str:
    """Who is waited for; empty where it is the person, or no one."""
    scene = session.scene
    if session.moments.is_asked or not session.is_dealing:
        return ""
    others = [player for player in session.awaited if player.name != session.names[SEAT]]
    if others:
        remote = [f"{shown(one.name)} to connect at {one.address}" for one in others if one.is_remote and one.port]
        rest = [shown(one.name) for one in others if not (one.is_remote and one.port)]
        return f"Waiting for {listed(remote or [f'{listed(rest)} to sit down'])}."
    if scene is not None and not scene.finished and scene.betting.acting_position != scene.position:
        return f"Waiting for {shown(scene.names[scene.betting.acting_position])}."
    return "The next hand is being dealt."
