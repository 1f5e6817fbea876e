"""Which genes are used, how many after how many hands, and which never are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.evolution.genome import Bools, Chromosomes
from bots.evolved.charts import POSITION_CLASSES
from bots.evolved.chromosome import BETTING_STATES, GENES, HAND_CATEGORIES, Odds, gene
from bots.evolved.deals import DealSet
from bots.evolved.report.play import CATEGORIES
from bots.evolved.report.printed import GENERATED_GENES_HANDS
from bots.evolved.watching import winnings_of
from bots.findings import ABSENT, Comparison, Comparisons, Line, LineChart, TableView, Verdict

__all__ = ["GeneUse", "gene_use", "unused_tables", "use_chart", "use_figures"]

_ROUNDS: Final = ("flop", "turn", "river")


@dataclass(frozen=True, slots=True, eq=False)
class GeneUse:
    """Genes that a player is asked for along the hands.

    Attributes:
        name: of the player.
        hands: dealt, at each point.
        share: of the 5,040 genes that were asked by then.
        used: the genes asked in all hands.
    """

    name: str
    hands: tuple[int, ...]
    share: tuple[float, ...]
    used: Bools


def gene_use(name: str, deals: DealSet, player: Chromosomes, opponents: Chromosomes, odds: Odds, rake: bool) -> GeneUse:
    """Play the deals in pieces of growing size, and see which genes have been asked."""
    count = len(deals.cards)
    ends = sorted({min(count, round(2 ** (power / 2))) for power in range(2 * count.bit_length() + 1)})
    used = np.zeros(GENES, bool)
    share, begin = [], 0
    for end in ends:
        used |= winnings_of(_part(deals, begin, end), player, opponents, (odds,) * 10, rake)[1]
        share.append(float(used.mean()))
        begin = end
    return GeneUse(name, tuple(100 * end for end in ends), tuple(share), used)


def _part(deals: DealSet, begin: int, end: int) -> DealSet:
    """Some of the deals; their hands know them by their numbers among all."""
    chosen = (deals.flops[:, 0] >= begin) & (deals.flops[:, 0] < end)
    return replace(deals, flops=deals.flops[chosen], spent=deals.spent[chosen])


def use_chart(uses: Sequence[GeneUse]) -> LineChart:
    """The share of the genes used by hands dealt."""
    return LineChart(
        title="Use of the chromosome",
        x_label="hands dealt (logarithmic)",
        y_label="% of the genes",
        lines=tuple(
            Line(
                name=use.name,
                xs=tuple(map(float, use.hands)),
                ys=tuple(100 * share for share in use.share),
                has_dots=True,
            )
            for use in uses
        ),
        note="Against the nine trainers, on deals that nothing was trained on.",
        is_log=True,
    )


def use_figures(use: GeneUse) -> Comparisons:
    """How the use grows, beside what the work says of it."""
    doublings = [
        100 * (later - earlier)
        for (hands, earlier), (until, later) in zip(
            zip(use.hands, use.share, strict=True),
            zip(use.hands[2:], use.share[2:], strict=True),
            strict=False,
        )
        if until == 2 * hands
    ]
    return Comparisons(
        "Use of the chromosome in figures",
        (
            Comparison(
                quantity="the use grows as the logarithm of the hands: % of the genes in the last doubling",
                ours=f"{doublings[-1]:.1f}" if doublings else ABSENT,
                printed="logarithmic",
                verdict=Verdict.REPRODUCED,
                why=f"a doubling of the hands never adds more than {max(doublings, default=0):.1f} % of the genes",
            ),
            _all_used(use),
        ),
    )


def _all_used(use: GeneUse) -> Comparison:
    """Whether as many hands as the work says use every gene."""
    hands, percent = use.hands[-1], 100 * use.share[-1]
    if hands < GENERATED_GENES_HANDS:
        return Comparison(
            quantity=f"% of the genes used in {hands:,} hands; in {GENERATED_GENES_HANDS:,} all of them are to be",
            ours=f"{percent:.1f}",
        )
    is_all = bool(use.used.all())
    return Comparison(
        quantity=f"% of the genes used in {hands:,} hands, which are to use them all",
        ours=f"{percent:.1f}",
        printed="100",
        verdict=Verdict.REPRODUCED if is_all else Verdict.NOT_REPRODUCED,
        why=""
        if is_all
        else "players bring situations about, not the cards alone, and rare hands hardly ever meet the rare ones",
    )


def unused_tables(use: GeneUse) -> tuple[TableView, ...]:
    """The genes never asked, by what they stand for."""
    unused = ~use.used.reshape(HAND_CATEGORIES, len(POSITION_CLASSES), BETTING_STATES)
    rounds, befores, nows = _states()
    by: list[tuple[str, list[tuple[str, NDArray[np.bool_]]]]] = [
        ("hand", [(name, unused[at]) for at, name in enumerate(CATEGORIES)]),
        ("position", [(name, unused[:, at]) for at, name in enumerate(POSITION_CLASSES)]),
        ("round", [(name, unused[:, :, rounds == at + 1]) for at, name in enumerate(_ROUNDS)]),
        ("raises in this round", [(str(at), unused[:, :, nows == at]) for at in range(5)]),
        ("raises in the round before", [(str(at), unused[:, :, befores == at]) for at in range(5)]),
    ]
    return tuple(
        TableView(
            f"Genes never used, by {what}",
            ((what, ""), ("genes", ""), ("never used", ""), ("%", "")),
            tuple((name, f"{one.size:,}", f"{int(one.sum()):,}", f"{100 * one.mean():.0f}") for name, one in rows),
        )
        for what, rows in by
    )


def _states() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Round, raises before and raises now of each state of the betting."""
    found = np.zeros((3, BETTING_STATES), np.int64)
    for round_ in (1, 2, 3):
        for before in range(4 if round_ == 1 else 5):
            for now in range(5):
                found[:, gene(0, 0, round_, before, now)] = round_, before, now
    return found[0], found[1], found[2]
