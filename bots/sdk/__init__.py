"""What authors of bots, and programs that start bots, need: players, views, the client, bots by name, programs, tests.

`from bots import Bot, run` gives the names that most bots use; the modules have the rest.
"""
