"""Functions on arrays and integers, most of them compiled, that validate nothing.

Call them through `engine.equity`, `engine.ranges` and `engine.batch`, or use them in other kernels.
"""
