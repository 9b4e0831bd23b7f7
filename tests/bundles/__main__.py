"""Makes the bundles anew: `uv run python -m tests.bundles`."""

import subprocess
import sys

from tests.bundles.build import write

if __name__ == "__main__":
    try:
        write()
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is missing: this needs Node.js with npm.")
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr)
