"""Measurements for the thesis on `lp-mc`: solutions of the game before the flop, and matches.

Its tables 1 and 3 (the small blind, and the big blind after a raise) and 4 (three simple players) follow from the
printed mistake and exact chances alone. Table 2, the answer to a limp, is nearly free in that solution: the interval of
``balance published BOT`` covers all optimal plans of the big blind.

Winnings are small bets per hand, the mean of both seats:

- ``preflop STRATEGY BOT``: matches that end before the flop
- ``full STRATEGY BOT HANDS``: matches of the whole bot, in duplicates
- ``ablation OPTIONS BOT``: the same as published, with other options; ``default`` has none
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import Final

from bots.baseline import CallingBot, RaisingBot
from bots.lp_mc.preflop import (
    PreflopRules,
    balance,
    preflop_form,
    preflop_solution,
    published_program,
    simple_plan,
    solve,
    solve_as_published,
)
from bots.lp_mc.strategy import preflop_strategy
from bots.sdk.bot import Bot, draw
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.solving.sequence_form import exploitability, sequence_values, strategy_of
from bots.studies.lp_mc_tables import TABLE_1, TABLE_3, cells, differences
from bots.studies.measured import Measured, Task
from engine import CALL, FOLD, RAISE, STARTING_HANDS, Action
from engine.game import POSITIONS
from logs.estimation import Z_95, RunningMean
from protocol import find_game

SEED: Final = 2013
PREFLOP_HANDS: Final = 5_000_000
FULL_HANDS: Final = (4_000, 100_000)
ABLATION_HANDS: Final = 20_000
_NAMES: Final = {"RaiseBot": "raising", "RandomBot": "random", "CallBot": "calling"}
_SIMPLE: Final = {"RaiseBot": (0.0, 0.0, 1.0), "RandomBot": (1 / 3, 1 / 3, 1 / 3), "CallBot": (0.0, 1.0, 0.0)}
FREE_FOLDS: Final = "random?fold=1,call=1,raise=1,free_folds=true"
"""The RandomBot of the thesis with its free folds, as far as a dealer accepts them."""
_CERTAIN: Final = 1 - 1e-9
_ROUNDING: Final = 1e-6


class _ThirdsBot(Bot):
    """The RandomBot of the thesis: one of the three actions, equally likely; an illegal one becomes the nearest."""

    def act(self, view: View) -> Action:
        return view.nearest_legal((FOLD, CALL, RAISE)[draw(SEED, view) % 3])


def tasks(figures: Iterable[str], _: Path) -> Iterator[Task]:
    yield from dict.fromkeys(map(task_of, figures))


def task_of(figure: str) -> Task:
    kind, *about = figure.split()[:3]
    name = " ".join((kind, *about))
    match kind:
        case "preflop":
            return Task(name, play_preflop, tuple(about))
        case "full":
            return Task(name, play_full, tuple(about), is_long=True)
        case "ablation":
            return Task(name, play_ablation, tuple(about), is_long=True)
    return Task("solutions", solutions)


def solutions() -> dict[str, Measured]:
    """Figures of the solution with the printed mistake, and of the correct one."""
    rules = PreflopRules()
    form = preflop_form(rules)
    published, correct = solve_as_published(form), solve(form).plans
    plans = published.plans
    strategies = [strategy_of(form, player, plans[player]) for player in (0, 1)]
    first, again, answer = strategies[0][""], strategies[0]["rr"], strategies[1]["r"]
    is_raised = first[2] > _CERTAIN
    counts = {
        "small blind folds": first[0],
        "small blind raises and calls": again[1, is_raised],
        "small blind raises again": again[2, is_raised],
        "big blind calls a raise": answer[1],
        "big blind raises again": answer[2],
    }
    found = {name: float((chances > _CERTAIN).sum()) for name, chances in counts.items()}
    found |= {
        "K3o folds": float(first[0, STARTING_HANDS.index("K3o")]),
        "KJo calls": float(answer[1, STARTING_HANDS.index("KJo")]),
        "exploitability published": exploitability(form, plans),
    }
    lines = preflop_solution(rules, form, {"as published": published}, algorithm="lp").lines
    for number, table, title in ((1, TABLE_1, "small blind"), (3, TABLE_3, "big blind after a raise")):
        different = differences(table, lines[title])
        found[f"table {number} cells"] = float(len(cells(table)) - len(different))
    figures = {name: Measured(value) for name, value in found.items()}
    for bot, opponent in _NAMES.items():
        figures[f"balance equilibrium {bot}"] = Measured(balance(form, correct, opponent) / 2)
        weights = sequence_values(form, 1, simple_plan(form, 0, opponent))
        ends = []
        for sign in (-1, 1):
            program = published_program(form, player=1)
            program.solve()
            ends.append(balance(form, (plans[0], program.favourite(sign * weights)), opponent) / 2)
        half_width = abs(ends[1] - ends[0]) / 2
        figures[f"balance published {bot}"] = Measured(sum(ends) / 2, half_width if half_width > _ROUNDING else 0.0)
    return figures


def play_preflop(strategy: str, opponent: str) -> dict[str, Measured]:
    from bots.studies.lp_mc_balance import balance as played

    table = preflop_strategy(as_published=strategy == "published")
    won = played(find_game("limit")[1], table, _SIMPLE[opponent], hands=PREFLOP_HANDS, seed=SEED)
    return {f"preflop {strategy} {opponent}": Measured(*won)}


def play_full(strategy: str, opponent: str) -> dict[str, Measured]:
    played = matches(f"preflop={strategy}", opponent, FULL_HANDS)
    return {f"full {strategy} {opponent} {won.units}": won for won in played}


def play_ablation(options: str, opponent: str, hands: int = ABLATION_HANDS) -> dict[str, Measured]:
    more = "" if options == "default" else f",{options}"
    (won,) = matches(f"preflop=published{more}", opponent, [hands])
    return {f"ablation {options} {opponent}": won}


def matches(options: str, opponent: str, marks: Sequence[int]) -> list[Measured]:
    """Winnings of the whole bot after each of some even numbers of hands, in rising order."""
    others: dict[str, Bot] = {
        "RaiseBot": RaisingBot(),
        "RandomBot": _ThirdsBot(),
        "FreeBot": make_bot(FREE_FOLDS, SEED),
        "CallBot": CallingBot(),
    }
    game = find_game("limit")[1]
    bots = [make_bot(f"lp-mc?{options}", SEED), others[opponent]]
    won, of_deal = RunningMean(), 0.0
    found: list[Measured] = []
    for number, record in enumerate(self_play(game, bots, deals=marks[-1] // 2, seed=SEED, names=("us", "them")), 1):
        of_deal += record.values[0 if record.name_at(POSITIONS[0]) == "us" else 1]
        if number % 2 == 0:
            won.add(of_deal / 2 / game.raise_sizes[0])
            of_deal = 0.0
        if number in marks:
            found.append(Measured(won.mean, Z_95 * (won.standard_error or 0.0), number))
    return found


def interval_after(won: Measured, hands: int) -> float:
    """Half the 95 % interval of a result over some hands, from the spread of a measured one."""
    return won.half_width * sqrt(won.units / hands)
