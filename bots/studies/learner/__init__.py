"""The reports on the learner: every experiment of its work, its training, and the search for its constants."""
