"""Documents of results, and crosstables for other programs."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from dealer.reports.result_documents import contest_document, crosstable, pairs_table, players_table, rankings
from dealer.run.results import GameStandings
from dealer.run.results.summary import standings_of
from logs.document import Table, text_of
from logs.document.plain import csv_text, markdown_table
from logs.estimation import Estimate, RankedContest, Rate
from tests.dealer.results_of import contest, player, winnings


def _standings(deals: int = 200) -> GameStandings:
    """Standings in which A wins 100 from B with an error of 10, and C is level with A and wins 50 from B."""
    won = np.where(np.arange(deals) % 2, 100 + 70.0, 100 - 70.0)
    pairs = {(0, 1): won, (0, 2): 0 * won, (2, 1): won / 2}
    contests = [RankedContest(players, np.column_stack([scores, -scores])) for players, scores in pairs.items()]
    return standings_of("limit", contests, ["a_1", "B|2", "C"], (-1000.0, 1000.0), seatings=2)


def _markdown(standings: GameStandings) -> list[str]:
    return [
        line for table in (crosstable(standings), rankings(standings)) for line in markdown_table(table).splitlines()
    ]


def test_markdown_shows_crosstable_and_rankings() -> None:
    lines = _markdown(_standings())
    assert lines[:2] == ["|  | a_1 | C | B\\|2 | mean |", "| --- | ---: | ---: | ---: | ---: |"]
    assert lines[2].startswith("| a_1 |  | +0 | +100 ± ")
    assert lines[5:7] == [
        "| place | total bankroll | share | place | instant run-off | share |",
        "| ---: | --- | ---: | ---: | --- | ---: |",
    ]
    assert re.fullmatch(r"\| 1 \| a_1 \| \d+% \| 1 \| a_1 \| \d+% \|", lines[7])


def test_too_few_deals_have_no_interval_and_no_share() -> None:
    lines = _markdown(_standings(20))
    assert lines[2] == "| a_1 |  | +0 | +100 | +50 |"
    assert lines[5:8:2] == ["| place | total bankroll | place | instant run-off |", "| 1 | a_1 | 1 | a_1 |"]


def test_bot_without_a_finished_contest_is_in_the_table() -> None:
    """It has its winnings so far, if any, and a rank only with winnings."""
    unfinished = _standings().model_copy(update={"unfinished": ["C", "D"]})
    lines = _markdown(unfinished)
    assert lines[0] == "|  | a_1 | C | B\\|2 | D | mean |"
    assert lines[3].startswith("| C (unfinished) | +0 |  | +50 ± ")
    assert lines[5] == "| D (unfinished) |  |  |  |  |  |"
    assert [line.count("D") for line in lines[6:]] == [0] * 5
    assert "D" not in csv_text(pairs_table([unfinished]))


def test_data_has_a_row_for_every_pair_and_every_mean() -> None:
    rows = list(csv.DictReader(csv_text(pairs_table([_standings()])).splitlines()))
    assert [(row["player"], row["hands"]) for row in rows if not row["opponent"]] == [
        ("a_1", ""),
        ("C", ""),
        ("B|2", ""),
    ]
    (cell,) = [row for row in rows if (row["player"], row["opponent"]) == ("B|2", "a_1")]
    assert (cell["game"], float(cell["mbb_per_game"]), cell["hands"]) == ("limit", -100.0, "400")
    assert 9.7 < float(cell["half_width_95"]) < 10
    assert 10 < float(cell["guaranteed_half_width"]) < 25
    assert float(cell["standard_error"]) == pytest.approx(70 / 199**0.5)
    assert cell["corrected_mbb_per_game"] == ""


def test_figures_without_luck_are_shown_where_all_contests_have_them() -> None:
    contests = [RankedContest((0, 1), np.tile([[100.0, -100.0], [-60.0, 60.0]], (100, 1)))]
    corrected = [RankedContest((0, 1), np.tile([[30.0, -30.0], [10.0, -10.0]], (100, 1)))]
    standings = standings_of("limit", contests, ["A", "B"], (-1000.0, 1000.0), corrected=corrected)
    won = standings.won["A"]
    assert won.corrected is not None
    assert (won.raw.mean, won.corrected.mean) == (20.0, 20.0)
    assert won.corrected.error == pytest.approx(10 / 199**0.5)
    assert standings.total_bankroll[0].player == "A"
    table = crosstable(standings)
    ((_, _, cell, mean), _) = table.rows
    assert isinstance(cell, Rate)
    assert (cell.player, cell.opponent, text_of(cell, "+,.0f")) == ("A", "B", "+20 ± 1")
    assert cell.error == pytest.approx(10 / 199**0.5)
    assert isinstance(mean, Rate)
    assert mean.opponent == "the field"
    assert "without the luck of the cards" in table.title


# ---- documents


def test_document_of_a_contest_has_players_and_existing_faults() -> None:
    plain = contest_document(contest())
    assert [section.title for section in plain.sections] == ["Players"]
    assert (plain.title, plain.sentences, plain.data) == ("holdem.limit.2p: A - B", ("A and B are level.",), contest())
    assert [(fact.name, fact.text) for fact in plain.facts] == [
        ("seed", "1"),
        ("speed", "1,000 hands/s"),
        ("files", "runs/x"),
    ]
    faulty = player("B", faults={"stale reply": 1, "crash": 1200}, first_fault="stale reply in hand 3", restarts=2)
    (table,) = contest_document(contest(player("A"), faulty)).sections[1].parts
    assert isinstance(table, Table)
    assert table.texts == [
        ["B", "1 stale reply, 1,200 crash", "stale reply in hand 3", "2", "100", "50 µs", "90 µs", "1 s"]
    ]


def test_empty_contest_has_a_sentence_and_its_resume_command() -> None:
    empty = contest_document(contest(duplicates=0, resume="arena resume x"))
    assert empty.sentences == ("A and B are level.", "Resume with:\n    arena resume x")
    assert empty.sections == ()


def test_winnings_have_one_column_with_their_interval() -> None:
    won = player("A", won=winnings(Estimate(12.34, 10.0, 5.0), Estimate(2.0, 1.0)))
    columns, row = players_table([contest(won, interval="any time")]).columns, players_table([contest(won)]).rows[0]
    assert [column.heading for column in columns][:4] == ["player", "mbb/g ± 95 %, any time", "without luck", "SE"]
    assert row[1] == Rate(12.34, 10.0, 5.0, player="A", opponent="the table")


def test_overhead_of_the_dealer_is_shown_on_request() -> None:
    texts = {fact.name: fact.text for fact in contest_document(contest(), is_verbose=True).facts}
    assert (texts["dealer"], texts["timeouts"]) == ("40 µs per action", "0 per million actions")
