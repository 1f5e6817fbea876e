"""``arena solve kuhn``, ``leduc``, ``kuhn3`` and ``game``: small games, solved exactly or by regret matching.

What all of `arena solve` shares is here as well: the algorithms, and pictures as files.
"""

from __future__ import annotations

import enum
import io
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bots.kuhn.games import CARDS, KuhnGame, Variant
from dealer.cli.console import Terminal, abort, check_writable, write_file
from dealer.cli.options import Json, takes_options
from dealer.cli.progress import showing_progress
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED
from logs.document import CODE, NAME, TEXT, Column, Table

if TYPE_CHECKING:
    from bots.solving.equilibria import Convergence, Reached
    from bots.solving.sequence_form import Plans, SequenceForm

_FLOOR: Final = 1e-12
"""The smallest exploitability that a bar shows, in chips."""
_MOST_ITERATIONS: Final = 10_000_000
_ITERATIONS: Final = 1_000
_SEATS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_BARS_A_POWER: Final = 4
"""Signs for each power of ten."""
_FORMATS: Final = ("png", "svg", "pdf")


class Algorithm(enum.Enum):
    """How an equilibrium is found."""

    LP = "lp"
    CFR = "cfr"
    CFR_PLUS = "cfr+"


@dataclass(frozen=True)
class _Options:
    algorithm: Annotated[
        Algorithm | None,
        typer.Option(
            "--algorithm",
            help="How to solve it: a linear program is exact and for two players, regret matching comes close.",
            show_default="lp; cfr+ for three players",
        ),
    ] = None
    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            min=1,
            max=_MOST_ITERATIONS,
            help="Number of iterations, for cfr and cfr+.",
            show_default=f"{_ITERATIONS:,}",
        ),
    ] = None
    chart: Annotated[
        Path | None,
        typer.Option(help="Draw the exploitability, for cfr and cfr+: by iterations, as .png, .svg or .pdf."),
    ] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write everything as JSON to this file.")] = None
    as_json: Json = False


@takes_options
def kuhn(
    context: typer.Context,
    game: Annotated[
        Variant,
        typer.Option(
            help="Which game: the classic one; with bets of 1, 2 or 10 (breadth); with one raise (depth); with both."
        ),
    ] = Variant.CLASSIC,
    tens_as_twos: Annotated[
        bool,
        typer.Option(
            "--tens-as-twos",
            help="In breadth, a bet of 10 looks like one of 2: the second player cannot distinguish them, as in the "
            "thesis.",
        ),
    ] = False,
    *,
    options: _Options,
) -> None:
    """Solve Kuhn poker of two players, or a larger game of its three cards: value, equilibrium, convergence."""
    from bots.kuhn.games import sequence_form_of

    which = KuhnGame(game, tens_as_twos)
    title = "Kuhn poker"
    if game is not Variant.CLASSIC:
        title += " with " + " and ".join(
            words
            for words, variant in (("bets of 1, 2 or 10", Variant.BREADTH), ("one raise", Variant.DEPTH))
            if game in (variant, Variant.BOTH)
        )
    if tens_as_twos:
        title += ", where the second player cannot tell 10 from 2"
    name = f"kuhn {game.value}{', tens as twos' * tens_as_twos}"
    _solve(context, title, name, sequence_form_of(which), options, which)


@takes_options
def leduc(context: typer.Context, *, options: _Options) -> None:
    """Solve Leduc poker of two players: value, equilibrium, convergence."""
    _solve_named(context, "leduc", "Leduc poker", options)


@takes_options
def kuhn3(context: typer.Context, *, options: _Options) -> None:
    """Approximate an equilibrium of three-player Kuhn poker: by regret matching, with its exploitability."""
    _solve_named(context, "kuhn3", "Kuhn poker of three players", options)


@takes_options
def game(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="GAME", help="A game's name, or the file of its definition.")],
    *,
    options: _Options,
) -> None:
    """Solve any game that is small enough to deal every card."""
    _solve_named(context, name, "", options)


def _solve_named(context: typer.Context, name: str, title: str, options: _Options) -> None:
    from bots.solving.engine_games import has_flushes, rank_game, small_game
    from bots.solving.sequence_form import sequence_form
    from protocol import find_game
    from protocol.game_definition import short_name

    full, found = find_game(name)
    small = small_game(found) if has_flushes(found) else rank_game(found)
    _solve(context, title or short_name(full), full, sequence_form(small), options)


