"""Match states of random hands, built from the rules and the cards alone."""

from __future__ import annotations

from hypothesis import strategies as st

from engine import BettingState, Card, Deal, Game, Position, deal_hand
from protocol import MatchState, find_game, shipped_games
from protocol.betting_nodes import BettingNode, first_node
from tests.engine.strategies import SEEDS, playable_games, random_play

ANY_GAME = st.one_of(st.sampled_from([find_game(name)[1] for name in shipped_games()]), playable_games())
"""Shipped games and random ones, also with board cards in round 0."""


def view(betting: BettingState, deal: Deal, position: int, hand_number: int) -> MatchState:
    """State seen by a position: its own cards and, at a showdown, those of all players who did not fold."""
    game = betting.game
    shown = betting.finished and betting.folded.bit_count() < game.num_players - 1
    holes: list[tuple[Card, ...]] = [
        hole if p == position or (shown and not betting.folded >> p & 1) else ()
        for p, hole in enumerate(deal.hole_cards)
    ]
    board, at = [], 0
    for count in game.num_board_cards[: betting.round + 1]:
        board.append(deal.board[at : at + count])
        at += count
    rounds = tuple(tuple(action for _, action in actions) for actions in betting.rounds)
    return MatchState(Position(position), hand_number, rounds, tuple(holes), tuple(board))


@st.composite
def hands(draw: st.DrawFn) -> list[tuple[Game, MatchState]]:
    """Draw every state of one random hand for every viewer."""
    game, seed = draw(ANY_GAME), draw(SEEDS)
    hand_number = draw(st.sampled_from([0, 1, 9, 10, 2999, 2**32 - 1]))
    deal = deal_hand(game, seed, 0)
    return [
        (game, view(betting, deal, position, hand_number))
        for betting, _ in random_play(game, seed)
        for position in range(game.num_players)
    ]


@st.composite
def states(draw: st.DrawFn) -> tuple[Game, MatchState]:
    """Draw one state of one random hand for one viewer."""
    game, seed = draw(ANY_GAME), draw(SEEDS)
    path = [betting for betting, _ in random_play(game, seed)]
    betting = draw(st.sampled_from(path))
    position = draw(st.integers(0, game.num_players - 1))
    hand_number = draw(st.integers(0, 2**32 - 1))
    return game, view(betting, deal_hand(game, seed, 0), position, hand_number)


def node_of(betting: BettingState) -> BettingNode:
    """Return the node of a state that was reached elsewhere."""
    node = first_node(betting.game)
    for actions in betting.rounds:
        for _, action in actions:
            node = node.after(action)
    return node
