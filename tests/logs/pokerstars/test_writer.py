"""Hands of every game written, then read by the strict checker; effects of each option."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from engine import BettingState, BettingType, Game
from logs import HandRecord, Times
from logs.acpc_log.reader import read_log
from logs.errors import LogsError, UnsupportedGameError
from logs.formats.export_format import ExportOptions
from logs.formats.money import Rake
from logs.formats.settlement import street_actions
from logs.pokerstars import PokerStarsWriter, format_pokerstars, format_pokerstars_file, plans
from logs.pokerstars import writer as writer_module
from logs.pokerstars.plans import Planner, TableText
from protocol import find_game
from tests.logs import hands as sample
from tests.logs.pokerstars.checker import CheckedHand, check_file
from tests.logs.pokerstars.hand_cases import make_record

LF = ExportOptions(crlf=False)


def round_trip(hands: Iterable[HandRecord], options: ExportOptions = LF, **wanted: Any) -> list[CheckedHand]:
    """Write and check hands: all are present, with the record's results to the cent."""
    hands = list(hands)
    checked_hands = check_file("".join(format_pokerstars_file(hands, options)), **wanted)
    assert len(checked_hands) == len(hands)
    for hand, text in zip(hands, checked_hands, strict=True):
        assert_same_results(hand, text, Decimal(str(options.chip_value)))
    return checked_hands


def assert_same_results(hand: HandRecord, text: CheckedHand, chip_value: Decimal) -> None:
    assert len(text.names) == len(hand.names_by_seat)
    by_seat = {seat - 1: name for name, seat in text.seats.items()}
    nets = [text.net(by_seat[seat]) for seat in hand.seats]
    assert sum(nets) == -text.rake
    if not text.rake:
        # A cent of a pot that cannot be split may go to another winner than in the record.
        for net, value in zip(nets, hand.values, strict=True):
            assert abs(net - 100 * Decimal(value) * chip_value) < len(text.pots) + Decimal("0.01")


# ---- every game


@pytest.mark.sampled
@pytest.mark.parametrize("fold", [0.0, 0.15, 0.4])
@pytest.mark.parametrize("name", sample.HOLDEM)
def test_random_hands_of_every_shipped_game(name: str, fold: float) -> None:
    hands = sample.random_hands(name, 40, seed=2, fold=fold)
    round_trip(hands, dataclasses.replace(LF, hero="Bob"))


def odd_game(seed: int) -> Game:
    """Return hold'em for two to ten with short and unequal stacks, and blinds that put players all-in."""
    chance = random.Random(seed)
    players = chance.randint(2, 10)
    is_limit = chance.random() < 0.3
    small, big = chance.choice([(1, 2), (5, 10), (50, 100), (2, 5)])
    depth = chance.choice([1, 3, 10, 50, 200])
    stacks = [chance.choice([big, big + 1, chance.randint(big, big * depth + 1)]) for _ in range(players)]
    small_at, big_at, first = (1, 0, 1) if players == 2 else (0, 1, 2)
    if chance.random() < 0.3:
        stacks[small_at] = chance.randint(small, big)
    return Game(
        betting=BettingType.LIMIT if is_limit else BettingType.NO_LIMIT,
        num_players=players,
        num_rounds=4,
        stacks=tuple(stacks),
        blinds=tuple({small_at: small, big_at: big}.get(position, 0) for position in range(players)),
        raise_sizes=(big, big, 2 * big, 2 * big) if is_limit else (),
        first_players=(first, 0, 0, 0),
        max_raises=(3, 4, 4, 4) if is_limit else (255,) * 4,
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        num_board_cards=(0, 3, 1, 1),
    )


def expressible(hands: Iterable[HandRecord]) -> list[HandRecord]:
    """Leave out hands of limit games in which a short stack's raise lowers the bet."""
    writable = []
    for hand in hands:
        try:
            format_pokerstars(hand, LF)
        except LogsError:
            with pytest.raises(LogsError, match="as a short stack of a limit game may"):
                format_pokerstars(hand, LF)
            assert hand.game.is_limit
        else:
            writable.append(hand)
    return writable


