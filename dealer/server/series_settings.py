"""Settings of a series of events, from a file or a request."""

from __future__ import annotations

import string
from datetime import timedelta
from typing import Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from dealer.server.event_settings import EventName, EventSettings

_PERIODS = {"day": timedelta(days=1), "week": timedelta(weeks=1)}
FINAL_NAME = "final"


class SeriesSettings(BaseModel):
    """Settings of a new series: `times` events, one `every` day or week, or `groups` and a final."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: EventName = Field(min_length=1, max_length=30, description="with which its events' names begin")
    game: str = Field(min_length=1, max_length=200, description="a game of the server")
    deals: int | None = Field(None, ge=1, lt=2**32, description="of each contest; left out, as set for the game")
    entries_per_user: int = Field(1, ge=0, le=1000, description="bots of one user in an event; 0 for any number")
    opens: AwareDatetime | None = Field(None, description="when bots can enter the first events; left out, now")
    closes: AwareDatetime = Field(description="when the first events close, with an offset")
    every: Literal["day", "week"] | None = Field(None, description="time between two closings")
    times: int | None = Field(None, ge=2, le=366, description="number of events")
    score: Literal["points", "mean"] = Field("points", description="of the table of repeated events")
    groups: int | None = Field(None, ge=2, le=26, description="number of groups, of two bots or more")
    advance: int = Field(2, ge=1, le=100, description="bots of each group that enter the final")
    draw: Literal["rating", "chance"] = Field("rating", description="how bots are spread over the groups")

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if (self.every is None) != (self.times is None):
            raise ValueError("every and times belong together")
        if (self.every is None) == (self.groups is None):
            raise ValueError("a series has either every and times, or groups")
        if self.opens is not None and self.opens >= self.closes:
            raise ValueError("a series opens before it closes")
        return self

    @property
    def final_name(self) -> str:
        return f"{self.name}-{FINAL_NAME}"

    def first_events(self) -> list[EventSettings]:
        """Make the settings of all events but the final; an event opens when the one before it closes."""
        common = {"game": self.game, "deals": self.deals, "entries_per_user": self.entries_per_user}
        if self.groups is not None:
            times = {"opens": self.opens, "closes": self.closes}
            letters = string.ascii_uppercase[: self.groups]
            return [
                EventSettings.model_validate({"name": f"{self.name}-{name}", **common, **times}) for name in letters
            ]
        assert self.every is not None
        assert self.times is not None
        events = []
        opens = self.opens
        for number in range(self.times):
            closes = self.closes + number * _PERIODS[self.every]
            values = {"name": f"{self.name}-{number + 1}", "opens": opens, "closes": closes}
            events.append(EventSettings.model_validate(values | common))
            opens = closes
        return events
