"""What the work prints of its player and its nine trainers (chapters 5.4 and 5.5), as data.

Its graphs are lost; its tables are `printed.json`. Two of them have 21 rows and not the twenty of their heading.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bots.evolved.watching import Estimate, Preflop, Watched, ratio, total
from bots.findings import ABSENT, Comparison, Comparisons, Line, LineChart, TableView, Verdict
from engine import Category
from engine.starting_hands import STARTING_HANDS
from logs.estimation.rate import signed
from logs.tracker.definitions import classify

__all__ = [
    "GENERATED_GENES_HANDS",
    "PLAYED",
    "Sides",
    "best_hands",
    "by_hand",
    "finals",
    "printed_player",
    "printed_style",
    "style",
    "verdict_on_winnings",
    "winnings",
]

TOO_FEW: Final = "too few deals were played to tell"

PLAYED: Final = {"player": 52_000, "trainer": 20_000}
"""Hands in a generation of the player and of a trainer: 520 and 200 deals, each played a hundred times."""
GENERATED_GENES_HANDS: Final = 5_179_648
"""Hands that would have to be played so that every gene is used, "in the best case" (chapter 4.6)."""


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A row of one of its tables.

    Attributes:
        name: of the starting hand, or of the hand at the end.
        times: how often the player saw a flop with it, or ended with it.
        won_percent: how often it won.
        dollars: what these hands brought.
    """

    name: str
    times: int
    won_percent: float
    dollars: float


@dataclass(frozen=True, slots=True)
class PrintedPlayer:
    """The tables of one player.

    Attributes:
        hands: the starting hands that won most.
        finals: by the hand at the end, from the best to the worst.
    """

    hands: tuple[PrintedRow, ...]
    finals: tuple[PrintedRow, ...]

    @property
    def dollars(self) -> float:
        """What it won in all: the tables of the hands at the end add up to it."""
        return sum(row.dollars for row in self.finals)

    @property
    def flops(self) -> int:
        """How many flops it saw."""
        return sum(row.times for row in self.finals)


def printed_player(name: str) -> PrintedPlayer:
    """The tables of ``player`` or ``trainer-1`` to ``trainer-9``."""
    player = _data()["players"][name]
    return PrintedPlayer(*(tuple(PrintedRow(*row) for row in player[table]) for table in ("hands", "finals")))


def printed_style() -> dict[str, float]:
    """The figures of the final player's style, in per cent; AF is a factor."""
    return dict(_data()["style"])


@cache
def _data() -> dict[str, dict]:  # type: ignore[type-arg]
    found: dict[str, dict] = json.loads(files("bots.studies.evolved").joinpath("printed.json").read_text("utf-8"))  # type: ignore[type-arg]
    return found


BEST_HANDS: Final = 20
_TWO_SETS: Final = 2**0.5
"""The difference of two sets of as many deals varies more than each of them by this."""
_POINTS: Final = 300
CATEGORIES: Final = tuple(category.name.replace("_", " ").lower() for category in Category)


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """A player watched on two sets of deals.

    Attributes:
        name: of its run.
        trained: on the deals of its training.
        unseen: on deals that nothing was trained on.
    """

    name: str
    trained: Watched
    unseen: Watched


def per_thousand(watched: Watched, hands: NDArray[np.bool_] | None = None) -> Estimate:
    """Dollars in a thousand hands dealt; from some of the hands only, where they are given."""
    found = total(watched, watched.dollars if hands is None else np.where(hands, watched.dollars, 0.0))
    return _scaled(found, 1000 / (100 * watched.deals))


def interval_text(estimate: Estimate, digits: int) -> str:
    """``± 1.5``; without enough deals, that."""
    if estimate.half_width_95 is None:
        return "too few deals for ±"
    return f"± {estimate.half_width_95:,.{digits}f}"


