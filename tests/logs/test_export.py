"""Export to formats of other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from logs.errors import ExportError, UnsupportedGameError
from logs.export import FORMATS, Exporter, ExportFormat, ExportOptions, chip_value_of, parse_formats
from logs.formats.money import Rake
from logs.phh import PHH, read_phh
from logs.pokerstars import POKERSTARS
from logs.record import HandRecord
from protocol import find_game
from tests.logs.hands import random_hands


def hands(name: str, count: int, seed: int = 1) -> list[HandRecord]:
    return random_hands(find_game(name)[1], count, seed)


def write_all(exporter: Exporter, records: Iterable[HandRecord]) -> None:
    for record in records:
        exporter.write(record)


@pytest.mark.parametrize("format_", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("name", ["nolimit", "limit3"])
def test_every_hand_is_written(tmp_path: Path, format_: ExportFormat, name: str) -> None:
    records = hands(name, 30)
    exporter = Exporter(format_, tmp_path / "new" / "folder")
    write_all(exporter, records)
    exporter.close()
    (path,) = exporter.paths
    text = path.read_bytes().decode("utf-8")
    beginning = {"pokerstars": "PokerStars Hand #", "phh": "variant = ", "ohh": '{"ohh":'}[format_.name]
    assert text.count(beginning) == exporter.hands == 30 - exporter.skipped
    assert exporter.skipped == 0


def test_hands_are_on_disk_as_they_come(tmp_path: Path) -> None:
    exporter = Exporter(POKERSTARS, tmp_path)
    for count, record in enumerate(hands("limit", 5), 1):
        exporter.write(record)
        assert exporter.paths[0].read_text("utf-8").count("*** SUMMARY ***") == count
    exporter.close()


@pytest.mark.parametrize("format_", FORMATS.values(), ids=FORMATS)
def test_existing_file_is_not_changed(tmp_path: Path, format_: ExportFormat) -> None:
    first = Exporter(format_, tmp_path)
    write_all(first, hands("limit", 3))
    first.close()
    before = first.paths[0].read_bytes()
    again = Exporter(format_, tmp_path)
    with pytest.raises(ExportError, match=r"exists already$"):
        again.write(hands("limit", 3)[0])
    assert first.paths[0].read_bytes() == before
    forced = Exporter(format_, tmp_path, force=True)
    write_all(forced, hands("limit", 3))
    forced.close()
    assert first.paths[0].read_bytes() == before


@pytest.mark.parametrize("format_", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_a_game_that_a_format_does_not_have(tmp_path: Path, format_: ExportFormat, name: str) -> None:
    with pytest.raises(UnsupportedGameError, match="an ACPC log can"):
        Exporter(format_, tmp_path).write(hands(name, 1)[0])
    assert list(tmp_path.iterdir()) == []


def test_hands_of_other_games_are_left_out_where_every_hand_is_a_game_of_its_own(tmp_path: Path) -> None:
    some, others = hands("limit", 3), [replace(record, match_name="match") for record in hands("kuhn", 2)]
    exporter = Exporter(PHH, tmp_path, skips_games=True)
    write_all(exporter, [*others, *some, *others, *some])
    exporter.close()
    assert (exporter.hands, exporter.skipped) == (6, 4)
    assert "4 hands cannot be written as PHH: PHH cannot hold a game with" in exporter.not_written()
    (path,) = exporter.paths
    assert len(list(read_phh(path, strict=True))) == 6


def test_hands_of_phh_files_are_numbered_on(tmp_path: Path) -> None:
    exporter = Exporter(PHH, tmp_path)
    some = hands("nolimit", 3)
    other = [replace(record, match_name="other") for record in some]
    write_all(exporter, [*some, *other, *some])
    exporter.close()
    assert len(list(read_phh(exporter.paths[0], strict=True))) == 6


def test_a_name_that_is_no_file_name(tmp_path: Path) -> None:
    record = replace(hands("limit", 1)[0], match_name="../../ä:b\0c")
    for format_ in FORMATS.values():
        exporter = Exporter(format_, tmp_path)
        exporter.write(record)
        exporter.close()
        assert exporter.paths[0].parent == tmp_path
        assert exporter.paths[0].name.isascii()


def test_matches_with_other_seeds_have_other_numbers(tmp_path: Path) -> None:
    """Only the seed and the time differ: the names, the game and even the first hand are equal."""
    numbers = set()
    (record,) = random_hands(find_game("limit")[1], 1, with_notes=True)
    for seed in (1, 2, None):
        exporter = Exporter(POKERSTARS, tmp_path / str(seed), ExportOptions(seed=seed))
        exporter.write(record)
        exporter.close()
        numbers.add(exporter.paths[0].read_text("utf-8").split("#")[1][:12])
    assert len(numbers) == 3


def test_options_reach_the_formats(tmp_path: Path) -> None:
    options = ExportOptions("A", Decimal("0.1"), "EUR", Rake(5), 77)
    texts = []
    for format_ in FORMATS.values():
        exporter = Exporter(format_, tmp_path, options)
        write_all(exporter, [replace(record, names_by_seat=("A", "B")) for record in hands("limit", 20)])
        exporter.close()
        texts.append(exporter.paths[0].read_text("utf-8"))
    stars, phh, ohh = texts
    assert "(€1/€2 EUR)" in stars
    assert "Dealt to A [" in stars
    assert "Dealt to B [" not in stars
    assert "currency = 'EUR'" in phh or 'currency = "EUR"' in phh
    assert "77" in phh
    assert '"currency":"EUR"' in ohh
    assert '"hero_player_id":0' in ohh
    assert any(pot["rake"] for line in ohh.splitlines() if line for pot in json.loads(line)["ohh"]["pots"])


# ---- parsing of options


def test_formats_are_parsed() -> None:
    assert parse_formats("phh, pokerstars,PHH") == (PHH, POKERSTARS)
    assert parse_formats("none") == ()
    with pytest.raises(ValueError, match="'xml' is not a format; the formats are pokerstars, phh, ohh"):
        parse_formats("phh,xml")


@pytest.mark.parametrize(
    "case", ["0.50/1 nolimit 0.01", "$50/$100 nolimit 1", "10/20 limit 1", "0.05/0.10 limit 0.005", "5/10 limit3 0.5"]
)
def test_stakes_say_what_a_chip_is_worth(case: str) -> None:
    stakes, name, value = case.split()
    assert chip_value_of(stakes, find_game(name)[1]) == Decimal(value)


@pytest.mark.parametrize("stakes", ["", "1", "1/2/3", "a/b", "0/0", "-1/-2", "nan/nan", "1/3", "inf/inf"])
def test_malformed_stakes_are_refused(stakes: str) -> None:
    with pytest.raises(ValueError, match="stakes"):
        chip_value_of(stakes, find_game("nolimit")[1])


def test_stakes_without_a_valid_chip_value_are_refused_with_a_fit() -> None:
    six = find_game("limit")[1]._replace(blinds=(3, 6), raise_sizes=(6, 6, 12, 12))
    for formats in ((), (POKERSTARS,)):
        with pytest.raises(
            ValueError, match="bets of 6/12 chips: a chip would be worth 1/6, which is not a whole number"
        ):
            chip_value_of("1/2", six, formats)
    with pytest.raises(ValueError, match=r"whole number of cents; 1\.02/2\.04 fits"):
        chip_value_of("1/2", six, (POKERSTARS,))
    assert chip_value_of("3/6", six, (POKERSTARS,)) == Decimal("0.5")
    assert chip_value_of("0.003/0.006", six, (PHH,)) == Decimal("0.0005")


def test_phh_shows_all_known_cards_unless_a_hero_is_asked_for(tmp_path: Path) -> None:
    records = hands("limit3", 20)

    def cards(folder: str, options: ExportOptions) -> list[int]:
        exporter = Exporter(PHH, tmp_path / folder, options)
        write_all(exporter, records)
        exporter.close()
        return [sum(map(bool, record.deal.hole_cards)) for record in read_phh(exporter.paths[0], strict=True)]

    assert set(cards("all", ExportOptions(default_hero="Ann"))) == {3}
    assert min(cards("one", ExportOptions(hero="Ann"))) == 1
    stars = Exporter(POKERSTARS, tmp_path / "stars", ExportOptions(default_hero="Ann"))
    write_all(stars, records)
    assert stars.paths[0].read_text("ascii").count("Dealt to Ann") == 20
