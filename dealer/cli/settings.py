"""Settings as options: the fields of a dataclass that say what they decide, as a command takes them all at once.

    Options = setting_options(TrainingSettings, panel="Training")

    @takes_options
    def train(options: Options) -> None:
        settings = TrainingSettings(**given(options))

Meaning and default stand with the settings, the meaning in the metadata ``decides`` of a field; only how it is typed
stands here.
"""

from __future__ import annotations

from dataclasses import Field, fields, make_dataclass
from typing import Annotated, Any

import typer


def setting_options(settings: type, panel: str | None = None, **defaults: Any) -> Any:
    """A dataclass for `dealer.cli.options.takes_options`; `defaults` are those that differ."""
    return make_dataclass(
        f"{settings.__name__}Options",
        [
            (about.name, Annotated[type(about.default), _option(about, panel)], defaults.get(about.name, about.default))
            for about in fields(settings)
            if "decides" in about.metadata
        ],
        frozen=True,
    )


def given(options: Any) -> dict[str, Any]:
    """The values by the names of the settings."""
    return {about.name: getattr(options, about.name) for about in fields(options)}


def _option(about: Field[Any], panel: str | None) -> Any:
    flag = f"--{about.name.replace('_', '-')}"
    if about.default is True:
        flag += f"/--no-{flag.removeprefix('--')}"
    decides = about.metadata["decides"]
    return typer.Option(flag, help=f"{decides[0].upper()}{decides[1:]}.", rich_help_panel=panel)
