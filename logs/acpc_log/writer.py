"""Write the ACPC log, a header, a STATE line per hand and a SCORE line.

    # name/game/hands/seed match holdem.limit.2p.game 1000 42
    #--t_response 600000
    #--t_hand 600000
    #--t_per_hand 7000
    STATE:0:crc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d:20|-20:Ann|Bob
    SCORE:20|-20:Ann|Bob

STATE lists values and names by position, SCORE by seat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from engine import CARD_TEXTS, Seed
from logs.record import HandRecord
from protocol.match_state import betting_text, format_hole_cards


def format_header(
    match_name: str, game_name: str, hands: int, seed: Seed, *, t_response_ms: int, t_hand_ms: int, t_per_hand_ms: int
) -> str:
    """Format the four lines at the start of a log and of the dealer's transcript."""
    return (
        f"# name/game/hands/seed {match_name} {game_name} {hands} {seed}\n"
        f"#--t_response {t_response_ms}\n#--t_hand {t_hand_ms}\n#--t_per_hand {t_per_hand_ms}\n"
    )


def format_value(value: float) -> str:
    """Format chips with at most six decimals and no trailing zeros, as the reference prints its doubles."""
    # Zero is left to the format below, which prints tiny negative sums as -0.
    value = float(value)
    if value.is_integer() and value:
        return str(int(value))
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _joined_values(values: Iterable[float]) -> str:
    return "|".join(map(format_value, values))


def format_state_line(record: HandRecord) -> str:
    """Format the line of a finished hand, with its LF."""
    ending = state_line_ending(record.values, record.names).decode("utf-8", "surrogateescape")
    return f"STATE:{state_text(record)}{ending}"


def state_text(record: HandRecord) -> str:
    """Format the number, the betting and the cards of a hand, as its line contains them."""
    # Every hole card is shown, folded or not, but the board only as far as the hand went.
    board = "".join([CARD_TEXTS[card] for card in record.deal.board])
    streets: list[str] = []
    start = 0
    for end in record.game.board_cards_by_round[: record.betting.round + 1]:
        streets.append(board[2 * start : 2 * end])
        start = end
    cards = format_hole_cards(record.deal.hole_cards) + "/".join(streets)
    return f"{record.hand_number}:{betting_text(record.betting)}:{cards}"


@lru_cache(maxsize=1 << 12)
def state_line_ending(values: tuple[float, ...], names: tuple[str, ...]) -> bytes:
    """Format the end of a STATE line after the cards, with its LF.

    Args:
        values: net chips by position.
        names: players by position.
    """
    return f":{_joined_values(values)}:{'|'.join(names)}\n".encode("utf-8", "surrogateescape")


def format_score_line(totals: Sequence[float], names: Sequence[str]) -> str:
    """Format the last line of a match, with its LF; totals and names are by seat."""
    return f"SCORE:{_joined_values(totals)}:{'|'.join(names)}\n"
