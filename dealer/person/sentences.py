"""What every face shows in words: the game, what a person may do and why no more, the end of a hand, the score."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from bots.errors import UnclearEntry
from bots.human import MatchScore, Scene, read_entry
from engine import Game, Rule
from engine.game import DEFAULT_STACK
from engine.holdem import is_holdem
from engine.text import count_of
from logs.view import chips_in_words


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


def signed_chips(chips: float) -> str:
    """Chips won or lost: ``+20``, ``-33.33``, ``0``."""
    chips = round(chips, 2)
    return ("+" if chips > 0 else "-" if chips < 0 else "") + chips_in_words(abs(chips))


def score_text(score: MatchScore) -> str:
    """The score in a few words: ``+20 after 3 hands``."""
    return f"{signed_chips(score.yours)} after {count_of(score.hands, 'hand')}"


def score_remark(score: MatchScore) -> str:
    """What a score shows about strength, in brackets."""
    rate = score.rate
    if rate is None or rate.half_width is None:
        return "(too few to separate skill from luck)"
    verdict = "which may be luck" if abs(rate.mbb) <= rate.half_width else "more than luck explains"
    return f"({rate.text()} at 95 %, {verdict})"


def result_sentence(scene: Scene) -> str:
    """The end of a hand: what it meant for the person, and the score."""
    value = 0.0 if scene.values is None else scene.values[scene.position]
    return f"{signed_chips(value)} in this hand, {score_text(scene.score)} {score_remark(scene.score)}."


POT_PARTS: Final = (("p/2", "½ pot"), ("2/3p", "⅔ pot"), ("p", "pot"), ("2p", "2 × pot"))
"""Parts of the pot as it is after a call, as entries and as a person calls them."""
_WHY_NO_RAISE: Final = {
    Rule.RAISE_CAP: "the raises that the game allows in a round are made",
    Rule.NOBODY_TO_RAISE: "nobody else has chips left to answer it",
    Rule.STACK_TOO_SMALL: "a call takes all your chips",
    Rule.ACTION_LIMIT: "this round has as many actions as a round can have",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that a person may do.

    Attributes:
        entry: what stands for it, as `bots.human.read_entry` takes it.
        key: the key for it; empty without one.
        label: such as ``Call 20``.
        size: the player's total for the round after it, for a size that may be changed before it is sent.
    """

    entry: str
    key: str
    label: str
    size: int | None = None


def offers(scene: Scene) -> tuple[Offer, ...]:
    """What the person may do without naming a size; nothing unless it is asked."""
    if not scene.is_your_turn:
        return ()
    found = [Offer("f", "f", "Fold")] if scene.view.can_fold else []
    to_call, all_in = scene.view.to_call, ", all-in" if scene.is_call_all_in else ""
    found.append(Offer("c", "c", f"Call {to_call:,}{all_in}" if to_call else "Check"))
    totals = scene.raise_totals
    if totals is not None and totals[0] == totals[1]:
        all_in = "" if scene.game.is_limit else ", all-in"
        found.append(Offer("r", "r", f"{_verb(scene)} {totals[0]:,}{all_in}"))
    return tuple(found)


def size_offers(scene: Scene) -> tuple[Offer, ...]:
    """Sizes of a bet or raise that the person may choose; none where the game fixes it."""
    least, most = scene.raise_totals or (0, 0)
    if least == most:
        return ()
    totals = {least: Offer("m", "", f"smallest ({least:,})", least)}
    for entry, name in POT_PARTS:
        try:
            action = read_entry(entry, scene)
        except UnclearEntry:
            continue
        total = scene.view.to_street_total(action.hand_total)
        totals.setdefault(total, Offer(entry, "", f"{name} ({total:,})", total))
    totals[most] = Offer("a", "", f"all-in ({most:,})", most)
    return tuple(totals[total] for total in sorted(totals))


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
    if scene.raise_totals is None:
        rule = scene.betting.raise_refusal()
        return f"You cannot raise: {_WHY_NO_RAISE.get(rule, 'the rules forbid it') if rule else 'the rules forbid it'}."
    least, most = scene.raise_totals
    verb = _verb(scene).lower()
    if scene.game.is_limit:
        return f"The game fixes the size: you may {verb} {least:,}, your total for this round."
    if least == most:
        return f"You may {verb} {most:,}: all your chips, and less is no raise."
    reason = "the big blind" if scene.is_bet else "as much more as the last bet or raise"
    return (
        f"You may {verb} anything from {least:,}, which is {reason}, to {most:,}, "
        "which is all-in. Sizes are your total for this round."
    )


def _verb(scene: Scene) -> str:
    return "Bet" if scene.is_bet else "Raise to"
