from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import CARD_TEXTS, CardError, format_cards, parse_cards
from engine.cards import RANKS, SUITS, rank_of, suit_of


def test_the_numbering_is_rank_times_four_plus_suit() -> None:
    assert [parse_cards(text)[0] for text in ("2c", "2d", "2h", "2s", "3c", "Kh", "As")] == [0, 1, 2, 3, 4, 46, 51]
    assert len(set(CARD_TEXTS)) == 52
    for card, text in enumerate(CARD_TEXTS):
        assert RANKS[rank_of(card)] + SUITS[suit_of(card)] == text


@given(st.lists(st.integers(0, 51), max_size=10))
def test_cards_survive_being_written_and_read(cards: list[int]) -> None:
    assert parse_cards(format_cards(cards)) == tuple(cards)


NO_RUN = "is not a run of cards: write each as a rank of 23456789TJQKA and a suit of cdhs, such as AhTd"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A", f"'A' {NO_RUN}"),
        ("AhK", f"'AhK' {NO_RUN}"),
        ("AhXs", "'Xs' in 'AhXs' is not a card: write a rank of 23456789TJQKA and a suit of cdhs"),
        ("ah", "'ah' in 'ah' is not a card: write a rank of 23456789TJQKA and a suit of cdhs"),
        ("AH", "'AH' in 'AH' is not a card: write a rank of 23456789TJQKA and a suit of cdhs"),
        ("10h4", "'10' in '10h4' is not a card: write a rank of 23456789TJQKA and a suit of cdhs"),
    ],
)
def test_other_texts_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(CardError) as caught:
        parse_cards(text)
    assert str(caught.value) == sentence


@given(st.text(max_size=8))
def test_any_text_is_cards_or_a_card_error(text: str) -> None:
    try:
        cards = parse_cards(text)
    except CardError:
        return
    assert format_cards(cards) == text
