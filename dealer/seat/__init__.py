"""A person at a table, whatever the face: how a table is asked for, what was played there before, what a score says.

- `asking`: the settings of a table
- `earlier`: the hands of an earlier sitting
- `sentences`: the game, the end of a hand and the score in words
"""
