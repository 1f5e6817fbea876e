"""What a match sits at: connections, the event loop, and the processes of bots."""
