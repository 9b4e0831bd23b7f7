"""Finds out which layers of the sandbox this system refuses, before a reader is needed."""

from collections.abc import Sequence

from coaching.sandbox.differences import compare
from coaching.sandbox.layers import known_missing


def missing_layers() -> Sequence[str] | None:
    """Return the names of the refused layers; None if no process starts. Blocks for two seconds at most."""
    missing = known_missing()
    if missing is None:
        compare("", "")  # in a process that drops its rights as each other does
        missing = known_missing()
    return missing
