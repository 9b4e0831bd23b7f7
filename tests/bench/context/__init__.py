"""Measures building a turn's context: `uv run python -m tests.bench.context`."""
