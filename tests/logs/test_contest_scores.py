"""Scores and deal lists of a contest, compared with sums over all its hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import uncalled
from logs.acpc_log.reader import read_log
from logs.contest_scores import ContestScores, WorstDeals
from logs.estimation import RunningMean, score_bounds
from logs.hand_index import MatchHands, open_hands
from logs.hand_source import HandFile
from logs.record import HandRecord
from protocol import find_game
from tests.logs.hands import log_lines, random_hands


def _log(folder: Path, name: str, records: list[HandRecord], full_name: str) -> Path:
    path = folder / f"{name}.log"
    path.write_text("".join(log_lines(records, full_name)))
    return path


def _contest(folder: Path, game: str, hands: int) -> tuple[dict[str, list[HandRecord]], dict[str, MatchHands]]:
    full_name, rules = find_game(game)
    names = ("Ann", "Bob", "Cat")[: rules.num_players]
    records, matches = {}, {}
    for shift in range(rules.num_players):
        name = f"match.{'abc'[shift]}"
        seats = names[-shift:] + names[:-shift] if shift else names
        path = _log(folder, name, random_hands(game, hands, names=seats), full_name)
        records[name] = list(read_log(path))
        matches[name] = open_hands(HandFile(str(path))).matches[0]
    return records, matches


@pytest.mark.parametrize(("game", "hands"), [("leduc", 130), ("nolimit", 110), ("nolimit3", 105), ("limit", 105)])
def test_lists_and_scores_are_those_of_all_hands(tmp_path: Path, game: str, hands: int) -> None:
    records, matches = _contest(tmp_path, game, hands)
    rules = find_game(game)[1]
    scores = ContestScores(rules, [list(records)])
    while scores.count(matches, max_deals=37):
        pass
    assert (scores.deals, scores.hands, scores.unread) == (hands, hands * len(records), 0)
    pots = []
    for name, of_match in records.items():
        for record in of_match:
            spent = record.betting.spent
            pots.append((sum(spent) - uncalled(spent)[1], name, record.hand_number))
    assert [pot.chips for pot in scores.biggest_pots] == sorted((pot for pot, _, _ in pots), reverse=True)[:20]
    assert {(pot.chips, pot.hands[0][0], pot.number) for pot in scores.biggest_pots} <= set(pots)
    totals: dict[str, list[float]] = {player: [] for player in scores.players}
    for deal in zip(*records.values(), strict=True):
        for player, sums in totals.items():
            sums.append(sum(one.values[one.names.index(player)] for one in deal))
    losses = []
    for player, sums in totals.items():
        mean = RunningMean((1000 * chips / rules.big_blind / len(records) for chips in sums), score_bounds(rules))
        rate = scores.rate(player)
        assert rate is not None
        assert rate.mean == pytest.approx(mean.mean)
        assert rate.half_width == pytest.approx(mean.estimate.half_width)
        assert scores.chips(player) == pytest.approx(sum(sums))
        played, end = scores.curve(player)[-1]
        assert played == scores.hands
        assert end.mean == pytest.approx(sum(sums) / rules.big_blind)
        assert end.half_width == mean.half_width() is None, "all scores are equal"
        every = [hand for of_match in records.values() for hand in of_match]
        lost = sorted(hand.values[hand.names.index(player)] for hand in every)
        assert [hand.chips for hand in scores.worst_hands(player)] == [chips for chips in lost if chips < 0][:20]
        losses += [(chips, number, player) for number, chips in enumerate(sums) if chips < 0]
    assert [deal.chips for deal in scores.worst_deals] == sorted(chips for chips, _, _ in losses)[:20]
    assert {(deal.chips, deal.number, deal.player) for deal in scores.worst_deals} <= set(losses)
    for deal in scores.worst_deals:
        assert sum(chips for _, chips in deal.hands) == deal.chips
    worst = WorstDeals(20)
    for deal in zip(*records.values(), strict=True):
        worst.add([(f"{record.match_name}.log", record) for record in deal])
    assert [chips for chips, _, _ in worst.losses] == [deal.chips for deal in scores.worst_deals]
    for chips, player, hands in worst.losses:
        assert (chips, hands[0].hand_number, player) in losses
        assert [hand.match_name for hand in hands] == list(records)


def test_deals_of_one_seating_or_of_other_players_are_no_worst_deals() -> None:
    one, other = (random_hands("leduc", 1, names=names)[0] for names in (("Ann", "Bob"), ("Bob", "Cat")))
    worst = WorstDeals()
    worst.add([("a.log", one)])
    worst.add([("a.log", one), ("b.log", other)])
    worst.add([("x/a.log", one), ("y/a.log", one)])
    assert worst.losses == []


def test_a_deal_counts_when_every_seating_has_it(tmp_path: Path) -> None:
    _, matches = _contest(tmp_path, "leduc", 50)
    scores = ContestScores(find_game("leduc")[1], [["match.a", "match.b"]])
    assert not scores.count({})
    assert not scores.count({"match.a": matches["match.a"]})
    assert scores.deals == 0
    scores.count(matches)
    assert scores.deals == 50


def test_damaged_hands_are_left_out_and_counted(tmp_path: Path) -> None:
    records, _ = _contest(tmp_path, "leduc", 30)
    path = tmp_path / "match.b.log"
    text = path.read_text()
    path.write_text(text.replace("STATE:11:", "STATE:11:x:y:"))
    matches = {name: open_hands(HandFile(str(tmp_path / f"{name}.log"))).matches[0] for name in records}
    scores = ContestScores(find_game("leduc")[1], [list(records)])
    assert not scores.count(matches)
    assert (scores.deals, scores.unread) == (29, 2)


def test_a_curve_of_many_deals_has_a_bounded_number_of_points(tmp_path: Path) -> None:
    path = _log(tmp_path, "m", random_hands("kuhn", 1000), find_game("kuhn")[0])
    match = open_hands(HandFile(str(path))).matches[0]
    scores = ContestScores(match.game, [["m"]])
    while scores.count({"m": match}):
        pass
    curve = scores.curve("Ann")
    assert 200 < len(curve) <= 401
    hands = [hands for hands, _ in curve]
    assert hands == sorted(set(hands))
    assert hands[-1] == 1000
    assert not scores.worst_deals
