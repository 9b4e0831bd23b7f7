"""The domain-neutral agent engine: messages, tools, budgets and events.

It imports neither Django nor Channels nor anything else of ours.
"""
