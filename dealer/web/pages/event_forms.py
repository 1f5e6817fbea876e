"""Forms in which organisers set events and series. Browsers send their times without a zone; they are in UTC."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from dealer.errors import WebError
from dealer.run.run_settings import problem_in_words
from dealer.server.db.event_records import ScheduledEvent
from dealer.server.event_settings import EventSettings
from dealer.server.series_settings import SeriesSettings
from dealer.web.visitor import get_visitor
from engine.text import capitalized

_Settings = TypeVar("_Settings", bound=BaseModel)
_LABELS: Final = {
    "entries_per_user": "bots of one user",
    "times": "number of events",
    "groups": "number of groups",
    "advance": "bots of each group in the final",
}
"""Labels of fields that differ from the names of their settings."""
_GROUPS: Final = "groups"
_COMMON: Final = ("name", "game", "deals", "entries_per_user")


def organiser_name(request: Request) -> str:
    """Return the name of the organiser who changes an event.

    Raises:
        WebError: the visitor is no organiser.
    """
    visitor = get_visitor(request)
    if visitor.user is None or not visitor.is_organiser:
        raise WebError(403, "Only organisers change events. Log in with an admin token instead of the password.")
    return visitor.user.name


def event_form_values(event: ScheduledEvent) -> dict[str, str]:
    """Return the settings of an event as the form has them."""
    return {
        "name": event.name,
        "game": event.game,
        "deals": "" if event.deals is None else str(event.deals),
        "entrants": ", ".join(event.named or ()),
        "entries_per_user": str(event.entries_per_user),
        "opens": f"{event.opens_at:%Y-%m-%dT%H:%M}",
        "closes": f"{event.closes_at:%Y-%m-%dT%H:%M}",
    }


def read_event_form(form: Mapping[str, str]) -> EventSettings:
    """Read the settings of an event.

    Raises:
        WebError: they are invalid; the sentence names the fields.
    """
    fields = _read_fields(form, _COMMON)
    if entrants := form.get("entrants", "").strip():
        fields["entrants"] = [name.strip() for name in entrants.split(",")]
    return _validate(EventSettings, fields)


def read_series_form(form: Mapping[str, str]) -> SeriesSettings:
    """Read the settings of a series. Its field `kind` says which others apply.

    Raises:
        WebError: they are invalid; the sentence names the fields.
    """
    kind = form.get("kind", "")
    fields = _read_fields(form, _COMMON)
    if kind == _GROUPS:
        fields |= _read_fields(form, ("advance", "draw"))
        fields["groups"] = form.get("count", "").strip()
    else:
        fields |= _read_fields(form, ("score",))
        fields |= {"every": kind, "times": form.get("count", "").strip()}
    return _validate(SeriesSettings, fields)


def _read_fields(form: Mapping[str, str], names: Iterable[str]) -> dict[str, object]:
    """Read the fields that are filled in, and the times."""
    fields: dict[str, object] = {name: form[name].strip() for name in names if form.get(name, "").strip()}
    for name in ("opens", "closes"):
        if text := form.get(name, "").strip():
            fields[name] = f"{text}Z"
    return fields


def _validate(model: type[_Settings], fields: Mapping[str, object]) -> _Settings:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problems = []
        for problem in error.errors(include_url=False):
            setting, text = problem_in_words(problem)
            problems.append(f"{_LABELS.get(setting, setting)}: {text}" if setting else text)
        raise WebError(422, f"{capitalized('; '.join(problems))}.") from None
