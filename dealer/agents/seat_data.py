"""A seat as its agent sees it: values for JSON, and their text.

Everything is made from a `Scene`, which has only cards that the seat may see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from dealer.errors import AgentError
from dealer.person.entries import verb_of
from dealer.person.seat import MatchScore, Scene, in_words
from dealer.person.table_sentences import game_sentence, reasons, score_remark, score_text
from engine import Game, Position, Seat
from engine.text import count_of, listed, shown
from logs import HandRecord
from logs.estimation.mean import chips_text

Move: TypeAlias = Literal["fold", "check", "call", "bet", "raise"]
Status: TypeAlias = Literal["your turn", "waiting", "over"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class LegalAction(_Frozen):
    """A legal action."""

    action: Move
    chips: int | None = Field(default=None, description="chips that a call adds")
    min_to: int | None = Field(
        default=None,
        description="smallest bet or raise: your total for this betting round after it, not the amount added",
    )
    max_to: int | None = Field(default=None, description="largest bet or raise, counted in the same way")

    @property
    def text(self) -> str:
        if self.chips is not None:
            return f"call {self.chips:,}"
        if self.min_to is None or self.max_to is None:
            return self.action
        verb = "raise to" if self.action == "raise" else "bet"
        if self.min_to == self.max_to:
            return f"{verb} {self.min_to:,}"
        return f"{verb} {self.min_to:,} up to {self.max_to:,}"


class PlayerData(_Frozen):
    """A player of the current hand."""

    name: str
    is_you: bool
    position: str = Field(description="such as SB, BB or BTN")
    bet: int = Field(description="chips put in during this betting round")
    stack: int | None = Field(description="chips left; null if they cannot run out")
    has_folded: bool
    is_all_in: bool
    last_action: str = Field(description="in this betting round; empty before it")


class HandData(_Frozen):
    """The current hand."""

    number: int = Field(description="from 0")
    round: str = Field(description="betting round")
    position: str = Field(description="your position")
    cards: list[str] = Field(description="your cards")
    board: list[str]
    strength: str = Field(description="your best hand in words; empty if it has no name yet")
    pot: int
    to_call: int
    big_blind: int
    players: list[PlayerData] = Field(description="by position")
    history: list[str] = Field(description="events so far, in order")


class FinishedHand(_Frozen):
    """A finished hand, with the cards that you have seen."""

    number: int = Field(description="from 0")
    you: str = Field(description="your name")
    position: str = Field(description="your position")
    cards: list[str] = Field(description="your cards")
    board: list[str]
    shown: dict[str, list[str]] = Field(description="cards that other players showed, by name")
    won: dict[str, float] = Field(description="net chips by name")
    history: list[str] = Field(description="events in order")


class StateData(_Frozen):
    """State of your seat."""

    match: str = Field(description="id of the match")
    status: Status
    decision: str | None = Field(description="the decision to make, to be passed to act; null if it is not your turn")
    game: str
    you: str = Field(description="your name")
    opponents: list[str]
    hands: int | None = Field(description="hands of the match; null if they are not limited")
    hand: HandData | None = Field(description="the current hand; null before the first")
    legal: list[LegalAction] = Field(description="actions that act accepts now")
    advice: list[str] = Field(description="sentences about the price of a call and the sizes of a raise")
    score: str = Field(description="your net chips over the finished hands, with the significance")
    notes: list[str] = Field(description="faults of other players, the reason for waiting, and the end of the match")
    finished_hands: list[FinishedHand] = Field(description="hands that ended since your action, the last ones")


class ActData(StateData):
    """State of your seat after an action."""

    accepted: bool = Field(description="the action was played by this call")


class RateData(_Frozen):
    """Winnings per hand in thousandths of a big blind."""

    mbb_per_hand: float
    half_width_95: float | None = Field(description="half the 95 % interval; null with too few hands")
    holds: str = Field(description="when the interval holds: for the number of hands set before, or at any time")


class ResultData(_Frozen):
    """Result of a match."""

    match: str = Field(description="id of the match")
    status: Literal["playing", "finished", "resigned", "stopped"]
    sentence: str = Field(description="the result in words")
    players: list[str]
    hands: int = Field(description="finished hands")
    chips: dict[str, float] = Field(description="net chips by name; empty on a server")
    won: RateData | None = Field(description="your winnings from the chips; null before the first hand")
    corrected: RateData | None = Field(
        description="your winnings without the luck of the cards; null during the match, for a resigned match, and "
        "below 80 hands"
    )
    seed: int | str | None = Field(description="seed of the cards, once the match is over")
    decisions: int | None = Field(description="your actions, once the match is over")
    refused_actions: int = Field(description="illegal actions that were refused")
    median_s: float | None = Field(description="median time of your actions in seconds, once the match is over")
    p99_s: float | None = Field(description="99th percentile of these times")
    folder: str | None = Field(description="folder of the logs, once the match is over")


class GameData(_Frozen):
    """A game."""

    name: str
    players: int
    description: str


class GamesData(_Frozen):
    """Games that can be played."""

    games: list[GameData]


class BotData(_Frozen):
    """An opponent."""

    name: str
    description: str
    games: list[str] = Field(description="names of the games that it plays")


class BotsData(_Frozen):
    """Opponents that can be chosen."""

    bots: list[BotData]


# ---- the current hand


def legal_actions(scene: Scene) -> list[LegalAction]:
    """Return the legal actions; empty unless it is the agent's turn."""
    if not scene.is_your_turn:
        return []
    view = scene.view
    actions = []
    if view.can_fold:
        actions.append(LegalAction(action="fold"))
    if view.to_call:
        actions.append(LegalAction(action="call", chips=view.to_call))
    else:
        actions.append(LegalAction(action="check"))
    if view.can_raise:
        move: Move = "bet" if verb_of(scene) == "Bet" else "raise"
        low = view.min_raise_street_total
        high = view.max_raise_street_total
        actions.append(LegalAction(action=move, min_to=low, max_to=high))
    return actions


