"""Syntax trees of our own code."""

import ast
import gc
from pathlib import Path


def parse(source: str | Path) -> ast.Module:
    """Parse a text or a file, without garbage collection.

    Before Python 3.11.8, a parse within another one breaks the outer one (python/cpython#106905). A finalizer
    that logs a traceback parses: that of a task of an earlier test, for example.
    """
    text = source.read_text() if isinstance(source, Path) else source
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if was_enabled:
            gc.enable()
