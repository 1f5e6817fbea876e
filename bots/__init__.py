"""Players: the SDK to write one, and every bot that comes with the arena.

    from bots import Bot, run

    class AlwaysCall(Bot):
        def act(self, view):
            return view.call()

    if __name__ == "__main__":
        run(AlwaysCall())

That is a whole bot: ``python my_bot.py HOST PORT``. `bots.testing` tests it without a dealer.
"""

from bots._shadow import refuse_shadowed

# Before anything below is imported: with a stranger in the place of engine or protocol those imports fail, and say
# something that its author cannot understand. logs and dealer are not asked after: a playing bot needs neither, so a
# file of that name beside it does no harm.
refuse_shadowed("engine", "protocol")

from bots.bot import Bot  # noqa: E402
from bots.client import play, run  # noqa: E402
from bots.errors import BotsError, ConnectError, DealerError, IllegalReply, SpecError  # noqa: E402
from bots.view import View  # noqa: E402
from engine import (  # noqa: E402
    CALL,
    FOLD,
    RAISE,
    Action,
    ActionKind,
    Category,
    Game,
    Position,
    nearest_legal,
    raise_to,
)

__all__ = [
    "CALL",
    "FOLD",
    "RAISE",
    "Action",
    "ActionKind",
    "Bot",
    "BotsError",
    "Category",
    "ConnectError",
    "DealerError",
    "Game",
    "IllegalReply",
    "Position",
    "SpecError",
    "View",
    "nearest_legal",
    "play",
    "raise_to",
    "run",
]
