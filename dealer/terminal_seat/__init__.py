"""A person's seat in a plain terminal: its screen, its keys, and the match that is dealt meanwhile."""
