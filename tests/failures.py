"""What a failed test leaves behind must not fail those that follow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def replaced_after_failure(request: pytest.FixtureRequest, replace: Callable[[], None]) -> Iterator[None]:
    """Around a fixture's yield: call `replace` if the test fails."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        replace()
