"""Sockets, event loop and bot processes of matches."""
