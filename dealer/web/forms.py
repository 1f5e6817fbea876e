"""Forms that change something: read within bounds, and believed only from our own pages.

Every form carries the key that follows from the browser's cookie, which no other site can know; and a browser that
says where a request comes from (``Origin``) must say: from here. Forms are plain ones
(``application/x-www-form-urlencoded``).
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request

from dealer.errors import WebError
from dealer.web.visitor import visitor_of

__all__ = ["FORM_KEY", "read_form"]

FORM_KEY = "form_key"
"""The name of the field that holds the key; scripts may send it as the header ``X-Form-Key`` instead."""
_MOST_FIELDS = 200


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form that one of our pages has sent; of several with one name, the last.

    Raises:
        WebError: it comes from elsewhere, or is not a form.
    """
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise WebError(403, "This form was sent from a page of another site.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise WebError(415, "A form is sent as application/x-www-form-urlencoded.")
    text = (await request.body()).decode("utf-8", "replace")
    try:
        fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise WebError(400, f"A form has {_MOST_FIELDS} fields, no more.") from None
    given = fields.pop(FORM_KEY, "") or request.headers.get("x-form-key", "")
    if not hmac.compare_digest(given.encode("utf-8", "replace"), visitor_of(request).form_key.encode()):
        raise WebError(403, "This form is out of date: go back, reload the page and send it again.")
    return fields
