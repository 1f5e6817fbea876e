"""``arena solve preflop``: limit hold'em before the flop, in equilibrium."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.text import Text

from dealer.cli import pictures
from dealer.cli.console import Terminal, abort, check_writable
from dealer.cli.pictures import check_picture, format_of, write_picture
from dealer.cli.progress import showing_progress
from dealer.cli.streams import EXIT_FAILED
from engine.cards import RANKS

if TYPE_CHECKING:
    from bots.lp_mc.preflop import Chart, Lines, PreflopRules
    from bots.solving.equilibria import Equilibrium
    from bots.solving.sequence_form import Plans, SequenceForm

_ROUNDING: Final = 1e-12
"""An exploitability up to this, in chips, is the rounding of sums."""
_CHECK_EVERY: Final = 50
"""Iterations of CFR+ between two looks at the exploitability."""
_FALL: Final = 1.6
"""The exploitability falls about as this power of the iterations."""
_MOST_MIXED: Final = 12
"""Mixed hands that are told one by one below a chart."""


class Algorithm(enum.Enum):
    """How an equilibrium is found."""

    LP = "lp"
    CFR_PLUS = "cfr+"


def preflop(
    context: typer.Context,
    cap: Annotated[int, typer.Option(help="How many bets there may be, the big blind included.")] = 4,
    blinds: Annotated[str, typer.Option(metavar="SMALL/BIG", help="The blinds, in chips.")] = "1/2",
    bet: Annotated[int, typer.Option(help="The size of a raise, in chips.")] = 2,
    algorithm: Annotated[
        Algorithm, typer.Option(help="A linear program, which is exact, or regret matching, which comes close.")
    ] = Algorithm.LP,
    until: Annotated[
        float, typer.Option(min=1e-9, help="cfr+: stop at this exploitability, in chips per hand.")
    ] = 1e-5,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Make the mistake of the work, and compare with what it printed.")
    ] = False,
    mps: Annotated[
        Path | None, typer.Option(help="Write the small blind's linear program to this file, for other solvers.")
    ] = None,
    chart: Annotated[Path | None, typer.Option(help="Draw the charts into this file: .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Solve limit hold'em of two players that ends before the flop: value, charts of all hands, simple opponents.

    After the betting before the flop all boards are dealt and the better hand wins. --as-published solves it as
    Vytrísal (2013) did, who overwrote payoffs that had to be summed.
    """
    terminal = context.ensure_object(Terminal)
    from bots.lp_mc.preflop import PreflopRules, preflop_form

    rules = PreflopRules(_two_numbers(blinds), bet, cap)
    if as_published and algorithm is not Algorithm.LP:
        abort("--as-published is a mistake in a linear program: give it without --algorithm cfr+")
    check_writable(mps)
    check_picture(chart)
    form = preflop_form(rules)
    if mps is not None:
        _write_mps(form, mps, as_published=as_published)
    solutions = _solutions(terminal, form, algorithm, until, as_published=as_published)
    result = _result(rules, form, algorithm, solutions)
    if chart is not None:
        _write_charts(chart, result, form, next(iter(solutions.values())).plans)
    if as_json:
        terminal.print(json.dumps(result, indent=2))
    else:
        _show(terminal, result, form, next(iter(solutions.values())).plans)


def _two_numbers(blinds: str) -> tuple[int, int]:
    small, _, big = blinds.partition("/")
    if not (small.strip().isdecimal() and big.strip().isdecimal() and len(blinds) < 20):
        abort("--blinds: give two numbers of chips, the small blind first, such as 1/2")
    return int(small), int(big)


def _write_mps(form: SequenceForm, path: Path, *, as_published: bool) -> None:
    from bots.lp_mc.preflop import published_program
    from bots.solving.equilibria import LinearProgram

    program = published_program(form) if as_published else LinearProgram(form)
    try:
        program.write_mps(path)
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")


