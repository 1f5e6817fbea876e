"""Hands of a training for charts and trackers.

`bots.evolved.kernel` plays the hands of a training without records. `training_hands` plays the same hands by the rules
of the game, one action after another, and yields their records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.errors import EvolutionError
from bots.evolution.breeding import Chromosomes
from bots.evolved.chromosome import GENES, Odds, chart, chart_position, decision, gene
from bots.evolved.training import OPPONENTS, DealSet
from engine import Action, ActionKind, BettingState, Card, Deal, Seat, betting_start, hand_values, rank_hand
from engine.betting import nearest_legal
from engine.cards import starting_hand
from logs import HandRecord
from logs.export import Exporter
from logs.formats.export_format import ExportOptions
from logs.formats.money import Rake
from logs.pokerstars import POKERSTARS
from protocol import find_game

_PLAYERS: Final = OPPONENTS + 1
_GAME: Final = find_game("limit10")[1]
_CHIP_VALUE: Final = "0.20"
"""Dollars of a chip of the game, whose small bet is 2 dollars in the thesis."""
_RAKE: Final = Rake(per_cent=5, step="0.25", cap=3)
"""Rake of the training in dollars, as in the kernel."""


@dataclass(frozen=True, slots=True, eq=False)
class WinningsCurve:
    """Winnings of a player in all hands with a flop, in dollars, added up in the order of play.

    Attributes:
        at_showdown: of the hands that it took to the showdown.
        without_showdown: of the hands that ended before, or that it folded.
    """

    at_showdown: NDArray[np.float64]
    without_showdown: NDArray[np.float64]


def winnings_curve(
    deals: DealSet, player: Chromosomes, opponents: Chromosomes, odds: Odds, rake: bool
) -> WinningsCurve:
    """Play all hands of some deals with the kernel, and add up what a player wins.

    Args:
        opponents: of the nine others, shape (9, genes, 2).
        odds: of all ten.
    """
    from bots.evolved.kernel import LOGGED

    log = np.empty((_PLAYERS * len(deals.flops), LOGGED))
    table = np.concatenate([player[None], opponents]).astype(np.int16)
    deals.play(table, (odds,) * _PLAYERS, rake, used=np.zeros(GENES, bool), won=np.zeros(_PLAYERS), log=log)
    dollars = log[:, 0]
    showdown = log[:, 2] > 0
    return WinningsCurve(np.cumsum(dollars * showdown), np.cumsum(dollars * ~showdown))


def training_hands(
    deals: DealSet, chromosomes: Chromosomes, odds: Sequence[Odds], names: Sequence[str], match_name: str = "training"
) -> Iterator[HandRecord]:
    """Play all hands of some deals by the rules, also those without a flop, and yield them without rake.

    Args:
        chromosomes: of the ten players, shape (10, genes, 2).
        odds: by player.
        names: of the players, which are different.
    """
    number = 0
    for deal_number, cards in enumerate(deals.cards.tolist()):
        pairs = [tuple([Card(card) for card in cards[2 * pair : 2 * pair + 2]]) for pair in range(_PLAYERS)]
        board = tuple([Card(card) for card in cards[2 * _PLAYERS :]])
        for rotation in range(_PLAYERS):
            hole_cards = tuple([pairs[(position + rotation) % _PLAYERS] for position in range(_PLAYERS)])
            deal = Deal(hole_cards, board)
            for turn in range(_PLAYERS):
                seats = tuple([Seat((position + turn) % _PLAYERS) for position in range(_PLAYERS)])
                betting = betting_start(_GAME)
                while not betting.finished:
                    position = betting.acting_position
                    weights = deals.weights[deal_number, (position + rotation) % _PLAYERS]
                    player = seats[position]
                    kind = _decide(betting, deal, weights, chromosomes[player], odds[player])
                    betting = betting.after(nearest_legal(Action(ActionKind(kind)), betting))
                yield HandRecord(
                    game=_GAME,
                    match_name=match_name,
                    hand_number=number,
                    names_by_seat=tuple(names),
                    seats=seats,
                    deal=deal,
                    betting=betting,
                    values=tuple(hand_values(betting, deal)),
                )
                number += 1


def _decide(
    betting: BettingState, deal: Deal, weights: NDArray[np.float64], chromosome: Chromosomes, odds: Odds
) -> int:
    """Return 0 to fold, 1 to call, 2 to raise.

    Args:
        weights: of the pair of the acting position, shape (3 rounds, 9), by opponents less one.
    """
    position = betting.acting_position
    hole_cards = deal.hole_cards[position]
    round_ = betting.round
    class_ = chart_position(position, _PLAYERS)
    raises = []
    for actions in betting.rounds:
        raises.append(sum(action.kind is ActionKind.RAISE for _, action in actions))
    if round_ == 0:
        return chart()[class_][starting_hand(hole_cards)][raises[0]]
    board = deal.board[: betting.game.board_cards_by_round[round_]]
    number = gene(rank_hand(hole_cards + board) >> 12, class_, round_, raises[-2], raises[-1])
    raise_above, call_above = chromosome[number].tolist()
    weight = float(weights[round_ - 1, len(betting.in_pot) - 2])
    return decision(raise_above, call_above, weight, betting.to_call, betting.pot, odds)


def write_hands(folder: Path, hands: Iterator[HandRecord], hero: str, rake: bool) -> list[Path]:
    """Write hands as a PokerStars history in dollars, over an earlier one.

    Args:
        hero: player whose cards are dealt face up.
        rake: take the rake of the training, but not of uncalled bets, which a card room returns.

    Returns:
        The files.

    Raises:
        EvolutionError: a hand cannot be expressed.
        OSError: a file cannot be written.
    """
    options = ExportOptions(
        hero=hero,
        chip_value=_CHIP_VALUE,
        rake=_RAKE.in_chips(_CHIP_VALUE) if rake else None,
        table=hero,
        match_id=hero,
    )
    exporter = Exporter(POKERSTARS, folder, options, force=True)
    try:
        for record in hands:
            exporter.write(record)
    finally:
        exporter.close()
    if exporter.skipped:
        raise EvolutionError(exporter.not_written())
    return exporter.paths
