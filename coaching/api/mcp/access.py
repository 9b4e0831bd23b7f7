"""Who calls: a program with a personal token or a consent, as long as that holds."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from django.utils import timezone

from coaching.programs.callers import Caller, NotKnown
from coaching.programs.grants import check_granted, find_granted
from coaching.programs.tokens import PREFIX, check_caller, find_caller
from sessions_app.database import in_database

ResultT = TypeVar("ResultT")

CHECK_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A program, and the check that its access still holds: sync ORM code that raises `NotKnown`."""

    caller: Caller
    check: Callable[[], None]

    async def while_it_holds(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Return what `work` returns. Raises `NotKnown` instead, soon after the access has ended."""
        running = asyncio.ensure_future(work)
        try:
            while not running.done():
                await asyncio.wait({running}, timeout=CHECK_SECONDS)
                await in_database(self.check)
            return running.result()
        finally:
            running.cancel()


def find_access(authorization: str, *, resource: str) -> Access:
    """Return the access that a header `Authorization` gives to a resource. Sync ORM code.

    Raises `NotKnown`.
    """
    kind, _, secret = authorization.partition(" ")
    if kind.lower() != "bearer" or not secret.isascii() or not secret.isprintable():
        raise NotKnown
    if secret.startswith(PREFIX):
        caller = find_caller(secret)
        return Access(caller=caller, check=partial(check_caller, caller))
    granted = find_granted(secret, resource=resource, now=timezone.now())
    return Access(caller=granted.caller, check=partial(_check_granted, granted.token_id))


def _check_granted(token_id: int) -> None:
    check_granted(token_id, now=timezone.now())
