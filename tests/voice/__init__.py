"""Voice."""
