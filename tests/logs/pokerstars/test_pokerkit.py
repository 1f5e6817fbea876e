"""No-limit hands read and played again by PokerKit, an independent program, with the same results.

PokerKit plays by the rules of card rooms, which are stricter than the ACPC's in two ways: a caller may not raise again
after an all-in below a full raise, and a player may not raise if no opponent has chips left. Hands that break these
rules are written but not compared.

"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from decimal import Decimal

import pytest

from engine import ActionKind
from logs import HandRecord
from logs.acpc_log.reader import read_log
from logs.formats.export_format import ExportOptions
from logs.formats.settlement import street_actions
from logs.pokerstars import format_pokerstars_file
from protocol import find_game
from tests.logs.hands import OF_2012, log_of_2012, random_hands, recorded_cases, recorded_hands
from tests.logs.pokerkit_oracle import pokerkit
from tests.logs.pokerstars.test_writer import odd_game

# PokerKit warns about a field that it creates itself.
pytestmark = pytest.mark.filterwarnings("ignore:The field 'time_zone_abbreviation':UserWarning")

LF = ExportOptions(crlf=False)
NO_LIMIT = ("nolimit", "nolimit3", "nolimit6", "nolimit10")


def assert_read(hands: Iterable[HandRecord], options: ExportOptions = LF) -> None:
    """Check that every hand is read, ends with its text, and has the record's results, split exactly."""
    hands = list(hands)
    text = "".join(format_pokerstars_file(hands, options))
    read = list(pokerkit.PokerStarsParser()(text.replace("\r\n", "\n"), parse_value=Decimal))
    assert len(read) == len(hands)
    for hand, history in zip(hands, read, strict=True):
        history.divmod = lambda amount, count: (Decimal(amount) / count, Decimal(0))
        *_, state = history
        assert not state.status, "the hand is not over"
        nets = dict(zip(history.players, state.payoffs, strict=True))
        chip_value = Decimal(str(options.chip_value))
        wanted = [float(chip_value * Decimal(value)) for value in hand.values]
        assert [float(nets[name]) for name in hand.names] == pytest.approx(wanted)


def is_of_a_card_room(hand: HandRecord) -> bool:
    """Return whether every raise is full and can be answered."""
    stacks = hand.game.stacks
    spent = list(hand.game.blinds)
    playing = set(range(len(stacks)))
    street, size = 0, hand.game.big_blind
    for action in street_actions(hand.betting):
        if action.round != street:
            street, size = action.round, hand.game.big_blind
        if action.action.kind == ActionKind.FOLD:
            playing.discard(action.position)
        elif action.action.kind == ActionKind.RAISE:
            raised_by = action.added - action.to_call
            if raised_by < size or max(stacks[p] for p in playing - {action.position}) <= max(spent):
                return False
            size = raised_by
        spent[action.position] += action.added
    return True


@pytest.mark.sampled
@pytest.mark.parametrize("fold", [0.15, 0.0, 0.4])
@pytest.mark.parametrize("name", NO_LIMIT)
def test_random_hands(name: str, fold: float) -> None:
    assert_read(random_hands(name, 6, seed=3, fold=fold))
    assert_read(random_hands(name, 4, seed=4), dataclasses.replace(LF, hero="Ann", chip_value="0.01", crlf=True))


@pytest.mark.parametrize(
    ("seeds", "hands_read"), [(range(14), 10), pytest.param(range(1000, 2000), 1000, marks=pytest.mark.slow)]
)
def test_short_stacks_and_side_pots(seeds: range, hands_read: int) -> None:
    """No-limit games with short and unequal stacks."""
    count = 0
    for seed in seeds:
        game = odd_game(seed)
        hands = [] if game.is_limit else random_hands(game, 4, seed=seed, fold=0.1)
        hands = [hand for hand in hands if is_of_a_card_room(hand)]
        if hands:
            assert_read(hands)
        count += len(hands)
    assert count > hands_read


@pytest.mark.sampled
@pytest.mark.parametrize("name", recorded_cases("holdem.nolimit", "sidepots"))
def test_recorded_matches(name: str) -> None:
    hands = list(recorded_hands(name))[:6]
    assert_read(filter(is_of_a_card_room, hands))


@pytest.mark.sampled
@pytest.mark.parametrize("name", [name for name in OF_2012 if ".nolimit." in name])
def test_matches_of_2012(name: str) -> None:
    game = find_game("nolimit3" if name.startswith("3p") else "nolimit")[1]
    assert_read(list(read_log(log_of_2012(name).splitlines(keepends=True), game=game, strict=True))[:12])
