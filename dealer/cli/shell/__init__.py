"""Shared parts of the commands: the application, its help and output, options and arguments that several take."""
