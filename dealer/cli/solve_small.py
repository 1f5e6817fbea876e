"""``arena solve kuhn``, ``leduc``, ``kuhn3`` and ``game``: small games, solved exactly or by regret matching."""

from __future__ import annotations

import enum
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from bots.kuhn.games import CARDS, KuhnGame, Variant
from dealer.cli.console import Terminal, abort, check_writable, write_file
from dealer.cli.pictures import check_picture, format_of, picture, write_picture
from dealer.cli.progress import showing_progress
from dealer.cli.streams import EXIT_FAILED, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from bots.solving.equilibria import Convergence, Reached
    from bots.solving.sequence_form import Plans, SequenceForm

_ROUNDING: Final = 1e-12
"""An exploitability up to this, in chips, is the rounding of sums."""
_MOST_ITERATIONS: Final = 10_000_000
_ITERATIONS: Final = 1_000
_SEATS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_BARS_A_POWER: Final = 4
"""Signs for each power of ten."""


class Algorithm(enum.Enum):
    """How an equilibrium is found."""

    LP = "lp"
    CFR = "cfr"
    CFR_PLUS = "cfr+"


_Algorithm: TypeAlias = Annotated[
    Algorithm | None,
    typer.Option(
        "--algorithm",
        help="A linear program, which is exact and for two players, or regret matching, which comes close.",
        show_default="lp; cfr+ for three players",
    ),
]
_Iterations: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--iterations",
        min=1,
        max=_MOST_ITERATIONS,
        help="cfr and cfr+: how many.",
        show_default=f"{_ITERATIONS:,}",
    ),
]
_Chart: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="cfr and cfr+: draw the exploitability by iterations into this file: .png, .svg or .pdf."),
]
_Out: TypeAlias = Annotated[Path | None, typer.Option("--out", "-o", help="Write everything as JSON to this file.")]
_Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


@dataclass(frozen=True)
class _Asked:
    """What is to be solved.

    Attributes:
        title: the game in words.
        name: of the game, as JSON has it.
        form: the game.
        kuhn: which of the four games of three cards it is, if it is one.
    """

    title: str
    name: str
    form: SequenceForm
    kuhn: KuhnGame | None = None


@dataclass(frozen=True)
class _Wanted:
    """The options."""

    algorithm: Algorithm | None
    iterations: int | None
    chart: Path | None
    out: Path | None
    as_json: bool


def kuhn(
    context: typer.Context,
    game: Annotated[
        Variant,
        typer.Option(help="The classic game; with bets of 1, 2 or 10 (breadth); with one raise (depth); with both."),
    ] = Variant.CLASSIC,
    tens_as_twos: Annotated[
        bool,
        typer.Option(
            "--tens-as-twos", help="breadth: the second player cannot tell a bet of 10 from one of 2, as in a work."
        ),
    ] = False,
    algorithm: _Algorithm = None,
    iterations: _Iterations = None,
    chart: _Chart = None,
    out: _Out = None,
    as_json: _Json = False,
) -> None:
    """Solve Kuhn poker of two players, or a larger game of its three cards: value, equilibrium, convergence."""
    from bots.kuhn.games import sequence_form_of

    which = KuhnGame(game, tens_as_twos)
    words = {
        Variant.CLASSIC: "Kuhn poker",
        Variant.BREADTH: "Kuhn poker with bets of 1, 2 or 10",
        Variant.DEPTH: "Kuhn poker with one raise",
        Variant.BOTH: "Kuhn poker with bets of 1, 2 or 10 and one raise",
    }[game]
    if tens_as_twos:
        words += ", where the second player cannot tell 10 from 2"
    asked = _Asked(words, f"kuhn {game.value}{', tens as twos' * tens_as_twos}", sequence_form_of(which), which)
    _solve(context, asked, _Wanted(algorithm, iterations, chart, out, as_json))


def leduc(
    context: typer.Context,
    algorithm: _Algorithm = None,
    iterations: _Iterations = None,
    chart: _Chart = None,
    out: _Out = None,
    as_json: _Json = False,
) -> None:
    """Solve Leduc poker of two players: value, equilibrium, convergence."""
    _solve_named(context, "leduc", "Leduc poker", _Wanted(algorithm, iterations, chart, out, as_json))


def kuhn3(
    context: typer.Context,
    algorithm: _Algorithm = None,
    iterations: _Iterations = None,
    chart: _Chart = None,
    out: _Out = None,
    as_json: _Json = False,
) -> None:
    """Come near an equilibrium of three-player Kuhn poker by regret matching, and say how near."""
    title = "Kuhn poker of three players"
    _solve_named(context, "kuhn3", title, _Wanted(algorithm, iterations, chart, out, as_json))


def game(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="GAME", help="A game's name, or the file of its definition.")],
    algorithm: _Algorithm = None,
    iterations: _Iterations = None,
    chart: _Chart = None,
    out: _Out = None,
    as_json: _Json = False,
) -> None:
    """Solve any game that is small enough to deal every card."""
    _solve_named(context, name, "", _Wanted(algorithm, iterations, chart, out, as_json))


def _solve_named(context: typer.Context, name: str, title: str, wanted: _Wanted) -> None:
    from bots.solving.engine_games import has_flushes, rank_game, small_game
    from bots.solving.sequence_form import sequence_form
    from protocol import find_game

    full, found = find_game(name)
    small = small_game(found) if has_flushes(found) else rank_game(found)
    _solve(context, _Asked(title or full, full, sequence_form(small)), wanted)


