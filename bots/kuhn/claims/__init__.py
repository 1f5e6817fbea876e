"""What the work claims about Kuhn poker, and what became of each claim.

experiments   the runs behind its tables and figures          gathering   those runs in a folder
charts        fitness by generation
"""
