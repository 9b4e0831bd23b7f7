"""Writes a brief of every conversation of the measured product up to its last message, as its worker would.

Without briefs the windows would grow with each measurement. Runs in its own process, as `seed` does.
"""

import django

django.setup()

# The models can be imported now, not before.
from tests.stored_briefs import cover_all  # noqa: E402 - needs Django set up

if __name__ == "__main__":
    cover_all()
