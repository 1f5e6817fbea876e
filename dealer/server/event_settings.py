"""Settings of a new event, from a file, a form or a request."""

from __future__ import annotations

import re
from typing import Annotated, Final, Self, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from engine.errors import quoted

_NAME: Final = "[A-Za-z0-9][A-Za-z0-9_.-]*"


def check_name(text: str) -> str:
    """Check the characters of the name of an event or a series; its field has the length.

    Raises:
        ValueError: they are not allowed.
    """
    if re.fullmatch(_NAME, text) is None:
        raise ValueError(
            "must have only the letters A-Z and a-z, digits, '.', '_' and '-', the first a letter or a digit, "
            f"not {quoted(text)}"
        )
    return text


EventName: TypeAlias = Annotated[str, AfterValidator(check_name), Field(json_schema_extra={"pattern": f"^{_NAME}$"})]


class EventSettings(BaseModel):
    """Settings of a new event."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: EventName = Field(
        min_length=1, max_length=40, description="at most 40 letters A-Z and a-z, digits, `.`, `_` and `-`"
    )
    game: str = Field(min_length=1, max_length=200, description="a game of the server")
    deals: int | None = Field(
        None, ge=1, lt=2**32, description="of each contest, each in every seating; left out, as set for the game"
    )
    entrants: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] | None = Field(
        None,
        max_length=1000,
        description="names of bots; left out, the server's own and all that were connected while the event was open",
    )
    entries_per_user: int = Field(
        1, ge=0, le=1000, description="bots of one user that enter, the last connected ones; 0 for any number"
    )
    opens: AwareDatetime | None = Field(None, description="when bots can enter, with an offset; left out, now")
    closes: AwareDatetime = Field(description="when the versions are frozen and play begins, with an offset")

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.opens is not None and self.opens >= self.closes:
            raise ValueError("an event opens before it closes")
        if self.entrants is not None and len(set(self.entrants)) < len(self.entrants):
            raise ValueError("a bot enters once")
        return self