def _solve(context: typer.Context, asked: _Asked, wanted: _Wanted) -> None:
    from bots.solving.equilibria import solution_data

    terminal = context.ensure_object(Terminal)
    players = asked.form.game.players
    algorithm = wanted.algorithm or (Algorithm.LP if players == 2 else Algorithm.CFR_PLUS)
    if algorithm is Algorithm.LP:
        if players != 2:
            abort(f"a linear program solves games of two players, not one of {players}: give --algorithm cfr+ or cfr")
        for option, value in (("--iterations", wanted.iterations), ("--chart", wanted.chart)):
            if value is not None:
                abort(f"{option} is about regret matching: give it with --algorithm cfr+ or cfr")
    check_picture(wanted.chart)
    check_writable(wanted.out)
    steps: tuple[Reached, ...] = ()
    iterations, is_interrupted = wanted.iterations or _ITERATIONS, False
    if algorithm is Algorithm.LP:
        plans = _by_linear_program(terminal, asked.form)
    else:
        plans, steps, is_interrupted = _by_regret(terminal, asked.form, algorithm, iterations)
    result = solution_data(asked.form, plans, steps, game=asked.name, algorithm=algorithm.value)
    if wanted.chart is not None:
        title = f"{asked.title}: {algorithm.value}, {steps[-1].iterations:,} iterations"
        write_picture(wanted.chart, _picture(steps, players, title, format_of(wanted.chart)))
    if wanted.out is not None:
        write_file(wanted.out, json.dumps(result, indent=2) + "\n")
    if wanted.as_json:
        terminal.print(json.dumps(result, indent=2))
    else:
        _show(terminal, asked, result)
    if is_interrupted:
        done = f"{steps[-1].iterations:,} of {iterations:,} iterations"
        abort(f"interrupted after {done}: what they reached is shown; the same command begins again", EXIT_INTERRUPTED)


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
            told = f"exploitability {last.nash_conv / players:.3g} after {last.iterations:,} iterations"
            show(number / iterations, told)

        return converge(form, averages, iterations, on_step)


def _picture(steps: tuple[Reached, ...], players: int, title: str, format_: str) -> bytes:
    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.loglog([step.iterations for step in steps], [step.nash_conv / players for step in steps], marker="o")
        axes.set(xlabel="iterations", ylabel="exploitability, chips per hand")
        axes.grid(which="major", linewidth=0.4)

    return picture(draw, title, format_, (6, 4))


# ---- results


def _show(terminal: Terminal, asked: _Asked, result: dict[str, Any]) -> None:
    players, values = result["players"], result["values"]
    terminal.sentence(
        f"{asked.title}: {players} players, {result['information_sets']} information sets, "
        f"{result['ends']} ends{' on all boards' if '/' in ''.join(result['strategies'][0]) else ''}."
    )
    if result["convergence"]:
        _show_convergence(terminal, result)
    if players == 2:
        terminal.sentence(f"Value for the first player: {_signed(values[0])} chips per hand.")
    else:
        told = ", ".join(f"{seat} {_signed(value)}" for seat, value in zip(_SEATS, values, strict=False))
        terminal.sentence(f"Values by seat: {told} chips per hand.")
    exploited = result["exploitability"]
    within = f"below {_ROUNDING:.0e}" if exploited < _ROUNDING else f"{exploited:.6g}"
    terminal.sentence(f"Exploitability by exact best responses: {within} chips per hand.")
    if players > 2:
        terminal.sentence(
            f"With {players} players regret matching promises no equilibrium. What holds is the exploitability: with "
            f"better answers all players together would win {result['nash_conv']:.6g} chips per hand more (NashConv)."
        )
    if asked.name == "kuhn.limit.3p":
        terminal.sentence(
            f"After many iterations cfr and cfr+ both give the second player {-1 / 48:.6f} (-1/48); what the others "
            "get depends on the equilibrium that is come near."
        )
    if asked.kuhn is None:
        _show_states(terminal, result)
    else:
        _show_rows(terminal, asked.kuhn, result)


def _show_convergence(terminal: Terminal, result: dict[str, Any]) -> None:
    """Iterations and what they reached, with bars of the same length for each power of ten."""
    steps = result["convergence"]
    floor = min(math.log10(max(step["exploitability"], _ROUNDING)) for step in steps)
    rows = []
    for step in steps:
        length = _BARS_A_POWER * (math.log10(max(step["exploitability"], _ROUNDING)) - floor)
        told = [f"{step['iterations']:,}", f"{step['exploitability']:.6g}", _signed(step["values"][0], 6)]
        rows.append([*told, "#" * (1 + round(length))])
    terminal.table(
        ["iterations", "exploitability", "value, first player", f"{_BARS_A_POWER} signs: ten times as much"],
        rows,
        title=f"Convergence of {result['algorithm']}, chips per hand",
        left=(3,),
    )


def _show_rows(terminal: Terminal, which: KuhnGame, result: dict[str, Any]) -> None:
    """The four games: the probability of yes by question and card."""
    for seat, strategy in zip(_SEATS, result["strategies"], strict=False):
        rows = [
            [f"{row}  {question}", *(_chance(strategy[row].get(card, {}).get("yes")) for card in CARDS)]
            for row, question in zip(which.rows, which.questions, strict=True)
            if row in strategy
        ]
        terminal.table(["probability of yes", *CARDS], rows, title=f"The {seat} player")
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
    terminal.table(["player", "after", "holding", "plays"], rows, title=title, left=(0, 1, 2, 3))
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


def _signed(value: float, digits: int = 12) -> str:
    return f"{value:+.{digits}f}"
