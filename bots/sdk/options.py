"""Declare settings and options once, each with its meaning, bounds and default.

    @dataclass(frozen=True, slots=True)
    class TrainingSettings:
        deals: Annotated[int, "deals drawn in each iteration", Interval(1, 1_000_000)] = 4096

A field of a dataclass or a parameter of a function is an option if its annotation holds a text, its meaning. `Interval`
bounds a number, `Literal` lists choices, and `Wording` holds further texts. Configuration files, the command line,
Python keywords, the options of bots and the reference pages all read declarations by `options_of`. pydantic takes the
bounds from the same annotations, but is not needed to read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

_Value = TypeVar("_Value")

NO_DEFAULT: Final = object()
"""Default of an option that must be set."""


class Interval:
    """Bounds of a number.

    Attributes:
        low: smallest valid value; None for no bound.
        high: largest valid value; None for no bound.
        above: every valid value is greater; None for no bound.
    """

    # pydantic iterates over metadata with this mark and reads the bounds that `__iter__` yields.
    __is_annotated_types_grouped_metadata__: ClassVar[bool] = True

    def __init__(self, low: float | None = None, high: float | None = None, above: float | None = None) -> None:
        self.low = low
        self.high = high
        self.above = above

    def __iter__(self) -> Iterator[object]:
        from annotated_types import Ge, Gt, Le

        if self.low is not None:
            yield Ge(self.low)
        if self.high is not None:
            yield Le(self.high)
        if self.above is not None:
            yield Gt(self.above)


class Wording(NamedTuple):
    """Texts about an option besides its meaning.

    Attributes:
        unit: placeholder of the value in the help, such as ``FILE``.
        flags: short flags on the command line besides the long one; long flags replace it.
        group: heading of this option and of those that follow it.
        otherwise: the default in words.
        example: value in a generated configuration file, commented out with its section.
        is_flag: whether the command line has an option for it.
        is_rare: whether the short help lists the option without its meaning.
    """

    unit: str = ""
    flags: str = ""
    group: str = ""
    otherwise: str = ""
    example: object = None
    is_flag: bool = True
    is_rare: bool = False


_FILE: Final = Wording("FILE")
FilePath: TypeAlias = Annotated[str, _FILE]
"""Type of a bot's option that is the path of a file, relative to the folder in which the bot is named."""
_TYPE_NAMES: Final = {int: "whole number", float: "number", bool: "true or false"}
_TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Option(NamedTuple):
    """Declaration of one option.

    Attributes:
        kind: type of its values, without None.
        default: `NO_DEFAULT` if the option must be set.
        meaning: text of the annotation; empty for a bot's parameter without one.
        group: heading under which the option is listed.
    """

    name: str
    kind: Any
    default: Any
    meaning: str
    bounds: Interval
    wording: Wording
    group: str

    @property
    def sentence(self) -> str:
        """Meaning with a capital and a full stop."""
        return f"{self.meaning[0].upper()}{self.meaning[1:]}".removesuffix(".") + "."

    @property
    def value(self) -> str:
        """Default as a configuration file writes it; empty without one."""
        if self.default is NO_DEFAULT:
            return ""
        # Not at the top: a bot starts without it.
        import json

        # The default of an enumeration is written as its value, and 4.0 as 4.
        value = getattr(self.default, "value", self.default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return json.dumps(value)

    @property
    def type_name(self) -> str:
        """Type in words, such as "whole number"."""
        if self.wording == _FILE:
            return "file"
        return _TYPE_NAMES.get(self._scalar, "text")

    @property
    def _scalar(self) -> type:
        kind: type = self.kind
        if get_origin(kind) is Literal:
            kind = type(get_args(kind)[0])
        return kind

    @property
    def limits(self) -> tuple[str, str]:
        """Bounds in words, low and high; empty for no bound."""
        low = _text(self.bounds.low)
        if not low and self.bounds.above is not None:
            low = f"more than {_text(self.bounds.above)}"
        return low, _text(self.bounds.high)

    @property
    def valid(self) -> str:
        """Valid values in words, such as "1 to 100"."""
        if get_origin(self.kind) is Literal:
            *choices, last_choice = map(str, get_args(self.kind))
            return f"{', '.join(choices)} or {last_choice}"
        low, high = self.limits
        if not high:
            return f"{low} or more"
        if self.bounds.above is None:
            return f"{low} to {high}"
        return f"{low} and at most {high}"

    def parse(self, text: str) -> Any:
        """Convert a text to the option's type, without a check of the bounds.

        Raises:
            ValueError: the text is not of the option's type.
        """
        if self._scalar is bool:
            if text.lower() not in _TRUTHS:
                raise ValueError(text)
            return _TRUTHS[text.lower()]
        if self._scalar not in _TYPE_NAMES:
            return text
        return self._scalar(text)

    def accepts(self, value: Any) -> bool:
        """Return whether a value is one of the choices and within the bounds."""
        if get_origin(self.kind) is Literal:
            return value in get_args(self.kind)
        if self.kind is int and not isinstance(value, int):
            return False
        bounds = self.bounds
        # Not `value < bounds.low`, which is false for NaN.
        if bounds.low is not None and not value >= bounds.low:
            return False
        if bounds.high is not None and not value <= bounds.high:
            return False
        return bounds.above is None or value > bounds.above


def options_of(declared: Any, *, all_parameters: bool = False) -> tuple[Option, ...]:
    """Return the options of a dataclass, function or constructor, in order of declaration.

    Args:
        all_parameters: include parameters whose annotation has no meaning, as in bots of other authors.
    """
    return _options_of(declared, all_parameters)


@cache
def _options_of(declared: Any, all_parameters: bool) -> tuple[Option, ...]:
    if getattr(declared, "__init__", None) is object.__init__:
        return ()
    # Not at the top: `inspect` takes as long to load as everything else that most bots need.
    from inspect import Parameter, signature

    hints = _hints(declared)
    group = ""
    options = []
    for name, parameter in signature(declared).parameters.items():
        kind, about = _unwrapped(hints.get(name, type(parameter.default)))
        meaning = _first_of_type(about, str, "")
        if not meaning and not all_parameters:
            continue
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        wording = _first_of_type(about, Wording, Wording())
        group = wording.group or group
        bounds = _first_of_type(about, Interval, Interval())
        field = getattr(declared, "__dataclass_fields__", {}).get(name)
        default = parameter.default
        if field is not None and callable(field.default_factory):
            default = field.default_factory()
        elif default is Parameter.empty:
            default = NO_DEFAULT
        options.append(Option(name, kind, default, meaning, bounds=bounds, wording=wording, group=group))
    return tuple(options)


def _first_of_type(values: list[Any], kind: type[_Value], default: _Value) -> _Value:
    for value in values:
        if isinstance(value, kind):
            return value
    return default


def check_options(options: Any, error: type[Exception] = ValueError) -> None:
    """Check the values of a dataclass against its declarations.

    Raises:
        error: a value is out of bounds or not one of the choices.
    """
    for option in options_of(type(options)):
        value = getattr(options, option.name)
        if not option.accepts(value):
            raise error(f"{option.name} must be {option.valid}, not {value}")


def _hints(declared: Any) -> dict[str, Any]:
    is_class = isinstance(declared, type) and not hasattr(declared, "__dataclass_fields__")
    try:
        return get_type_hints(declared.__init__ if is_class else declared, include_extras=True)
    except Exception:
        if not is_class:
            raise
        # A bot's annotation may name a type that its author imports only under TYPE_CHECKING.
        known = {kind.__name__: kind for kind in _TYPE_NAMES}
        hints = {}
        for name, annotation in getattr(declared.__init__, "__annotations__", {}).items():
            hints[name] = known.get(str(annotation).removesuffix(" | None"), str)
        return hints


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """Split an annotation into type and metadata; of a union with None, take the first type."""
    kind = hint
    metadata: list[Any] = []
    if get_origin(hint) is Annotated:
        kind, *metadata = get_args(hint)
    kinds = list(get_args(kind))
    if type(None) not in kinds:
        return kind, metadata
    kinds.remove(type(None))
    inner, inner_metadata = _unwrapped(kinds[0])
    return inner, metadata + inner_metadata


def _text(bound: float | None) -> str:
    if bound is None:
        return ""
    if isinstance(bound, int):
        return f"{bound:,}"
    return f"{bound:,.12g}"
