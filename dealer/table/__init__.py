"""Where a match takes place: its connections, the event loop, and the processes of bots."""