def _write_charts(path: Path, result: Mapping[str, Any], form: SequenceForm, plans: Plans) -> None:
    from bots.lp_mc.preflop import charts
    from dealer.cli.solve_preflop import picture

    title = f"{_game_in_words(result)}: {result['value']:+.6f} chips for the small blind"
    write_picture(path, picture(charts(form, plans), title, format_of(path)))


# ---- solving
def _solutions(
    terminal: Terminal, form: SequenceForm, algorithm: Algorithm, until: float, *, as_published: bool
) -> dict[str, Equilibrium]:
    """What is asked for, first, by name; with the solution as published comes the correct one."""
    from bots.errors import SolvingError
    from bots.lp_mc.preflop import solve, solve_as_published

    try:
        if algorithm is Algorithm.CFR_PLUS:
            with showing_progress(terminal, "matching regrets") as show:
                return {"cfr+": _by_regret(form, until, show)}
        found = {}
        if as_published:
            with showing_progress(terminal, "solving with the mistake") as show:
                found["as published"] = solve_as_published(form, lambda: show(None))
        with showing_progress(terminal, "solving the linear program") as show:
            found["equilibrium"] = solve(form, lambda: show(None))
        return found
    except SolvingError as error:
        abort(str(error), EXIT_FAILED)


def _by_regret(form: SequenceForm, until: float, show: Callable[[float], None]) -> Equilibrium:
    from bots.lp_mc.preflop import without_free_folds
    from bots.solving.equilibria import Equilibrium, cfr_plus
    from bots.solving.sequence_form import expected_value, exploitability

    averages = islice(cfr_plus(form), _CHECK_EVERY - 1, None, _CHECK_EVERY)
    while True:
        small_blind, big_blind = next(averages)
        plans = small_blind, without_free_folds(form, big_blind)
        reached = exploitability(form, plans)
        if reached <= until:
            return Equilibrium(expected_value(form, plans), plans)
        show((until / reached) ** (1 / _FALL))


# ---- results
def _result(
    rules: PreflopRules, form: SequenceForm, algorithm: Algorithm, solutions: Mapping[str, Equilibrium]
) -> dict[str, Any]:
    """Everything as JSON has it; values are of the first solution."""
    from bots.lp_mc.preflop import BALANCES, OPPONENTS, PreflopRules, balance, charts, decision_counts
    from bots.solving.sequence_form import expected_value, exploitability, strategy_of
    from engine import STARTING_HANDS

    (name, (objective, plans)), *_ = solutions.items()
    payoffs = form.payoffs().summed()
    balances: dict[str, Mapping[str, float]] = {
        solution: {opponent: balance(form, found.plans, opponent) / rules.bet for opponent in OPPONENTS}
        for solution, found in solutions.items()
    }
    if name == "as published" and rules == PreflopRules():
        balances = {"printed": BALANCES} | balances
    strategies = {
        betting: {
            hand: [round(float(chance), 12) if chance >= 0 else None for chance in chances[:, number]]
            for number, hand in enumerate(STARTING_HANDS)
        }
        for player in (0, 1)
        for betting, chances in strategy_of(form, player, plans[player]).items()
    }
    return {
        "blinds": list(rules.blinds),
        "bet": rules.bet,
        "cap": rules.cap,
        "solution": name,
        "algorithm": algorithm.value,
        "payoffs": {"rows": payoffs.shape[0], "columns": payoffs.shape[1], "entries": len(payoffs.values)},
        "constraints": [form.constraints(player).shape[0] for player in (0, 1)],
        "leaves": len(form.terminal_nodes),
        "objective": objective,
        "value": expected_value(form, plans),
        "exploitability": exploitability(form, plans),
        "charts": {view.title: view.counts() for view in charts(form, plans)},
        "decisions": [counts._asdict() for counts in decision_counts(form, plans)],
        "small_bets_per_hand": balances,
        "strategies": strategies,
    }


