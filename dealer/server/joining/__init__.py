"""A client that brings a bot to a server from a machine that nobody else can reach."""
