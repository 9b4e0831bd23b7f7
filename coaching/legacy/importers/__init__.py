"""Readers of exports, one file a format, which all yield the same neutral things."""