# ---- winnings
def winnings(players: Sequence[Sides]) -> tuple[Comparisons, TableView]:
    """What each player won on the deals of its training and on others: after the flop, as printed, and in all hands."""
    after, whole = [], []
    for player in players:
        deals = PLAYED["player" if player.name == "player" else "trainer"] // 100
        printed = printed_player(player.name).dollars / (100 * deals) * 1000
        trained = per_thousand(player.trained, player.trained.saw_flop)
        unseen = per_thousand(player.unseen, player.unseen.saw_flop)
        verdict, why = verdict_on_winnings(printed, deals, trained.value, unseen, player.unseen.deals)
        after += [
            Comparison(
                quantity=f"{player.name}, deals of the training",
                ours=signed(trained.value, 1),
                printed=signed(printed, 1),
                verdict=verdict,
                why=why,
            ),
            Comparison(
                quantity=f"{player.name}, other deals", ours=signed(unseen.value, 1), interval=interval_text(unseen, 1)
            ),
        ]
        all_hands, others = per_thousand(player.trained), per_thousand(player.unseen)
        whole.append(
            (
                player.name,
                signed(all_hands.value, 1),
                signed(others.value, 1),
                interval_text(others, 1),
                signed(others.value - unseen.value, 1),
                signed(printed + others.value - unseen.value, 1),
            )
        )
    return (
        Comparisons(
            "Winnings after the flop",
            tuple(after),
            "Dollars per 1,000 hands dealt, from those in which the player saw the flop: the work prints only these. "
            "Each at the table of its training. On the deals of the training the figure is exact and says what "
            "the evolution has found, not what the player is worth; on other deals the 95 % interval is that of all "
            "deals, for these ten players.",
        ),
        TableView(
            "Winnings in all hands",
            tuple(
                (head, "")
                for head in (
                    "",
                    "deals of the training",
                    "other deals",
                    "interval",
                    "of these, folded before the flop",
                    "printed, with as much lost before the flop",
                )
            ),
            tuple(whole),
            "Dollars per 1,000 hands dealt. What is lost before the flop is the charts' doing, the same for everybody, "
            "and missing in the printed figures: the last column adds ours to them.",
        ),
    )


def verdict_on_winnings(
    printed: float, printed_deals: int, trained: float, unseen: Estimate, unseen_deals: int
) -> tuple[Verdict, str]:
    """What became of printed winnings, which are those of the deals of a training, and why.

    Args:
        printed: the work's figure.
        printed_deals: on how many deals.
        trained: ours on the deals of the training.
        unseen: ours on other deals; what chance makes two sets of deals differ is taken from it.
        unseen_deals: how many those are.
    """
    if unseen.half_width_95 is None:
        return Verdict.UNDECIDED, TOO_FEW
    chance = unseen.half_width_95 * (unseen_deals / printed_deals) ** 0.5
    verdict = Verdict.within(printed, unseen.value, (chance**2 + unseen.half_width_95**2) ** 0.5)
    if verdict is Verdict.REPRODUCED:
        return verdict, "other deals bring as much, within what chance does"
    if verdict is Verdict.UNDECIDED:
        return verdict, TOO_FEW
    if printed < unseen.value:
        return Verdict.NOT_REPRODUCED, "ours wins more, on other deals too"
    if trained + _TWO_SETS * chance >= printed:
        return Verdict.LUCKY, "other deals bring less"
    return Verdict.NOT_REPRODUCED, "ours wins less, on its own deals already"


def by_hand(watched: Watched, title: str, note: str = "") -> LineChart:
    """The winnings along the hands in which it saw the flop: total, with and without showdown."""
    seen = watched.saw_flop
    dollars, showdown, deal = watched.dollars[seen], watched.showdown[seen], watched.deal[seen]
    at = np.unique(np.linspace(0, max(len(dollars) - 1, 0), min(_POINTS, len(dollars))).astype(int))
    xs = tuple((at + 1).tolist())

    def line(name: str, values: NDArray[np.float64], half: NDArray[np.float64] | None = None) -> Line:
        ys = np.cumsum(values)[at]
        low, high = ((), ()) if half is None else (tuple((ys - half).tolist()), tuple((ys + half).tolist()))
        return Line(name=name, xs=xs, ys=tuple(ys.tolist()), low=low, high=high)

    whole = total(watched, np.where(seen, watched.dollars, 0.0)).half_width_95
    half = None if whole is None else whole * np.sqrt((deal[at] + 1) / watched.deals)
    return LineChart(
        title=title,
        x_label="hands with a flop",
        y_label="dollars",
        lines=(
            line("total" if half is None else "total, with its 95 % interval", dollars, half),
            line("with showdown", np.where(showdown, dollars, 0.0)),
            line("without showdown", np.where(showdown, 0.0, dollars)),
        ),
        note=note,
    )


# ---- tables
def best_hands(sides: Sides) -> tuple[TableView, Comparisons]:
    """The starting hands that won most in hands with a flop: printed, on the training's deals, on others."""
    printed = printed_player(sides.name)
    ours = [_by_starting_hand(watched) for watched in (sides.trained, sides.unseen)]
    rows = []
    for place in range(BEST_HANDS):
        cells = [str(place + 1)]
        for table in (printed.hands, *(table for table, _ in ours)):
            row = table[place] if place < len(table) else None
            cells += (
                ["", "", "", ""]
                if row is None
                else [row.name, f"{row.times:,}", f"{row.won_percent:.1f}", signed(row.dollars, 0)]
            )
        interval = ours[1][1][place] if place < len(ours[1][1]) else None
        cells.append("" if interval is None else interval_text(interval, 0))
        rows.append(tuple(cells))
    heads = ("times", "won %", "dollars")
    columns = ("place", "printed", *heads, "training", *heads, "other deals", *heads, "interval")
    view = TableView(
        "The 20 best starting hands",
        tuple((head, "") for head in columns),
        tuple(rows),
        "Of the hands in which it saw the flop: times, how often it won a part of the pot, and what they brought. The "
        "last column is the 95 % interval of the dollars on other deals.",
    )
    return view, _verdicts_on_hands(printed, ours[0][0], ours[1][0], ours[1][1])