@pytest.mark.parametrize(
    ("seeds", "pots"), [(range(12), 4), pytest.param(range(1000, 1500), 6, marks=pytest.mark.slow)]
)
def test_short_stacks_and_side_pots(seeds: Iterable[int], pots: int) -> None:
    most_pots = 0
    for seed in seeds:
        options = dataclasses.replace(LF, chip_value=("1", "0.01", "0.05", "7")[seed % 4])
        hands = expressible(sample.random_hands(odd_game(seed), 8, seed=seed, fold=(0.0, 0.1, 0.3)[seed % 3]))
        if hands:
            most_pots = max(most_pots, *(len(hand.pots) for hand in round_trip(hands, options)))
    assert most_pots >= pots


@pytest.mark.sampled
@pytest.mark.parametrize("name", sample.recorded_cases("holdem", "sidepots"))
def test_recorded_matches(name: str) -> None:
    lines = sample.recorded_file(name, "log").splitlines(keepends=True)
    round_trip(list(read_log(lines, game=sample.recorded_game(name), strict=True))[:30])


@pytest.mark.sampled
@pytest.mark.parametrize("name", sample.OF_2012)
def test_matches_of_2012(name: str) -> None:
    game = find_game(("limit" if ".limit." in name else "nolimit") + ("3" if name.startswith("3p") else ""))[1]
    hands = list(read_log(sample.log_of_2012(name).splitlines(keepends=True), game=game, strict=True))
    round_trip(hands[:30])


# ---- a match


def test_a_log_gives_the_same_file_as_the_match_did() -> None:
    for name in ("limit", "nolimit3"):
        hands = sample.random_hands(name, 60)
        live = "".join(format_pokerstars_file(hands))
        records = list(read_log(sample.log_lines(hands), game=find_game(name)[1], strict=True))
        assert "".join(format_pokerstars_file(records)) == live
        assert "".join(format_pokerstars_file(map(sample.as_seen, hands))) == live


def test_numbers_are_the_match_s_and_the_hand_s() -> None:
    hands = sample.random_hands("nolimit3", 30)
    numbers = [hand.number for hand in round_trip(hands)]
    assert numbers == list(range(numbers[0], numbers[0] + 30))
    assert 400_000_000_000 <= numbers[0] < 10**12
    assert numbers[0] % 1000 == 0
    later = [hand.number for hand in round_trip(hands[10:])]
    assert later[0] not in numbers
    named = dataclasses.replace(LF, match_id="seed 1")
    assert [hand.number for hand in round_trip(hands[10:], named)] == [
        hand.number for hand in round_trip(hands, named)
    ][10:]
    assert (
        format_pokerstars(hands[7], named)
        == "".join(format_pokerstars_file(hands, named)).split("\n\n\n")[7] + "\n\n\n"
    )


def test_matches_may_follow_each_other() -> None:
    one, other = sample.random_hands("limit", 5), sample.random_hands("limit", 5, seed=2)
    renamed = [dataclasses.replace(hand, match_name="other") for hand in sample.random_hands("limit3", 5)]
    texts = list(format_pokerstars_file([*one, *other, *renamed]))
    assert "".join(texts) == "".join(text for match in (one, other, renamed) for text in format_pokerstars_file(match))
    numbers = {int(re.findall("[0-9]+", text)[0]) for text in texts}
    assert len(numbers) == 15


def test_a_writer_writes_one_match() -> None:
    hands = sample.random_hands("limit", 2)
    writer = PokerStarsWriter(hands[0].game, "match", hands[0].names_by_seat, LF)
    assert writer.format(hands[0])
    for other in (
        dataclasses.replace(hands[1], match_name="other"),
        dataclasses.replace(hands[1], names_by_seat=("Ann", "Cat")),
        sample.random_hands("nolimit", 2)[1],
    ):
        with pytest.raises(LogsError, match="hand 1 is of another match"):
            writer.format(other)


