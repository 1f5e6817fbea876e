"""Sentences about results, and the fields of results."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer.match.faults import Fault, FaultKind, Remedy
from dealer.run.choices import Interval
from dealer.run.ending import Outcome
from dealer.run.results import SCHEMA_VERSION, ContestResult, PlayerResult
from dealer.run.results.result_sentences import Standing, contest_sentence, fault_phrase, played_text, rounded_up
from engine import CALL, Seat
from logs.document import text_of
from logs.estimation import Estimate, LargestLoss, Rate, Verdict
from tests.dealer import results_of

GAME = "some.game"


def _player(name: str, chips: float, mbb: float | None = None, half: float | None = None) -> PlayerResult:
    won = None if mbb is None else results_of.winnings(Estimate(mbb, half))
    return results_of.player(name, chips=chips, won=won)


def _pair(chips: float, mbb: float, half: float | None) -> list[PlayerResult]:
    return [_player("Ann", chips, mbb, half), _player("Bob", -chips, -mbb, half)]


def _sentence(
    players: list[PlayerResult],
    deals: int,
    outcome: Outcome = Outcome.FINISHED,
    reason: str = "all deals were played.",
    *,
    seatings: int = 1,
    hands_played: int | None = None,
    verdict: Verdict | None = None,
) -> str:
    result = results_of.contest(
        *players,
        game=GAME,
        duplicates=deals,
        seatings=seatings,
        hands_played=deals * seatings if hands_played is None else hands_played,
        outcome=outcome,
        reason=reason,
        verdict=verdict,
    )
    sentence = contest_sentence(result)
    assert "nan" not in sentence
    assert "inf" not in sentence
    return sentence


def test_result_without_a_hand_names_the_reason() -> None:
    players = [_player("Ann", 0.0), _player("Bob", 0.0)]
    assert _sentence(players, 0, Outcome.FAILED, "Bob did not come.") == "No hand was finished: Bob did not come."


def test_result_without_a_complete_duplicate_names_the_reason() -> None:
    players = [_player("Ann", 0.0), _player("Bob", 0.0)]
    assert _sentence(players, 0, Outcome.FAILED, "Bob left.", seatings=2, hands_played=7) == (
        "No deal was finished in every seating: Bob left."
    )


@pytest.mark.parametrize(
    ("mbb", "half", "deals", "seatings", "sentence"),
    [
        (1234.4, 99.6, 2000, 1, "Ann beats Bob by 1,234 ± 100 mbb/g (95 %) over 2,000 hands of some.game."),
        (-1234.4, 99.6, 2000, 1, "Bob beats Ann by 1,234 ± 100 mbb/g (95 %) over 2,000 hands of some.game."),
        (
            1234.4,
            99.6,
            2000,
            2,
            "Ann beats Bob by 1,234 ± 100 mbb/g (95 %) over 2,000 deals of some.game in 2 seatings each.",
        ),
        (500.0, 0.0, 1000, 1, "Ann beats Bob by 500 ± 0 mbb/g (95 %) over 1,000 hands of some.game."),
        (
            50.0,
            100.0,
            1000,
            1,
            "Ann is ahead of Bob by 50 ± 100 mbb/g (95 %) after 1,000 hands of some.game, which is not significant; "
            "about 4,000 deals would be needed.",
        ),
        (
            500.0,
            None,
            20,
            1,
            "Ann is ahead of Bob by 500 mbb/g after 20 hands of some.game, too few for an interval "
            "(at least 100 are needed).",
        ),
    ],
    ids=["winner", "second player", "seatings", "no spread", "not significant", "no interval"],
)
def test_sentence_of_two_players(mbb: float, half: float | None, deals: int, seatings: int, sentence: str) -> None:
    assert _sentence(_pair(math.copysign(500, mbb), mbb, half), deals, seatings=seatings) == sentence


def test_lead_as_wide_as_its_interval_is_not_significant() -> None:
    assert "not significant" in _sentence(_pair(100, 100.0, 100.0), 1000)


def test_one_hand_is_singular() -> None:
    assert "after 1 hand of some.game" in _sentence(_pair(1, 500.0, None), 1)


def test_sentence_of_a_tie() -> None:
    assert _sentence(_pair(0.0, 0.0, 100.0), 1000) == (
        "Ann and Bob are level after 1,000 hands of some.game: 0 ± 100 mbb/g (95 %)."
    )
    assert _sentence(_pair(0.0, 0.0, None), 2) == (
        "Ann and Bob are level after 2 hands of some.game, too few for an interval (at least 100 are needed)."
    )


def test_three_players_are_measured_against_the_table() -> None:
    players = [_player("A", -5, -5, 1), _player("B", 10, 10, 1), _player("C", -5, -5, 1)]
    assert _sentence(players, 1000) == (
        "B beats the table by 10 ± 1 mbb/g (95 %, as the best of 3) over 1,000 hands of some.game."
    )


def test_rounding_errors_of_split_pots_are_no_lead() -> None:
    thirds = 0.1 + 0.2 - 0.3
    players = [_player("A", thirds, thirds, 50), _player("B", 0.0, 0.0, 50), _player("C", -thirds, -thirds, 50)]
    assert _sentence(players, 1000) == (
        "A, B and C are level after 1,000 hands of some.game: 0 ± 50 mbb/g (95 %, as the best of 3)."
    )


def test_player_without_loss_leads_where_a_forfeit_loses_chips() -> None:
    players = [_player("A", 0.0, 0.0, 9.0), _player("B", -5.0, -2.0, 9.0)]
    assert _sentence(players, 1000) == (
        "A is ahead of B by 0 ± 9 mbb/g (95 %) after 1,000 hands of some.game, which is not significant."
    )


def test_level_players_share_the_lead() -> None:
    players = [_player("A", 5.0, 5.0, 1), _player("B", 5.0, 5.0, 1), _player("C", -10.0, -10.0, 1)]
    assert _sentence(players, 1000) == (
        "A and B are level after 1,000 hands of some.game, ahead of the others: 5 ± 1 mbb/g (95 %, as the best of 3)."
    )


def test_best_of_several_players_has_the_wider_interval() -> None:
    won = results_of.winnings(Estimate(12.0, 10.0), best=Estimate(12.0, 13.0))
    best = results_of.player("A", chips=12.0, won=won)
    assert _sentence([best, _player("B", -6, -6, 1), _player("C", -6, -6, 1)], 1000) == (
        "A is ahead of the table by 12 ± 13 mbb/g (95 %, as the best of 3) after 1,000 hands of some.game, "
        "which is not significant; about 1,200 deals would be needed."
    )


def _corrected(
    chips: float, rate: tuple[float, float], corrected: tuple[float, float], players: int = 2, **given: float
) -> str:
    """Sentence of a contest that Ann leads in chips; the other players share her winnings as losses."""
    names = ["Ann", "Bob", "Eve"][:players]
    shares = [1.0, *[-1.0 / (players - 1)] * (players - 1)]
    result = results_of.contest(
        *(
            results_of.player(
                name,
                chips=share * chips,
                won=results_of.winnings(
                    Estimate(share * rate[0], rate[1]),
                    Estimate(share * corrected[0], corrected[1]),
                    corrected_best=Estimate(share * corrected[0], given.get("of_best", corrected[1])),
                ),
            )
            for name, share in zip(names, shares, strict=True)
        ),
        game=GAME,
    )
    return contest_sentence(result)


def test_raw_and_corrected_rates_have_one_point_of_view() -> None:
    for chips, leader, loser in ((584.0, "Ann", "Bob"), (-584.0, "Bob", "Ann")):
        corrected = -math.copysign(80.0, chips)
        assert _corrected(chips, (chips, 736.0), (corrected, 569.0)) == (
            f"{leader} is ahead of {loser} by 584 ± 736 mbb/g (95 %) after 1,000 deals of some.game in 2 seatings "
            "each, which is not significant; about 1,600 deals would be needed. "
            f"Without the luck of the cards: {leader} over {loser} -80 ± 569 mbb/g (95 %)."
        )


@pytest.mark.parametrize(
    ("corrected", "winner", "loser", "chips"), [(806, "Ann", "Bob", 584), (-806, "Bob", "Ann", -584)]
)
def test_significant_corrected_rate_precedes_insignificant_chips(
    corrected: float, winner: str, loser: str, chips: float
) -> None:
    assert _corrected(584.0, (584.0, 736.0), (corrected, 569.0)) == (
        f"{winner} beats {loser} by 806 ± 569 mbb/g (95 %), without the luck of the cards, over 1,000 deals of "
        "some.game in 2 seatings each. The chips alone do not decide: "
        f"{winner} over {loser} {chips:+} ± 736 mbb/g (95 %)."
    )


def test_significant_chips_precede_the_corrected_rate() -> None:
    assert _corrected(900.0, (900.0, 736.0), (806.0, 569.0)) == (
        "Ann beats Bob by 900 ± 736 mbb/g (95 %) over 1,000 deals of some.game in 2 seatings each. "
        "Without the luck of the cards: Ann over Bob +806 ± 569 mbb/g (95 %)."
    )


def test_corrected_best_of_several_players_has_the_wider_interval() -> None:
    wide = _corrected(584.0, (584.0, 736.0), (806.0, 569.0), players=3, of_best=810.0)
    assert wide.startswith("Ann is ahead of the table by 584 ± 736 mbb/g (95 %, as the best of 3) after ")
    assert wide.endswith("Without the luck of the cards: Ann over the table +806 ± 569 mbb/g (95 %).")
    narrow = _corrected(584.0, (584.0, 736.0), (806.0, 569.0), players=3, of_best=700.0)
    assert narrow.startswith(
        "Ann beats the table by 806 ± 700 mbb/g (95 %, as the best of 3), without the luck of the "
    )


def test_verdict_names_the_first_player_even_when_worse() -> None:
    sentence = _sentence(
        _pair(-500, -500.0, 100.0),
        1000,
        Outcome.STOPPED,
        "Ann is not better than Bob.",
        verdict=Verdict.NOT_BETTER,
        seatings=2,
    )
    assert sentence == (
        "Ann is not better than Bob, known after 1,000 deals of some.game in 2 seatings each: "
        "Ann over Bob -500 ± 100 mbb/g (95 %)."
    )


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INTERRUPTED])
@pytest.mark.parametrize(("mbb", "half"), [(500.0, 10.0), (5.0, 10.0), (5.0, None), (0.0, 10.0)])
def test_sentence_names_the_reason_of_an_early_end(outcome: Outcome, mbb: float, half: float | None) -> None:
    assert _sentence(_pair(mbb, mbb, half), 1000, outcome, "Bob left.").endswith(" It ended early: Bob left.")


def test_sentence_names_the_stop_rule() -> None:
    assert _sentence(_pair(5.0, 5.0, 1.0), 1000, Outcome.STOPPED, "the interval is narrow.").endswith(
        " It stopped because the interval is narrow."
    )


@given(
    chips=st.floats(-1e9, 1e9),
    mbb=st.floats(0.01, 1e9),
    half=st.none() | st.floats(0, 1e9),
    hands=st.integers(0, 2**32),
    seatings=st.integers(1, 6),
    verdict=st.sampled_from([None, *Verdict]),
)
def test_sentence_of_any_result_ends_with_a_full_stop(
    chips: float, mbb: float, half: float | None, hands: int, seatings: int, verdict: Verdict | None
) -> None:
    players = _pair(chips, math.copysign(mbb, chips), half)
    sentence = _sentence(players, hands, Outcome.FINISHED, "nothing.", seatings=seatings, verdict=verdict)
    assert sentence.endswith(".")
    assert "None" not in sentence


@pytest.mark.parametrize(
    ("number", "shown"), [(0.2, 1), (1, 1), (9.1, 10), (99, 99), (101, 110), (3999, 4000), (4001, 4100)]
)
def test_estimates_are_rounded_up_to_two_digits(number: float, shown: int) -> None:
    assert rounded_up(number) == shown


# ---- fields


def test_rate_names_player_and_opponent() -> None:
    pair = results_of.contest(*_pair(5000, 1234.4, 99.6))
    assert pair.rate() == Rate(1234.4, 99.6, player="Ann", opponent="Bob")
    assert pair.rate("Bob") == Rate(-1234.4, 99.6, player="Bob", opponent="Ann")
    three = results_of.contest(*_pair(1, 2.0, None), _player("Eve", 0.0))
    assert three.rate("Bob") == Rate(-2.0, None, player="Bob", opponent="the table")
    assert three.rate("Eve") is None
    with pytest.raises(KeyError):
        three.rate("Mallory")


def test_result_is_json_with_its_schema_version() -> None:
    result = results_of.contest()
    data = json.loads(result.model_dump_json())
    assert data["schema_version"] == SCHEMA_VERSION == 4
    assert ContestResult.model_validate_json(result.model_dump_json()) == result


def test_every_field_of_a_result_has_a_description() -> None:
    # The documentation shows the descriptions.
    from dealer.run.results import result_values

    models = [
        value for value in vars(result_values).values() if getattr(value, "__module__", "") == result_values.__name__
    ]
    for model in models:
        for name, field in getattr(model, "model_fields", {}).items():
            assert field.description, f"{model.__name__}.{name} is not described"


# ---- faults


@pytest.mark.parametrize(
    ("fault", "phrase"),
    [
        (
            Fault(Seat(1), FaultKind.MALFORMED_REPLY, 3, b"ju\x1bnk\xff\r\n", Remedy.IGNORED),
            "malformed reply in hand 3: 'ju\\x1bnkÿ', ignored",
        ),
        (
            Fault(Seat(0), FaultKind.ILLEGAL_ACTION, 0, b"x", Remedy.PLAYED, CALL),
            "illegal action in hand 0: 'x', played c",
        ),
        (Fault(Seat(1), FaultKind.CRASH, -1, b"", Remedy.MATCH_ENDED), "crash, the match ended"),
    ],
)
def test_fault_phrase_names_kind_hand_line_and_remedy(fault: Fault, phrase: str) -> None:
    assert fault_phrase(fault) == phrase


def test_long_line_is_quoted_in_part() -> None:
    fault = Fault(Seat(0), FaultKind.MALFORMED_REPLY, 0, b"x" * 4000 + b"\n", Remedy.IGNORED)
    assert len(fault_phrase(fault)) < 250


def test_sentence_and_tables_round_alike() -> None:
    high, low = math.nextafter(388.5, 400), math.nextafter(-388.5, 0)
    assert "by 388 ± 51 mbb/g" in _sentence(_pair(777.0, high, 51.0), 1000)
    assert text_of(Estimate(low, 51.0), "+,.0f") == "-388 ± 51"


# ---- the guaranteed interval


def _guaranteed(
    mbb: float, half: float | None, guaranteed: float, *, deals: int = 200, loss: LargestLoss | None = None
) -> str:
    won = [Estimate(sign * mbb, half, None, guaranteed) for sign in (1, -1)]
    players = [
        results_of.player(name, chips=estimate.mean, won=results_of.winnings(estimate))
        for name, estimate in zip(("cfr", "folding"), won, strict=True)
    ]
    counts = {"duplicates": deals, "hands_counted": 2 * deals}
    return contest_sentence(results_of.contest(*players, game=GAME, largest_loss=loss, **counts))


_STACK = LargestLoss(200_000.0, is_stack=True)


@pytest.mark.parametrize(
    ("mbb", "loss", "clause"),
    [
        (490.0, _STACK, "; one unseen lost stack could still turn it"),
        (681.0, _STACK, "; two unseen lost stacks could still turn it"),
        (2000.0, _STACK, ""),
        (30.0, LargestLoss(24_000.0, is_stack=False), "; one unseen largest loss could still turn it"),
        (70.0, LargestLoss(24_000.0, is_stack=False), "; two unseen largest losses could still turn it"),
        (681.0, None, ""),
    ],
)
def test_winner_within_the_guaranteed_interval_can_still_lose(
    mbb: float, loss: LargestLoss | None, clause: str
) -> None:
    assert _guaranteed(mbb, 20.0, 3702.4, loss=loss) == (
        f"cfr beats folding by {mbb:,.0f} ± 20 mbb/g (95 %) over 200 deals of some.game in 2 seatings each. "
        f"For any distribution of winnings: ± 3,702{clause}."
    )


def test_guaranteed_interval_is_not_named_if_it_changes_nothing() -> None:
    assert "distribution" not in _guaranteed(681.0, 33.0, 680.0, loss=_STACK), "it excludes 0, too"
    assert "distribution" not in _guaranteed(681.0, 700.0, 3702.0, loss=_STACK), "nothing is claimed"


def test_equal_scores_have_only_a_guaranteed_interval() -> None:
    assert _guaranteed(750.0, None, 3703.0, loss=_STACK) == (
        "cfr is ahead of folding by 750 mbb/g after 200 deals of some.game in 2 seatings each, with the same score in "
        "all deals. For any distribution of winnings: ± 3,703; two unseen lost stacks could still turn it."
    )
    assert _guaranteed(750.0, None, 74.0, deals=10_000, loss=_STACK) == (
        "cfr beats folding by 750 ± 74 mbb/g (95 %, guaranteed) over 10,000 deals of some.game in 2 seatings each, "
        "with the same score in all deals."
    )
    assert _guaranteed(0.0, None, 3703.0, loss=_STACK).endswith(", with the same score in all deals.")


# ---- while a contest is played


@pytest.mark.parametrize(
    ("lead", "interval", "sentence"),
    [
        (
            Estimate(40.0, 10.0),
            "fixed",
            "A is ahead of B by 40 ± 10 mbb/g (95 %) after 200 hands of some.",
        ),
        (
            Estimate(40.0, 10.0),
            "any time",
            "A beats B by 40 ± 10 mbb/g (95 %) over 200 hands of some.",
        ),
        (
            Estimate(5.0, 10.0),
            "any time",
            "A is ahead of B by 5 ± 10 mbb/g (95 %) after 200 hands of some.",
        ),
        (
            Estimate(5.0),
            "none",
            "A is ahead of B by 5 mbb/g after 200 hands of some, in training (no interval, because the learning "
            "player changes from hand to hand).",
        ),
    ],
)
def test_continuing_contest_claims_no_winner_unless_its_interval_allows_it(
    lead: Estimate, interval: Interval, sentence: str
) -> None:
    standing = Standing(
        chips={"A": 9.0, "B": -9.0},
        lead=Rate.from_estimate(lead, "A", "B"),
        deals=200,
        hands=200,
        largest_loss=None,
        played=played_text(200, 1, "some"),
        interval=interval,
        is_over=False,
    )
    assert standing.sentence() == sentence


def test_players_of_a_contest_that_continues_are_level_in_the_same_words() -> None:
    standing = Standing(
        chips={"A": 0.0, "B": 0.0},
        lead=Rate(0.0, 10.0, player="A", opponent="B"),
        deals=200,
        hands=200,
        largest_loss=None,
        played=played_text(200, 1),
        interval="fixed",
        is_over=False,
    )
    assert standing.sentence() == "A and B are level after 200 hands: 0 ± 10 mbb/g (95 %)."