def entry_for(action: Move, to: int | None, scene: Scene) -> str:
    """Return the entry at the table (`dealer.person.entries`) for an action.

    `bet` and `raise` mean the same, and a call without a bet is a check.

    Args:
        to: total for the betting round after a bet or raise; may be None if the game fixes it.

    Raises:
        AgentError: the action is illegal. The sentence lists the legal ones.
    """
    view = scene.view
    if action == "fold" and view.can_fold:
        return "f"
    if action == "call" or (action == "check" and not view.to_call):
        return "c"
    if action in ("bet", "raise") and view.can_raise:
        low = view.min_raise_street_total
        high = view.max_raise_street_total
        if to is None and low == high:
            # A limit game, or a stack that is worth no more than the minimum.
            to = low
        if to is not None and low <= to <= high:
            return f"r {to}"
    words: str = action if to is None else f"{action} to {to:,}"
    legal = ", ".join(choice.text for choice in legal_actions(scene))
    raise AgentError(f"{words} is illegal here. Legal: {legal}. Sizes are your total for this betting round.")


def hand_data(scene: Scene) -> HandData:
    moment = scene.moment
    players = []
    for seat in moment.seats:
        player = PlayerData(
            name=seat.name,
            is_you=seat.position == scene.position,
            position=seat.place,
            bet=seat.street_total,
            stack=seat.stack_left,
            has_folded=seat.has_folded,
            is_all_in=seat.is_all_in,
            last_action=seat.last,
        )
        players.append(player)
    return HandData(
        number=scene.hand_number,
        round=moment.round,
        position=moment.seats[scene.position].place,
        cards=list(scene.game.shown_cards(scene.hole_cards)),
        board=list(moment.board),
        strength=scene.strength,
        pot=scene.pot,
        to_call=scene.view.to_call,
        big_blind=scene.game.big_blind,
        players=players,
        history=[in_words(event, scene) for event in scene.history],
    )


# ---- finished hands


def seen_scene(record: HandRecord, seat: Seat) -> Scene:
    """Return the end of a recorded hand as a seat saw it, without a score."""
    betting = record.betting
    position = Position(record.seats.index(seat))
    hole_cards = []
    for owner, cards in enumerate(record.deal.hole_cards):
        is_shown = owner == position or (betting.is_showdown and owner in betting.in_pot)
        hole_cards.append(cards if is_shown else ())
    board = tuple([card for cards in record.board_by_round for card in cards])
    chips = (0.0,) * len(record.names)
    score = MatchScore(0, chips, seat)
    return Scene(
        names=record.names,
        position=position,
        hand_number=record.hand_number,
        all_hole_cards=tuple(hole_cards),
        board=board,
        betting=betting,
        score=score,
    )


def finished_hand(scene: Scene) -> FinishedHand:
    """Describe the end of a hand."""
    assert scene.values is not None
    cards_shown = {}
    for position, name in enumerate(scene.names):
        if position != scene.position and scene.all_hole_cards[position]:
            cards_shown[shown(name)] = list(scene.game.shown_cards(scene.all_hole_cards[position]))
    won = {shown(name): value for name, value in zip(scene.names, scene.values, strict=True)}
    return FinishedHand(
        number=scene.hand_number,
        you=shown(scene.names[scene.position]),
        position=scene.moment.seats[scene.position].place,
        cards=list(scene.game.shown_cards(scene.hole_cards)),
        board=list(scene.game.shown_cards(scene.board)),
        shown=cards_shown,
        won=won,
        history=[in_words(event, scene) for event in scene.history],
    )


# ---- the state


