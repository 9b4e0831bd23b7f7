"""How Sage answers in given situations: `python -m tests.evals`.

Not on inspect-ai (0.3.285): it makes the model's calls itself or rewrites them in its bridge, so Sage's own
requests wouldn't be what is measured. And it runs samples in one event loop, where ours need a clock each.
"""
