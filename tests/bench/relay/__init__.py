"""How near the whole product is to a relay that only passes bytes on: `python -m tests.bench.relay`."""
