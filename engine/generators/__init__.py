"""The programs that make the files of `engine.tables`: run them with ``python -m``."""
