"""Sessions, messages, turns, usage."""
