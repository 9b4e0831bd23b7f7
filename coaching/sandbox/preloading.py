"""Loads what libraries load when it is first used: a process that reads untrusted bytes can open no file.

Loaded in the template, it costs its processes nothing.
"""

import codecs
import encodings
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SAMPLE = "é\u4e00"
_BYTES = b"a\x1b$B0l\x1b(B\xe4\xf6\xa4\xa2"


def load_codecs() -> None:
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError, LookupError):  # some are for Windows only
            importlib.import_module(f"encodings.{module.name}")
            _use(codecs.lookup(module.name))


@contextmanager
def without(library: str) -> Iterator[None]:
    """Let what the block imports do without an optional library, unless that is loaded already."""
    if library in sys.modules:
        yield
        return
    sys.modules[library] = None  # type: ignore[assignment]  # Python then says that there is none
    try:
        yield
    finally:
        del sys.modules[library]


def _use(codec: codecs.CodecInfo) -> None:
    """Encode and decode: Asian codecs load their tables only then."""
    # Those that turn bytes into bytes reject the text, or the way of replacing.
    with suppress(AssertionError, TypeError, ValueError):
        codec.encode(_SAMPLE, "replace")
    with suppress(AssertionError, TypeError, ValueError):
        codec.decode(_BYTES, "replace")
