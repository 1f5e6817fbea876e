"""Settings and options as they are declared: each with its meaning, bounds and default, in one place.

    @dataclass(frozen=True, slots=True)
    class TrainingSettings:
        deals: Annotated[int, "deals drawn in each iteration", Interval(ge=1, le=1_000_000)] = 4096

A field of a dataclass, or a parameter of a function, is an option if its annotation holds a text: its meaning, a clause
or sentences. `Interval` bounds a number, `Wording` has what texts need besides. Files of settings, the command line,
keywords in Python, the options of a bot and the pages of reference all read such declarations with `options_of`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from annotated_types import Interval


class Wording(NamedTuple):
    """What texts about an option need besides its meaning.

    Attributes:
        unit: the word for its value in the help, such as ``FILE``.
        flags: on the command line, besides the one named like the option, or instead of it if they are long.
        group: the heading of this option and of those that follow it.
        otherwise: the default in words.
        example: appears in an example of a file, commented out with its section.
        is_flag: whether the command line has an option for it.
    """

    unit: str = ""
    flags: str = ""
    group: str = ""
    otherwise: str = ""
    example: object = None
    is_flag: bool = True


class Option(NamedTuple):
    """A setting or an option, as declared.

    Attributes:
        kind: the type of its values, None aside.
        low: the lowest value.
        above: what all values are above.
        high: the highest value.
        default: `Parameter.empty` if it has to be given.
        group: the heading above it.
    """

    name: str
    kind: Any
    default: Any
    meaning: str
    low: float | None
    above: float | None
    high: float | None
    wording: Wording
    group: str

    @property
    def sentence(self) -> str:
        """The meaning as a sentence."""
        return f"{self.meaning[0].upper()}{self.meaning[1:]}".removesuffix(".") + "."

    @property
    def value(self) -> str:
        """The default as in a file; empty without one."""
        if self.default is Parameter.empty:
            return ""
        value = getattr(self.default, "value", self.default)
        return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)

    @property
    def limits(self) -> tuple[str, str]:
        """The lowest and the highest value in words; empty where there is none."""
        low, above, high = ("" if one is None else f"{one:,.12g}" for one in (self.low, self.above, self.high))
        return low or (above and f"more than {above}"), high


def options_of(declared: Callable[..., Any]) -> Iterator[Option]:
    """The options of a dataclass or a function, in the order of their declaration."""
    hints, group = get_type_hints(declared, include_extras=True), ""
    for name, parameter in signature(declared).parameters.items():
        kind, *about = get_args(hints[name]) if get_origin(hints.get(name)) is Annotated else [None]
        meaning = next((one for one in about if isinstance(one, str)), None)
        if meaning is None:
            continue
        wording = next((one for one in about if isinstance(one, Wording)), Wording())
        group = wording.group or group
        bounds: Any = next((one for one in about if isinstance(one, Interval)), Interval())
        yield Option(
            name,
            _without_none(kind),
            parameter.default,
            meaning=meaning,
            low=bounds.ge,
            above=bounds.gt,
            high=bounds.le,
            wording=wording,
            group=group,
        )


def reference_table(declared: Callable[..., Any]) -> Iterator[str]:
    """The lines of a Markdown table of options."""
    yield "| setting | default | from | to | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for option in options_of(declared):
        default = option.wording.otherwise or (f"`{option.value}`" if option.value not in ("", "null") else "")
        yield f"| `{option.name}` | {default} | {' | '.join(option.limits)} | {option.meaning} |"


def _without_none(kind: Any) -> Any:
    """The type of the values other than None; the first one if there are several."""
    kinds = get_args(kind)
    return next(one for one in kinds if one is not type(None)) if type(None) in kinds else kind
