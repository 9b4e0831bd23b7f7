"""Tests of OAuth for other programs."""
