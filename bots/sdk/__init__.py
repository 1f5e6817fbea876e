"""SDK for bots: players, views, the TCP client, the registry of bots, self-play and tests.

`bots` re-exports the names that most bots use, so a bot usually begins with ``from bots import Bot, run``.
"""
