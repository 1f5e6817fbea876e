"""What a contest or a tournament came to, as data and in sentences."""
