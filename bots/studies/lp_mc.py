"""The thesis on `lp-mc`: its printed tables, a new solution of the game before the flop, matches of the whole bot.

Its tables 1 and 3 (the small blind, and the big blind after a raise) and 4 (against three simple players) follow from
the printed mistake and exact chances alone. Table 2, the answer to a limp, is nearly free in that solution: ours is the
plan nearest to the print, so nothing is judged by it. Table 5 is played: 4,000 hands of the whole bot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bots.artifact import Journal
from bots.baseline import CallingBot, RaisingBot
from bots.lp_mc.bot import LpMcBot
from bots.lp_mc.preflop import (
    BALANCES,
    PreflopRules,
    balance,
    preflop_form,
    published_program,
    simple_plan,
    solve,
    solve_as_published,
)
from bots.lp_mc.simulation import SimulationOptions
from bots.sdk.bot import Bot, draw
from bots.sdk.selfplay import self_play
from bots.sdk.view import View
from bots.solving.sequence_form import Plans, SequenceForm, exploitability, sequence_values, strategy_of
from bots.studies.report import Claim, Claims, Report, Section, Verdict
from bots.workers import Workers
from engine import CALL, FOLD, RAISE, STARTING_HANDS, Action
from engine.game import POSITIONS
from logs.estimation import RunningMean
from protocol import find_game

SEED: Final = 2013
STRATEGIES: Final = ("published", "equilibrium")
PRINTED_FULL: Final = {"raising": 1.3715, "random": 0.8270, "calling": 0.7135}
"""Table 5 of the thesis, in small bets per hand."""
_PRINTED_HANDS: Final = 4_000
_NOISE: Final = 0.002
"""Half the 95 % interval of 5,000,000 hands before the flop against the raising player, in small bets per hand."""
_DIGITS: Final = 5e-5
_OTHERS: Final = "the mistake gives another number"
_CERTAIN: Final = 1 - 1e-9
_DEFAULTS: Final = SimulationOptions()
_MIXED: Final = (
    ("the small blind folds K3o", 0, "", "K3o", 0, 0.64115),
    ("KJo calls a raise", 1, "r", "KJo", 1, 0.74262),
)


_TOO_FEW: Final = "too few hands were played"
_REASONS: Final = {
    "raising": "the option sunk=whole, another reading of the text, gives the printed figure",
    "random": "the random player of the thesis also folds where a check is free, which the arena does not allow",
    "calling": "outside the noise of both matches",
}


class MatchWinnings(NamedTuple):
    """Winnings from one player, in small bets per hand, the mean of both seats; half of the 95 % interval."""

    hands: int
    mean: float
    half_width: float


class _ThirdsBot(Bot):
    """The RandomBot of the thesis: one of the three actions, equally likely; an illegal one becomes the nearest."""

    def act(self, view: View) -> Action:
        return view.nearest_legal((FOLD, CALL, RAISE)[draw(SEED, view) % 3])


def play_full(
    strategy: str, opponent: str, marks: Sequence[int], options: SimulationOptions = _DEFAULTS
) -> list[MatchWinnings]:
    """Winnings of the whole bot in duplicates after each of some even numbers of hands, in rising order."""
    others: dict[str, Bot] = {"raising": RaisingBot(), "random": _ThirdsBot(), "calling": CallingBot()}
    game = find_game("limit")[1]
    bots = [LpMcBot(options, preflop=strategy, seed=SEED), others[opponent]]
    won, of_deal = RunningMean(), 0.0
    found: list[MatchWinnings] = []
    for number, record in enumerate(self_play(game, bots, deals=marks[-1] // 2, seed=SEED, names=("us", "them")), 1):
        of_deal += record.values[0 if record.name_at(POSITIONS[0]) == "us" else 1]
        if number % 2 == 0:
            won.add(of_deal / 2 / game.raise_sizes[0])
            of_deal = 0.0
        if number in marks:
            found.append(MatchWinnings(number, won.mean, won.half_width_95 or 0.0))
    return found


def lp_mc_report(
    folder: Path,
    hands: int = _PRINTED_HANDS,
    *,
    workers: Workers | None = None,
    show: Callable[[float], None] = lambda part: None,
) -> Report:
    """Judge the tables of the thesis; each match of the whole bot has an even number of hands."""
    over: Any = map if workers is None else workers.each
    with Journal(folder / "matches.jsonl", {"hands": hands, "seed": SEED}) as journal:
        played: dict[str, MatchWinnings] = {}
        for row in journal.rows:
            match row:
                case [str(opponent), int(number), float(mean), float(half_width)] if opponent in PRINTED_FULL:
                    played[opponent] = MatchWinnings(number, mean, half_width)
                case _:
                    raise journal.damaged()
        left = [opponent for opponent in PRINTED_FULL if opponent not in played]
        found = over(play_full, ["published"] * len(left), left, [[hands]] * len(left))
        for opponent, (won,) in zip(left, found, strict=True):
            journal.add([opponent, *won])
            played[opponent] = won
            show(len(played) / len(PRINTED_FULL))
    form = preflop_form(PreflopRules())
    sections = (_preflop(form), _whole_bot(played))
    return Report(
        "Texas hold'em limit pokerbot: its tables",
        (
            "One mistake in the payoffs, with exact chances, reproduces the printed solution. It is not an "
            "equilibrium; the correct solution wins from all three simple players.",
        ),
        (("hands of a match", f"{hands:,}"), ("seed", str(SEED))),
        sections,
    )


def _preflop(form: SequenceForm) -> Section:
    plans = solve_as_published(form).plans
    correct = solve(form).plans
    return Section(
        "Before the flop",
        ("Exact figures, in small bets per hand over both seats unless stated otherwise.",),
        (
            Claims("Tables 1 and 3, hands", tuple(_counts(form, plans))),
            Claims(
                "Table 4, small bets per hand",
                tuple(_balance(form, plans, opponent) for opponent in BALANCES),
                "The interval covers all optimal plans of the big blind, which is nearly unconstrained after a "
                "limp, and the 95 % noise of 5,000,000 hands.",
            ),
            Claims(
                "Conclusions of the thesis",
                (
                    _refuted(
                        "chips per hand that best responses win from an optimal strategy",
                        "0",
                        exploitability(form, plans),
                    ),
                    _refuted(
                        "small bets per hand that an optimal strategy wins from the calling player, rounding aside",
                        "-0.0493",
                        balance(form, correct, "calling") / 2,
                    ),
                ),
            ),
        ),
    )


def _counts(form: SequenceForm, plans: Plans) -> list[Claim]:
    strategies = [strategy_of(form, player, plans[player]) for player in (0, 1)]
    first, again, answer = strategies[0][""], strategies[0]["rr"], strategies[1]["r"]
    raised = first[2] > _CERTAIN
    counts = (
        ("the small blind folds", 89, first[0]),
        ("raises and calls a raise", 66, again[1, raised]),
        ("raises and raises again", 13, again[2, raised]),
        ("the big blind calls a raise", 139, answer[1]),
        ("raises again", 29, answer[2]),
    )
    found = [(name, printed, int((chances > _CERTAIN).sum())) for name, printed, chances in counts]
    claims = [Claim.plain(name, str(printed), str(ours), printed == ours, _OTHERS) for name, printed, ours in found]
    for name, player, betting, hand, action, chance in _MIXED:
        ours = float(strategies[player][betting][action, STARTING_HANDS.index(hand)])
        is_same = abs(chance - ours) <= _DIGITS
        claims.append(Claim.plain(f"{name}, probability", f"{chance:.5f}", f"{ours:.5f}", is_same, _OTHERS))
    return claims


def _balance(form: SequenceForm, plans: Plans, opponent: str) -> Claim:
    ours, printed = balance(form, plans, opponent) / 2, BALANCES[opponent]
    weights = sequence_values(form, 1, simple_plan(form, 0, opponent))
    ends = [ours]
    for sign in (-1, 1):
        program = published_program(form, player=1)
        program.solve()
        ends.append(balance(form, (plans[0], program.favourite(sign * weights)), opponent) / 2)
    low, high = min(ends) - _NOISE, max(ends) + _NOISE
    is_inside = low <= printed <= high
    decides = not (low <= 0 <= high or low <= 2 * printed <= high)
    verdict = Verdict.NOT_REPRODUCED if not is_inside else Verdict.REPRODUCED if decides else Verdict.UNDECIDED
    why = "" if verdict is Verdict.REPRODUCED else "no optimal plan of the big blind decides it"
    interval = f"{low:+.4f} to {high:+.4f}"
    return Claim(f"against the {opponent} player", f"{ours:+.4f}", interval, f"{printed:+.5f}", verdict, why)


def _refuted(quantity: str, printed: str, ours: float) -> Claim:
    verdict, why = Verdict.REPRODUCED, ""
    if ours > 0:
        verdict, why = Verdict.REFUTED, "the cause is not rounding: payoffs of one cell were overwritten, not summed"
    return Claim(quantity, f"{ours:+.4f}", printed=printed, verdict=verdict, why=why)


def _whole_bot(played: dict[str, MatchWinnings]) -> Section:
    claims = []
    for opponent, printed in PRINTED_FULL.items():
        won = played[opponent]
        room = won.half_width * (1 + won.hands / _PRINTED_HANDS) ** 0.5 if won.half_width else None
        interval = f"± {won.half_width:.3f}" if won.half_width else ""
        reasons = {Verdict.UNDECIDED: _TOO_FEW, Verdict.NOT_REPRODUCED: _REASONS[opponent]}
        figures = (printed, f"{printed:+.4f}"), (won.mean, f"{won.mean:+.3f}")
        claims.append(Claim.measured(f"against the {opponent} player", *figures, room, interval, reasons))
    least = min(won.mean - won.half_width for won in played.values())
    is_winner = least > 0 and all(won.half_width for won in played.values())
    verdict, why = (Verdict.REPRODUCED, "") if is_winner else (Verdict.UNDECIDED, _TOO_FEW)
    about = "lowest end of an interval: the simulation wins from all three"
    claims.append(Claim(about, f"{least:+.3f}", printed="above 0", verdict=verdict, why=why))
    note = (
        f"The thesis played {_PRINTED_HANDS:,} hands of each; a figure is reproduced where chance in both matches "
        "explains the difference."
    )
    return Section("The whole bot", (), (Claims("Table 5, small bets per hand", tuple(claims), note),))
