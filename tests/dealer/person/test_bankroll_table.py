"""Play with chips that carry over from hand to hand until a player is broke."""

from __future__ import annotations

import pytest

from bots.sdk.registry import make_bot
from dealer.errors import ConfigError
from dealer.person.bankroll_table import BankrollMatch, whole_chips
from dealer.person.entries import read_entry
from dealer.person.seat import Scene
from engine import Action, Game
from protocol import find_game


def match_of(game: str, *bots: str, bankroll: int = 500, seed: int = 5) -> BankrollMatch:
    rules = find_game(game)[1]
    opponents = [make_bot(bot, seed + number) for number, bot in enumerate(bots)]
    names = ["hero", *(f"{bot}-{number}" for number, bot in enumerate(bots))]
    return BankrollMatch(rules, opponents, names, bankroll, seed)


def call(scene: Scene) -> Action:
    return read_entry("c", scene)


def _raise_or_call(scene: Scene) -> Action:
    """Raise by the minimum once in a hand, so that chips move slowly."""
    is_first = not any(scene.betting.rounds)
    return read_entry("m" if is_first and scene.view.can_raise else "c", scene)


@pytest.mark.parametrize(("game", "bot"), [("limit", "raising"), ("limit3", "raising"), ("nolimit3", "calling")])
def test_chips_carry_over_until_a_player_is_broke(game: str, bot: str) -> None:
    bots = [bot] * (find_game(game)[1].num_players - 1)
    match = match_of(game, *bots)
    total = sum(match.bankrolls)
    while not match.broke:
        before = list(match.bankrolls)
        record = match.play_hand(_raise_or_call, lambda _: None)
        assert record.game.stacks == tuple(before[seat] for seat in record.seats)
        assert sum(match.bankrolls) == total
        assert min(match.bankrolls) >= 0
    assert len(match.records) > 1
    chips_by_name = dict(zip(match.names, match.bankrolls, strict=True))
    assert match.broke == [name for name, chips in chips_by_name.items() if chips < match.game.big_blind]


def test_person_sees_no_cards_of_others_before_the_showdown() -> None:
    match = match_of("limit3", "calling", "folding")
    scenes: list[Scene] = []
    for _ in range(4):
        match.play_hand(call, scenes.append)
    for scene in scenes:
        shown = {position for position, cards in enumerate(scene.all_hole_cards) if cards}
        if not scene.finished:
            assert shown == {scene.position}
        folded = set(range(3)) - set(scene.betting.in_pot)
        assert not shown & (folded - {scene.position})
    assert any(scene.finished and len(scene.betting.in_pot) > 1 for scene in scenes)


@pytest.mark.parametrize(
    ("values", "chips"),
    [
        ([-10.0, 10.0], [-10, 10]),
        ([2.5, -5.0, 2.5], [3, -5, 2]),
        ([-10.0, 10 / 3, 10 / 3, 10 / 3], [-10, 4, 3, 3]),
    ],
)
def test_odd_chip_goes_to_the_first_winner(values: list[float], chips: list[int]) -> None:
    assert whole_chips(values) == chips


def test_bot_that_needs_the_stacks_of_the_game_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = make_bot("calling")
    monkeypatch.setattr(type(bot), "refusal", classmethod(lambda _, game: _even_only(game)))
    with pytest.raises(ConfigError, match="Cal cannot play with chips that carry over: it needs equal stacks"):
        BankrollMatch(find_game("limit")[1], [bot], ["hero", "Cal"], 500, 1)
    with pytest.raises(ConfigError, match="a bankroll of 100 is below the big blind of 200"):
        BankrollMatch(find_game("limit")[1]._replace(blinds=(200, 100)), [bot], ["hero", "Cal"], 100, 1)


def _even_only(game: Game) -> str | None:
    return None if len(set(game.stacks)) == 1 else "it needs equal stacks"
