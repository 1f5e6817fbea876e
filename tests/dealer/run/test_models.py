"""Matches of the bot `llm` against a fake endpoint: counts of the result, clocks, files, and the key."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import openai
import pytest

import dealer
from dealer.match.setup import DEFAULT_LIMITS
from dealer.reports.result_documents import models_table, result_document
from dealer.reports.run_report import report_document
from dealer.run.match_files import MatchFiles, exchanges_path
from dealer.run.plan import planned_contests, raised_limits_sentence, settle
from dealer.run.results import ModelUse
from dealer.run.results.summary import model_use
from dealer.run.run_settings import validated
from dealer.server.server_settings import bots_for
from dealer.table.launcher import player_command
from dealer.table.players import parse_player
from logs.acpc_log.exchanges import ACTION, NOTES, Exchange, read_exchanges
from logs.document.page import format_page
from logs.tracker.hand_counts import HandCounts
from protocol import find_game
from tests.dealer.helpers import ROOT
from tests.endpoints import KEY, Reply, fake_endpoint

CHECK_OR_CALL = '{"reason": "", "action": "call", "amount": null}'
assert openai.__version__  # Imported once, before the processes of the bots are forked.
URL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_result_has_the_counts_of_the_exchanges_and_no_file_has_the_key(tmp_path: Path) -> None:
    numbers = itertools.count(1)

    def script(request: dict[str, Any]) -> Reply:
        if "not usable" in request["messages"][-1]["content"]:
            return Reply(CHECK_OR_CALL)
        number = next(numbers)
        if number == 2:
            return Reply(f"My key is {KEY}", status=503, headers={"Retry-After": "0"})
        if number in (5, 6):
            return Reply(f"{KEY}? I do not know.")
        return Reply(CHECK_OR_CALL)

    folder = tmp_path / "run"
    with fake_endpoint() as endpoint:
        endpoint.script = script
        bots = [f"Ann=llm?model=fake,url={endpoint.url}", "calling"]
        result = dealer.play("kuhn", bots, deals=6, seed=3, workers=2, seating="single", out=folder)
        assert {*endpoint.keys} == {f"Bearer {KEY}"}
        num_requests = len(endpoint.requests)
    assert result.outcome is dealer.Outcome.FINISHED
    model = result.players[0].model
    assert model is not None
    assert result.players[1].model is None
    assert (model.exchanges, model.repeats) == (num_requests - 1, 1)
    assert model.decisions + model.asked_again == model.exchanges
    assert model.asked_again >= 1
    assert (model.tokens_in, model.tokens_out) == (100 * model.exchanges, 7 * model.exchanges)
    assert model.cost == 0.25 * model.exchanges
    assert 0 < model.median_s <= model.p99_s
    # Two slices, each with a process and a conversation of its own.
    paths = sorted(folder.glob("*.llm.jsonl"))
    assert [path.name for path in paths] == [f"{match.name}.seat1.llm.jsonl" for match in result.matches]
    assert len(paths) == 2
    assert sum(len(list(read_exchanges(path))) for path in paths) == model.exchanges
    (row,) = models_table([result]).rows
    assert row[:2] == ("Ann", model.decisions)
    document = result_document(result)
    assert "Language models" in [section.title for section in document.sections]
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    page = format_page(report_document(HandCounts(), [result]))
    assert "Language models" in page
    texts += [page.encode(), repr(document).encode()]
    assert len(texts) > 8
    assert not [text for text in texts if KEY.encode() in text]
    assert any(b"[key]? I do not know." in text for text in texts)


def test_key_is_no_argument_of_a_process(tmp_path: Path) -> None:
    player = parse_player(f"llm?model=fake,url={URL}")
    assert KEY not in " ".join(player_command(player, host="here", port=1, game=tmp_path))


def test_endpoint_that_fails_is_a_fault_with_a_sentence(tmp_path: Path) -> None:
    with fake_endpoint(Reply(f"no such model, {KEY}", 404)) as endpoint:
        bots = [f"Ann=llm?model=fake,url={endpoint.url}", "calling"]
        result = dealer.play("kuhn", bots, deals=2, seed=3, seating="single", out=tmp_path / "run", on_fault="forfeit")
        failed = dealer.play("kuhn", bots, deals=2, seed=3, seating="single", out=tmp_path / "failed")
        sentence = f"bot: fake at {endpoint.url}: no such model, [key] (404)"
    assert result.outcome is dealer.Outcome.FINISHED
    assert result.players[0].faults == {"crash": 1}
    assert failed.outcome is dealer.Outcome.FAILED
    assert failed.cause is not None
    assert failed.cause.last_lines == [sentence]
    assert sentence in failed.reason
    model = failed.players[0].model
    assert model is not None
    assert (model.exchanges, model.fell_back, model.tokens_in) == (1, 0, None)


def test_in_process_bot_keeps_its_exchanges(tmp_path: Path) -> None:
    with fake_endpoint(CHECK_OR_CALL) as endpoint:
        bots = [f"Ann=llm?model=fake,url={endpoint.url}", "calling"]
        result = dealer.play("kuhn", bots, deals=2, seed=3, in_process=True, out=tmp_path / "run")
    model = result.players[0].model
    assert model is not None
    assert model.exchanges == len(endpoint.requests) >= 4


def test_server_offers_no_bot_without_a_model() -> None:
    bots = bots_for(find_game("kuhn")[1])
    assert "calling" in bots
    assert "llm" not in bots


def test_exchanges_are_counted() -> None:
    exchanges = [
        Exchange(0, 1, ACTION, 1, "", "", "call", seconds=1.0, tokens_in=3),
        Exchange(1, 1, ACTION, 1, "", "", problem="bad", seconds=3.0, cost=0.5, repeats=2),
        Exchange(1, 1, ACTION, 2, "", "", "fold", problem="bad", seconds=2.0, fell_back=True, tokens_in=4),
        Exchange(1, 2, NOTES, 1, "", "", seconds=4.0, repeats=1),
    ]
    assert model_use(exchanges) == ModelUse(
        exchanges=4,
        decisions=2,
        asked_again=1,
        fell_back=1,
        repeats=3,
        tokens_in=7,
        tokens_out=None,
        cost=0.5,
        median_s=2.0,
        p99_s=4.0,
    )
    assert model_use([]) is None


@pytest.mark.parametrize(
    ("timeout", "settings", "own", "limits_s", "sentence"),
    [
        (
            120,
            {},
            {},
            (600, 2540, 2540),
            "Ann may take 127 s for an answer, which raises its --t-hand to 2,540 s and",
        ),
        (1200, {}, {}, (1264, 25280, 25280), "its --t-response to 1,264 s, --t-hand to 25,280 s and --t-per-hand to"),
        (120, {"t_per_hand_s": 30.0}, {"t_hand_s": 500.0}, (600, 500, 30), ""),
        (120, {"t_response_s": 5.0}, {"t_per_hand_s": 9.0}, (5, 2540, 9), "which raises its --t-hand to 2,540 s."),
    ],
)
def test_limits_are_raised_unless_they_are_set(
    timeout: int, settings: dict[str, Any], own: dict[str, Any], limits_s: tuple[int, int, int], sentence: str
) -> None:
    bot = {"bot": f"Ann=llm?model=fake,timeout={timeout}", **own}
    plan = settle(validated({"games": ["kuhn"], "bots": [bot, "calling"], **settings}))
    ann, calling = plan.players
    limits = ann.limits
    assert limits is not None
    assert (limits.response_us, limits.hand_us, limits.per_hand_us) == tuple(limit_s * 10**6 for limit_s in limits_s)
    assert calling.limits is None
    raised_limits = raised_limits_sentence(plan, ann)
    assert sentence in raised_limits
    assert bool(sentence) is bool(raised_limits)
    assert raised_limits_sentence(plan, calling) == ""
    assert plan.limits.start_us != DEFAULT_LIMITS.start_us


def test_new_match_removes_old_exchanges_and_a_resumed_one_keeps_them(tmp_path: Path) -> None:
    (contest,) = planned_contests(settle(validated({"games": ["kuhn"], "seed": 1})), tmp_path)
    setup = contest.setup_of(contest.match_plans[0])
    path = exchanges_path(tmp_path, setup.name, 1)
    path.write_text("{}\n")
    MatchFiles(setup, contest.record, is_resumed=True).close()
    assert path.exists()
    MatchFiles(setup, contest.record).close()
    assert not path.exists()
