"""The pages and the HTTP interface: of a server (`arena serve`), or of runs on this machine (`arena watch`).

`site` is what every page is given and makes the application of the routes of `pages`, `api` and `slumbot`, `security`
is what every request passes, `serving` lets it answer on a port within `connection_limits`. `server_site` and
`local_site` put them together. Needs the extra `web`; only servers import it.
"""

from starlette.convertors import IntegerConvertor, register_url_convertor


class _Number(IntegerConvertor):
    """A number in an address (``{run:int}``): no longer than those of databases."""

    regex = "[0-9]{1,18}"


register_url_convertor("int", _Number())
