"""Web pages and HTTP interface of a server (`arena serve`), or pages of runs on this machine (`arena watch`).

`site` renders the pages of `pages` and makes the application, `security` checks every request, and `serving` listens on
a port within `connection_limits`. `api` and `slumbot` are interfaces for programs. `server_site` and `local_site`
combine them. Needs the extra `web`.
"""

from starlette.convertors import IntegerConvertor, register_url_convertor


class _Number(IntegerConvertor):
    """A number in a path (``{run:int}``), short enough for a 64-bit column of the database."""

    regex = "[0-9]{1,18}"


register_url_convertor("int", _Number())
