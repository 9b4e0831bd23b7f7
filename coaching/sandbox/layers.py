"""Which layers of the sandbox this system refuses: logged once, shown by `/readyz` and `check --deploy`."""

import threading
from collections.abc import Sequence

import structlog

from coaching.sandbox.rights import LAYERS

logger = structlog.get_logger(__name__)

_lock = threading.Lock()
_missing: dict[str, None] = {}
_reported = threading.Event()


def report_missing(names: str) -> None:
    """Keep what a process couldn't drop, by names with commas between. A new one is logged."""
    with _lock:
        new = [name for name in names.split(",") if name in LAYERS and name not in _missing]
        _missing.update(dict.fromkeys(new))
        _reported.set()
    for name in new:
        logger.warning("sandbox_layer_missing", layer=name)


def known_missing() -> Sequence[str] | None:
    """Return the layers that were missing so far; None before any process has dropped its rights."""
    with _lock:
        return tuple(_missing) if _reported.is_set() else None
