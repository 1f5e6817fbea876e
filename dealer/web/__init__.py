"""The pages and the HTTP interface: of a server (`arena serve`), or of runs on this machine (`arena watch`).

`site` is what every page is given, `app` makes the application of it and of the routes of the pages, `security` is what
every request passes, `serving` lets it answer on a port. Needs the extra `web`; only servers import it.
"""

from starlette.convertors import IntegerConvertor, register_url_convertor


class _Number(IntegerConvertor):
    """A number in an address (``{run:int}``): no longer than those of databases."""

    regex = "[0-9]{1,18}"


register_url_convertor("int", _Number())