@dataclass(frozen=True, slots=True)
class SeatMoment:
    """Facts from which the state of a seat is described.

    Attributes:
        game: game of the match; None before a server begins one.
        names: players by seat; the agent has the first seat.
        hands: hands of the match; None if they are not limited.
        scene: current scene; None before the first hand.
        decision: name of the decision that is open; empty without one.
        is_over: no further hand is played.
    """

    match: str
    game: Game | None
    names: tuple[str, ...]
    hands: int | None
    scene: Scene | None
    decision: str
    is_over: bool
    notes: tuple[str, ...]
    finished_hands: tuple[FinishedHand, ...]

    @property
    def status(self) -> Status:
        if self.decision:
            return "your turn"
        return "over" if self.is_over else "waiting"

    def data(self) -> StateData:
        scene = self.scene
        hand = None
        legal: list[LegalAction] = []
        advice: tuple[str, ...] = ()
        score = "no finished hands"
        if scene is not None:
            hand = hand_data(scene)
            if scene.score.hands:
                score = f"{score_text(scene.score)} {score_remark(scene.score)}"
            if self.decision:
                legal = legal_actions(scene)
                advice = reasons(scene)
        return StateData(
            match=self.match,
            status=self.status,
            decision=self.decision or None,
            game="no match" if self.game is None else game_sentence(self.game),
            you=shown(self.names[0]),
            opponents=[shown(name) for name in self.names[1:]],
            hands=self.hands,
            hand=hand,
            legal=legal,
            advice=list(advice),
            score=score,
            notes=list(self.notes),
            finished_hands=list(self.finished_hands),
        )


# ---- texts


def games_text(games: GamesData) -> str:
    return "\n".join([f"{game.name}: {game.description}." for game in games.games])


def bots_text(bots: BotsData) -> str:
    return "\n".join([f"{bot.name}: {bot.description}. Plays {listed(bot.games)}." for bot in bots.bots])


def state_text(state: StateData) -> str:
    """Describe the state of a seat in lines."""
    lines = []
    for finished in state.finished_hands:
        lines += [*hand_text(finished).splitlines(), ""]
    if state.opponents:
        lines.append(f"{state.game}. You are {state.you} against {listed(state.opponents)}. Match {state.match}.")
    hand = state.hand
    if hand is not None and state.status != "over":
        number = f"Hand {hand.number}"
        if state.hands is not None:
            number += f" (the last is {state.hands - 1})"
        lines += [f"{number}. Score: {state.score}.", *_hand_lines(hand)]
    else:
        lines.append(f"Score: {state.score}.")
    lines += state.notes
    if state.decision is not None:
        legal = ", ".join(action.text for action in state.legal)
        lines += [*state.advice, f"Decision {state.decision}, your turn: {legal}."]
    elif state.status == "waiting":
        lines.append("It is not your turn. Call state again to wait.")
    return "\n".join(lines)


def _hand_lines(hand: HandData) -> list[str]:
    cards = f"Your cards: {' '.join(hand.cards)}, in position {hand.position}."
    if hand.board:
        cards += f" Board: {' '.join(hand.board)}."
    if hand.strength:
        cards += f" You have {hand.strength}."
    lines = [*(f"- {event}" for event in hand.history), cards]
    price = f"{hand.round.capitalize()}, pot {_in_blinds(hand.pot, hand.big_blind)}"
    if hand.to_call:
        price += f", to call {_in_blinds(hand.to_call, hand.big_blind)}"
    lines.append(f"{price}.")
    for player in hand.players:
        lines.append(_player_line(player, hand.big_blind))
    return lines


def _player_line(player: PlayerData, big_blind: int) -> str:
    name = "You" if player.is_you else player.name
    parts = [f"{name} ({player.position})"]
    if player.stack is not None:
        parts.append(f"stack {_in_blinds(player.stack, big_blind)}")
    if player.bet:
        parts.append(f"bet {player.bet:,}")
    if player.has_folded:
        parts.append("folded")
    elif player.is_all_in:
        parts.append("all-in")
    return f"{', '.join(parts)}."


def _in_blinds(chips: int, big_blind: int) -> str:
    return f"{chips:,} ({chips / big_blind:,.4g} big blinds)"


def hand_text(hand: FinishedHand) -> str:
    """Describe a finished hand in lines."""
    lines = [f"Hand {hand.number} is over. You had {' '.join(hand.cards)}, in position {hand.position}."]
    lines += [f"- {event}" for event in hand.history]
    lines.append(f"Your net chips: {chips_text(hand.won[hand.you])}.")
    return "\n".join(lines)


def result_text(result: ResultData) -> str:
    """Describe a result in lines."""
    lines = [f"Match {result.match} ({result.status}): {result.sentence}"]
    if result.chips:
        chips = ", ".join(f"{name} {chips_text(won)}" for name, won in result.chips.items())
        lines.append(f"Chips after {count_of(result.hands, 'hand')}: {chips}.")
    for label, rate in (("From the chips", result.won), ("Without the luck of the cards", result.corrected)):
        if rate is not None:
            lines.append(f"{label}: {rate_text(rate)}")
    if result.refused_actions:
        lines.append(f"{count_of(result.refused_actions, 'illegal action')} refused.")
    if result.decisions and result.median_s is not None:
        lines.append(f"{count_of(result.decisions, 'decision')}, median time {result.median_s:.3g} s.")
    if result.seed is not None:
        lines.append(f"Seed {result.seed}. Files are in {result.folder}")
    return "\n".join(lines)


def rate_text(rate: RateData) -> str:
    if rate.half_width_95 is None:
        return f"{rate.mbb_per_hand:+,.0f} mbb per hand; too few hands for an interval."
    return f"{rate.mbb_per_hand:+,.0f} ± {rate.half_width_95:,.0f} mbb per hand (95 %, {rate.holds})."