def test_remembered_texts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hands = sample.random_hands("limit3", 100)
    whole = list(format_pokerstars_file(hands))
    monkeypatch.setattr(writer_module, "_MAX_PLANS", 3)
    monkeypatch.setattr(writer_module, "_MAX_TABLES", 2)
    assert list(format_pokerstars_file(hands)) == whole
    writer = PokerStarsWriter(hands[0].game, "match", hands[0].names_by_seat)
    for hand in hands:
        writer.format(hand)
        assert len(writer._plans) <= 3
        assert writer._table.cache_info().currsize <= 2
    for max_streets in (3, 0):
        monkeypatch.setattr(plans, "_MAX_STREETS", max_streets)
        assert list(format_pokerstars_file(hands)) == whole
    # Limit and no-limit games share the code of streets.
    monkeypatch.setattr(Planner, "_limit_streets", _streets_of_steps)
    assert list(format_pokerstars_file(hands)) == whole


def _streets_of_steps(planner: Planner, betting: BettingState, table: TableText) -> list[object]:
    steps = street_actions(betting)
    return [planner._street(r, [s for s in steps if s.round == r], table) for r in range(betting.round + 1)]


def test_lines_end_as_asked() -> None:
    hands = sample.random_hands("nolimit3", 20, fold=0.0)
    unix, windows = (list(format_pokerstars_file(hands, ExportOptions(crlf=crlf))) for crlf in (False, True))
    assert [text.replace("\n", "\r\n") for text in unix] == windows
    assert list(format_pokerstars_file(hands)) == windows
    assert check_file("".join(windows)) == check_file("".join(unix))


# ---- times


def test_hands_are_written_at_the_time_they_were_played() -> None:
    hands = sample.random_hands("nolimit", 3, with_notes=True)
    assert sample.T0 // 10**6 == 1795227485
    assert [str(hand.at) for hand in round_trip(hands)] == [
        "2026-11-20 21:18:05", "2026-11-20 21:18:06", "2026-11-20 21:18:07",
    ]  # fmt: skip
    assert [str(hand.at) for hand in round_trip(sample.random_hands("nolimit", 2))] == [
        "1999-12-31 19:00:00",
        "1999-12-31 19:00:01",
    ]
    begun = dataclasses.replace(LF, begin_us=sample.T0)
    assert [str(hand.at) for hand in round_trip(sample.random_hands("nolimit", 4)[2:], begun)] == [
        "2026-11-20 21:18:07", "2026-11-20 21:18:08",
    ]  # fmt: skip


def test_an_impossible_time_is_refused() -> None:
    (hand,) = sample.random_hands("nolimit", 1)
    hand = dataclasses.replace(hand, times=(Times(10**18, 10**18),))
    with pytest.raises(LogsError, match="hand 0 was played at an impossible time: 1000000000000000000 us"):
        format_pokerstars(hand)
    with pytest.raises(LogsError, match="hand 0 was played at an impossible time"):
        PokerStarsWriter(hand.game, hand.match_name, hand.names_by_seat).file_name(hand)


def test_a_file_is_named_by_day_table_and_stakes() -> None:
    hand = make_record("limit", "f", "AsAd KsKd")
    writer = PokerStarsWriter(hand.game, "a/b: c", hand.names_by_seat, LF)
    assert writer.file_name(hand) == "HH20260102 a_b_ c - $10-$20.txt"
    cents = dataclasses.replace(LF, chip_value="0.01", table="T")
    assert (
        PokerStarsWriter(hand.game, "m", hand.names_by_seat, cents).file_name(hand) == "HH20260102 T - $0.10-$0.20.txt"
    )


# ---- visible cards


