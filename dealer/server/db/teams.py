"""Teams: several users who act as one account.

An account is a user or a team, and both are rows of the table of users: a team has a name and a number like a user, but
no login. A user is in one team at most. What members do counts for the team: it owns their bots, uploads and requests,
and it has the limits and the entries of one user. Every team has a member, so there are never more accounts than users.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dealer.errors import RefusedError
from dealer.server.db.audit import record_change
from dealer.server.db.store import Store
from dealer.server.db.users import User
from engine.text import count_of, shown

# Of a user.
_TEAM: Final = "SELECT teams.id, teams.name FROM users JOIN users AS teams ON teams.id = users.team WHERE users.id = ?"


@dataclass(frozen=True, slots=True)
class Team:
    """A team with the names of its members and of invited users, each sorted."""

    account: User
    members: tuple[str, ...]
    invited: tuple[str, ...]


# ---- changes, for `Store.write`
def form_team(db: sqlite3.Connection, who: str, name: str, members: Sequence[str]) -> None:
    """Form a team and put members into it.

    Args:
        who: for the audit log, see `record_change`.
        members: names of users, at least one.

    Raises:
        RefusedError: the name is taken, or a member is unknown or in a team.
    """
    if db.execute("SELECT 1 FROM users WHERE name = ?", (name,)).fetchone() is not None:
        raise RefusedError(f"the name {shown(name)} is taken; give the team another name")
    if not members:
        raise RefusedError(f"the team {shown(name)} has no member; name at least one user")
    inserted = db.execute("INSERT INTO users (name, created_s) VALUES (?, ?)", (name, time.time()))
    db.execute("INSERT INTO teams VALUES (?)", (inserted.lastrowid,))
    record_change(db, who, f"formed the team {name}")
    for member in members:
        add_member(db, who, name, member)


def add_member(db: sqlite3.Connection, who: str, team: str, member: str) -> None:
    """Put a user into a team, with all bots and uploads.

    Raises:
        RefusedError: the team or the user is unknown, or the user is in a team.
    """
    team_id, user = _team_number(db, team), _find_free_user(db, member)
    db.execute("UPDATE users SET team = ? WHERE id = ?", (team_id, user))
    db.execute("DELETE FROM team_invitations WHERE user = ?", (user,))
    _move_bots(db, user, team_id)
    record_change(db, who, f"put {member} into the team {team}")


def place_members(db: sqlite3.Connection, who: str, members_by_team: Mapping[str, Sequence[str]]) -> None:
    """Put users into teams, which are formed if they are missing; who is in the team stays.

    Raises:
        RefusedError: the name of a team is taken, or a user is unknown or in another team.
    """
    for team, members in members_by_team.items():
        query = "SELECT name FROM users WHERE team = (SELECT id FROM users JOIN teams ON account = id WHERE name = ?)"
        present = {row["name"] for row in db.execute(query, (team,))}
        new = [member for member in members if member not in present]
        if not present:
            form_team(db, who, team, new)
        else:
            for member in new:
                add_member(db, who, team, member)


def invite_member(db: sqlite3.Connection, who: User, member: str, max_members: int) -> None:
    """Invite a user into the team of a member.

    Raises:
        RefusedError: `who` has no team, the user is unknown or in a team, or the team would be too large.
    """
    team = _team_of(db, who)
    user = _find_free_user(db, member)
    query = (
        "SELECT (SELECT count(*) FROM users WHERE team = ?1) + "
        "(SELECT count(*) FROM team_invitations WHERE team = ?1 AND user != ?2) AS size"
    )
    if db.execute(query, (team.id, user)).fetchone()["size"] >= max_members:
        raise RefusedError(f"a team has at most {count_of(max_members, 'member')}, invited ones included")
    db.execute("INSERT OR IGNORE INTO team_invitations VALUES (?, ?)", (team.id, user))
    record_change(db, who.name, f"invited {member} into the team {team.name}")


def accept_team(db: sqlite3.Connection, user: User, team: str) -> None:
    """Join a team by an invitation.

    Raises:
        RefusedError: there is no invitation, or the user is in a team.
    """
    invited = (
        "SELECT 1 FROM team_invitations JOIN users ON users.id = team_invitations.team WHERE user = ? AND name = ?"
    )
    if db.execute(invited, (user.id, team)).fetchone() is None:
        raise RefusedError(f"there is no invitation into a team {shown(team)}; ask one of its members")
    add_member(db, user.name, team, user.name)


def leave_team(db: sqlite3.Connection, who: str, user: User) -> None:
    """Take a user out of the team, which keeps the bots; the last member takes them along and ends the team.

    Raises:
        RefusedError: the user is in no team.
    """
    team = _team_of(db, user)
    db.execute("UPDATE users SET team = NULL WHERE id = ?", (user.id,))
    if db.execute("SELECT 1 FROM users WHERE team = ?", (team.id,)).fetchone() is None:
        _move_bots(db, team.id, user.id)
        db.execute("DELETE FROM team_invitations WHERE team = ?", (team.id,))
        db.execute("DELETE FROM teams WHERE account = ?", (team.id,))
        # Like a removed user: its requests stay, and its name is free.
        db.execute("UPDATE users SET name = ? WHERE id = ?", (f"(removed-{team.id})", team.id))
    record_change(db, who, f"took {user.name} out of the team {team.name}")


def _move_bots(db: sqlite3.Connection, owner: int, new_owner: int) -> None:
    db.execute("UPDATE bots SET owner = ? WHERE owner = ? AND freed_s IS NULL", (new_owner, owner))
    db.execute("UPDATE uploads SET user = ? WHERE user = ?", (new_owner, owner))


def _team_number(db: sqlite3.Connection, name: str) -> int:
    row = db.execute("SELECT id FROM users JOIN teams ON account = id WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise RefusedError(f"there is no team {shown(name)}")
    return int(row["id"])


def _find_free_user(db: sqlite3.Connection, name: str) -> int:
    """Number of a user who is in no team."""
    query = (
        "SELECT users.id, team, EXISTS (SELECT 1 FROM teams WHERE account = users.id) AS is_team FROM users "
        "WHERE name = ? AND name NOT LIKE '% %' AND name NOT LIKE '(%'"
    )
    row = db.execute(query, (name,)).fetchone()
    if row is None or row["is_team"]:
        raise RefusedError(f"there is no user {shown(name)}")
    if row["team"] is not None:
        raise RefusedError(f"the user {shown(name)} is in a team already, and has to leave it first")
    return int(row["id"])


def _team_of(db: sqlite3.Connection, user: User) -> User:
    row = db.execute(_TEAM, (user.id,)).fetchone()
    if row is None:
        raise RefusedError(f"the user {user.name} is in no team")
    return User(row["id"], row["name"])


# ---- questions
def account_of(store: Store, user: User) -> User:
    """Account for which a user acts: the team, or the user without one."""
    rows = store.read(_TEAM, user.id)
    return User(rows[0]["id"], rows[0]["name"]) if rows else user


def teams(store: Store, account: int | None = None) -> tuple[Team, ...]:
    """All teams, or the one with a number, by name."""
    rows = store.read(
        "SELECT id, name, (SELECT json_group_array(name) FROM users WHERE team = account) AS members, "
        "(SELECT json_group_array(name) FROM team_invitations JOIN users ON users.id = user WHERE "
        "team_invitations.team = account) AS invited FROM teams JOIN users ON id = account "
        "WHERE ?1 IS NULL OR account = ?1 ORDER BY name",
        account,
    )
    return tuple(
        Team(
            User(row["id"], row["name"]),
            tuple(sorted(json.loads(row["members"]))),
            tuple(sorted(json.loads(row["invited"]))),
        )
        for row in rows
    )


def team_invitations(store: Store, user: User) -> tuple[str, ...]:
    """Names of the teams into which a user is invited."""
    query = "SELECT name FROM team_invitations JOIN users ON id = team_invitations.team WHERE user = ? ORDER BY name"
    return tuple(row["name"] for row in store.read(query, user.id))