def _verdicts_on_hands(
    printed: PrintedPlayer,
    trained: Sequence[PrintedRow],
    unseen: Sequence[PrintedRow],
    intervals: Sequence[Estimate],
) -> Comparisons:
    names = [{row.name for row in table[:BEST_HANDS]} for table in (printed.hands, trained, unseen)]
    sure = sum(bool(interval.low is not None and interval.low > 0) for interval in intervals[:BEST_HANDS])
    strong, count = _strong_hands(), len(names[0])
    kept = [len(of & strong) for of in (names[0], names[2])]
    is_most = min(kept) > BEST_HANDS / 2
    return Comparisons(
        "The best starting hands in figures",
        (
            Comparison(
                quantity="of the best, among the 20 with the best chances against nine random hands",
                ours=f"{kept[1]} of {len(names[2])}",
                printed=f"{kept[0]} of {count}",
                verdict=Verdict.REPRODUCED if is_most else Verdict.NOT_REPRODUCED,
                why=f"they are to be the most powerful hands, and {'most' if is_most else 'not even most'} of them are",
            ),
            Comparison(
                quantity="of the printed best, among our 20 best on other deals",
                ours=f"{len(names[0] & names[2])} of {count}",
            ),
            Comparison(
                quantity="of the printed best, among our 20 best on the training's deals",
                ours=f"{len(names[0] & names[1])} of {count}",
            ),
            Comparison(
                quantity="of our 20 best on other deals, with an interval above zero",
                ours=f"{sure} of {len(names[2])}",
            ),
        ),
    )


def _strong_hands() -> set[str]:
    """The 20 starting hands with the highest chances against nine random hands."""
    from engine.equity import preflop_equity
    from engine.starting_hands import starting_hand

    example = {starting_hand((one, other)): (one, other) for one in range(52) for other in range(one)}
    chances = {STARTING_HANDS[at]: preflop_equity(cards, 9).equity for at, cards in example.items()}
    return set(sorted(chances, key=lambda name: -chances[name])[:BEST_HANDS])


def _by_starting_hand(watched: Watched) -> tuple[list[PrintedRow], list[Estimate]]:
    return _table(watched, watched.hand, STARTING_HANDS)


def _table(watched: Watched, kinds: NDArray[np.int64], names: Sequence[str]) -> tuple[list[PrintedRow], list[Estimate]]:
    """What the hands with a flop brought by kind, the best first, and the dollars with their intervals."""
    found = []
    for kind in np.unique(kinds[watched.saw_flop]).tolist():
        of_kind = watched.saw_flop & (kinds == kind)
        times = int(of_kind.sum())
        dollars = total(watched, np.where(of_kind, watched.dollars, 0.0))
        won = 100 * float(watched.won[of_kind].sum()) / times
        found.append((PrintedRow(names[kind], times, won, dollars.value), dollars))
    found.sort(key=lambda one: -one[0].dollars)
    return [row for row, _ in found], [dollars for _, dollars in found]


def finals(sides: Sides) -> tuple[Comparisons, ...]:
    """How often it won with each hand at the end, and what these hands brought."""
    printed = {row.name: row for row in printed_player(sides.name).finals}
    of = PLAYED["player" if sides.name == "player" else "trainer"]
    won, times, dollars = [], [], []
    for kind, name in reversed(list(enumerate(CATEGORIES))):
        watched = sides.unseen
        of_kind = (watched.saw_flop & (watched.category == kind)).astype(float)
        share = ratio(watched, watched.won * of_kind, of_kind)
        if share is None:
            continue
        row = printed.get(name)
        scale = 1000 / (100 * watched.deals)
        often = _scaled(total(watched, of_kind), scale)
        brought = _scaled(total(watched, watched.dollars * of_kind), scale)
        factor = (100 * watched.deals / of) ** 0.5
        won.append(
            _compared(f"{name}: won %", _scaled(share, 100), None if row is None else row.won_percent, 1, factor)
        )
        times.append(_compared(f"{name}: times", often, None if row is None else row.times / of * 1000, 1, factor))
        dollars.append(
            _compared(f"{name}: dollars", brought, None if row is None else row.dollars / of * 1000, 1, factor)
        )
    note = (
        "On other deals; the hand at the end is that of the last round the player saw. Times and dollars are per 1,000 "
        "hands dealt. A figure is called reproduced if it differs by no more than chance makes two sets of deals "
        "differ, ours and one of the printed size; that the chromosomes differ comes on top of that."
    )
    return (
        Comparisons("Won, by the hand at the end", tuple(won), note),
        Comparisons("Times, by the hand at the end", tuple(times)),
        Comparisons("Dollars, by the hand at the end", tuple(dollars)),
    )


