"""Shared parts of the commands: application, help, output, common options and arguments."""
