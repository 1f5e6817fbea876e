"""Text port: the ACPC's benchmark protocol over TCP."""
