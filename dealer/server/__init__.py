"""The server: users, a fair queue of jobs that `dealer.run.run` plays, all of it kept on disk, and the text port."""
