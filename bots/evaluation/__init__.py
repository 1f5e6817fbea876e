"""Measurements of bots from their policies.

- `policies`: policies of bots, files and programs, and the cost of deviating from one
- `hypothetical_hands`: AIVAT, with the cards that players with a known policy held or might have held
- `local_best_response`: range of a player with a known policy, and the local best response to it
- `bot`: the bot ``lbr``, which plays it
- `exploiting`: estimate of its winnings against a policy, corrected for luck
"""
