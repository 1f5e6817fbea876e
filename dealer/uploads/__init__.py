"""Bots that users upload: their archives are checked, examined by the doctor and run in a sandbox."""