def test_only_the_hero_is_dealt_face_up() -> None:
    hands = sample.random_hands("nolimit6", 20, fold=0.5)
    for name in ("Ann", "Eve"):
        assert [list(hand.dealt) for hand in round_trip(hands, dataclasses.replace(LF, hero=name))] == [[name]] * 20
    assert not any(hand.dealt for hand in round_trip(hands))
    with pytest.raises(LogsError, match="no player of the match is called 'Zoe'"):
        format_pokerstars(hands[0], ExportOptions(hero="Zoe"))


def test_the_hero_s_name_may_have_to_change() -> None:
    hands = sample.random_hands("nolimit", 5, names=("agent_iter", "Dealer"))
    text = "".join(format_pokerstars_file(hands, dataclasses.replace(LF, hero="agent_iter")))
    assert all(list(hand.dealt) == ["agent-iter"] for hand in check_file(text))
    assert "Deal-er: " in text


def test_cards_that_are_not_known() -> None:
    """Losers muck, winners collect, and unknown cards are not dealt."""
    shown = 0
    for hand in sample.random_hands("nolimit3", 40, fold=0.05):
        if hand.betting.folded.bit_count() > 1:
            continue
        for known in range(4):
            holes = tuple(hole if position < known else () for position, hole in enumerate(hand.deal.hole_cards))
            bare = dataclasses.replace(hand, deal=hand.deal._replace(hole_cards=holes))
            (text,) = round_trip([bare], dataclasses.replace(LF, hero="Ann"), all_show=False)
            in_pot = {position for position in range(3) if not hand.betting.folded >> position & 1}
            assert len(text.shown) == len({position for position in in_pot if position < known})
            assert bool(text.dealt) == (hand.seats.index(0) < known)
            shown += len(text.shown)
    assert shown > 25


def test_side_pots_need_the_cards() -> None:
    hand = make_record("nolimit3", "r300r500cc/r2000c//", "AsAd KdKc QsQd", "2h7d8s 4s 9c", stacks=(2000, 3000, 500))
    with pytest.raises(LogsError, match="hole cards are missing that decided its side pots"):
        format_pokerstars(dataclasses.replace(hand, deal=hand.deal._replace(hole_cards=((), (), ()))))


def test_a_board_that_is_not_known_is_refused() -> None:
    hand = make_record("limit", "cc/cc/cc/cc", "AsKs KdKc", "QsJsTs 4s Kh")
    with pytest.raises(LogsError, match="hand 0: cards of its board are missing"):
        format_pokerstars(dataclasses.replace(hand, deal=hand.deal._replace(board=hand.deal.board[:4])))


# ---- money


@pytest.mark.parametrize(("chip_value", "currency"), [(1, "USD"), (0.01, "EUR"), ("2.25", None)])
def test_chips_as_money(chip_value: Any, currency: str | None) -> None:
    round_trip(sample.random_hands("nolimit3", 15), dataclasses.replace(LF, chip_value=chip_value, currency=currency))
    round_trip(sample.random_hands("limit", 15), dataclasses.replace(LF, chip_value=chip_value, currency=currency))


def test_a_limit_game_without_stacks_is_written_with_deep_ones() -> None:
    for name, stack in (("limit", 100_000), ("limit3", 100_000)):
        (hand,) = round_trip(sample.random_hands(name, 1))
        assert set(hand.stacks.values()) == {100 * stack}
    game = find_game("limit")[1]._replace(max_raises=(255,) * 4, raise_sizes=(1000, 1000, 2000, 2000))
    hands = sample.random_hands(game, 5, fold=0.0)
    assert min(round_trip(hands, most_bets=256)[0].stacks.values()) > 100 * 255 * 6000


