"""Measures what pages load and when they are shown: `uv run --group bench python -m tests.bench.pages`."""
