"""A pytest plugin, the first that is imported: makes the imports after it take less time.

It has no hooks. Workers of xdist get the environment from the first process.
"""

import os
import sys
from pathlib import Path

from sage.garbage import collect_rarely

BYTECODE = Path(__file__).parent.parent / ".pytest_cache" / "bytecode"


def _keep_bytecode(folder: Path) -> None:
    """If bytecode may not be written next to the sources, write it next to pytest's temporary folders.

    Otherwise each run compiles plugins and Hypothesis, and each of its hundred processes all of Django.
    """
    if not sys.dont_write_bytecode:
        return
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(folder)
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


collect_rarely(1_000_000)  # the suite's modules and tests are fewer objects, and stay
_keep_bytecode(BYTECODE)
