"""What every page knows: its title, the server behind it if there is one, and how a template becomes an answer.

A site with a server has accounts, sessions and an interface for programs; one without, for runs on this machine, has
one visitor, the person who started it, who may see everything. Page rooms take a site and return routes; what they
need of a server they take from `Site.server`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from dealer.server.server import ServerParts
from dealer.web.tables import TableManager
from dealer.web.visitor import Sessions, visitor_of


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the navigation.

    Attributes:
        label: what it says.
        path: where it leads.
        is_private: whether it is for who has logged in only.
    """

    label: str
    path: str
    is_private: bool = False


@dataclass(frozen=True)
class Site:
    """What every page knows.

    Attributes:
        name: in the head and the title of every page.
        server: behind the pages: its store, service, accounts; None where they show runs of this machine.
        sessions: who has logged in; None without a server.
        table_manager: the tables at which people sit; None where nobody can.
        links: the navigation, in its order.
    """

    name: str = "acpc-arena"
    server: ServerParts | None = None
    sessions: Sessions | None = None
    table_manager: TableManager | None = None
    links: tuple[Link, ...] = ()

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """An answer from a template.

        A template extends ``base.html.jinja`` and fills the blocks `title`, `main` and, for files under ``/static``,
        `scripts`. It finds `site`, `visitor`, `links`, `path` and the values given here. A form that changes something
        begins with ``{{ form.key(visitor) }}`` (``{% import "form.html.jinja" as form %}``), and is read by
        `dealer.web.security.read_form`. ``{{ word | segment }}`` makes a part of a path of a hostile word.

        Args:
            request: to be answered.
            template: the name of a file in ``dealer/web/templates``.
            status: of the answer.
            values: for the template.
        """
        visitor = visitor_of(request)
        links = [link for link in self.links if visitor.user is not None or visitor.is_owner or not link.is_private]
        text = (
            templates()
            .get_template(template)
            .render(site=self, visitor=visitor, links=links, path=request.url.path, **values)
        )
        return HTMLResponse(text, status)


@cache
def templates() -> Environment:
    """The engine of all pages, one a process; it escapes what people and programs wrote."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("dealer.web"),
    )
    environment.filters["segment"] = lambda text: quote(str(text), safe="")
    return environment
