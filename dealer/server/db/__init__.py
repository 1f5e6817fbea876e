"""What the server keeps: one SQLite database, the things in it as models, and the changes that are made to them."""
