"""``arena solve preflop``: limit hold'em before the flop, in equilibrium."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.text import Text

from dealer.cli.console import Terminal, abort, check_writable
from dealer.cli.options import Json
from dealer.cli.progress import showing_progress
from dealer.cli.solve_small import Algorithm, check_picture, write_picture
from dealer.cli.streams import EXIT_FAILED
from engine.cards import RANKS
from logs.document import NAME, Column, Table

if TYPE_CHECKING:
    from bots.lp_mc.preflop import Chart, Lines
    from bots.solving.equilibria import Equilibrium
    from bots.solving.sequence_form import SequenceForm

_CHECK_EVERY: Final = 50
"""Iterations of CFR+ between two looks at the exploitability."""
_FALL: Final = 1.6
"""The exploitability falls about as this power of the iterations."""
_MOST_MIXED: Final = 12
"""Mixed hands that are listed one by one below a chart."""


def preflop(
    context: typer.Context,
    cap: Annotated[int, typer.Option(help="How many bets there may be, the big blind included.")] = 4,
    blinds: Annotated[str, typer.Option(metavar="SMALL/BIG", help="The blinds, in chips.")] = "1/2",
    bet: Annotated[int, typer.Option(help="The size of a raise, in chips.")] = 2,
    algorithm: Annotated[
        Algorithm, typer.Option(help="How to solve it: a linear program is exact, regret matching comes close.")
    ] = Algorithm.LP,
    until: Annotated[
        float, typer.Option(min=1e-9, help="Stop at this exploitability, for cfr and cfr+: in chips per hand.")
    ] = 1e-5,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Make the mistake of the work; compare with what it printed.")
    ] = False,
    mps: Annotated[Path | None, typer.Option(help="Write the small blind's linear program: for other solvers.")] = None,
    chart: Annotated[Path | None, typer.Option(help="Draw the charts into this file: .png, .svg or .pdf.")] = None,
    as_json: Json = False,
) -> None:
    """Solve limit hold'em of two players that ends before the flop: value, charts of all hands, simple opponents.

    After the betting before the flop all boards are dealt and the better hand wins. --as-published solves it as
    Vytrísal (2013) did, who overwrote payoffs that had to be summed.
    """
    terminal = context.ensure_object(Terminal)
    from bots.lp_mc.preflop import PreflopRules, charts, preflop_form, solution_data

    rules = PreflopRules(_two_numbers(blinds), bet, cap)
    if as_published and algorithm is not Algorithm.LP:
        abort(f"--as-published is a mistake in a linear program: give it without --algorithm {algorithm.value}")
    check_writable(mps)
    check_picture(chart)
    form = preflop_form(rules)
    if mps is not None:
        _write_mps(form, mps, as_published=as_published)
    solutions = _solutions(terminal, form, algorithm, until, as_published=as_published)
    plans = next(iter(solutions.values())).plans
    result = solution_data(rules, form, solutions, algorithm=algorithm.value)
    if chart is not None:
        title = f"{_game_in_words(result)}: {result['value']:+.6f} chips for the small blind"
        write_charts(chart, charts(form, plans), title)
    if as_json:
        terminal.json(result)
    else:
        _show(terminal, result, charts(form, plans))


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


# ---- solving
def _solutions(
    terminal: Terminal, form: SequenceForm, algorithm: Algorithm, until: float, *, as_published: bool
) -> dict[str, Equilibrium]:
    """What is asked for, first, by name; with the solution as published comes the correct one."""
    from bots.errors import SolvingError
    from bots.lp_mc.preflop import solve, solve_as_published

    try:
        if algorithm is not Algorithm.LP:
            with showing_progress(terminal, "matching regrets") as show:
                return {algorithm.value: _by_regret(form, algorithm, until, show)}
        found = {}
        if as_published:
            with showing_progress(terminal, "solving with the mistake") as show:
                found["as published"] = solve_as_published(form, lambda: show(None))
        with showing_progress(terminal, "solving the linear program") as show:
            found["equilibrium"] = solve(form, lambda: show(None))
        return found
    except SolvingError as error:
        abort(str(error), EXIT_FAILED)


def _by_regret(form: SequenceForm, algorithm: Algorithm, until: float, show: Callable[[float], None]) -> Equilibrium:
    from bots.lp_mc.preflop import without_free_folds
    from bots.solving.equilibria import Equilibrium, cfr, cfr_plus
    from bots.solving.sequence_form import expected_value, exploitability

    steps = cfr(form) if algorithm is Algorithm.CFR else cfr_plus(form)
    averages = islice(steps, _CHECK_EVERY - 1, None, _CHECK_EVERY)
    while True:
        small_blind, big_blind = next(averages)
        plans = small_blind, without_free_folds(form, big_blind)
        reached = exploitability(form, plans)
        if reached <= until:
            return Equilibrium(expected_value(form, plans), plans)
        show((until / reached) ** (1 / _FALL))


# ---- results
def _game_in_words(result: Mapping[str, Any]) -> str:
    small, big = result["blinds"]
    return f"before the flop, blinds {small}/{big}, bets of {result['bet']}, at most {result['cap']}"


def _show(terminal: Terminal, result: Mapping[str, Any], views: Sequence[Chart]) -> None:
    from bots.solving.sequence_form import exploitability_in_words

    payoffs, value = result["payoffs"], result["value"]
    terminal.sentence(
        f"{_game_in_words(result).capitalize()}: {payoffs['rows']:,} x {payoffs['columns']:,} payoffs "
        f"({payoffs['entries']:,} entries, {result['leaves']} leaves), "
        f"{' and '.join(f'{rows:,}' for rows in result['constraints'])} rows of constraints."
    )
    if result["solution"] == "as published":
        terminal.sentence(
            f"With the mistake the program gives {result['objective']:+.12f} chips for the small blind; "
            f"the plans win {value:+.12f}."
        )
    else:
        terminal.sentence(f"Value for the small blind: {value:+.12f} chips per hand.")
    terminal.sentence(exploitability_in_words(result["exploitability"]))
    for view in views:
        terminal.blank()
        terminal.draw(chart_view(view, terminal.out), soft_wrap=False)
        for line in _mixed(view):
            terminal.sentence(line)
    terminal.blank()
    terminal.sentence(_LEGEND)
    columns = (
        "seat",
        Column("after", format=NAME),
        *("fold", "call", "raise"),
        Column("mixed", ",", rank=1),
        Column("never there", ",", rank=2),
    )
    rows = [
        [row["seat"], row["betting"] or "nothing", *map(str, list(row.values())[2:])] for row in result["decisions"]
    ]
    terminal.table(Table.of("Hands that always do the same, by decision", columns, rows))
    balances = result["small_bets_per_hand"]
    opponents = next(iter(balances.values()))
    title = "Small bets per hand against simple players, mean of both seats"
    rows = [[name, *(f"{of[name]:+.4f}" for of in balances.values())] for name in opponents]
    terminal.table(Table.of(title, ("opponent", *balances), rows))


def _mixed(view: Chart) -> list[str]:
    from bots.lp_mc.preflop import is_pure
    from engine import STARTING_HANDS

    mixed = [
        f"{hand}: " + ", ".join(f"{line} {chance:.4f}" for line, chance in lines.items())
        for hand, lines in zip(STARTING_HANDS, view.lines, strict=True)
        if not is_pure(lines)
    ]
    return mixed if len(mixed) <= _MOST_MIXED else [f"{len(mixed)} hands mix; --json has them all"]


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
_LEGEND: Final = "f fold · k check · c call · r raise; rc raises and calls the next raise; * mixed"


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
def write_charts(path: Path, charts: Sequence[Chart], title: str) -> None:
    """Draw the charts side by side."""

    def draw(figure: Any) -> None:
        for place, chart in enumerate(charts, 1):
            _draw_chart(figure.add_subplot(1, len(charts), place), chart)

    write_picture(path, draw, title, (6 * len(charts), 6.8))


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
