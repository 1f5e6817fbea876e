"""``arena doctor``: takes one bot through scripted situations and says what is wrong with which byte of which line."""
