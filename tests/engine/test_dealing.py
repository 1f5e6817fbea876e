"""Dealing compared with hands that the reference dealer logged, and with numpy's generator."""

from __future__ import annotations

import hashlib
import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import BettingType, Deal, DealKey, Game, deal_hand, deals, derived_seed, format_cards, logged_seed
from engine.dealing import reference_generator
from protocol import find_game
from tests.engine.strategies import SEEDS, games

# First hands of recorded matches: hole cards by position, then the visible board.
RECORDED = [
    ("holdem.limit.2p.reverse_blinds", 0, 0, "5d5c|9hQd", "8dAs8s4h6d"),
    ("holdem.limit.2p.reverse_blinds", 0, 1, "6sKs|5dJd", "2sTh2hQh8h"),
    ("holdem.limit.2p.reverse_blinds", 21, 5, "9h3h|5sQh", "5dThKh3s4h"),
    ("holdem.nolimit.2p.reverse_blinds", 5, 0, "3h7d|6dQc", "Ah4s6hTsAc"),
    ("holdem.limit.3p", 0, 2, "Jh7c|Kd7d|Kh3h", "8d2c9hTsKc"),
    ("holdem.nolimit.6p", 7, 1, "Kd8c|7d6h|5d8d|Ad6s|4hAc|7h8h", "AhJsQcJh9s"),
    ("holdem.limit.10p", 42, 2, "6h5c|9dTs|Jd8s|4s3d|2hJc|6sQc|Qs5d|4cJh|4dAs|9h2d", "6dTd6cJs2c"),
    ("kuhn.limit.2p", 42, 4, "Ks|As", ""),
    ("kuhn.limit.3p", 42, 5, "Js|Ks|Qs", ""),
    ("leduc.limit.2p", 42, 4, "Ah|Ks", "Qs"),
]


def text(deal: Deal) -> tuple[str, str]:
    return "|".join(map(format_cards, deal.hole_cards)), format_cards(deal.board)


@pytest.mark.parametrize(("name", "seed", "hand_number", "holes", "board"), RECORDED)
def test_the_cards_the_reference_dealt(name: str, seed: int, hand_number: int, holes: str, board: str) -> None:
    game = find_game(name)[1]
    assert text(deal_hand(game, seed, hand_number)) == (holes, board)
    assert text(next(itertools.islice(deals(game, seed), hand_number, None))) == (holes, board)


@given(SEEDS)
def test_the_generator_is_that_of_numpy(seed: int) -> None:
    generator = reference_generator(seed)
    theirs = np.random.RandomState(seed).randint(0, 2**32, size=1300, dtype=np.uint64)
    assert [generator.getrandbits(32) for _ in range(1300)] == theirs.tolist()


@pytest.mark.parametrize(("seed", "same"), [(4294967297, 1), (-1, 4294967295)])
def test_seeds_count_modulo_32_bits(seed: int, same: int) -> None:
    game = find_game("nolimit")[1]
    assert list(itertools.islice(deals(game, seed), 5)) == list(itertools.islice(deals(game, same), 5))


def naive_deals(game: Game, seed: int, hands: int) -> list[Deal]:
    """Deal as the reference does: a number modulo the cards left picks one, the last card fills its place."""
    numbers = iter(np.random.RandomState(seed).randint(0, 2**32, size=hands * game.cards_per_hand, dtype=np.uint64))
    dealt = []
    for _ in range(hands):
        deck = [rank * 4 + suit for suit in range(4 - game.num_suits, 4) for rank in range(13 - game.num_ranks, 13)]

        def draw(deck: list[int] = deck) -> int:
            index = int(next(numbers)) % len(deck)
            card = deck[index]
            deck[index] = deck[-1]
            deck.pop()
            return card

        holes = tuple(tuple(draw() for _ in range(game.num_hole_cards)) for _ in range(game.num_players))
        dealt.append(Deal(holes, tuple(draw() for _ in range(sum(game.num_board_cards)))))
    return dealt


@given(games(), SEEDS)
def test_every_game_is_dealt_by_the_book(game: Game, seed: int) -> None:
    assert list(itertools.islice(deals(game, seed), 8)) == naive_deals(game, seed, 8)


@pytest.mark.parametrize("number", [7281, 7282, 7283])
def test_a_far_hand_is_where_counting_says(number: int) -> None:
    """A hand has 9 cards, so hand 7282 begins just after a step of 65,536 numbers."""
    game = find_game("nolimit")[1]
    numbers = np.random.RandomState(11).randint(0, 2**32, size=9 * number + 1, dtype=np.uint64)
    first_card = deal_hand(game, 11, number).hole_cards[0][0]
    assert first_card == game.deck[int(numbers[-1]) % 52]


