"""Sockets of people who have signed out are closed, whatever happens to single ones."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from coaching import supervision
from coaching.people import socket_access
from coaching.people.socket_access import NOT_SIGNED_IN, OpenSocket, OpenSockets

pytestmark = pytest.mark.django_db(transaction=True)


class Socket:
    """A socket whose browser session is over. `closing` is what closing it does."""

    def __init__(self, closing: Callable[[], Awaitable[None]]) -> None:
        self.codes: list[int] = []
        self._closing = closing

    async def end(self, code: int) -> None:
        self.codes.append(code)
        await self._closing()

    async def answers_ping(self, _seconds: float) -> bool:
        return True


async def _close() -> None:
    pass


async def _fail() -> None:
    raise RuntimeError


async def _hang() -> None:
    await asyncio.sleep(3600)


@pytest.mark.parametrize("closing", [_fail, _hang])
async def test_a_socket_that_can_not_be_closed_keeps_no_other_one_open_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, closing: Callable[[], Awaitable[None]]
) -> None:
    monkeypatch.setattr(socket_access, "WATCH_SECONDS", 0.05)
    monkeypatch.setattr(socket_access, "END_SECONDS", 0.05)
    monkeypatch.setattr(supervision, "ITEM_WAIT_SECONDS", 0.1)
    sockets = OpenSockets()
    sticking, others = Socket(closing), [Socket(_close) for _ in range(3)]
    for number, each in enumerate([others[0], sticking, *others[1:]]):
        assert await sockets.admit(
            OpenSocket(session_key="over", user_id=number, end=each.end, answers_ping=each.answers_ping)
        )
    watching = asyncio.create_task(sockets.watch())
    async with asyncio.timeout(30):
        while len(sticking.codes) < 2 or not all(each.codes for each in others):  # noqa: ASYNC110 - the task does it
            await asyncio.sleep(0.01)
    assert not watching.done()
    assert {code for each in others for code in each.codes} == {NOT_SIGNED_IN}
    watching.cancel()
    await asyncio.wait([watching])
