"""Compares the whole product with a relay that only forwards bytes: `python -m tests.bench.relay`."""
