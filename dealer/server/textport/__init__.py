"""The text port: the ACPC's benchmark protocol over TCP, and the bots that are brought over it."""