def _solve(
    context: typer.Context, title: str, name: str, form: SequenceForm, options: _Options, which: KuhnGame | None = None
) -> None:
    """Solve and show a game, under its title in words and its name in JSON; `which` of the games of three cards."""
    from bots.solving.equilibria import solution_data

    terminal = context.ensure_object(Terminal)
    players = form.game.players
    algorithm = options.algorithm or (Algorithm.LP if players == 2 else Algorithm.CFR_PLUS)
    if algorithm is Algorithm.LP:
        if players != 2:
            abort(f"a linear program solves games of two players, not one of {players}: give --algorithm cfr+ or cfr")
        for option, value in (("--iterations", options.iterations), ("--chart", options.chart)):
            if value is not None:
                abort(f"{option} is about regret matching: give it with --algorithm cfr+ or cfr")
    check_picture(options.chart)
    check_writable(options.out)
    steps: tuple[Reached, ...] = ()
    iterations, is_interrupted = options.iterations or _ITERATIONS, False
    if algorithm is Algorithm.LP:
        plans = _by_linear_program(terminal, form)
    else:
        plans, steps, is_interrupted = _by_regret(terminal, form, algorithm, iterations)
    result = solution_data(form, plans, steps, game=name, algorithm=algorithm.value)
    if options.chart is not None:
        _write_convergence(options.chart, result, f"{title}: {algorithm.value}, {steps[-1].iterations:,} iterations")
    if options.out is not None:
        write_file(options.out, json.dumps(result, indent=2) + "\n")
    if options.as_json:
        terminal.json(result)
    else:
        _show(terminal, title, result, which)
    if is_interrupted:
        done = f"{steps[-1].iterations:,} of {iterations:,} iterations"
        abort(f"interrupted after {done}, whose result is shown; the same command starts over", EXIT_INTERRUPTED)


# ---- solving


def _by_linear_program(terminal: Terminal, form: SequenceForm) -> Plans:
    from bots.errors import SolvingError
    from bots.solving.equilibria import LinearProgram

    try:
        with showing_progress(terminal, "solving the linear program") as show:
            return LinearProgram(form).solve(lambda: show(None)).plans
    except SolvingError as error:
        abort(str(error), EXIT_FAILED)


def _by_regret(terminal: Terminal, form: SequenceForm, algorithm: Algorithm, iterations: int) -> Convergence:
    from bots.solving.equilibria import cfr, cfr_plus, converge

    averages = cfr(form) if algorithm is Algorithm.CFR else cfr_plus(form)
    players = form.game.players
    with showing_progress(terminal, "matching regrets") as show:

        def on_step(number: int, last: Reached) -> None:
            reached = f"exploitability {last.nash_conv / players:.3g} after {last.iterations:,} iterations"
            show(number / iterations, reached)

        return converge(form, averages, iterations, on_step)


# ---- results


def _show(terminal: Terminal, title: str, result: dict[str, Any], which: KuhnGame | None) -> None:
    from bots.solving.sequence_form import exploitability_in_words

    players, values = result["players"], result["values"]
    terminal.sentence(
        f"{title}: {players} players, {result['information_sets']} information sets, "
        f"{result['ends']} ends{' on all boards' if '/' in ''.join(result['strategies'][0]) else ''}."
    )
    if result["convergence"]:
        _show_convergence(terminal, result)
    if players == 2:
        terminal.sentence(f"Value for the first player: {values[0]:+.12f} chips per hand.")
    else:
        by_seat = ", ".join(f"{seat} {value:+.12f}" for seat, value in zip(_SEATS, values, strict=False))
        terminal.sentence(f"Values by seat: {by_seat} chips per hand.")
    terminal.sentence(exploitability_in_words(result["exploitability"]))
    if players > 2:
        terminal.sentence(
            f"With {players} players regret matching promises no equilibrium. What holds is the exploitability: with "
            f"better answers all players together would win {result['nash_conv']:.6g} chips per hand more (NashConv)."
        )
    if result["game"] == "kuhn.limit.3p":
        terminal.sentence(
            f"After many iterations cfr and cfr+ both give the second player {-1 / 48:.6f} (-1/48); the values of the "
            "others depend on which equilibrium is approached."
        )
    if which is None:
        _show_states(terminal, result)
    else:
        _show_rows(terminal, which, result)


