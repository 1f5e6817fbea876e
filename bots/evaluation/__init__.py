"""Measurements of bots from their policies.

- `policies`: a policy of a bot, of a file, or of a program that is asked; the cost of departing from one
- `hypothetical_hands`: AIVAT, with the cards that players of a known policy had, or might have had
- `local_best_response`: the range of a player whose policy is known, and the best answer for one action
- `bot`: the bot `lbr`, which plays it
- `exploiting`: what local best response wins from a policy, without the luck of cards and draws
"""
