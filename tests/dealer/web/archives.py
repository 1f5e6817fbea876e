"""Archives of bots, as users upload them."""

from __future__ import annotations

import io
import zipfile

from tests.programs import ROOT

MINIMAL = (ROOT / "examples" / "minimal_bot.py").read_text()


def archive(code: str = MINIMAL, name: str = "mine", games: str = '["kuhn"]', command: str = "python bot.py") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("bot.toml", f'name = "{name}"\ncommand = "{command}"\nlanguage = "Python"\ngames = {games}\n')
        packed.writestr("bot.py", code)
    return made.getvalue()
