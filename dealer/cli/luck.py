"""``arena luck``: estimate win rates with less variance."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from bots.sdk.options import Wording
from dealer.cli.shell.command_options import IntervalOption, Json
from dealer.cli.shell.console import Terminal, abort, write_file
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.sources import Problems, Sources, StrictHandOptions, abort_without_hands
from dealer.errors import ResultError
from dealer.run.choices import ShownInterval
from dealer.run.folder import RESULT_NAME
from dealer.run.results import ContestResult, PlayerResult, read_contest, read_result
from engine import Game

if TYPE_CHECKING:
    from bots.evaluation.hypothetical_hands import HypotheticalHands
    from bots.evaluation.policies import Policy
    from logs.hand_source import HandSource
    from logs.variance.estimates import Estimates


def luck(
    terminal: Terminal,
    sources: Sources,
    known: Annotated[
        list[str] | None,
        "A player whose strategy is known: NAME=BOT, NAME=file:PATH or NAME=ask:COMMAND; the name alone takes the bot "
        "from the run's result. The estimates then correct for the player's own choices, too.",
        Wording("NAME[=BOT]"),
    ] = None,
    ranges: Annotated[
        bool,
        "With --known, also AIVAT over all possible cards. It averages over the cards of the known player, and is "
        "slow.",
    ] = False,
    save: Annotated[bool, "Also write the win rates to the run's result.json."] = False,
    interval: IntervalOption = ShownInterval.USUAL,
    as_json: Json = False,
    *,
    reading: StrictHandOptions,
) -> None:
    """Estimate win rates without the luck of the cards. Choices of players with known strategies are corrected, too.

    Each estimator has the same expectation as the chips and a smaller variance.
    """
    if ranges and not known:
        abort("--ranges goes with --known; it needs a player whose strategy is known")
    find = reading.finder(strict=reading.strict)
    contest = _contest_to_save_in(sources) if save else None
    players: Mapping[str, PlayerResult] = {}
    policies: Mapping[str, str] = {}
    if known:
        players = _players_of(sources)
        policies = _parse_known(known, players)
    estimates = _estimates(terminal, sources, find, players, policies, over_ranges=ranges)
    if contest is not None:
        written = contest.model_copy(update={"estimates": estimates.games[0]})
        write_file(sources[0] / RESULT_NAME, written.model_dump_json(indent=2) + "\n")
    from logs.variance.estimates import estimates_document

    document = estimates_document(estimates)
    if interval is ShownInterval.GUARANTEED:
        from dealer.reports.guaranteed import with_guaranteed_intervals, with_note

        document = with_note(estimates_document(with_guaranteed_intervals(estimates)), estimates)
    show_document(terminal, document, as_json=as_json)


def _contest_to_save_in(sources: Sequence[Path]) -> ContestResult:
    if len(sources) != 1 or not os.path.isdir(sources[0]):
        abort("--save goes with the folder of one run")
    return read_contest(sources[0])


def _parse_known(known: Sequence[str], players: Mapping[str, PlayerResult]) -> dict[str, str]:
    """Return the text of each known player's policy, by the player's name."""
    policies: dict[str, str] = {}
    for text in known:
        name, equals, policy = text.partition("=")
        if not equals:
            if name not in players:
                abort(f"--known {text}: no result of a run names the bot of {name}; write --known {name}=BOT")
            policy = players[name].player
        if name in policies:
            abort(f"--known {name} is given twice")
        policies[name] = policy
    return policies


def _players_of(sources: Sequence[Path]) -> dict[str, PlayerResult]:
    """Return the results of the runs' players by name; if a player has several, one with faults."""
    players: dict[str, PlayerResult] = {}
    for source in sources:
        with contextlib.suppress(ResultError):
            result = read_result(source)
            for contest in result.contests:
                for player in contest.players:
                    if player.name not in players or player.faults:
                        players[player.name] = player
    return players


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

    doubts = {name: player.policy_doubt for name, player in players.items() if player.policy_doubt}
    with contextlib.ExitStack() as stack:

        def open_policy_of(name: str, text: str, game: Game) -> Policy:
            try:
                return stack.enter_context(open_policy(text, game))
            except PolicyError as error:
                raise PolicyError(f"{name}: {error}") from error

        def corrections(game: Game) -> HandCorrections:
            from bots.cfr.value_terms import ValuedHands, value_terms
            from bots.evaluation.hypothetical_hands import ActionTerms

            known = {name: open_policy_of(name, text, game) for name, text in policies.items()}
            hypothetical = _hypothetical_hands(game, known) if over_ranges else []
            terms = value_terms(game, known)
            valued = None if terms is None else ValuedHands(terms)
            return ActionTerms(game, known, doubts, imagined=hypothetical, valued=valued)

        reduction = Reduction(corrections if policies else None)
        try:
            with Problems(terminal) as problems, showing_progress(terminal, "hands counted") as on_progress:
                hands = reduce_hands(find(sources, on_problem=problems), reduction, on_progress=on_progress)
        except PolicyError as error:
            abort(str(error))
        except SpecError as error:
            abort(f"--known {error}")
        if not hands:
            abort_without_hands(sources)
        estimates = reduction.estimates()
    for name in policies:
        if name not in reduction.players:
            abort(f"--known {name}: there is no such player in these hands, only {', '.join(reduction.players)}")
    return estimates


def _hypothetical_hands(game: Game, known: Mapping[str, Policy]) -> list[HypotheticalHands]:
    """Make estimators over the possible cards of every group of known players."""
    from bots.evaluation.hypothetical_hands import MAX_HOLDINGS, HypotheticalHands, number_of_holdings

    hypothetical = []
    for size in range(1, len(known) + 1):
        # All holdings of a group are enumerated in each hand.
        if number_of_holdings(game, size) > MAX_HOLDINGS:
            continue
        for names in combinations(known, size):
            policies = {name: known[name] for name in names}
            hypothetical.append(HypotheticalHands(game, policies))
    return hypothetical