def _show_convergence(terminal: Terminal, result: dict[str, Any]) -> None:
    """Iterations and the exploitability they reached, with bars of the same length for each power of ten."""
    powers = [math.log10(max(step["exploitability"], _FLOOR)) for step in result["convergence"]]
    columns = (
        Column("iterations", ","),
        "exploitability",
        Column("value, first player", ",", rank=1),
        Column(f"{_BARS_A_POWER} signs: ten times as much", format=CODE, rank=2),
    )
    rows = (
        (
            f"{step['iterations']:,}",
            f"{step['exploitability']:.6g}",
            f"{step['values'][0]:+.6f}",
            "#" * (1 + round(_BARS_A_POWER * (power - min(powers)))),
        )
        for step, power in zip(result["convergence"], powers, strict=True)
    )
    terminal.table(Table.of(f"Convergence of {result['algorithm']}, chips per hand", columns, rows))


def _show_rows(terminal: Terminal, which: KuhnGame, result: dict[str, Any]) -> None:
    """The four games: the probability of yes by question and card."""
    for seat, strategy in zip(_SEATS, result["strategies"], strict=False):
        rows = [
            [f"{row}  {question}", *(_chance(strategy[row].get(card, {}).get("yes")) for card in CARDS)]
            for row, question in zip(which.rows, which.questions, strict=True)
            if row in strategy
        ]
        columns = (Column("probability of yes", format=TEXT), *CARDS)
        terminal.table(Table.of(f"The {seat} player", columns, rows))
    if which.variant is Variant.CLASSIC:
        bluffs = result["strategies"][0]["B"]["J"]["yes"]
        near = "come near" if result["algorithm"] != Algorithm.LP.value else "are"
        terminal.sentence(
            "The equilibria are a family (Kuhn 1950): the first player bets J with any probability a from 0 to 1/3, K "
            "with 3a, never Q, and calls with Q with probability a + 1/3; the second player has one strategy. "
            f"The numbers above {near} those of a = {_chance(bluffs)}."
        )


def _show_states(terminal: Terminal, result: dict[str, Any]) -> None:
    """Any game: the probabilities of the actions by betting and holding, those of the first round."""
    rows, left_out = [], 0
    for seat, strategy in zip(_SEATS, result["strategies"], strict=False):
        for betting, states in strategy.items():
            if "/" in betting:
                left_out += len(states)
                continue
            rows += [[seat, betting or "nothing", held, _mixture(chances)] for held, chances in states.items()]
    title = "The first betting round" if left_out else "All decisions"
    columns = (
        "player",
        Column("after", format=NAME),
        Column("holding", format=NAME),
        Column("plays", format=TEXT),
    )
    terminal.table(Table.of(title, columns, rows))
    if left_out:
        terminal.sentence(f"{left_out} more information sets come later: --json prints them, --out writes them.")


def _mixture(chances: dict[str, float | None]) -> str:
    if None in chances.values():
        return "never here"
    return ", ".join(f"{action} {_chance(chance)}" for action, chance in chances.items() if chance)


def _chance(chance: float | None) -> str:
    """Four digits, and fewer for what is certain; a stroke where the player's own play never leads."""
    if chance is None:
        return "-"
    return f"{chance:.0f}" if chance in (0, 1) else f"{chance:.4f}"


# ---- pictures


def check_picture(path: Path | None) -> None:
    """End the command if the picture of --chart could not be written."""
    if path is not None and _format_of(path) not in _FORMATS:
        abort(f"--chart {path}: the name must end in .{', .'.join(_FORMATS[:-1])} or .{_FORMATS[-1]}")
    check_writable(path)


def write_picture(path: Path, draw: Callable[[Any], None], title: str, size: tuple[float, float]) -> None:
    """Write what `draw` draws into matplotlib's figure of this size in inches; the same gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    format_ = _format_of(path)
    style: Any = {"svg.hashsalt": title, "font.family": "sans-serif", "font.size": 7}
    with mpl.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=11)
        draw(figure)
        file = io.BytesIO()
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_, {})
        figure.savefig(file, format=format_, dpi=150, metadata=dated)
    try:
        path.write_bytes(file.getvalue())
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")


def _format_of(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _write_convergence(path: Path, result: dict[str, Any], title: str) -> None:
    steps = result["convergence"]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.loglog([step["iterations"] for step in steps], [step["exploitability"] for step in steps], marker="o")
        axes.set(xlabel="iterations", ylabel="exploitability, chips per hand")
        axes.grid(which="major", linewidth=0.4)

    write_picture(path, draw, title, (6, 4))
