"""How long the context of a turn takes: run by hand, `uv run python -m tests.bench.context`."""
