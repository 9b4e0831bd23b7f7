"""Makes a token of the measured product's person `fresh`, and prints its secret.

Runs in its own process with the product's environment, as `tests.bench.relay.seed` does.
"""

import sys

import django

django.setup()

# The models can be imported now, not before.
from django.contrib.auth.models import User  # noqa: E402 - needs Django set up

from coaching.programs.tokens import make_token  # noqa: E402 - needs Django set up

if __name__ == "__main__":
    person = User.objects.get(username="fresh")
    made = make_token(user_id=person.pk, name="Flood", scopes=["read", "capture"], days=1)
    sys.stdout.write(made.secret)
