"""README as a package index shows it: relative links lead nowhere there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)\s]+)\)")


def index_readme(text: str, source: str | None) -> str:
    """Make relative links absolute; without an address keep their text, and leave pictures out.

    Args:
        text: the file README.md.
        source: address of the files of this version, with `/` at the end; None if there is none.
    """
    if source is None:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    text = _LINK.sub(lambda link: f"[{link[1]}]({source}{link[2]})", text)
    return re.sub(r'(src|srcset)="(?!https?://)', rf'\1="{source}', text)


class ReadmeHook(MetadataHookInterface):
    """Sets `readme`. The address of the files is `source` of `[tool.hatch.metadata.hooks.custom]`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the dynamic field."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        source = self.config.get("source")
        if source is not None:
            source = source.format(version=metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": index_readme(text, source)}
