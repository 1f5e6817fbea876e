"""Client that connects a bot of this machine to a server."""