def test_betting_and_button_have_no_part_in_the_cards() -> None:
    limit, no_limit = find_game("limit")[1], find_game("nolimit")[1]
    assert limit.betting is BettingType.LIMIT
    assert list(itertools.islice(deals(limit, 3), 20)) == list(itertools.islice(deals(no_limit, 3), 20))


# ---- keys

KEY = DealKey(bytes(range(32)))
KEYS = st.binary(min_size=32, max_size=32).map(DealKey)


def naive_secret_deal(game: Game, secret: bytes, number: int) -> Deal:
    """Deal as the documentation says: 16-bit numbers modulo the cards left, rejecting those that would bias."""
    stream = b"".join(
        hashlib.blake2b(
            number.to_bytes(8, "little") + block.to_bytes(4, "little"),
            digest_size=64,
            key=secret,
            person=b"acpc-arena deal",
        ).digest()
        for block in range(8)
    )
    words = (int.from_bytes(stream[at : at + 2], "little") for at in range(0, len(stream), 2))
    deck = [rank * 4 + suit for suit in range(4 - game.num_suits, 4) for rank in range(13 - game.num_ranks, 13)]

    def draw() -> int:
        fair = 65536 // len(deck) * len(deck)
        index = next(word for word in words if word < fair) % len(deck)
        card, deck[index] = deck[index], deck[-1]
        deck.pop()
        return card

    holes = tuple(tuple(draw() for _ in range(game.num_hole_cards)) for _ in range(game.num_players))
    return Deal(holes, tuple(draw() for _ in range(sum(game.num_board_cards))))


@given(games(), KEYS, st.integers(0, 2**32))
def test_a_key_deals_every_game_by_the_book_from_any_hand_on(game: Game, key: DealKey, first: int) -> None:
    dealt = list(itertools.islice(deals(game, key, first), 3))
    assert dealt == [naive_secret_deal(game, key.secret, first + number) for number in range(3)]
    assert deal_hand(game, key, first + 2) == dealt[2]


def test_the_cards_of_a_key_are_the_same_in_every_version() -> None:
    """Published keys must deal the same cards in every version."""
    dealt = [text(deal) for deal in itertools.islice(deals(find_game("limit")[1], KEY), 2)]
    assert dealt == [("5h4s|8h6c", "QsTc9dQh9s"), ("8c2h|ThQc", "KhQh3c6sKd")]
    assert str(KEY) == "key:c30b7a06963c3a10b84e32e1434be4a6"
    assert str(derived_seed(KEY, 3)) == "key:0d79d7bca8d584424db11e386dc3693f"
    assert KEY.number(1, 2) == 2373838277


def quantile_of_chi_square(freedom: int) -> float:
    """Quantile of the chi-square distribution with tail probability 1e-6, by Wilson and Hilferty."""
    return freedom * (1 - 2 / (9 * freedom) + 4.7534 * math.sqrt(2 / (9 * freedom))) ** 3


def chi_square(counts: Counter[object], cells: int) -> float:
    expected = counts.total() / cells
    squares = sum((count - expected) ** 2 for count in counts.values())
    return (squares + (cells - len(counts)) * expected**2) / expected


def test_every_card_is_as_likely_at_every_place_and_after_every_other() -> None:
    game = find_game("holdem.limit.10p")[1]
    hands = [[*itertools.chain(*deal.hole_cards), *deal.board] for deal in itertools.islice(deals(game, KEY), 4000)]
    for place in range(25):
        assert chi_square(Counter(hand[place] for hand in hands), 52) < quantile_of_chi_square(51), place
    for first, second in ((0, 1), (1, 24), (23, 24)):
        pairs: Counter[object] = Counter((hand[first], hand[second]) for hand in hands)
        assert chi_square(pairs, 52 * 51) < quantile_of_chi_square(52 * 51 - 1), (first, second)
    between: Counter[object] = Counter((one[0], other[0]) for one, other in itertools.pairwise(hands))
    assert chi_square(between, 52 * 52) < quantile_of_chi_square(52 * 52 - 1)


def test_a_key_is_a_value_that_does_not_show_its_secret() -> None:
    assert pickle.loads(pickle.dumps(KEY)) == KEY == DealKey.from_text(KEY.secret.hex())
    assert len({KEY, DealKey(KEY.secret), DealKey.new(), DealKey.new()}) == 3
    for shown in (str(KEY), repr(KEY), f"{KEY}", str(logged_seed(KEY))):
        assert KEY.secret.hex() not in shown
        assert repr(KEY.secret)[2:-1] not in shown
    assert logged_seed(7) == 7
    for text in ("", "00" * 31, "00" * 33, "zz" * 32):
        with pytest.raises(ValueError, match=r"bytes|non-hexadecimal"):
            DealKey.from_text(text)


def test_the_sequence_of_seeds_of_a_number_is_that_of_the_reference() -> None:
    generator = reference_generator(42)
    assert [derived_seed(42, index) for index in range(5)] == [generator.getrandbits(32) for _ in range(5)]
