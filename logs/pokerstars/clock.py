"""The wall clock of New York, which the format uses, without a time zone database.

Importers take the time of a hand for US Eastern time and turn it into their own. Daylight saving time is the rule in
force since 2007: from 2 o'clock on the second Sunday of March to 2 o'clock on the first Sunday of November.
Trackers sort hands by these times and cut sessions by them, so the times of a match grow with every hand: a hand that
comes too early for that, also because the clock was put back in autumn, is written one second after the hand before.
So the times of several hands a second run ahead of the clock; hands that take longer let it catch up.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

__all__ = ["HandClock", "eastern_date", "eastern_us"]

_DAY_S: Final = 86_400
_STANDARD_S: Final = -5 * 3600
_DAYLIGHT_S: Final = -4 * 3600
_EPOCH: Final = date(1970, 1, 1)
_FIRST_S: Final = (date(1, 1, 2) - _EPOCH).days * _DAY_S
_END_S: Final = (date(9999, 12, 31) - _EPOCH).days * _DAY_S


class HandClock:
    """The times of one match's hands, in texts that grow.

    Attributes:
        ahead_s: how many seconds after its real time the last hand is dated.
    """

    def __init__(self) -> None:
        self.ahead_s = 0
        self._last_s = _FIRST_S
        self._offset_s = 0
        self._offset_from_s = self._offset_until_s = 0
        self._minute: int | None = None
        self._minute_text = ""

    def text(self, at_us: int) -> str:
        """The time of the next hand, ``2026/01/02 9:05:00``.

        Args:
            at_us: when it was played, in microseconds of Unix time.

        Raises:
            ValueError: the time is in no calendar.
        """
        utc_s = at_us // 1_000_000
        if not self._offset_from_s <= utc_s < self._offset_until_s:
            utc_s = _seconds(at_us)
            self._offset_s, self._offset_from_s, self._offset_until_s = _offset(utc_s)
        local_s = utc_s + self._offset_s
        self.ahead_s = 0
        if local_s <= self._last_s:
            self.ahead_s = self._last_s + 1 - local_s
            local_s += self.ahead_s
        self._last_s = local_s
        minute, second = divmod(local_s, 60)
        if minute != self._minute:
            day, of_day = divmod(minute, _DAY_S // 60)
            on = _EPOCH + timedelta(days=day)
            self._minute = minute
            self._minute_text = f"{on.year:04}/{on.month:02}/{on.day:02} {of_day // 60}:{of_day % 60:02}:"
        return f"{self._minute_text}{second:02}"


def eastern_date(at_us: int) -> date:
    """The day in New York.

    Args:
        at_us: a moment, in microseconds of Unix time.

    Raises:
        ValueError: the time is in no calendar.
    """
    utc_s = _seconds(at_us)
    return _EPOCH + timedelta(seconds=utc_s + _offset(utc_s)[0])


def eastern_us(year: int, month: int, day: int, hour: int, minute: int, second: int) -> int:
    """The moment, in microseconds of Unix time, at which the clock of New York shows a time.

    Of a time that it shows twice, when it is put back in autumn, the first.

    Raises:
        ValueError: the time is in no calendar.
    """
    if not (hour < 24 and minute < 60 and second < 60):
        raise ValueError(f"an impossible time: {hour}:{minute:02}:{second:02}")
    local_s = (date(year, month, day) - _EPOCH).days * _DAY_S + hour * 3600 + minute * 60 + second
    utc_s = local_s - _DAYLIGHT_S
    if _offset(_seconds(utc_s * 1_000_000))[0] != _DAYLIGHT_S:
        utc_s = local_s - _STANDARD_S
    return utc_s * 1_000_000


def _seconds(at_us: int) -> int:
    utc_s = at_us // 1_000_000
    if not _FIRST_S <= utc_s < _END_S:
        raise ValueError(f"an impossible time: {at_us} us")
    return utc_s


def _offset(utc_s: int) -> tuple[int, int, int]:
    """What the clock of New York is ahead, and from when until when, in seconds."""
    year = (_EPOCH + timedelta(seconds=utc_s + _STANDARD_S)).year
    midnights = [(date(year, month, day) - _EPOCH).days * _DAY_S for month, day in ((1, 1), (12, 31))]
    begin = _second_of_sunday(year, 3, 8) - _STANDARD_S
    end = _second_of_sunday(year, 11, 1) - _DAYLIGHT_S
    if utc_s < begin:
        return _STANDARD_S, midnights[0] - _STANDARD_S, begin
    if utc_s < end:
        return _DAYLIGHT_S, begin, end
    return _STANDARD_S, end, midnights[1] + _DAY_S - _STANDARD_S


def _second_of_sunday(year: int, month: int, day: int) -> int:
    """Two o'clock on the first Sunday from a day on, as seconds of the wall clock since 1970."""
    start = date(year, month, day)
    return ((start - _EPOCH).days + 6 - start.weekday()) * _DAY_S + 2 * 3600
