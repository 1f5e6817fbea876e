"""Command line of the reference dealer, parsed like its C library parses it."""

from __future__ import annotations

import shlex
from operator import attrgetter

import pytest

from dealer.errors import UsageError
from dealer.match.setup import TimeLimits
from dealer.reference.command import USAGE, Options, parse_hands, parse_options, parse_seed
from dealer.table.listener import LOOPBACK
from tests.tables import rows

POSITIONALS = ["m", "kuhn.game", "10", "42", "Ann", "Bob"]


def _parse(*arguments: str) -> Options:
    return parse_options([*POSITIONALS, *arguments], "./dealer")


def _refusal(*arguments: str) -> str:
    with pytest.raises(UsageError) as raised:
        _parse(*arguments)
    assert not raised.value.to_stdout
    return str(raised.value)


def test_defaults_are_those_of_the_reference() -> None:
    options = _parse()
    assert options.positionals == POSITIONALS
    assert options.log
    assert not options.transaction_log
    assert not options.append
    assert not options.quiet
    assert options.limits == TimeLimits(600_000_000, 600_000_000, 7_000_000, None)
    assert options.ports == ()
    assert not options.fixed_seats
    assert options.host == LOOPBACK
    assert options.coalesce_s == 0.01
    assert not options.help


@pytest.mark.parametrize("index", range(len(POSITIONALS) + 1))
def test_options_can_be_anywhere(index: int) -> None:
    arguments = [*POSITIONALS]
    arguments[index:index] = ["-q", "--t_response", "5", "-p", "1,2"]
    options = parse_options(arguments, "./dealer")
    assert options.positionals == POSITIONALS
    assert options.quiet
    assert options.limits.response_us == 5000
    assert options.ports == (1, 2)


def test_double_dash_ends_the_options() -> None:
    options = parse_options(["-q", "--", "m", "-f", "--t_response", "-1"], "./dealer")
    assert options.positionals == ["m", "-f", "--t_response", "-1"]
    assert options.quiet
    assert not options.fixed_seats


def test_single_dash_is_no_option() -> None:
    assert _parse("-").positionals == [*POSITIONALS, "-"]


@pytest.mark.parametrize(
    ("argument", "fields"),
    [
        ("-f", {"fixed_seats": True}),
        ("-l", {"log": False}),
        ("-L", {"log": True}),
        ("-t", {"transaction_log": False}),
        ("-T", {"transaction_log": True}),
        ("-a", {"append": True}),
        ("-q", {"quiet": True}),
        ("-qTf", {"quiet": True, "transaction_log": True, "fixed_seats": True}),
        ("-lL", {"log": True}),
        ("-Ll", {"log": False}),
        ("-Tt", {"transaction_log": False}),
        ("-qp5,6", {"quiet": True, "ports": (5, 6)}),
        ("-p5,6", {"ports": (5, 6)}),
        ("--help", {"help": True}),
    ],
)
def test_short_options_can_be_bundled(argument: str, fields: dict[str, object]) -> None:
    options = _parse(argument)
    for name, value in fields.items():
        assert getattr(options, name) == value


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    rows("""
    --t_response 1500      limits.response_us  1500000
    --t_response=1500      limits.response_us  1500000
    --t_hand 20            limits.hand_us  20000
    --t_per_hand 30        limits.per_hand_us  30000
    --start_timeout 40     limits.start_us  40000
    --start_timeout 0      limits.start_us  0
    --start_timeout -1     limits.start_us  None
    # Any beginning of a name will do; --t and --t_ mean the first one.
    --t 1                  limits.response_us  1000
    --t_ 1                 limits.response_us  1000
    --t_r=1                limits.response_us  1000
    --t_h 1                limits.hand_us  1000
    --t_p 1                limits.per_hand_us  1000
    --s 1                  limits.start_us  1000
    # Numbers are read as far as they are numbers, and wrap around.
    --t_response 2x        limits.response_us  2000
    --t_response ' 7'      limits.response_us  7000
    --t_response -1        limits.response_us  18446744073709550616
    --host 0.0.0.0         host          0.0.0.0
    --coalesce 3           coalesce_s    0.003
    --coalesce -3          coalesce_s    0.0
    --affinity 1           core          1
    """),
)
def test_long_options_can_be_abbreviated(arguments: str, field: str, value: str) -> None:
    assert str(attrgetter(field)(_parse(*shlex.split(arguments)))) == value


def test_last_of_repeated_options_counts() -> None:
    assert _parse("--t_hand", "1", "--t_hand=2").limits.hand_us == 2000


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("5000", (5000,)),
        ("5000,5001", (5000, 5001)),
        ("0,5001", (0, 5001)),
        ("70000", (4464,)),
        (",".join(str(port) for port in range(1, 15)), tuple(range(1, 11))),
    ],
)
def test_ports_are_parsed(text: str, ports: tuple[int, ...]) -> None:
    assert _parse("-p", text).ports == ports


@pytest.mark.parametrize("text", ["5000,", "5000;5001", "x", ",5000", "5000 5001"])
def test_invalid_ports_are_refused(text: str) -> None:
    assert _refusal("-p", text) == f"ERROR: bad port string {text}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-z",), "./dealer: invalid option -- 'z'\nERROR: unknown option ?\n"),
        (("-qz",), "./dealer: invalid option -- 'z'\nERROR: unknown option ?\n"),
        (("-p",), "./dealer: option requires an argument -- 'p'\nERROR: unknown option ?\n"),
        (("--nonsense",), "./dealer: unrecognized option '--nonsense'\nERROR: unknown option ?\n"),
        (("--nonsense=1",), "./dealer: unrecognized option '--nonsense=1'\nERROR: unknown option ?\n"),
        (("--t_hand",), "./dealer: option '--t_hand' requires an argument\nERROR: unknown option ?\n"),
        (("--t_h",), "./dealer: option '--t_hand' requires an argument\nERROR: unknown option ?\n"),
        (("--t_response", "x"), "ERROR: could not get response timeout from x\n"),
        (("--t_hand", "x"), "ERROR: could not get player hand timeout from x\n"),
        (("--t_per_hand", ""), "ERROR: could not get average player hand timeout from \n"),
        (("--start_timeout", "soon"), "ERROR: could not get start timeout soon\n"),
    ],
)
def test_invalid_options_are_refused(arguments: tuple[str, ...], sentence: str) -> None:
    assert _refusal(*arguments) == sentence


@pytest.mark.parametrize(("text", "hands"), [("1", 1), ("2x", 2), (" 3", 3), ("4294967297", 1), ("-1", 2**32 - 1)])
def test_numbers_of_hands_are_parsed(text: str, hands: int) -> None:
    assert parse_hands(text) == hands


@pytest.mark.parametrize("text", ["0", "abc", "", "4294967296", "0x10"])
def test_invalid_numbers_of_hands_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"^ERROR: invalid number of hands {text}\n$"):
        parse_hands(text)


@pytest.mark.parametrize(("text", "seed"), [("0", 0), ("42", 42), ("4294967297", 1), ("-1", 2**32 - 1), ("7seven", 7)])
def test_seeds_are_parsed(text: str, seed: int) -> None:
    assert parse_seed(text) == seed


def test_invalid_seeds_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^ERROR: invalid random number seed x\n$"):
        parse_seed("x")


def test_usage_names_every_short_option() -> None:
    for letter in "flLpqtTa":
        assert f"-{letter}" in USAGE or f"/{letter}" in USAGE
