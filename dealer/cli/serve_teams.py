"""``arena serve team``: teams of users, who enter events and share limits as one."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Annotated

import typer

from dealer.cli.shell.command_options import Json
from dealer.cli.shell.commands import ArenaGroup
from dealer.cli.shell.console import Terminal, abort
from dealer.cli.shell.documents import show_document
from dealer.cli.shell.server_data import SERVER_DATA, ServerData, open_store
from dealer.server.db.audit import operator
from dealer.server.db.store import Store
from dealer.server.db.teams import add_member, form_team, leave_team, teams
from dealer.server.db.users import find_user
from dealer.server.server import check_team_name
from engine.errors import quoted
from logs.document import Column, Document, Section, Table

app = typer.Typer(
    cls=ArenaGroup,
    help="Put users into teams. A team owns the bots of its members and has the entries and limits of one user.",
    no_args_is_help=True,
)
_Team = Annotated[str, typer.Argument(metavar="TEAM", help="Name of the team.")]
_Members = Annotated[list[str], typer.Argument(metavar="USER...", help="Names of users.")]


@app.command()
def new(terminal: Terminal, team: _Team, members: _Members, data: ServerData = SERVER_DATA) -> None:
    """Form a team. The bots of its members are the team's from then on."""
    check_team_name(team)
    with contextlib.closing(open_store(data)) as store:
        store.write_now(lambda db: form_team(db, operator(), team, members))
        _show(terminal, store)


@app.command()
def add(terminal: Terminal, team: _Team, members: _Members, data: ServerData = SERVER_DATA) -> None:
    """Put more users into a team."""
    with contextlib.closing(open_store(data)) as store:

        def change(db: sqlite3.Connection) -> None:
            for member in members:
                add_member(db, operator(), team, member)

        store.write_now(change)
        _show(terminal, store)


@app.command()
def leave(
    terminal: Terminal,
    user: Annotated[str, typer.Argument(metavar="USER", help="Name of the user.")],
    data: ServerData = SERVER_DATA,
) -> None:
    """Take a user out of the team, which keeps the bots. The last member takes them along, and the team ends."""
    with contextlib.closing(open_store(data)) as store:
        member = find_user(store, user)
        if member is None:
            abort(f"there is no user {quoted(user)} in {data}")
        store.write_now(lambda db: leave_team(db, operator(), member))
        _show(terminal, store)


@app.command("list")
def list_teams(terminal: Terminal, data: ServerData = SERVER_DATA, as_json: Json = False) -> None:
    """List all teams with their members and the users they have invited."""
    with contextlib.closing(open_store(data)) as store:
        _show(terminal, store, as_json=as_json)


def _show(terminal: Terminal, store: Store, *, as_json: bool = False) -> None:
    rows = [(team.account.name, ", ".join(team.members), ", ".join(team.invited)) for team in teams(store)]
    table = Table.of("Teams", (Column("team"), Column("members"), Column("invited")), rows)
    show_document(terminal, Document("Teams", sections=(Section("Teams", (table,)),)), as_json=as_json)
