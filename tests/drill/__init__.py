"""A drill: a whole installation under load, each part of it killed, frozen and restarted. Run by hand.

pytest doesn't collect it. `python -m tests.drill --help` says how it is run.
"""
