"""Carries the active language into threads: by itself it reaches only those that asgiref starts."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django.utils.translation import get_language, override

ResultT = TypeVar("ResultT")


def in_active_language(call: Callable[[], ResultT]) -> Callable[[], ResultT]:
    """Return a call that runs in the language that is active now, in whichever thread."""
    return partial(_call_in, get_language(), call)


def _call_in(language: str | None, call: Callable[[], ResultT]) -> ResultT:
    with override(language):
        return call()
