"""Queue of a server: check requests, choose the next run, play it with `dealer.library`, count and rate it."""
