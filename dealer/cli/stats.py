"""``arena stats``: statistics of each bot's play."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.command_options import Json
from dealer.cli.shell.console import Terminal, abort, write_file
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.sources import Problems, Sources, StrictHandOptions, abort_without_hands, counted
from dealer.errors import ResultError
from dealer.run.folder import RESULT_NAME
from dealer.run.results import ContestResult, PlayerResult, read_contest, read_result
from engine import Game
from engine.text import count_of
from logs.tracker.definitions import STATISTICS

if TYPE_CHECKING:
    from bots.evaluation.policies import Policy
    from logs.hand_source import HandSource
    from logs.variance.estimates import Estimates

EPILOG = "\n\n".join(f"{statistic.short}: {statistic.definition}" for statistic in STATISTICS)
"""The definitions of the statistics, for the end of the help."""


def stats(
    terminal: Terminal,
    sources: Sources,
    full: Annotated[bool, "Print all tables: by position and street, starting hands, final hands."] = False,
    times: Annotated[bool, "Also read the times of actions; takes longer."] = False,
    workers: Annotated[
        int | None, "Processes that count big logs.", Interval(1, 1000), Wording(otherwise="one per processor")
    ] = None,
    as_json: Json = False,
    as_csv: Annotated[bool, "Print one row per bot and position as CSV.", Wording(flags="--csv")] = False,
    variance: Annotated[bool, "Print variance-reduced win rates instead."] = False,
    policy: Annotated[
        list[str] | None,
        "Known probabilities of a player, for --variance: those of a bot, file:PATH or ask:COMMAND; the name "
        "alone takes the bot from the run's result.",
        Wording("NAME[=POLICY]"),
    ] = None,
    ranges: Annotated[
        bool,
        "With --policy, also AIVAT over possible cards: the mean over all that a known player might have held; slow.",
    ] = False,
    save: Annotated[bool, "With --variance, also write them to result.json."] = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Show how each bot plays: its win rate, how often it bets, raises and goes to showdown, by position and street.

    The definitions are those of tracking tools.
    """
    if as_json and as_csv:
        abort("--json and --csv contradict each other; give one")
    find = reading.finder(strict=reading.strict)
    if variance:
        if full or times or as_csv or workers is not None:
            abort(
                "--variance prints a table of its own: it goes with --json, --policy, --save, --game, --chip-value and "
                "--strict"
            )
        if ranges and not policy:
            abort("--ranges goes with --policy: it needs a player whose policy is known")
        contest = _contest_to_save_in(sources) if save else None
        players = _players_of(sources) if policy else {}
        estimates = _estimates(terminal, sources, find, players, _policies(policy or [], players), over_ranges=ranges)
        if contest is not None:
            written = contest.model_copy(update={"estimates": estimates.games[0]})
            write_file(sources[0] / RESULT_NAME, written.model_dump_json(indent=2) + "\n")
        from logs.variance.estimates import estimates_document

        show_document(terminal, estimates_document(estimates), as_json=as_json)
        return
    if policy or ranges or save:
        abort("--policy, --ranges and --save go with --variance")
    counts = counted(terminal, sources, find, times=times, workers=workers)
    from logs.tracker.statistics import statistics_of
    from logs.tracker.statistics_tables import COLUMNS, rows, statistics_document

    statistics = statistics_of(counts)
    if as_csv:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(statistics))
        terminal.print(text.getvalue(), end="")
        return
    show_document(terminal, statistics_document(statistics, is_whole=full), as_json=as_json)


# ---- estimators


def _contest_to_save_in(sources: Sequence[Path]) -> ContestResult:
    if len(sources) != 1 or not os.path.isdir(sources[0]):
        abort("--save goes with the folder of one run")
    return read_contest(sources[0])


def _policies(known: Sequence[str], players: Mapping[str, PlayerResult]) -> dict[str, str]:
    """The texts of policies by player."""
    found: dict[str, str] = {}
    for text in known:
        name, equals, policy = text.partition("=")
        if not equals:
            if name not in players:
                abort(f"--policy {text}: no result of a run names the bot of {name}; give --policy {name}=POLICY")
            policy = players[name].player
        if name in found:
            abort(f"--policy {name} is given twice")
        found[name] = policy
    return found


def _players_of(sources: Sequence[Path]) -> dict[str, PlayerResult]:
    """By name, the players of the runs given; of one that has several results, one with faults."""
    found: dict[str, PlayerResult] = {}
    for source in sources:
        with contextlib.suppress(ResultError):
            result = read_result(source)
            for player in [player for contest in result.contests for player in contest.players]:
                if player.name not in found or player.faults:
                    found[player.name] = player
    return found


def _estimates(
    terminal: Terminal,
    sources: Sequence[Path],
    find: Callable[..., HandSource],
    players: Mapping[str, PlayerResult],
    policies: Mapping[str, str],
    *,
    over_ranges: bool,
) -> Estimates:
    from bots.errors import PolicyError, SpecError
    from bots.evaluation.policies import open_policy
    from logs.variance.reduction import HandCorrections, Reduction, reduce_hands

    doubts = {
        name: f"{name} had {count_of(sum(player.faults.values()), 'fault')}: actions played for it are not its policy's"
        for name, player in players.items()
        if player.faults
    }
    with contextlib.ExitStack() as stack:

        def policy_of(name: str, text: str, game: Game) -> Policy:
            try:
                return stack.enter_context(open_policy(text, game))
            except PolicyError as error:
                raise PolicyError(f"{name}: {error}") from error

        def corrections(of: Game) -> HandCorrections:
            from bots.evaluation.hypothetical_hands import (
                MOST_HOLDINGS,
                ActionTerms,
                HypotheticalHands,
                number_of_holdings,
            )

            known = {name: policy_of(name, text, of) for name, text in policies.items()}
            hypothetical = [
                HypotheticalHands(of, {name: known[name] for name in names})
                for number in range(1, len(known) + 1)
                for names in combinations(known, number)
                if over_ranges and number_of_holdings(of, number) <= MOST_HOLDINGS
            ]
            return ActionTerms(of, known, doubts, imagined=hypothetical)

        reduction = Reduction(corrections if policies else None)
        try:
            with Problems(terminal) as problems, showing_progress(terminal, "hands counted") as on_progress:
                hands = reduce_hands(find(sources, on_problem=problems), reduction, on_progress=on_progress)
        except (PolicyError, SpecError) as error:
            abort(f"--policy {error}" if isinstance(error, SpecError) else str(error))
        if not hands:
            abort_without_hands(sources)
        found = reduction.estimates()
    for name in policies:
        if name not in reduction.players:
            abort(f"--policy {name}: there is no such player in these hands, only {', '.join(reduction.players)}")
    return found
