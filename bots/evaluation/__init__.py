"""What bots are worth, told from their policies.

- `policies`: a policy of a bot, of a file, or of a program that is asked
- `action_terms`: what the draws of players with a known policy brought beyond their expectation
- `imaginary_hands`: AIVAT with the cards that such a player might have held
- `every_holding`: all holdings of a game, and what a hand wins from each
- `beside`: where a player departs from a policy, and what that costs
- `local_best_response`: the range of a player whose policy is known, and the best answer for one action
- `exploiting`: what local best response wins from a policy, without the luck of cards and draws (`luck`)
- `exploit_run`: the same over workers, in a folder that is gone on with
- `exploiter`: local best response as a bot
"""
