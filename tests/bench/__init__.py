"""Benchmarks, run by hand. pytest doesn't collect them, and they assert no times."""
