"""A person at a table, in a browser or in a terminal.

`settings` makes the settings of a table, `sentences` what may be done, the end of a hand and the score in words, and
`table_session` keeps a person's seat over breaks, for pages; `terminal` plays in a terminal, with `screen` and
`styles`.
"""