def _scaled(estimate: Estimate, by: float) -> Estimate:
    half = estimate.half_width_95
    return Estimate(estimate.value * by, None if half is None else half * by)


def _compared(quantity: str, ours: Estimate, printed: float | None, digits: int, factor: float) -> Comparison:
    """A figure beside the printed one.

    Args:
        quantity: its name.
        ours: the figure.
        printed: the work's; None where it prints none.
        digits: behind the point.
        factor: how much wider an interval of as many deals as the work had would be than ours.
    """
    text, interval = f"{ours.value:,.{digits}f}", interval_text(ours, digits)
    if printed is None:
        return Comparison(quantity=quantity, ours=text, interval=interval)
    room = None if ours.half_width_95 is None else ours.half_width_95 * (1 + factor**2) ** 0.5
    verdict, why = Verdict.within(printed, ours.value, room), ""
    if verdict is Verdict.UNDECIDED:
        why = TOO_FEW
    elif verdict is Verdict.NOT_REPRODUCED:
        why = f"ours is {'higher' if ours.value > printed else 'lower'} than by chance"
    return Comparison(
        quantity=quantity,
        ours=text,
        interval=interval,
        printed=f"{printed:,.{digits}f}",
        verdict=verdict,
        why=why,
    )


# ---- style
def style(watched: Watched, preflop: Preflop) -> Comparisons:
    """VPIP to AF, and what such a player is called."""
    printed = printed_style()
    factor = (100 * watched.deals / PLAYED["player"]) ** 0.5
    ones = watched.saw_flop.astype(float)
    seen = {
        "W$WSF": _percent(ratio(watched, watched.won * ones, ones)),
        "WTSD": _percent(ratio(watched, watched.showdown * 1.0, ones)),
        "W$SD": _percent(ratio(watched, watched.won * watched.showdown * 1.0, watched.showdown * 1.0)),
        "AF": ratio(watched, watched.raises * 1.0, watched.calls * 1.0),
    }
    rows = [
        _compared(
            "VPIP %, without the big blind's hands", _scaled(preflop.vpip_no_big_blind, 100), printed["VPIP"], 1, factor
        ),
        Comparison(
            quantity="VPIP % of all hands",
            ours=f"{100 * preflop.vpip.value:.1f}",
            interval=interval_text(_scaled(preflop.vpip, 100), 1),
        ),
        _compared("VPIP % in the small blind", _scaled(preflop.vpip_small_blind, 100), printed["VPIP_SB"], 1, factor),
        _compared("PFR %", _scaled(preflop.pfr, 100), printed["PFR"], 1, factor),
    ]
    for name, figure in seen.items():
        unit = "" if name == "AF" else " %"
        rows.append(
            Comparison(quantity=name + unit, ours=ABSENT)
            if figure is None
            else _compared(name + unit, figure, printed[name], 2 if name == "AF" else 1, factor)
        )
    ours = classify(
        100 * watched.deals,
        100 * preflop.vpip_no_big_blind.value,
        100 * preflop.pfr.value,
        int(watched.raises.sum()),
        int(watched.calls.sum()),
    )
    theirs = classify(100 * watched.deals, printed["VPIP"], printed["PFR"], round(100 * printed["AF"]), 100)
    assert theirs.play_class is not None
    rows.append(
        Comparison(
            quantity="class of play",
            ours=ABSENT if ours.play_class is None else ours.play_class.name,
            printed="mouse",
            verdict=Verdict.NOT_REPRODUCED,
            why="a mouse is passive before the flop; by the work's own table its figures make a "
            f"{theirs.play_class.name} player; ours: {ours.explanation}",
        )
    )
    return Comparisons(
        "Style of play",
        tuple(rows),
        "On other deals. VPIP and PFR are the charts' doing, which were rebuilt to fit these figures; only the rest "
        "says something about the evolution. AF is bets and raises over calls after the flop.",
    )


def _percent(estimate: Estimate | None) -> Estimate | None:
    return None if estimate is None else _scaled(estimate, 100)
