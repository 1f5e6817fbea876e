"""Cost of deviations from a policy, by playing out; players without deviations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pytest

from bots import Bot, View
from bots.evaluation.policies import leaks_against_policy
from bots.sdk.registry import make_bot
from bots.sdk.selfplay import self_play
from engine import CALL, Action, BettingState, betting_start, hand_values
from logs.errors import LeaksRefused
from logs.record import HandRecord


class Folding(Bot):
    """Bot that folds every bet on the river and calls elsewhere."""

    def act(self, view: View) -> Action:
        return view.fold() if view.round == 3 and view.to_call else CALL


def duplicates(*bots: Bot, hands: int, game: str = "limit") -> Iterator[list[tuple[str, HandRecord]]]:
    records = self_play(game, bots, deals=hands, seed=3, names="ABC"[: len(bots)])
    for _, of_deal in groupby(records, key=lambda record: record.hand_number):
        yield [(record.match_name, record) for record in of_deal]


def test_deviations_are_played_out() -> None:
    """Slow twin: against a caller, folding costs the result of the showdown."""
    deals = list(duplicates(Folding(), make_bot("raising"), hands=30))
    report = leaks_against_policy(deals, "A", make_bot("calling"), "calling")
    lost, folds = 0.0, 0
    for deal in deals:
        for _, record in deal:
            at = record.names.index("A")
            if record.betting.folded >> at & 1:
                state = next(
                    one for one in _states(record) if one.acting_position == at and one.round == 3 and one.to_call
                )
                while not state.finished:
                    state = state.after(CALL)
                lost += record.values[at] - hand_values(state, record.deal)[at]
                folds += 1
    everything = next(cell for cell in report.cells if cell.dimension == "everything")
    assert report.diverged == everything.deals == folds > 12
    assert everything.won.mean * 60 / 100 == pytest.approx(lost)
    assert report == leaks_against_policy(deals, "A", make_bot("calling"), "calling")


def _states(record: HandRecord) -> Iterator[BettingState]:
    state = betting_start(record.game)
    for moves in record.betting.rounds:
        for _, action in moves:
            yield state
            state = state.after(action)


def test_largest_leak_is_first() -> None:
    report = leaks_against_policy(
        duplicates(Folding(), make_bot("raising"), hands=60), "A", make_bot("calling"), "calling"
    )
    assert report.leaks[0].name.startswith("river, facing a ")
    assert report.leaks[0].choices[0][:2] == ("fold", "call")


@pytest.mark.parametrize("game", ["limit", pytest.param("nolimit", marks=pytest.mark.slow), "limit3"])
def test_player_of_the_policy_has_no_leaks(game: str) -> None:
    bots = [make_bot(f"random?seed={seed}") for seed in range(3 if game == "limit3" else 2)]
    report = leaks_against_policy(duplicates(*bots, hands=12, game=game), "A", make_bot("random?seed=99"), "random")
    assert report.diverged > 10
    assert not any(cell.is_leak for cell in report.cells)


@pytest.mark.slow
def test_player_of_the_policy_rarely_has_a_leak() -> None:
    """At most one match in twenty reports a leak."""
    leaks_reported = 0
    for seed in range(200):
        records = self_play("limit", [make_bot(f"random?seed={seed}"), make_bot("raising")], deals=30, seed=seed)
        deals = [[(record.match_name, record)] for record in records]
        report = leaks_against_policy(deals, None, make_bot("random?seed=999"), "random")
        leaks_reported += any(cell.is_leak for cell in report.cells)
    assert leaks_reported <= 20  # Binomial(200, 0.05) exceeds 20 in one of a thousand cases


def test_few_hands_and_other_games_are_refused() -> None:
    few = list(duplicates(make_bot("calling"), make_bot("raising"), hands=2))
    with pytest.raises(LeaksRefused, match=r"A made \d+ decisions; leaks need at least 30"):
        leaks_against_policy(few, "A", make_bot("calling"), "calling")
    with pytest.raises(LeaksRefused, match="no player is called 'Zoe'"):
        leaks_against_policy(few, "Zoe", make_bot("calling"), "calling")
    with pytest.raises(LeaksRefused, match="there is no finished hand"):
        leaks_against_policy([], None, make_bot("calling"), "calling")
    with pytest.raises(LeaksRefused, match="hold'em only"):
        leaks_against_policy(
            duplicates(make_bot("calling"), make_bot("raising"), hands=2, game="leduc"), "A", make_bot("calling"), "x"
        )
    with pytest.raises(LeaksRefused, match="mc has no policy in MATCHSTATE"):
        leaks_against_policy(few, "A", make_bot("mc"), "mc")
