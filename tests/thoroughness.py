"""How much the extensive tests try: a sample every day, or everything with SAGE_TEST_LONG=1.

`.ci/run` runs the everyday forms. Each can fail by the rule that its test protects; the long form tries more
inputs, larger ones, or all moments instead of some. CONTRIBUTING.md tells when to run it.

What attacks, and what is checked page by page, is sampled by the day, so that a few days try all of it.
"""

import os
import time
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

from tests.long_tests import TURNS

IS_LONG = bool(os.environ.get("SAGE_TEST_LONG"))
EVERYDAY_EXAMPLES = 10
DAY_VARIABLE = "SAGE_TEST_DAY"
DAY = int(os.environ.get(DAY_VARIABLE) or time.time() // 86_400)
"""The day whose samples are tried."""
os.environ[DAY_VARIABLE] = str(DAY)  # workers have to collect the same tests, before midnight and after it

Case = TypeVar("Case")


def load_profile() -> None:
    """Set what applies to property tests that don't say how many examples they try.

    With CI=true, Hypothesis tries the same examples each time.
    """
    settings.register_profile("everyday", deadline=None, max_examples=examples(100))
    settings.load_profile("everyday")


def examples(count: int) -> int:
    """Return how many examples a property test tries that tries `count` in its long form."""
    return size(min(count, EVERYDAY_EXAMPLES), long=count)


def sample(cases: Sequence[Case], *, of_each: int) -> Sequence[Case]:
    """Return all cases in the long form, otherwise one of so many, the first included."""
    return cases[:: size(of_each, long=1)]


def sample_of_day(cases: Sequence[Case], *, of_each: int, day: int = DAY) -> Sequence[Case]:
    """Return all cases in the long form, otherwise one of so many: each day others, until all were tried."""
    step = size(min(of_each, len(cases)), long=1)
    # Long tests run every seventh day only, and then have to try another sample than the last time.
    return cases[(day // TURNS + day % TURNS) % step :: step]


def size(everyday: int, *, long: int) -> int:
    """Return how many of something a test makes or tries."""
    return long if IS_LONG else everyday
