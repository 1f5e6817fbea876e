"""``arena leaks``: find the decisions in which a player loses."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

from bots.sdk.options import Interval, Wording
from dealer.cli.shell.console import Terminal
from dealer.cli.shell.documents import DocumentOptions
from dealer.cli.shell.progress import showing_progress
from dealer.cli.shell.sources import Problems, Sources, StrictHandOptions
from dealer.reports.leak_report import leaks_document
from engine.holdem import is_holdem
from engine.text import count_of
from logs.document import Document
from logs.leaks import deals_in, leaks_of


def leaks(
    terminal: Terminal,
    sources: Sources,
    player: Annotated[str | None, "Player whose leaks are found.", Wording(otherwise="the first player")] = None,
    compare: Annotated[str | None, "Compare with the policy of this bot, such as cfr.", Wording("BOT")] = None,
    worst: Annotated[int, "Number of deals to name.", Interval(0)] = 10,
    *,
    output: DocumentOptions,
    reading: StrictHandOptions,
) -> None:
    """Find decisions in which others did better with the same cards.

    It reads duplicate matches of hold'em, or any hands of Kuhn and Leduc poker, whose equilibrium is known: there each
    decision is shown with the chips it gives away. With --compare it is shown with the cost of departing from a bot's
    policy. The intervals of all leaks hold together, at 95 %.
    """
    page: Document | None = None
    with Problems(terminal) as problems, showing_progress(terminal, "reading hands") as show:

        def show_hands(hands: int) -> None:
            show(None, count_of(hands, "hand"))

        source = reading.finder(strict=reading.strict)(sources, on_problem=problems)
        deals = deals_in(source, show_hands)
        first_deal = next(deals, None)
        game = None
        if first_deal is not None:
            deals = chain([first_deal], deals)
            game = first_deal[0][1].game
        if compare is None and game is not None and not is_holdem(game):
            from bots.equilibrium.deviations import deviations_document, deviations_of

            document = deviations_document(deviations_of(deals, player))
        else:
            if compare is not None and game is not None:
                from bots.evaluation.policies import leaks_against_policy, open_policy

                with open_policy(compare, game) as policy:
                    player_leaks = leaks_against_policy(deals, player, policy, compare)
            else:
                player_leaks = leaks_of(deals, player, worst=worst)
            document = leaks_document(player_leaks, sources, policy=compare or "")
            page = leaks_document(player_leaks, sources, policy=compare or "", is_whole=True)
    output.show(terminal, document, page)
