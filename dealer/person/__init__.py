"""Play of a person at a table, in a browser or in a terminal.

`table_settings` makes the settings of the run. `seat` turns the dealer's states into scenes, `entries` parses actions,
and `table_sentences` describes both. `table_session` plays and keeps the seat over breaks. `terminal_table` shows it
with the lines of `screen`, and `dealer.web` on pages.
"""
