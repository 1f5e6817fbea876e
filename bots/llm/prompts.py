"""Prompts: a state in words for a model, made from a template of Jinja.

`TEMPLATES` are the shipped templates, in the folder ``prompts``. A user's own template is a file with the same
variables, the fields of `Situation`. It may begin with ``{% extends "plain" %}`` and replace its blocks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bots.errors import BotFileError
from bots.llm.answers import action_names, raise_name
from bots.sdk.chance import EquityCounter, holdem_refusal
from bots.sdk.view import View
from engine import Game, Position
from engine.holdem import NO_CAP, holdem_blinds, is_holdem, position_names, round_names
from engine.text import count_of, listed
from logs.estimation.mean import largest_loss
from logs.hand_view import Acted, Dealt, HandEvent, Shown, action_words, hand_events

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES: Final = ("plain", "with-odds")
MAX_NOTES_CHARS: Final = 1_000
_FOLDER: Final = Path(__file__).parent / "prompts"
_TRIALS: Final = 10_000
"""Showdowns drawn for the equity against two or more random hands; its standard error is at most 0.5 %."""


class Situation(NamedTuple):
    """Variables of a template. Amounts are in chips.

    Attributes:
        rules: lines on the rules of the game.
        hand_number: number of the hand in the match, from 1.
        position: name of the player's position, such as ``SB``.
        big_blind: largest blind.
        cards: own hole cards.
        board: board cards; empty before there are any.
        round: name of the betting round.
        seats: a line per player with its position, its stack and whether it has folded.
        history: lines on the hand so far.
        pot: chips of all players in the pot.
        to_call: chips to add for a call; 0 if the player can check.
        stack: chips left; None if the stacks are deeper than any bet of the game.
        legal: lines on the legal actions, with the bounds of a bet or raise.
        min_raise: smallest bet or raise as a street total; 0 if none is legal.
        max_raise: largest one.
        pot_odds: share of the pot after a call that the call is, 0 to 1; 0 without a bet to call.
        equity: function that computes the expected share of the pot against random hands of the players left, 0 to 1;
            it returns None in games other than hold'em.
        notes: notes of the model on the match; empty without any.
        how_to_answer: lines on the form of the answer.
    """

    rules: list[str]
    hand_number: int
    position: str
    big_blind: int
    cards: str
    board: str
    round: str
    seats: list[str]
    history: list[str]
    pot: int
    to_call: int
    stack: int | None
    legal: list[str]
    min_raise: int
    max_raise: int
    pot_odds: float
    equity: Callable[[], float | None]
    notes: str
    how_to_answer: list[str]


class Prompts:
    """Compose the prompts of a match."""

    def __init__(self, template: str) -> None:
        """Load a template.

        Args:
            template: name of a shipped template, or path of a file.

        Raises:
            BotFileError: the file cannot be read, or is not a template.
        """
        self._path = template
        self._template = _load(template)
        self._chances = EquityCounter(trials=_TRIALS, seed=0)

    def ask_action(self, view: View, notes: str) -> str:
        """Compose the prompt for a decision.

        Raises:
            BotFileError: the template names an unknown variable or fails.
        """
        from jinja2 import TemplateError

        try:
            return self._template.render(self._situation(view, notes)._asdict()).strip() + "\n"
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise BotFileError(self._path, f"the template fails: {error}") from None

    def _situation(self, view: View, notes: str) -> Situation:
        game = view.game
        return Situation(
            rules=rules_in_words(game),
            hand_number=view.hand_number + 1,
            position=position_names(game)[view.position],
            big_blind=game.big_blind,
            cards=" ".join(game.shown_cards(view.hole_cards)),
            board=" ".join(game.shown_cards(view.board)),
            round=round_names(game)[view.round],
            seats=_seats_in_words(view),
            history=_history(view, None),
            pot=view.pot,
            to_call=view.to_call,
            stack=None if _has_deep_stacks(game) else view.stack_left,
            legal=legal_in_words(view),
            min_raise=view.min_raise_street_total,
            max_raise=view.max_raise_street_total,
            pot_odds=view.pot_odds,
            equity=partial(self._equity, view),
            notes=notes,
            how_to_answer=_how_to_answer(view),
        )

    def _equity(self, view: View) -> float | None:
        if holdem_refusal(view.game) is not None:
            return None
        return self._chances.equity(view).equity


def _load(template: str) -> Template:
    from jinja2 import StrictUndefined, TemplateError, TemplateNotFound
    from jinja2.loaders import FunctionLoader
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def load(name: str) -> str | None:
        if name not in TEMPLATES:
            return None
        return (_FOLDER / f"{name}.jinja").read_text("utf-8")

    # Sandboxed, because a template may be somebody else's file. Not escaped, because prompts are no pages.
    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["chips"] = count_of
    try:
        # The folder of the bot precedes its files, and the names of shipped templates, too.
        name = os.path.basename(template)
        if name in TEMPLATES and not os.path.isfile(template):
            return environment.get_template(name)
        return environment.from_string(Path(template).read_text("utf-8"))
    except TemplateNotFound as error:
        raise BotFileError(template, f"it extends {error}; the shipped templates are {listed(TEMPLATES)}") from None
    except TemplateError as error:
        raise BotFileError(template, f"it is not a template of Jinja: {error}") from None
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}; the shipped templates are {listed(TEMPLATES)}"
        raise BotFileError(template, problem) from None
    except UnicodeDecodeError:
        raise BotFileError(template, "it is not UTF-8") from None


def ask_notes(view: View, notes: str) -> str:
    """Compose the prompt for notes after a hand."""
    lines = [
        f"Hand {view.hand_number + 1} of the match is over. You were {position_names(view.game)[view.position]} with "
        f"{' '.join(view.game.shown_cards(view.hole_cards))}.",
        *_history(view, view.values),
        f"You won {view.value:+,.10g} chips in this hand.",
        "",
        "Your notes so far:",
        notes or "(none)",
        "",
        "Write your new notes on how the other players play. They replace the old ones and are all that you will know "
        f"about earlier hands. Write at most {MAX_NOTES_CHARS:,} characters, without anything else.",
    ]
    return "\n".join(lines) + "\n"


def ask_again(problem: str, view: View) -> str:
    """Compose the message after an answer that is not usable."""
    legal = " ".join(legal_in_words(view))
    return f"{problem} The legal actions are: {legal} {' '.join(_how_to_answer(view))}\n"


def _how_to_answer(view: View) -> list[str]:
    names = "|".join(action_names(view))
    lines = [
        f'Answer with a JSON object: {{"reason": "one or two sentences", "action": "{names}", "amount": null}}.',
    ]
    if view.can_raise and not view.game.is_limit:
        lines.append(f"For a {raise_name(view)}, set amount to your total of chips in this betting round.")
    lines.append('If you cannot write JSON, end with the line "ACTION: " and the action, such as "ACTION: call".')
    return lines


def legal_in_words(view: View) -> list[str]:
    """Return a line for each legal action."""
    lines = []
    if view.can_fold:
        lines.append("fold: give up the hand.")
    if view.to_call:
        lines.append(f"call: add {_chips(view.to_call, view.game)}.")
    else:
        lines.append("check: add nothing.")
    if view.can_raise:
        name = raise_name(view)
        low = view.min_raise_street_total
        high = view.max_raise_street_total
        if low == high:
            lines.append(f"{name}: to {_chips(low, view.game)} in this betting round.")
        else:
            bounds = f"from {_chips(low, view.game)} to {_chips(high, view.game)}"
            lines.append(f"{name}: to a total of yours in this betting round, {bounds}.")
    return lines


def _chips(chips: int, game: Game) -> str:
    """Format an amount in chips and big blinds."""
    if game.big_blind == 1:
        return count_of(chips, "chip")
    return f"{count_of(chips, 'chip')} ({chips / game.big_blind:,.4g} BB)"


def _has_deep_stacks(game: Game) -> bool:
    return game.is_limit and min(game.stacks) > largest_loss(game)


def _seats_in_words(view: View) -> list[str]:
    lines = []
    for position, name in enumerate(_player_names(view)):
        line = name
        if not _has_deep_stacks(view.game):
            line += f": {_chips(view.stacks_left[position], view.game)} left"
        if Position(position) in view.folded_positions:
            line += ", folded"
        lines.append(line)
    return lines


def _player_names(view: View) -> list[str]:
    names = []
    for position, place in enumerate(position_names(view.game)):
        names.append(f"You ({place})" if position == view.position else place)
    return names


def _history(view: View, values: tuple[float, ...] | None) -> list[str]:
    """Return a line per event of the hand."""
    names = _player_names(view)
    events = hand_events(view.betting, view.all_hole_cards, view.board, values)
    return [_event_in_words(event, view, names) for event in events]


def _event_in_words(event: HandEvent, view: View, names: list[str]) -> str:
    game = view.game
    if isinstance(event, Dealt):
        street = round_names(game)[event.round].capitalize()
        pot = f"the pot is {_chips(event.pot, game)}"
        if event.cards:
            return f"{street}: {' '.join(game.shown_cards(event.cards))}, {pot}."
        return f"{street}: {pot}."
    end = "" if event.position == view.position else "s"
    name = names[event.position]
    if isinstance(event, Shown):
        strength = f", {event.strength}" if event.strength else ""
        return f"{name} show{end} {' '.join(game.shown_cards(event.cards))}{strength}."
    words = action_words(event, game, end=end)
    if isinstance(event, Acted) and event.added and game.big_blind > 1:
        words += f" ({event.street_total / game.big_blind:,.4g} BB in this round)"
    return f"{name} {words}."


def rules_in_words(game: Game) -> list[str]:
    """Return the rules of a game in at most ten lines."""
    lines = [_kind_of_game(game), _cards_in_words(game)]
    places = position_names(game)
    blinds = [f"{place} {blind:,}" for place, blind in zip(places, game.blinds, strict=True) if blind]
    word = "blinds" if holdem_blinds(game) is not None else "forced bets"
    lines.append(
        f"Before the cards, the {word} are posted: {listed(blinds)} chips." if blinds else "There are no blinds."
    )
    lines.append(_order_in_words(game))
    lines.append(_sizes_in_words(game))
    if _has_deep_stacks(game):
        lines.append("Every hand starts with stacks that are larger than all possible bets.")
    else:
        lines.append(f"Every hand starts with the same stacks again: {_stacks_in_words(game)}.")
    lines.append(_ranking(game))
    lines.append(
        "After the last round the best hand among the players who have not folded wins; equal hands share the pot."
    )
    lines.append('The size of a bet or raise is your total of chips in the current betting round, as in "raise to".')
    lines.append("Your aim is to win as many chips as possible on average over many hands.")
    return lines


def _kind_of_game(game: Game) -> str:
    kind = "Texas hold'em" if is_holdem(game) else "a poker game"
    betting = "fixed-limit" if game.is_limit else "no-limit"
    return f"This is {kind} for {game.num_players} players with {betting} betting."


def _cards_in_words(game: Game) -> str:
    rounds = round_names(game)
    hole = f"Each player is dealt {count_of(game.num_hole_cards, 'hole card')}"
    board = [f"{number} before {name}" for name, number in zip(rounds, game.num_board_cards, strict=True) if number]
    if len(game.deck) <= 12:
        deck = f"the deck {' '.join(game.shown_cards(sorted(game.deck)))}"
    else:
        deck = f"a deck of {len(game.deck)} cards"
    shared = f"The players share the board cards: {listed(board)}." if board else "There are no board cards."
    return f"{hole} from {deck}. {count_of(game.num_rounds, 'betting round')}. {shared}"


def _order_in_words(game: Game) -> str:
    places = position_names(game)
    first = [f"{places[place]} in {name}" for name, place in zip(round_names(game), game.first_players, strict=True)]
    order = ", ".join(places)
    return f"The first player to act is {listed(first)}; then the others act in the order {order}, again and again."


def _sizes_in_words(game: Game) -> str:
    if game.is_limit:
        sizes = dict(zip(round_names(game), game.raise_sizes, strict=True))
        size = ", ".join([f"{chips:,} in {name}" for name, chips in sizes.items()])
        text = f"A bet or raise adds a fixed number of chips to the bet: {size}."
    else:
        text = "A bet or raise has any size from the minimum, which is the last bet or raise, to all of your chips."
    if min(game.max_raises) < NO_CAP:
        caps = ", ".join(map(str, game.max_raises))
        text += f" Bets and raises per round, at most: {caps}."
    return text


def _stacks_in_words(game: Game) -> str:
    if len(set(game.stacks)) == 1:
        return _chips(game.stacks[0], game)
    return ", ".join(
        f"{place} {_chips(chips, game)}" for place, chips in zip(position_names(game), game.stacks, strict=True)
    )


def _ranking(game: Game) -> str:
    cards = game.num_hole_cards + sum(game.num_board_cards)
    if cards >= 5:
        return (
            "The best five cards count, in the usual order: straight flush, four of a kind, full house, flush, "
            "straight, three of a kind, two pairs, a pair, high card."
        )
    if cards == 1:
        return "The highest card wins."
    return "Equal ranks, such as a pair, beat high cards; otherwise the higher cards win."
