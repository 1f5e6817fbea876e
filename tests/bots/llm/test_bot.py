"""The player `llm` against a fake endpoint."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bots.errors import ModelError, SpecError
from bots.llm.bot import LlmBot
from bots.llm.endpoint import MAX_ANSWER_CHARS
from bots.sdk.builtin import main
from bots.sdk.registry import make_bot
from bots.sdk.testing import MockDealer, check
from bots.sdk.view import View
from engine import CALL, FOLD, raise_to
from logs.acpc_log.exchanges import ACTION, NOTES, Exchange, read_exchanges
from protocol import find_game
from tests.endpoints import KEY, FakeEndpoint, Reply, fake_endpoint

ViewOf = Callable[[str, str], View]
FACING_BET = ("nolimit", "MATCHSTATE:0:7:r300c/cr600:AhKs|/2c7d9h")
UNOPENED = ("nolimit", "MATCHSTATE:0:7:r300c/:AhKs|/2c7d9h")
CALLS = '{"reason": "", "action": "call", "amount": null}'


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ARENA_RESPONSE_S"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record pauses between requests; no other time passes on the bot's clock."""
    pauses: list[float] = []

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return 1000.0 + sum(pauses)

        @staticmethod
        def sleep(seconds: float) -> None:
            pauses.append(seconds)

    monkeypatch.setattr("bots.llm.endpoint.time", Clock)
    monkeypatch.setattr("bots.llm.bot.time", Clock)
    return pauses


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "match.seat1.llm.jsonl"


@pytest.fixture
def bot_for(endpoint: FakeEndpoint, path: Path) -> Iterator[Callable[..., LlmBot]]:
    bots: list[LlmBot] = []

    def bot_for(**options: Any) -> LlmBot:
        bot = LlmBot(model="fake", **{"url": endpoint.url, **options})
        bot.keep_exchanges(str(path))
        bots.append(bot)
        return bot

    yield bot_for
    for bot in bots:
        bot.match_finished()


BotFor = Callable[..., LlmBot]


@pytest.mark.parametrize("is_streamed", [True, False])
def test_usable_answer_is_played(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, path: Path, is_streamed: bool
) -> None:
    text = '{"reason": "Two ov\u00e9rcards.", "action": "raise", "amount": 900}'
    endpoint.set_replies(Reply(text, is_streamed=is_streamed))
    assert bot_for(temperature=0.5).act(view_of(*FACING_BET)) == raise_to(1200)
    (request,) = endpoint.requests
    assert request["model"] == "fake"
    assert request["temperature"] == 0.5
    assert request["response_format"]["json_schema"]["schema"]["properties"]["action"]["enum"] == [
        "fold",
        "call",
        "raise",
    ]
    assert endpoint.keys == [f"Bearer {KEY}"]
    (exchange,) = read_exchanges(path)
    assert exchange.prompt == endpoint.prompts[0]
    assert exchange._replace(prompt="", seconds=0.0) == Exchange(
        7, 4, ACTION, 1, "", text, "raise to 900", tokens_in=100, tokens_out=7, cost=0.25
    )


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply("I would rather not say."), "The answer is neither a JSON object"),
        (Reply('{"reason": "broken", "action": "ca'), "The answer is not valid JSON."),
        (Reply(""), "The answer was empty."),
        (Reply(refusal="I do not gamble."), "The answer was a refusal."),
        (Reply(refusal="I do not gamble.", is_streamed=False), "The answer was a refusal."),
        (Reply("x" * 300_000), "The answer was too long."),
        (Reply("ACTION: raise 1"), "That amount is not allowed"),
    ],
)
def test_unusable_answer_is_asked_again_once(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, path: Path, reply: Reply, problem: str
) -> None:
    endpoint.set_replies(reply, CALLS, reply)
    bot = bot_for()
    assert bot.act(view_of(*FACING_BET)) == CALL
    assert bot.act(view_of(*FACING_BET)) == FOLD
    assert bot.act(view_of(*UNOPENED)) == CALL
    assert len(endpoint.requests) == 6
    first, second, _, last, *_ = read_exchanges(path)
    assert first.problem.startswith(problem)
    assert len(first.answer) <= MAX_ANSWER_CHARS
    assert (first.attempt, first.outcome, first.fell_back) == (1, "", False)
    assert endpoint.prompts[1].startswith(problem)
    assert second.prompt == endpoint.prompts[1]
    assert (second.attempt, second.outcome, second.fell_back, second.problem) == (2, "call", False, "")
    assert (last.attempt, last.outcome, last.fell_back) == (2, "fold", True)
    assert [message["role"] for message in endpoint.requests[1]["messages"]] == ["user", "assistant", "user"]
    assert endpoint.requests[1]["messages"][1]["content"]