def _game_in_words(result: Mapping[str, Any]) -> str:
    small, big = result["blinds"]
    return f"before the flop, blinds {small}/{big}, bets of {result['bet']}, at most {result['cap']}"


def _show(terminal: Terminal, result: Mapping[str, Any], form: SequenceForm, plans: Plans) -> None:
    from bots.lp_mc.preflop import charts
    from dealer.cli.solve_preflop import LEGEND, chart_view

    payoffs, value, exploited = result["payoffs"], result["value"], result["exploitability"]
    terminal.sentence(
        f"{_game_in_words(result).capitalize()}: {payoffs['rows']:,} x {payoffs['columns']:,} payoffs "
        f"({payoffs['entries']:,} entries, {result['leaves']} leaves), "
        f"{' and '.join(f'{rows:,}' for rows in result['constraints'])} rows of constraints."
    )
    if result["solution"] == "as published":
        terminal.sentence(
            f"With the mistake the program says {result['objective']:+.12f} chips for the small blind; "
            f"the plans are worth {value:+.12f}."
        )
    else:
        terminal.sentence(f"Value for the small blind: {value:+.12f} chips per hand.")
    within = f"below {_ROUNDING:.0e}" if exploited < _ROUNDING else f"{exploited:.6g}"
    terminal.sentence(f"Exploitability by exact best responses: {within} chips per hand.")
    for view in charts(form, plans):
        terminal.print()
        terminal.out.print(chart_view(view, terminal.out), soft_wrap=False)
        for line in _mixed(view):
            terminal.sentence(line)
    terminal.print()
    terminal.sentence(LEGEND)
    terminal.print()
    columns = ["seat", "after", "fold", "call", "raise", "mixed", "never there"]
    rows = [
        [row["seat"], row["betting"] or "nothing", *map(str, list(row.values())[2:])] for row in result["decisions"]
    ]
    terminal.table(columns, rows, title="Hands that always do the same, by decision", left=(0, 1))
    balances = result["small_bets_per_hand"]
    opponents = next(iter(balances.values()))
    terminal.table(
        ["opponent", *balances],
        [[name, *(f"{of[name]:+.4f}" for of in balances.values())] for name in opponents],
        title="Small bets per hand against simple players, mean of both seats",
    )


def _mixed(view: Chart) -> list[str]:
    from bots.lp_mc.preflop import is_pure
    from engine import STARTING_HANDS

    told = [
        f"{hand}: " + ", ".join(f"{line} {chance:.4f}" for line, chance in lines.items())
        for hand, lines in zip(STARTING_HANDS, view.lines, strict=True)
        if not is_pure(lines)
    ]
    return told if len(told) <= _MOST_MIXED else [f"{len(told)} hands mix; --json has them all"]


_COLOURS: Final = {
    "f": (176, 176, 184),
    "k": (126, 192, 128),
    "c": (126, 192, 128),
    "rf": (242, 214, 120),
    "rc": (240, 164, 92),
    "rr": (222, 92, 72),
    "r": (240, 164, 92),
}
"""By the first letters of a line: what raises more is redder."""
_PLAIN_COLOURS: Final = {
    **{"f": "white", "k": "green", "c": "green"},
    **{"rf": "bright_yellow", "rc": "yellow", "rr": "red", "r": "yellow"},
}
"""The same for terminals of sixteen colours."""
LEGEND: Final = "f fold · k check · c call · r raise; rc raises and calls the next raise; * mixed"


def _number(row: int, column: int) -> int:
    """The starting hand in a row and column, aces first."""
    one, other = 12 - row, 12 - column
    return 13 * max(one, other) + min(one, other) if row < column else 13 * min(one, other) + max(one, other)


def _group(line: str) -> str:
    """The letters of a line that its colour depends on."""
    return line[:2] if line[0] == "r" else line[0]


