"""What there is to watch, as values: runs with hands and scores, tables where a match goes on. No pages, no server."""
