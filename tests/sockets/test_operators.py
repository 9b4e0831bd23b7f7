"""An operator lets Sage answer a failed turn again, and the person's open page shows the answer."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User

from coaching.practice.faults.fault import Fault
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session, Turn, TurnStatus
from tests.conftest import MakeUser
from tests.live_sage import LiveSage, SocketClient, open_socket, text_of
from tests.requests.browsers import Browser, browser_of

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = "/admin/sessions_app/turn/"


async def staff_with(make_user: MakeUser, *codenames: str) -> User:
    member = await in_database(make_user, "staff", is_staff=True)
    await in_database(lambda: member.user_permissions.set(Permission.objects.filter(codename__in=codenames)))
    return member


async def fail(practice: PracticeServer, client: SocketClient) -> Turn:
    """Say something that the model refuses; return the failed turn."""
    practice.faults.push(Fault(kind="status", status=400, message="nonsense"))
    await client.send(type="message", text="Hello")
    await client.until("done")
    turn = await in_database(Turn.unscoped.latest, "started_at")
    assert turn.status == TurnStatus.FAILED
    return turn


async def answer_again(browser: Browser, *turns: Turn) -> str:
    """Choose the action for these turns; return the list with its messages."""
    await browser.post(TURNS, {"action": "answer_again", "_selected_action": str(turns[0].id)})
    return (await browser.get(TURNS)).text


async def test_a_failed_turn_is_answered_again_on_the_persons_open_page(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, make_user: MakeUser
) -> None:
    staff = await staff_with(make_user, "view_turn", "change_turn")
    async with open_socket(live_sage, session.id, cookie) as client, browser_of(staff, live_sage) as browser:
        await client.next_frame()
        turn = await fail(practice, client)
        practice.script(["Here I am."])
        await answer_again(browser, turn)
        frames = await client.until("done")
    assert text_of(frames) == "Here I am."
    answered = await in_database(Turn.unscoped.latest, "started_at")
    assert (answered.status, answered.id != turn.id) == (TurnStatus.COMPLETED, True)
    entry = await in_database(LogEntry.objects.get)
    assert (entry.object_id, entry.user_id) == (str(turn.id), staff.pk)


async def test_a_turn_is_not_answered_again_once_the_conversation_has_gone_on(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, make_user: MakeUser
) -> None:
    staff = await staff_with(make_user, "view_turn", "change_turn")
    async with open_socket(live_sage, session.id, cookie) as client, browser_of(staff, live_sage) as browser:
        await client.next_frame()
        turn = await fail(practice, client)
        practice.script(["Hello."])
        await client.send(type="message", text="Hello?")
        await client.until("done")
        await answer_again(browser, turn)
        completed = await in_database(Turn.unscoped.latest, "started_at")
        await answer_again(browser, completed)
    assert await in_database(Turn.unscoped.count) == 2
    assert len(practice.requests) == 2
    assert not await in_database(LogEntry.objects.exists)


async def test_nobody_answers_again_without_the_permission_to_change_turns(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, make_user: MakeUser
) -> None:
    staff = await staff_with(make_user, "view_turn")
    async with open_socket(live_sage, session.id, cookie) as client, browser_of(staff, live_sage) as browser:
        await client.next_frame()
        turn = await fail(practice, client)
        assert "Answer again" not in await answer_again(browser, turn)
    assert await in_database(Turn.unscoped.count) == 1
