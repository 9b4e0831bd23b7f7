"""Garbage collection around a start, which allocates much and frees little."""

import gc

_USUAL = gc.get_threshold()
RARELY = 50_000


def collect_rarely(objects: int = RARELY) -> None:
    """Collect rarely while modules are loaded: as often as usual takes a fifth of a start.

    Each collection walks at least so many new objects, and a command that runs on this way stays bounded.
    """
    gc.set_threshold(objects, 20, 20)


def collect_as_usual() -> None:
    """Leave what is loaded out of collections, since it stays, and collect as often as usual."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_USUAL)
