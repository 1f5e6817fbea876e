"""Observations: every field compared with the view, hidden cards, information sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from bots.environments import ActionMenu, ObservationLayout
from bots.sdk.view import View
from engine import ActionKind, BettingState, Deal, Hand, Position, betting_start, deals
from protocol import find_game


def random_points(game_name: str, hands: int) -> Iterator[Hand]:
    """Yield the points of random hands, the last ones included."""
    game = find_game(game_name)[1]
    menu = ActionMenu(game)
    rng = np.random.default_rng(3)
    for deal in deals(game, 11):
        hand = Hand(game, deal)
        yield hand
        while not hand.finished:
            actions = [action for action in menu.legal_actions(hand.betting) if action is not None]
            hand.apply(actions[int(rng.integers(len(actions)))])
            yield hand
        hands -= 1
        if not hands:
            return


def part(layout: ObservationLayout, row: NDArray[np.float32], name: str) -> list[float]:
    field = layout.fields[name]
    numbers: list[float] = row[field.start : field.start + field.size].tolist()
    assert all(0 <= number <= np.float32(field.high) for number in numbers), name
    return numbers


def encode(layout: ObservationLayout, hand: Hand, position: Position) -> NDArray[np.float32]:
    return layout.encode(hand.betting, position, hand.deal)


@pytest.mark.parametrize("game", ["nolimit3", "leduc-nolimit", "limit3"])
def test_fields_are_those_of_the_view(game: str) -> None:
    layout = ObservationLayout(find_game(game)[1])
    players = layout.game.num_players
    deck = sorted(layout.game.deck)
    unit = np.float32(layout.game.big_blind)
    for hand in random_points(game, 12):
        for position in map(Position, range(players)):
            view = View.from_hand(hand, position)
            row = encode(layout, hand, position)
            places = [(position + place) % players for place in range(players)]
            assert [card for card, held in zip(deck, part(layout, row, "hole"), strict=True) if held] == sorted(
                view.hole_cards
            )
            board = ()
            for round_, count in enumerate(layout.game.num_board_cards[: view.round + 1]):
                if count:
                    held = part(layout, row, f"board {round_}")
                    assert {deck[i] for i, value in enumerate(held) if value} == set(
                        view.board[len(board) : len(board) + count]
                    )
                    board = view.board[: len(board) + count]
            assert part(layout, row, "position").index(1) == position
            assert part(layout, row, "round").index(1) == view.round
            assert part(layout, row, "folded") == [float(p in view.folded_positions) for p in places]
            assert part(layout, row, "all-in") == [float(view.stacks_left[p] == 0) for p in places]
            chips = np.array(part(layout, row, "chips")).reshape(-1, players)
            assert (chips.sum(axis=0) * unit).round(2).tolist() == [view.hand_committed[p] for p in places]
            street = [view.street_committed[p] for p in places]
            if not view.finished:
                assert (chips[view.round] * unit).round(2).tolist() == street
            raises = np.array(part(layout, row, "raises")).reshape(-1, players)
            last = np.array(part(layout, row, "last raiser")).reshape(-1, players)
            for round_, actions in enumerate(view.actions_by_round):
                raisers = [p for p, action in actions if action.kind is ActionKind.RAISE]
                assert raises[round_].tolist() == [raisers.count(Position(p)) for p in places]
                assert last[round_].tolist() == [float(raisers[-1:] == [p]) for p in places]
            for name, amount in (
                ("pot", view.pot),
                ("to call", view.to_call),
                ("smallest raise", view.min_raise_hand_total),
                ("largest raise", view.max_raise_hand_total),
            ):
                assert part(layout, row, name) == [np.float32(amount / view.big_blind)]


def test_hidden_cards_change_nothing() -> None:
    layout = ObservationLayout(find_game("limit")[1])
    for hand in random_points("limit", 5):
        for position in (Position(0), Position(1)):
            shown = len(hand.board)
            unseen = [card for card in range(52) if card not in hand.deal.hole_cards[position] + hand.board]
            holes = [tuple(unseen[:2]), tuple(unseen[:2])]
            holes[position] = hand.deal.hole_cards[position]
            board = hand.board + tuple(unseen[2 : 7 - shown])
            other = layout.encode(hand.betting, position, Deal(tuple(holes), board))
            assert other.tolist() == encode(layout, hand, position).tolist()


def all_points(betting: BettingState) -> Iterator[BettingState]:
    """Yield all decisions of a limit game's betting."""
    if betting.finished:
        return
    yield betting
    for action in ActionMenu(betting.game).legal_actions(betting):
        if action is not None:
            yield from all_points(betting.after(action))


@pytest.mark.parametrize("game", ["kuhn", "kuhn-depth", "kuhn3", "leduc"])
def test_array_determines_the_information_set_in_small_limit_games(game: str) -> None:
    definition = find_game(game)[1]
    layout = ObservationLayout(definition)
    points = list(all_points(betting_start(definition)))
    rows = {layout.betting_row(point, point.acting_position).tobytes() for point in points}
    assert len(rows) == len(points)


@pytest.mark.slow
def test_array_determines_the_information_set_in_limit_holdem() -> None:
    test_array_determines_the_information_set_in_small_limit_games("limit")
