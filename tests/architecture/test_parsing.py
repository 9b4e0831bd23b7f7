"""Parsing our own code while other code is being collected."""

import ast
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from sage import settings
from tests.architecture.parsing import parse


class _Parsing:
    """Garbage whose finalizer parses."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        ast.parse("a[b](c)")


@pytest.fixture
def frequent_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("frequent_collections")
def test_a_finalizer_that_parses_breaks_no_parse() -> None:
    path = Path(settings.__file__)
    for _ in range(20):
        _Parsing()
        assert isinstance(parse(path), ast.Module)
    assert gc.isenabled()
