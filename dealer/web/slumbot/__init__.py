"""Slumbot's interface in front of our bots, so that clients of slumbot.com can play them at another address.

The game is heads-up no-limit hold'em with blinds of 50 and 100 and stacks of 20,000 that are refilled for every hand.
`interface` keeps the sessions and plays their hands at tables (`dealer.server.table_manager`). `luck` corrects winnings
for the luck of the cards. The interface is known from its author's example client and from publications of its users.
"""
