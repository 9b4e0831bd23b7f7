"""Measures the first pages of long lists: `uv run --group bench python -m tests.bench.lists`."""
