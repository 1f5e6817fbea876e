"""What bots are worth, told from their policies.

- `policies`: a policy of a bot, of a file, or of a program that is asked
- `action_terms`: what the draws of players with a known policy brought beyond their expectation
- `imaginary_hands`: AIVAT with the cards that such a player might have held
"""
