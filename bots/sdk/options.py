"""Settings and options as they are declared: each with its meaning, bounds and default, in one place.

    @dataclass(frozen=True, slots=True)
    class TrainingSettings:
        deals: Annotated[int, "deals drawn in each iteration", Interval(1, 1_000_000)] = 4096

A field of a dataclass, or a parameter of a function, is an option if its annotation holds a text: its meaning, a clause
or sentences. `Interval` bounds a number, `Literal` lists choices, `Wording` has what texts need besides. Files of
settings, the command line, keywords in Python, the options of a bot and the pages of reference all read such
declarations with `options_of`. pydantic takes the bounds from them, too; it is not needed to read them.
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
"""The default of an option that has none."""


class Interval:
    """Bounds of a number: at least `low`, above `above` and at most `high`, each None for any."""

    __is_annotated_types_grouped_metadata__: ClassVar[bool] = True

    def __init__(self, low: float | None = None, high: float | None = None, above: float | None = None) -> None:
        self.low = low
        self.high = high
        self.above = above

    def __iter__(self) -> Iterator[object]:
        """The bounds as pydantic reads them."""
        from annotated_types import Ge, Gt, Le

        if self.low is not None:
            yield Ge(self.low)
        if self.high is not None:
            yield Le(self.high)
        if self.above is not None:
            yield Gt(self.above)


class Wording(NamedTuple):
    """What texts about an option need besides its meaning.

    Attributes:
        unit: the word for its value in the help, such as ``FILE``.
        flags: on the command line, besides the one named like the option, or instead of it if they are long.
        group: the heading of this option and of those that follow it.
        otherwise: the default in words.
        example: appears in an example of a file, commented out with its section.
        is_flag: whether the command line has an option for it.
        is_rare: named without its meaning in the short help.
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
"""The path of a file, as an option of a bot: relative to the folder in which the bot was asked for."""
_TYPE_NAMES: Final = {int: "whole number", float: "number", bool: "true or false"}
_TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Option(NamedTuple):
    """A setting or an option, as declared.

    Attributes:
        kind: the type of its values, None aside.
        default: `NO_DEFAULT` if it has to be given.
        meaning: empty if the author of a bot has not declared it.
        group: the heading above it.
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
        return f"{self.meaning[0].upper()}{self.meaning[1:]}".removesuffix(".") + "."

    @property
    def value(self) -> str:
        """The default as in a file; empty without one."""
        if self.default is NO_DEFAULT:
            return ""
        import json  # a bot starts without it

        value = getattr(self.default, "value", self.default)
        return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)

    @property
    def type_name(self) -> str:
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
        """The lowest and the highest value in words; empty where there is none."""
        low = _text(self.bounds.low)
        if not low and self.bounds.above is not None:
            low = f"more than {_text(self.bounds.above)}"
        return low, _text(self.bounds.high)

    @property
    def valid(self) -> str:
        """The valid values in words."""
        if get_origin(self.kind) is Literal:
            *others, last = map(str, get_args(self.kind))
            return f"{', '.join(others)} or {last}"
        low, high = self.limits
        if not high:
            return f"{low} or more"
        if self.bounds.above is None:
            return f"{low} to {high}"
        return f"{low} and at most {high}"

    def parse(self, text: str) -> Any:
        """Return the value of a text; do not check the bounds.

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
        # Not `value < bounds.low`: a NaN is outside all bounds.
        if bounds.low is not None and not value >= bounds.low:
            return False
        if bounds.high is not None and not value <= bounds.high:
            return False
        return bounds.above is None or value > bounds.above


def options_of(declared: Any, *, all_parameters: bool = False) -> tuple[Option, ...]:
    """The options of a dataclass, a function or a constructor, in the order of their declaration.

    Args:
        all_parameters: takes parameters without a meaning, too, as bots of other authors have them.
    """
    return _options_of(declared, all_parameters)


@cache
def _options_of(declared: Any, all_parameters: bool) -> tuple[Option, ...]:
    if getattr(declared, "__init__", None) is object.__init__:
        return ()
    # Here, as it takes as long to load as all else that most bots need.
    from inspect import Parameter, signature

    hints = _hints(declared)
    group = ""
    options = []
    for name, parameter in signature(declared).parameters.items():
        kind, about = _unwrapped(hints.get(name, type(parameter.default)))
        meaning = _first_of_type(about, str, "")
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or not (meaning or all_parameters):
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
    """Raise an error for the first value of a dataclass that its declaration does not allow."""
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
        # Names that the author of a bot imports for type checkers only.
        known = {kind.__name__: kind for kind in _TYPE_NAMES}
        hints = {}
        for name, annotation in getattr(declared.__init__, "__annotations__", {}).items():
            hints[name] = known.get(str(annotation).removesuffix(" | None"), str)
        return hints


def _unwrapped(hint: Any) -> tuple[Any, list[Any]]:
    """The type of an annotation and its metadata. Of a union, the first type that is not None."""
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
