"""Queue of a server: check requests, choose the next run, play it with `dealer.run.run`, count and rate it."""
