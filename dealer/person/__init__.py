"""A person at a table, in a browser or in a terminal.

`table_settings` makes the settings of a table, `seat` what is seen from the person's, `entries` what may be done there,
and `table_sentences` has the rest in words. `table_session` plays, and keeps the seat over breaks, for every face:
`terminal_table`, with the lines of `screen`, and the pages of `dealer.web`.
"""