def test_requests_are_repeated_within_the_clock(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, path: Path, pauses: list[float]
) -> None:
    endpoint.set_replies(
        Reply("slow down", 429, headers={"Retry-After": "7"}),
        Reply("overloaded", 503),
        Reply(CALLS, is_broken=True),
        Reply(body=b'data: {"error": {"message": "the model fell over"}}\n\n'),
        CALLS,
    )
    assert bot_for().act(view_of(*FACING_BET)) == CALL
    assert pauses[0] == 7
    assert len(pauses) == 4
    assert all(2 ** (n - 1) <= pause <= 2**n for n, pause in enumerate(pauses[1:], 1))
    (exchange,) = read_exchanges(path)
    assert exchange.repeats == 4


def test_no_answer_before_the_deadline_is_one_sentence(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, path: Path, pauses: list[float]
) -> None:
    endpoint.set_replies(Reply(f"too many requests with {KEY}", 429))
    with pytest.raises(ModelError) as raised:
        bot_for(timeout=60).act(view_of(*FACING_BET))
    expected = f"fake at {endpoint.url}: no answer within 60 s: too many requests with [key] (429)"
    assert str(raised.value) == expected
    assert 30 < sum(pauses) < 60
    (exchange,) = read_exchanges(path)
    assert (exchange.answer, exchange.problem) == ("", expected)


def test_the_limit_of_the_dealer_bounds_the_time(
    endpoint: FakeEndpoint,
    bot_for: BotFor,
    view_of: ViewOf,
    pauses: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARENA_RESPONSE_S", "20")
    endpoint.set_replies(Reply("busy", 500))
    with pytest.raises(ModelError, match="no answer within 19 s"):
        bot_for().act(view_of(*FACING_BET))
    assert sum(pauses) < 19


@pytest.mark.parametrize(
    "reply",
    [Reply(CALLS, drip_s=0.3), Reply(CALLS, is_streamed=False, delay_s=1.3)],
)
def test_slow_answer_ends_at_the_deadline(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, reply: Reply
) -> None:
    endpoint.set_replies(reply)
    view = view_of(*FACING_BET)
    bot = bot_for(timeout=1.0)
    bot.prepare(view.game)
    with pytest.raises(ModelError, match=r"no answer within [01] s: (the endpoint is too slow|the time is up)$"):
        bot.act(view)


def test_second_attempt_without_time_falls_back(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, path: Path, pauses: list[float]
) -> None:
    endpoint.set_replies("nonsense", Reply("busy", 500))
    assert bot_for().act(view_of(*FACING_BET)) == FOLD
    assert [exchange.fell_back for exchange in read_exchanges(path)] == [False, True]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(f"Incorrect API key: {KEY[:8]}***", 401), "the key is refused (401); check the environment variable"),
        (Reply("no such model", 404), "no such model (404)"),
        (Reply(f"{KEY} may not", 403), "[key] may not (403)"),
        (
            Reply(status=429, body=b'{"error": {"message": "You are out of credit.", "code": "insufficient_quota"}}'),
            "You are out of credit. (429)",
        ),
        (Reply("x" * 300, 404), f"{'x' * 200}... (404)"),
    ],
)
def test_final_refusals_are_not_repeated(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, reply: Reply, problem: str
) -> None:
    endpoint.set_replies(reply)
    with pytest.raises(ModelError) as raised:
        bot_for().act(view_of(*FACING_BET))
    assert str(raised.value).startswith(f"fake at {endpoint.url}: {problem}")
    assert KEY[:8] not in str(raised.value)
    assert len(endpoint.requests) == 1


def test_refused_parameters_are_left_out(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(request: dict[str, Any]) -> Reply:
        if "response_format" in request or "stream_options" in request:
            return Reply("unknown parameter", 400)
        return Reply("I call.\nACTION: call", usage=None)

    endpoint.script = script
    bot = bot_for()
    assert bot.act(view_of(*FACING_BET)) == CALL
    assert bot.act(view_of(*FACING_BET)) == CALL
    assert len(endpoint.requests) == 4
    assert capsys.readouterr().err == (
        f"fake at {endpoint.url} refuses response_format (400), so it is left out.\n"
        f"fake at {endpoint.url} refuses stream_options (400), so it is left out.\n"
    )
    endpoint.set_replies(Reply("no such thing", 400))
    with pytest.raises(ModelError, match=r"no such thing \(400\)"):
        bot.act(view_of(*FACING_BET))


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b'{"hello": 1}', b'data: {"choi\n\n', b"data: 3\n\n", b"[]"])
def test_other_program_is_no_endpoint(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, pauses: list[float], body: bytes
) -> None:
    endpoint.set_replies(Reply(body=body))
    with pytest.raises(ModelError, match="no answer within 10 s: the response is not a chat completion"):
        bot_for().act(view_of(*FACING_BET))


def test_network_that_is_down_is_one_sentence(bot_for: BotFor, view_of: ViewOf, pauses: list[float]) -> None:
    with pytest.raises(ModelError) as raised:
        bot_for(url="http://127.0.0.1:9/v1").act(view_of(*FACING_BET))
    sentence = "fake at http://127.0.0.1:9/v1: no answer within 10 s: no connection (ConnectError: "
    assert str(raised.value).startswith(sentence)
    assert "\n" not in str(raised.value)


