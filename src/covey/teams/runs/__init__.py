"""Team runs over the fleet (Q2, Q5, Q6): a goal is cut into steps, which are real tasks of able workers; what they made is put together.

A run is rows of the store, and whoever is alive drives it: the process that settles one of its tasks, and each sweep.
"""
