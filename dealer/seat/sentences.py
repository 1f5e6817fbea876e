"""What is played, how a hand ended and what a score says, in words that every face shows."""

from __future__ import annotations

from bots.human import Scene, Score
from engine import Game
from engine.game import DEFAULT_STACK
from engine.holdem import is_holdem
from logs.hand_events import chips_in_words

__all__ = ["counted", "game_sentence", "result_sentence", "score_remark", "score_text", "signed_chips"]


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


def counted(number: int, word: str) -> str:
    """A number of things: ``1 hand``, ``1,250 hands``."""
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def score_text(score: Score) -> str:
    """The score in a few words: ``+20 after 3 hands``."""
    return f"{signed_chips(score.yours)} after {counted(score.hands, 'hand')}"


def score_remark(score: Score) -> str:
    """What a score says about strength, in brackets."""
    rate = score.rate
    if rate is None or rate.half_width is None:
        return "(too few to tell skill from luck)"
    says = "which may be luck" if abs(rate.mbb) <= rate.half_width else "more than luck explains"
    return f"({rate.text()} at 95 %, {says})"


def result_sentence(scene: Scene) -> str:
    """The end of a hand: what it meant for the person, and the score."""
    value = 0.0 if scene.values is None else scene.values[scene.position]
    return f"{signed_chips(value)} in this hand, {score_text(scene.score)} {score_remark(scene.score)}."
