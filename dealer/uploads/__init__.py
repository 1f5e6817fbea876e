"""Bots that users upload: their archives checked and unpacked, examined by the doctor, and played in a box."""
