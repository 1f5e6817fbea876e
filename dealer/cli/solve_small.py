"""``arena solve kuhn``, ``leduc``, ``kuhn3`` and ``game``: solve small games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from bots.kuhn.games import KuhnGame, Variant
from bots.sdk.options import Interval, Wording
from dealer.cli.shell.completion import game_argument
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.streams import EXIT_FAILED, EXIT_INTERRUPTED
from engine.text import count_of

if TYPE_CHECKING:
    from bots.solving.equilibria import Reached, Solution
    from bots.solving.sequence_form import Plans, SequenceForm
    from logs.document import Part

_MAX_ITERATIONS: Final = 10_000_000
_ITERATIONS: Final = 1_000

Algorithm: TypeAlias = Literal["lp", "cfr", "cfr+"]
"""Linear program, counterfactual regret minimisation, or its variant CFR+."""


@dataclass(frozen=True)
class _Options:
    algorithm: Annotated[
        Algorithm | None,
        "Algorithm: a linear program is exact and for two players, regret matching approximates.",
        Wording(otherwise="lp; cfr+ for three players"),
    ] = None
    iterations: Annotated[
        int | None,
        "Number of iterations, for cfr and cfr+.",
        Interval(1, _MAX_ITERATIONS),
        Wording(otherwise=f"{_ITERATIONS:,}"),
    ] = None


def kuhn(
    terminal: Terminal,
    game: Annotated[
        Variant,
        "Variant of the game. 'breadth' has bets of 1, 2 or 10, 'depth' has one raise, and 'both' has both.",
    ] = Variant.CLASSIC,
    tens_as_twos: Annotated[
        bool,
        "A bet of 10 looks like one of 2 in breadth. The second player cannot distinguish them, as in the thesis.",
    ] = False,
    *,
    options: _Options,
    output: DocumentOptions,
) -> None:
    """Solve Kuhn poker of two players, or a larger game of its three cards: value, equilibrium, convergence."""
    from bots.kuhn.games import sequence_form_of
    from bots.kuhn.runs import strategy_parts

    kuhn_game = KuhnGame(game, tens_as_twos)
    title = "Kuhn poker"
    name = f"kuhn {game.value}"
    match game:
        case Variant.BREADTH:
            title += " with bets of 1, 2 or 10"
        case Variant.DEPTH:
            title += " with one raise"
        case Variant.BOTH:
            title += " with bets of 1, 2 or 10 and one raise"
    if tens_as_twos:
        title += ", where the second player cannot tell 10 from 2"
        name += ", tens as twos"

    def parts(solution: Solution, *, is_whole: bool = False) -> list[Part]:
        return strategy_parts(kuhn_game, solution)

    _solve(terminal, sequence_form_of(kuhn_game), parts, options, output, title=title, name=name)


def leduc(terminal: Terminal, *, options: _Options, output: DocumentOptions) -> None:
    """Solve Leduc poker of two players: value, equilibrium, convergence."""
    _solve_named(terminal, "leduc", "Leduc poker", options, output)


def kuhn3(terminal: Terminal, *, options: _Options, output: DocumentOptions) -> None:
    """Approximate an equilibrium of three-player Kuhn poker: by regret matching, with its exploitability."""
    _solve_named(terminal, "kuhn3", "Kuhn poker of three players", options, output)


def game(
    terminal: Terminal,
    name: Annotated[str, game_argument()],
    *,
    options: _Options,
    output: DocumentOptions,
) -> None:
    """Solve any game that is small enough to deal every card."""
    _solve_named(terminal, name, "", options, output)


def _solve_named(terminal: Terminal, name: str, title: str, options: _Options, output: DocumentOptions) -> None:
    from bots.solving.engine_games import has_flushes, rank_game, small_game
    from bots.solving.equilibria import strategy_parts
    from bots.solving.sequence_form import sequence_form
    from protocol import find_game
    from protocol.game_definition import short_name

    full_name, game = find_game(name)
    # Without flushes suits do not matter, and the game of ranks alone is smaller.
    small = small_game(game) if has_flushes(game) else rank_game(game)
    form = sequence_form(small)
    _solve(terminal, form, strategy_parts, options, output, title=title or short_name(full_name), name=full_name)


def _solve(
    terminal: Terminal,
    form: SequenceForm,
    parts: Callable[..., Sequence[Part]],
    options: _Options,
    output: DocumentOptions,
    *,
    title: str,
    name: str,
) -> None:
    """Solve a game and show the solution.

    Args:
        parts: makes the parts of the document about the strategies.
        title: title of the document.
        name: name of the game in JSON.
    """
    from bots.solving.equilibria import solution, solution_document

    players = form.game.players
    algorithm = options.algorithm
    if algorithm is None:
        algorithm = "lp" if players == 2 else "cfr+"
    if algorithm == "lp":
        if players != 2:
            abort(f"a linear program solves games of two players, not of {players}; use --algorithm cfr+ or cfr")
        if options.iterations is not None:
            abort("--iterations is for regret matching; use it with --algorithm cfr+ or cfr")
    steps: tuple[Reached, ...] = ()
    iterations = options.iterations or _ITERATIONS
    if algorithm == "lp":
        plans = _by_linear_program(terminal, form)
    else:
        plans, steps = _by_regret(terminal, form, algorithm, iterations)
    solved = solution(form, plans, steps, game=name, algorithm=algorithm)
    document = solution_document(title, solved, parts(solved))
    page = solution_document(title, solved, parts(solved, is_whole=True))
    output.show(terminal, document, page)
    if steps and solved.iterations != iterations:
        done = f"{solved.iterations:,} of {count_of(iterations, 'iteration')}"
        abort(f"interrupted; the result is that of {done}, and the same command starts over", EXIT_INTERRUPTED)


def _by_linear_program(terminal: Terminal, form: SequenceForm) -> Plans:
    from bots.errors import SolvingError
    from bots.solving.equilibria import LinearProgram

    try:
        with showing_progress(terminal, "solving the linear program") as show:
            return LinearProgram(form).solve(lambda: show(None)).plans
    except SolvingError as error:
        abort(str(error), EXIT_FAILED)


def _by_regret(
    terminal: Terminal, form: SequenceForm, algorithm: Algorithm, iterations: int
) -> tuple[Plans, tuple[Reached, ...]]:
    from bots.solving.equilibria import converge, regret_matching

    averages = regret_matching(form, is_plus=algorithm == "cfr+")
    with showing_progress(terminal, "matching regrets") as show:

        def on_step(number: int, last: Reached) -> None:
            reached = f"exploitability {last.exploitability:.3g} after {last.iterations:,} iterations"
            show(number / iterations, reached)

        return converge(form, averages, iterations, on_step)
