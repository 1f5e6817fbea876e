"""A player that learns by counting: what did each decision earn in states like this?

memory     constants, the cells of states, what each decision has earned in each, and the decision that follows; files
bot        the player `learner`, and what it learnt in one match, hand by hand
training   blocks of hands, each followed by frozen play; fast tables for them
kernel     hands of the simple players and of learners, compiled      tuning   the search for the constants

Source: V. S. Fazio, "Algoritmos para um jogador inteligente de Poker", Universidade Federal de Santa Catarina, 2008,
section 3.4.5. Its formulas 7 and 8 and its table of decisions are missing pictures, and no result of its player is
printed in what is legible; each module says what is taken from it and what is ours.
"""
