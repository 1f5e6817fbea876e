"""Slumbot's interface in front of our bots: programs written for slumbot.com play ours when their address is changed.

Heads-up no-limit hold'em, blinds 50/100, stacks of 20,000 that are full again in every hand. `interface` keeps the
sessions, plays their hands at tables like those of people (`dealer.server.table_manager`) and answers. `luck` estimates
the value of hands without the luck of the cards. The interface is known from its author's example of a client, and from
what its users have published.
"""