def _line_colour(line: str) -> tuple[int, int, int]:
    return _COLOURS[_group(line)]


def _colour(lines: Lines) -> tuple[int, int, int]:
    """The mean of the colours of the lines, by their probabilities."""
    red, green, blue = (
        round(sum(chance * _line_colour(line)[part] for line, chance in lines.items())) for part in range(3)
    )
    return red, green, blue


# ---- on a terminal
def chart_view(chart: Chart, console: Console) -> RenderableType:
    """A chart as wide as it needs to be; where the window is too narrow for the lines, their first letters."""
    words = [_word(lines) for lines in chart.lines]
    cell = max(map(len, words)) + 1
    if 2 + 13 * cell > console.width:
        words, cell = [word[0] + ("*" if word.endswith("*") else "") for word in words], 2
    rows = [Text("  " + "".join(rank.ljust(cell) for rank in RANKS[::-1]).rstrip(), style="dim")]
    for row in range(13):
        line = Text(RANKS[12 - row] + " ", style="dim")
        for column in range(13):
            number = _number(row, column)
            line.append(words[number].ljust(cell), style=_style(chart.lines[number], console))
        if not console.color_system:
            line.rstrip()
        rows.append(line)
    return Group(Text(f"{chart.title}: {_counts(chart)}", style="bold"), *rows)


def _style(lines: Lines, console: Console) -> Style:
    """A ground in the colour of the lines; on a terminal of few colours in that of the likeliest."""
    if console.color_system is None:
        return Style(dim=False)
    if console.color_system in ("standard", "windows"):
        return Style(dim=False, color="black", bgcolor=_PLAIN_COLOURS[_group(next(iter(lines)))])
    red, green, blue = _colour(lines)
    return Style(dim=False, color="black", bgcolor=f"rgb({red},{green},{blue})")


def _word(lines: Lines) -> str:
    """The likeliest line, marked if there are others."""
    return next(iter(lines)) + ("*" if len(lines) > 1 else "")


def _counts(chart: Chart) -> str:
    return ", ".join(f"{count} {name}" for name, count in chart.counts().items())


# ---- as a charts_picture
def charts_picture(charts: Sequence[Chart], title: str, format_: str) -> bytes:
    """The charts side by side, as the bytes of a file; the same charts give the same bytes.

    Args:
        charts: what to draw.
        title: above all.
        format_: one of `dealer.cli.pictures.PICTURE_FORMATS`.
    """

    def draw(figure: Any) -> None:
        for place, chart in enumerate(charts, 1):
            _draw_chart(figure.add_subplot(1, len(charts), place), chart)

    return pictures.picture(draw, title, format_, (6 * len(charts), 6.8))


def _draw_chart(axes: Any, chart: Chart) -> None:
    """One chart: each hand a square, divided between its lines."""
    from matplotlib.collections import PolyCollection

    from engine import STARTING_HANDS

    corners, colours = [], []
    for row in range(13):
        for column in range(13):
            number = _number(row, column)
            left = float(column)
            for line, chance in chart.lines[number].items():
                right = left + chance
                corners.append([(left, row), (right, row), (right, row + 1), (left, row + 1)])
                colours.append(tuple(part / 255 for part in _line_colour(line)))
                left = right
            axes.text(column + 0.5, row + 0.36, STARTING_HANDS[number], ha="center", va="center", weight="bold")
            axes.text(column + 0.5, row + 0.72, _word(chart.lines[number]), ha="center", va="center", fontsize=6)
    axes.add_collection(PolyCollection(corners, facecolors=colours, zorder=0))
    axes.set(xlim=(0, 13), ylim=(13, 0), xticks=range(14), yticks=range(14), aspect="equal")
    axes.grid(color="white", linewidth=1)
    axes.tick_params(length=0, labelbottom=False, labelleft=False)
    axes.set_title(f"{chart.title}: {_counts(chart)}", fontsize=9)
