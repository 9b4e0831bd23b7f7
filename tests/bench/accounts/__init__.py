"""Measures whether the time of an answer tells known addresses from unknown ones."""
