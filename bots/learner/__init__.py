"""A player that learns by counting, after a thesis of 2008: what did each decision earn in states like this?

constants   the ten constants: how finely it looks
cells       the nine dimensions of a state, and the cell that a state falls into
memory      what each decision has earned in each cell, and the decision that follows
files       a memory as a file; the memories that come with the arena
bot         the player `learner`, and what it learnt in one match, hand by hand

Source: V. S. Fazio, "Algoritmos para um jogador inteligente de Poker", Universidade Federal de Santa Catarina, 2008,
section 3.4.5. Its formulas 7 and 8 and its table of decisions are missing pictures, and no result of its player is
printed in what is legible; each place says what is the work's and what is ours.
"""
