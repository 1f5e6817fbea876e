"""A client that brings a bot to a server from a machine that cannot be reached from outside."""
