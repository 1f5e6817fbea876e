"""Sentences about a table, for the terminal and the pages: game, legal actions, results and score."""

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
    """Describe a game in a sentence without its full stop."""
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
    """Format a score, as in ``+20 after 3 hands``."""
    return f"{chips_text(score.yours)} after {count_of(score.hands, 'hand')}"


def score_remark(score: MatchScore) -> str:
    """Return a remark in brackets about the significance of a score."""
    rate = score.rate
    if rate is None or rate.half_width is None:
        return "(too few to separate skill from luck)"
    verdict = "significant"
    if abs(rate.mean) <= rate.half_width:
        verdict = "not significant"
    return f"({rate.text()} at 95 %, {verdict})"


def result_sentence(scene: Scene) -> str:
    """Describe the person's result of a finished hand, and the score."""
    value = 0.0
    if scene.values is not None:
        value = scene.values[scene.position]
    return f"{chips_text(value)} in this hand, {score_text(scene.score)} {score_remark(scene.score)}."


_WHY_NO_RAISE: Final = {
    Rule.RAISE_CAP: "this round has as many raises as the game allows",
    Rule.NOBODY_TO_RAISE: "no other player has chips left",
    Rule.STACK_TOO_SMALL: "a call takes all your chips",
    Rule.ACTION_LIMIT: "this round has reached the limit of actions",
}


def reasons(scene: Scene) -> tuple[str, ...]:
    """Explain the legal actions in sentences; empty unless it is the person's turn."""
    if not scene.is_your_turn:
        return ()
    return _about_calling(scene), _about_raising(scene)


def _about_calling(scene: Scene) -> str:
    to_call = scene.view.to_call
    if not to_call:
        return "There is nothing to call, so you may check, and you cannot fold."
    share = Fraction(to_call, scene.pot + to_call)
    return (
        f"A call adds {to_call:,} to a pot of {scene.pot:,}. Without more bets, it is profitable if you win more than "
        f"{float(share):.1%} of the showdowns."
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
        return f"You cannot raise, because {reason}."
    if scene.game.is_limit:
        return f"You may {verb} {smallest:,}, your total for this round. The game fixes the size."
    if smallest == largest:
        return f"You may {verb} {largest:,}, which is all-in. Any other size is too small."
    size = "the big blind"
    if any(view.street_committed):
        size = "as much more as the last bet or raise"
    return (
        f"You may {verb} anything from {smallest:,}, which is {size}, to {largest:,}, "
        "which is all-in. Sizes are your total for this round."
    )


def waiting_sentence(session: TableSession) -> str:
    """Name the players for which the person waits; empty without any."""
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
        return f"Waiting for {listed(local)} to connect."
    if scene is not None and not scene.finished and scene.betting.acting_position != scene.position:
        return f"Waiting for {shown(scene.names[scene.betting.acting_position])}."
    return "The next hand is being dealt."
