"""The environment of child processes."""

import os
from collections.abc import Mapping

# For a Python that isn't the system's, for systems without time zones, and for the data of text recognition.
_NEEDED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONTZPATH", "TESSDATA_PREFIX")
# NumPy starts threads when it is loaded, and forks have none.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def worker_environment() -> Mapping[str, str]:
    """Return the minimal environment for a child process: no keys or passwords."""
    return {name: os.environ[name] for name in _NEEDED_VARIABLES if name in os.environ} | _ONE_THREAD
