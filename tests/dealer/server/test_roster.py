"""Rosters of a course: formats of the files, logins and teams."""

from __future__ import annotations

from pathlib import Path

import pytest

from dealer.errors import ConfigError
from dealer.server.roster import assign_logins, derive_login, members_by_team, read_roster, read_roster_file
from dealer.table.players import is_name


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee\nBo\n",
        "Name,Mail\nAnn Lee,a@b\nBo,\n",
        "Mail;Name\na@b;Ann  Lee\n\n;Bo\n",
        "Poker 2026;;\nFirst name;Last name;Mail\nAnn;Lee;a@b\nBo;;b@c\n",
        "Poker 2026\t\nAnn Lee\ta@b\nBo\tb@c\n",
        '"Poker; 2026";\n"Ann Lee";1\nBo;2\n',
    ],
)
def test_rosters_of_all_kinds_have_the_same_people(text: str) -> None:
    assert [person.name for person in read_roster(text, "a")] == ["Ann Lee", "Bo"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Name;Mail\nAnn;a\n;b\n", "line 3, column 1: there is no name"),
        ("Mail;Name\na;Ann\nb;Bo\nc;Ann\n", "line 4, column 2: 'Ann' is in line 2 already; "),
        ("Name;Login\nAnn;a b\n", "line 2, column 2: no user can be called 'a b': "),
        ("Name;Login\nAnn;ladder\n", "line 2, column 2: no user can be called ladder: "),
        ("Name;Team\nAnn;The Sharks\n", "line 2, column 2: no team can be called The Sharks: "),
        ("Name;Team\nAnn;ladder\n", "line 2, column 2: no team can be called ladder: "),
        ("Ann\nB\x07o\n", "line 2, column 1: 'B\\x07o' cannot be a name"),
        ("\n", "there is no name in it"),
    ],
)
def test_refusals_name_line_and_column(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_roster(text, "a.csv")
    assert caught.value.source == "a.csv"
    assert str(caught.value.problems[0].problem).startswith(problem)


def test_files_are_read_in_unicode_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Zoë\n".encode("utf-16"))
    assert read_roster_file(path)[0].name == "Zoë"
    path.write_bytes("Ann\nZo\xeb\n".encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        read_roster_file(path)
    assert str(caught.value.problems[0].problem).startswith("line 2, byte 3: not UTF-8 text")


@pytest.mark.parametrize(
    ("name", "login"),
    [
        ("ann", "ann"),
        ("Bo_7", "Bo_7"),
        ("Zoë Müller-Lüdenscheidt", "zoe.muller-ludenscheidt"),
        ("Søren Ægir Łukasz", "soren.aegir.lukasz"),
        ("O'Neill, Pat", "o.neill.pat"),
        ("李明", "user-1"),
        ("ladder", "ladder-2"),
        ("x y" * 40, ("x.y" * 14)[:40]),
    ],
)
def test_logins_are_derived(name: str, login: str) -> None:
    assert derive_login(name, ()) == login
    assert is_name(login)


def test_people_keep_their_logins_and_others_get_free_ones() -> None:
    people = read_roster("ann\nAnn Lee\nBo Li\nann.lee\n", "a")
    known = {"ann": "", "bo.li": "Bo Li", "ann.lee": "Another"}
    assert list(assign_logins(people, known).values()) == ["ann", "ann.lee-2", "bo.li", "ann.lee-3"]


def test_teams_have_the_logins_of_their_members() -> None:
    people = read_roster("Name;Team\nAnn Lee;Sharks\nBo;\nCy;Rays\nDi;Sharks\n", "a")
    logins = assign_logins(people, {"di.lee": "Di"})
    assert members_by_team(logins) == {"Sharks": ["ann.lee", "di.lee"], "Rays": ["Cy"]}