def test_notes_are_written_after_each_hand(endpoint: FakeEndpoint, bot_for: BotFor, path: Path) -> None:
    def script(request: dict[str, Any]) -> Reply:
        if "Write your new notes" in request["messages"][-1]["content"]:
            return Reply("It bluffs." + "x" * 2_000)
        return Reply(CALLS)

    endpoint.script = script
    dealer = MockDealer("kuhn").ask("MATCHSTATE:1:0:r:|Ks", "c").tell("MATCHSTATE:1:0:rc:Qs|Ks")
    dealer.ask("MATCHSTATE:0:1::As|", "c").tell("MATCHSTATE:0:1:cc:As|Ks")
    check(bot_for(memory="match"), dealer)
    kinds = [exchange.kind for exchange in read_exchanges(path)]
    assert kinds == [ACTION, NOTES, ACTION, NOTES]
    assert "It bluffs." not in endpoint.prompts[0]
    assert "It bluffs." in endpoint.prompts[2]
    assert "response_format" not in endpoint.requests[1]
    notes = [exchange.answer for exchange in read_exchanges(path)][1]
    assert len(notes) == 1_000
    # A process restarted for the next hand reads them.
    again = bot_for(memory="match")
    check(again, MockDealer("kuhn").ask("MATCHSTATE:0:2::As|", "c").tell("MATCHSTATE:0:2:cc:As|Ks"))
    assert "It bluffs." in endpoint.prompts[4]


def test_time_for_notes_counts_on_the_next_decision(
    endpoint: FakeEndpoint, bot_for: BotFor, pauses: list[float]
) -> None:
    bot = bot_for(memory="match", timeout=100)
    endpoint.set_replies(CALLS, Reply("busy", 500))
    dealer = MockDealer("kuhn").ask("MATCHSTATE:1:0:r:|Ks", "c").tell("MATCHSTATE:1:0:rc:Qs|Ks")
    with pytest.raises(ModelError):
        check(bot, dealer.ask("MATCHSTATE:0:1::As|", "c"))
    assert sum(pauses) < 100


def test_key_is_in_no_text(
    endpoint: FakeEndpoint,
    thread_dealer: Callable[..., Any],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ARENA_EXCHANGES", str(path))
    endpoint.set_replies(
        f"My key is {KEY}.\nACTION: {KEY}", f'{{"reason": "{KEY}", "action": "call"}}', Reply(KEY, 404)
    )
    dealer = thread_dealer(MockDealer("kuhn").ask("MATCHSTATE:1:0:r:|Ks", "c").ask("MATCHSTATE:1:0:r:|Ks", "c"))
    spec = f"llm?model=fake,url={endpoint.url}"
    assert main([spec, "127.0.0.1", str(dealer.port), "--game", "kuhn"]) == 1
    assert endpoint.keys == [f"Bearer {KEY}"] * 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err == f"bot: fake at {endpoint.url}: [key] (404)\n"
    assert len(list(read_exchanges(path))) == 3
    assert KEY not in path.read_text()
    assert "[key]" in path.read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("url=ftp://here", "url must begin with http:// or https:// and a host"),
        (f"url=http://me:{KEY}@here", "url must be an address without user, query and fragment"),
        (f"url=http://here?key={KEY}", "url must be an address without user, query and fragment"),
        ("memory=all", "memory must be none or match"),
        ("timeout=nan", "timeout must be 1 to 3600 seconds"),
        ("temperature=3", "temperature must be 0 to 2"),
        (f"key={KEY}", "key must be the name of an environment variable, such as OPENAI_API_KEY, not a key"),
    ],
)
def test_invalid_options(options: str, sentence: str) -> None:
    with pytest.raises(SpecError) as raised:
        make_bot(f"llm?{options}")
    assert sentence in str(raised.value)


def test_reason_for_not_playing(monkeypatch: pytest.MonkeyPatch) -> None:
    game = find_game("kuhn")[1]
    assert LlmBot().refusal(game) == "it asks a language model, and none is named; add model=NAME"
    assert LlmBot(model="fake").refusal(game) is None
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert LlmBot(model="fake", url="http://here").refusal(game) is None
    sentence = "the environment variable OPENAI_API_KEY is not set; set it, or name another endpoint by url=URL"
    assert LlmBot(model="fake").refusal(game) == sentence
    monkeypatch.setitem(sys.modules, "openai", None)
    assert LlmBot(model="fake").refusal(game) == "the package openai is missing; pip install openai"


def test_endpoint_without_a_key(
    endpoint: FakeEndpoint, bot_for: BotFor, view_of: ViewOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert bot_for().act(view_of(*FACING_BET)) == CALL
    assert endpoint.keys == ["Bearer none"]
