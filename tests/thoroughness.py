"""How much tests try that try many inputs: everything with CI=true, as `.ci/run` sets it, otherwise a sample.

Hypothesis has a profile of its own for CI, which tries the same examples each time; `dev` tries few.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

IS_THOROUGH = bool(os.environ.get("CI"))
DEV_EXAMPLES = 10

Case = TypeVar("Case")


def load_profile() -> None:
    """Set what applies to property tests that don't say how many examples they try."""
    settings.register_profile("dev", deadline=None, max_examples=DEV_EXAMPLES)
    if not IS_THOROUGH:
        settings.load_profile("dev")


def examples(count: int) -> int:
    """Return how many examples a property test tries that tries `count` when it is thorough."""
    return count if IS_THOROUGH else min(count, DEV_EXAMPLES)


def sample(cases: Sequence[Case], *, of_each: int) -> Sequence[Case]:
    """Return all cases or, if the tests aren't thorough, one of so many, the first included."""
    return cases if IS_THOROUGH else cases[::of_each]
