"""Random games within the limits of the protocol, and random play within the rules."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import strategies as st

from engine import CALL, FOLD, RAISE, Action, BettingState, BettingType, Game, betting_start, raise_to
from engine.game import DEFAULT_STACK

SEEDS = st.integers(0, 2**32 - 1)


def toy_game(
    stacks: tuple[int, ...],
    blinds: tuple[int, ...],
    *,
    raise_sizes: tuple[int, ...] = (),
    rounds: int = 1,
    first_players: tuple[int, ...] | None = None,
    max_raises: tuple[int, ...] | None = None,
    hole_cards: int = 1,
    board_cards: tuple[int, ...] | None = None,
) -> Game:
    """Game with a full deck; limit if it has raise sizes. By default position 0 acts first and there is no board."""
    return Game(
        betting=BettingType.LIMIT if raise_sizes else BettingType.NO_LIMIT,
        num_players=len(stacks),
        num_rounds=rounds,
        stacks=stacks,
        blinds=blinds,
        raise_sizes=raise_sizes,
        first_players=first_players or (0,) * rounds,
        max_raises=max_raises or (255,) * rounds,
        num_suits=4,
        num_ranks=13,
        num_hole_cards=hole_cards,
        num_board_cards=board_cards or (0,) * rounds,
    )


def random_game(seed: int) -> Game:
    """Return any playable game: short decks, short and unequal stacks, all blinds, board cards in any round."""
    chance = random.Random(seed)

    def between(low: int, high: int) -> int:
        return chance.choice((low, high)) if chance.random() < 0.25 else chance.randint(low, high)

    betting = chance.choice(list(BettingType))
    suits, ranks = between(1, 4), between(2, 13)
    hole_cards = between(1, min(3, suits * ranks // 2))
    players = between(2, min(10, suits * ranks // hole_cards))
    rounds = between(1, 4)
    board_cards, left = [], min(7, suits * ranks - players * hole_cards)
    for _ in range(rounds):
        board_cards.append(between(0, min(3, left)))
        left -= board_cards[-1]
    depth = chance.choice([4, 12, 60, 400])
    stacks = [between(1, depth) if chance.random() < 2 / 3 else DEFAULT_STACK for _ in range(players)]
    blinds = [between(0, min(stack, 10)) if chance.random() < 0.5 else 0 for stack in stacks]
    return Game(
        betting=betting,
        num_players=players,
        num_rounds=rounds,
        stacks=tuple(stacks),
        blinds=tuple(blinds),
        raise_sizes=tuple(between(1, 20) for _ in range(rounds)) if betting is BettingType.LIMIT else (),
        first_players=tuple(between(0, players - 1) for _ in range(rounds)),
        max_raises=tuple(chance.choice([0, 1, 2, 4, 255]) for _ in range(rounds)),
        num_suits=suits,
        num_ranks=ranks,
        num_hole_cards=hole_cards,
        num_board_cards=tuple(board_cards),
    )


def games() -> st.SearchStrategy[Game]:
    """Draw random games, each from one number: drawing its fifty parts costs more than most tests."""
    return SEEDS.map(random_game)


def playable_games() -> st.SearchStrategy[Game]:
    """Games with at least one decision: the blinds do not put all players all-in."""
    return games().filter(lambda game: not betting_start(game).finished)


def random_action(betting: BettingState, chance: random.Random, fold: float = 0.1) -> Action:
    """Return a legal action; raises are often the smallest or the largest."""
    legal = betting.legal_actions()
    if legal.can_fold and chance.random() < fold:
        return FOLD
    if not legal.can_raise or chance.random() < 0.5:
        return CALL
    if betting.game.is_limit:
        return RAISE
    low, high = legal.raise_min, legal.raise_max
    return raise_to(chance.choice([low, low, min(high, 2 * low), chance.randint(low, high), high]))


def random_play(game: Game, seed: int) -> Iterator[tuple[BettingState, Action | None]]:
    """Return the states of one hand, each with its action; None at the end."""
    chance = random.Random(seed)
    fold = chance.choice([0.02, 0.1, 0.3])
    betting = betting_start(game)
    while not betting.finished:
        action = random_action(betting, chance, fold)
        yield betting, action
        betting = betting.after(action)
    yield betting, None


def random_end(game: Game, seed: int) -> BettingState:
    """Return the last state of one hand."""
    *_, (betting, _) = random_play(game, seed)
    return betting


def action_texts(betting: BettingState) -> str:
    """Write the betting as the protocol does, without the protocol's code."""

    def text(action: Action) -> str:
        return "fcr"[action.kind] + (str(action.hand_total) if action.hand_total else "")

    return "/".join("".join(text(action) for _, action in actions) for actions in betting.rounds)
