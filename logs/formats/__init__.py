"""Shared parts of the hand history formats, whose writers and readers are in modules of their own.

- `export_format`: a format as a value, its options, writer and reader
- `card_room_games`: games that card rooms hold
- `hand_numbers`: twelve-digit numbers of hands
- `money`: chips as amounts of money, and the rake
- `settlement`: steps, winners, payments and the order of showing
"""
