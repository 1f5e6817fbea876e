"""``arena doctor``: plays scripted situations with a bot and reports which byte of which line is wrong."""
