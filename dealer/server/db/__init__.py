"""Database of a server: tables, records and the changes made to them."""
