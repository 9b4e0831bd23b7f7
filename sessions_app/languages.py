"""Carries the active language into threads: by itself it reaches only those that asgiref starts."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from typing import TypeVar

from django.utils.translation import get_language, override

ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")


def in_active_language(call: Callable[[], ResultT]) -> Callable[[], ResultT]:
    """Return a call that runs in the language that is active now, in whichever thread."""
    return partial(_call_in, get_language(), call)


def _call_in(language: str | None, call: Callable[[], ResultT]) -> ResultT:
    with override(language):
        return call()


def in_the_language_of_now(items: Generator[ItemT, None, None]) -> Iterator[ItemT]:
    """Return the items of a generator that runs in the language that is active now, in whichever threads."""
    return _each_in(get_language(), items)


def _each_in(language: str | None, items: Generator[ItemT, None, None]) -> Iterator[ItemT]:
    with closing(items):
        while True:
            with override(language):
                found = list(islice(items, 1))
            if not found:
                return
            yield from found
