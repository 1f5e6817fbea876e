"""Show guaranteed intervals in place of the usual ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from dealer.run.results import ContestResult
from dealer.run.results.result_sentences import contest_sentence
from logs.document import Document
from logs.estimation import Estimate

NOTE: Final = "± is half the guaranteed interval: it holds at 95 % for any distribution of winnings."

_Model = TypeVar("_Model", bound=BaseModel)


def with_guaranteed_intervals(model: _Model) -> _Model:
    """Return results or statistics whose intervals, and the sentences about them, are the guaranteed ones."""
    changes = {name: _converted(getattr(model, name)) for name in type(model).model_fields}
    if "guaranteed_half_width" in changes:
        changes["half_width_95"] = changes["guaranteed_half_width"]
    if isinstance(model, ContestResult):
        if model.interval == "fixed":
            changes["interval"] = "guaranteed"
        changes["sentence"] = contest_sentence(model.model_copy(update=changes))
    return model.model_copy(update=changes)


def _converted(value: Any) -> Any:
    match value:
        case Estimate():
            return value.guaranteed
        case BaseModel():
            return with_guaranteed_intervals(value)
        case list():
            return [_converted(item) for item in value]
        case dict():
            return {name: _converted(item) for name, item in value.items()}
        case _:
            return value


def with_note(document: Document, data: object) -> Document:
    """Add the note about guaranteed intervals to a document, whose data keep both kinds of intervals."""
    return replace(document, notes=(*document.notes, NOTE), data=data)
