"""What every face shows in words: the game, what a person may do and why no more, the end of a hand, the score."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from bots.errors import UnclearEntry
from bots.human import Choices, MatchScore, Raises, Scene, read_entry
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
    choices = scene.choices
    if choices is None:
        return ()
    found = [Offer("f", "f", "Fold")] if choices.can_fold else []
    all_in = ", all-in" if choices.is_call_all_in else ""
    found.append(Offer("c", "c", f"Call {choices.to_call:,}{all_in}" if choices.to_call else "Check"))
    raises = choices.raises
    if raises is not None and raises.street_min == raises.street_max:
        all_in = "" if raises.is_fixed else ", all-in"
        found.append(Offer("r", "r", f"{_verb(raises)} {raises.street_min:,}{all_in}"))
    return tuple(found)


def size_offers(scene: Scene) -> tuple[Offer, ...]:
    """Sizes of a bet or raise that the person may choose; none where the game fixes it."""
    raises = None if scene.choices is None else scene.choices.raises
    if raises is None or raises.street_min == raises.street_max:
        return ()
    totals = {raises.street_min: Offer("m", "", f"smallest ({raises.street_min:,})", raises.street_min)}
    for entry, name in POT_PARTS:
        try:
            action = read_entry(entry, scene)
        except UnclearEntry:
            continue
        total = scene.view.to_street_total(action.hand_total)
        totals.setdefault(total, Offer(entry, "", f"{name} ({total:,})", total))
    totals[raises.street_max] = Offer("a", "", f"all-in ({raises.street_max:,})", raises.street_max)
    return tuple(totals[total] for total in sorted(totals))


def reasons(scene: Scene) -> tuple[str, ...]:
    """What the rules allow the person here and why no more, in sentences; nothing unless it is asked."""
    choices = scene.choices
    if choices is None:
        return ()
    return (_about_calling(choices, scene), _about_raising(choices, scene))


def _about_calling(choices: Choices, scene: Scene) -> str:
    if not choices.to_call:
        return "Nobody has bet more than you, so you may check for nothing, and there is nothing to fold to."
    share = Fraction(choices.to_call, scene.pot + choices.to_call)
    return (
        f"A call adds {choices.to_call:,} to a pot of {scene.pot:,}: played to a showdown without more bets, "
        f"it pays if you win more than {float(share):.1%} of the time."
    ).replace("%", " %")


def _about_raising(choices: Choices, scene: Scene) -> str:
    raises = choices.raises
    if raises is None:
        rule = scene.betting.raise_refusal()
        return f"You cannot raise: {_WHY_NO_RAISE.get(rule, 'the rules forbid it') if rule else 'the rules forbid it'}."
    verb = _verb(raises).lower()
    if raises.is_fixed:
        return f"The game fixes the size: you may {verb} {raises.street_min:,}, your total for this round."
    if raises.street_min == raises.street_max:
        return f"You may {verb} {raises.street_max:,}: all your chips, and less is no raise."
    least = "the big blind" if raises.is_bet else "as much more as the last bet or raise"
    return (
        f"You may {verb} anything from {raises.street_min:,}, which is {least}, to {raises.street_max:,}, "
        "which is all-in. Sizes are your total for this round."
    )


def _verb(raises: Raises) -> str:
    return "Bet" if raises.is_bet else "Raise to"