def test_rake_is_taken_before_the_pots_are_split() -> None:
    rake = Rake(per_cent=5, step="0.25", cap=7)

    def agreed_rake(pot_cents: int, saw_flop: bool) -> int:
        return min(pot_cents // 500 * 25, 700) if saw_flop else 0

    for name in ("limit", "limit3"):
        checked_hands = round_trip(
            sample.random_hands(name, 100, fold=0.4), dataclasses.replace(LF, rake=rake), rake=agreed_rake
        )
        assert len({hand.rake for hand in checked_hands}) > 5
    game = find_game("nolimit3")[1]._replace(stacks=(500, 1000, 2000))
    hands = sample.random_hands(game, 100, fold=0.02)
    checked_hands = round_trip(hands, dataclasses.replace(LF, rake=rake), rake=agreed_rake)
    assert max(len(hand.pots) for hand in checked_hands) == 2


def test_a_rake_may_take_everything_but_no_more() -> None:
    game = find_game("nolimit6")[1]._replace(stacks=(100, 101, 103, 107, 111, 150))
    for per_cent in (100, "99.999", "33.3"):
        everything = Rake(per_cent=per_cent, no_flop_no_drop=False)
        round_trip(
            sample.random_hands(game, 40, fold=0.02), dataclasses.replace(LF, rake=everything, chip_value="0.01")
        )
    for rake in (-1, 1_000_000):
        with pytest.raises(LogsError, match=f"hand 0: a rake of {rake} from a pot of"):
            format_pokerstars(sample.random_hands("nolimit", 1)[0], ExportOptions(rake=lambda *_, taken=rake: taken))


def test_values_of_another_hand_are_refused() -> None:
    hands = sample.random_hands("nolimit", 40, fold=0.2)
    refusals = 0
    for hand in hands:
        if hand.values[0]:
            with pytest.raises(LogsError, match="its values are not those of its cards and its betting"):
                format_pokerstars(dataclasses.replace(hand, values=hand.values[::-1]))
            refusals += 1
    assert refusals > 30


# ---- refused hands


def test_a_button_that_is_not_the_small_blind_is_refused_heads_up() -> None:
    """With the other blind on the button, trackers report actions out of turn."""
    forward = find_game("nolimit")[1]._replace(blinds=(50, 100), first_players=(0, 0, 0, 0))
    with pytest.raises(UnsupportedGameError, match="the blinds by position are 50, 100; PHH and an ACPC log hold"):
        format_pokerstars(sample.random_hands(forward, 1)[0])
    equal = find_game("nolimit")[1]._replace(blinds=(100, 100), first_players=(0, 0, 0, 0))
    with pytest.raises(UnsupportedGameError, match="needs the button to be the small blind and to act first") as caught:
        format_pokerstars(sample.random_hands(equal, 1)[0])
    assert str(caught.value).endswith("PHH and an ACPC log hold the game")


def test_equal_blinds_at_a_bigger_table() -> None:
    game = find_game("nolimit3")[1]._replace(blinds=(100, 100, 0), first_players=(2, 0, 0, 0))
    round_trip(sample.random_hands(game, 60))


@pytest.mark.parametrize(
    ("betting", "stacks", "text"),
    [
        ("c///", (20000, 50), "Uncalled bet ($50) returned to Ann\n*** FLOP ***"),
        ("cc///", (20000, 80), "Bob: calls $30 and is all-in\nUncalled bet ($20) returned to Ann\n*** FLOP ***"),
        (
            "cfc///",
            (20000, 20000, 60),
            "Cat: calls $60 and is all-in\nAnn: folds \nUncalled bet ($40) returned to Bob\n",
        ),
        ("ccc/cc/cc/cc", (20000, 20000, 60), "Cat: calls $60 and is all-in\nAnn: calls $50\nBob: checks \n*** FLOP"),
    ],
)
def test_last_player_with_chips_is_not_asked(betting: str, stacks: tuple[int, ...], text: str) -> None:
    """The ACPC lets this player check if the others are all-in for at most the blind; a card room does not."""
    holes = " ".join(("9s9d", "AdKc", "QsQd")[: len(stacks)])
    hand = make_record("nolimit3" if len(stacks) == 3 else "nolimit", betting, holes, "2h7d3s 4s Qc", stacks=stacks)
    assert text in format_pokerstars(hand, LF)
    round_trip([hand])
