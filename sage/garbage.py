"""Garbage collection around a start, which allocates much and frees little."""

import gc

_USUAL = gc.get_threshold()
# Each collection walks at least so many new objects, and a command that runs on this way stays bounded.
_RARE = (50_000, 20, 20)


def collect_rarely() -> None:
    """Collect rarely while modules are loaded: as often as usual takes a fifth of a start."""
    gc.set_threshold(*_RARE)


def collect_as_usual() -> None:
    """Leave what is loaded out of collections, since it stays, and collect as often as usual."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_USUAL)
