"""What a person does with next steps by frames and by the form; whoever reads the conversation is told."""

from datetime import date
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import ActionItem, MadeBy, StepChange
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browsers import browser_of
from tests.live_sage import LiveSage, SocketClient, open_socket
from tests.sockets.questions import rows

pytestmark = pytest.mark.django_db(transaction=True)

SAID = "I’ll call Mum soon, before bed."
CALL = ToolUse("create_action_item", {"title": "Call Mum", "quote": "call Mum"}, id="toolu_step")


def add_step(user: User, **values: Any) -> ActionItem:
    new = NewAction(client_id=own_client(user.pk).pk, title="Walk", **values)
    return propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True)


async def promise(client: SocketClient, practice: PracticeServer) -> int:
    """Have a step written by a promise; return its id."""
    practice.script([Reply.of(CALL), "It is noted."])
    await client.until("sync")
    await client.send(type="message", text=SAID)
    frames = await client.until("done")
    (told,) = [frame["step"] for frame in frames if "step" in frame]
    step_id: int = told["id"]
    return step_id


async def changed(client: SocketClient, step_id: int, action: str, **given: Any) -> dict[str, Any]:
    await client.send(type="step", id=step_id, action=action, **({"input": given} if given else {}))
    told: dict[str, Any] = (await client.until("step"))[-1]["step"]
    return told


async def test_a_step_is_edited_done_and_undone_by_frames_and_every_tab_is_told(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str
) -> None:
    async with (
        open_socket(live_sage, session.id, cookie) as client,
        open_socket(live_sage, session.id, cookie, subprotocols=()) as page,
    ):
        step_id = await promise(client, practice)
        due = {"due_date": "2026-12-03", "due_time": "18:00", "repeats": "weekly"}
        told = await changed(client, step_id, "edit", title="Call Mum back", **due)
        assert told == {
            "id": step_id, "state": "open", "title": "Call Mum back", "due": "2026-12-03", "quote": SAID,
            "toolUseId": "toolu_step",
        }  # fmt: skip
        await page.html_until("Call Mum back")
        cleared = await changed(client, step_id, "edit", due_date=None, due_time=None, repeats=None)
        assert (cleared["title"], cleared["due"]) == ("Call Mum back", None)
        done = await changed(client, step_id, "done", outcome="We talked for an hour.")
        assert done["state"] == "done"
        await page.html_until("is-done")
        undone = await changed(client, step_id, "undo")
        assert undone["state"] == "open"
        dropped = await changed(client, step_id, "drop", outcome="She is away.")
        assert dropped["state"] == "dropped"
    (step,) = await rows(ActionItem.unscoped.all())
    assert (step.state, step.outcome) == ("dropped", "She is away.")
    changes = await rows(StepChange.unscoped.order_by("id"))
    assert [(each.kind, each.session_id, each.outcome) for each in changes] == [
        ("moved", None, ""),
        ("dropped", session.id, "She is away."),
    ]


async def test_frames_that_name_what_they_were_shown_do_nothing_to_what_is_otherwise(
    live_sage: LiveSage, session: Session, cookie: str, user: User
) -> None:
    step = await in_database(add_step, user, due_date=date(2031, 12, 1), repeats="daily")
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        done = await changed(client, step.pk, "done", occurrence="2031-12-01")
        assert (done["state"], done["due"]) == ("open", "2031-12-02")
        for action, given, says in [
            ("done", {"occurrence": "2031-12-01"}, "already marked this as done"),
            ("undo", {"state": "done"}, "changed since then"),
            ("undo", {"due_date": "2031-12-01"}, "changed since then"),
        ]:
            await client.send(type="step", id=step.pk, action=action, input=given)
            assert says in (await client.until("error"))[-1]["error"]
        shown = {"state": "open", "due_date": "2031-12-02"}
        assert (await changed(client, step.pk, "undo", **shown))["due"] == "2031-12-01"
        await client.send(type="step", id=step.pk, action="undo", input=shown)
        assert "changed since then" in (await client.until("error"))[-1]["error"]
    (step,) = await rows(ActionItem.unscoped.all())
    assert (step.state, step.due_date) == ("open", date(2031, 12, 1))


async def test_undo_by_the_form_marks_the_chip_of_the_step_until_it_is_restored(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    browser = await in_database(browser_of, user)
    async with open_socket(live_sage, session.id, cookie) as client:
        step_id = await promise(client, practice)
        address = f"/library/actions/{step_id}/undo/"
        answer = await in_database(browser.post, address)
        assert answer.headers["Location"] == f"/library/actions/{step_id}/"
        assert (await client.until("step"))[-1]["step"]["state"] == "dismissed"
        again = await in_database(browser.post, address, follow=True)
        assert "There’s nothing to undo here." in again.content.decode()
        page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
        assert "is-undone" in page
        assert f"/library/actions/{step_id}/" not in page
        await client.send(type="step", id=step_id, action="undo")
        assert "nothing to undo here" in (await client.until("error"))[-1]["error"]
        await in_database(browser.post, f"/library/actions/{step_id}/", {"do": "restore"})
        assert (await client.until("step"))[-1]["step"]["state"] == "open"
    page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
    assert "is-undone" not in page
    assert f"/library/actions/{step_id}/" in page


async def test_a_chip_shows_its_step_as_it_is_now(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    browser = await in_database(browser_of, user)
    async with open_socket(live_sage, session.id, cookie) as client:
        step_id = await promise(client, practice)
        form = {"title": "Write to Mum", "priority": "medium", "due_date": "2026-12-04"}
        await in_database(browser.post, f"/library/actions/{step_id}/", form)
        assert (await client.until("step"))[-1]["step"]["title"] == "Write to Mum"
    page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
    assert "Write to Mum</strong>" in page
    assert "Friday, 4 December 2026" in page
    await in_database(browser.post, f"/library/actions/{step_id}/", {"do": "delete"})
    page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
    assert "Call Mum</strong>" in page, "what its call wrote"
    assert f"/library/actions/{step_id}/" not in page


async def test_what_is_wrong_in_a_frame_is_said_and_changes_nothing(
    live_sage: LiveSage, session: Session, cookie: str, user: User, other_user: User
) -> None:
    own = await in_database(add_step, user, due_date=date(2026, 12, 3))
    theirs = await in_database(add_step, other_user)
    before = await rows(ActionItem.unscoped.order_by("id").values())
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"id": own.pk, "action": "delete"}, "edit, done, drop, undo"),
        ({"id": own.pk}, "edit, done, drop, undo"),
        ({"id": own.pk, "action": ["done"]}, "edit, done, drop, undo"),
        ({"id": own.pk, "action": "edit", "input": {"state": "done"}}, "state"),
        ({"id": own.pk, "action": "edit", "input": {"title": " "}}, "title"),
        ({"id": own.pk, "action": "edit", "input": {"due_date": "soon"}}, "due_date"),
        ({"id": own.pk, "action": "edit", "input": {"due_date": "9999-12-31"}}, "between 1970 and 2199"),
        ({"id": own.pk, "action": "edit", "input": {"due_date": None, "repeats": "daily"}}, "needs a due"),
        ({"id": own.pk, "action": "edit", "input": {"repeats": "sometimes"}}, "repeats daily"),
        ({"id": own.pk, "action": "done", "input": "well"}, "input"),
        ({"id": own.pk, "action": "done", "input": {"outcome": "x" * 2_001}}, "outcome"),
        ({"id": own.pk, "action": "undo", "input": {"outcome": ""}}, "outcome"),
        ({"id": theirs.pk, "action": "done"}, "no longer exists"),
        ({"id": theirs.pk, "action": "undo"}, "no longer exists"),
        ({"id": theirs.pk, "action": "edit", "input": {"title": "Mine"}}, "no longer exists"),
        ({"id": 10**30, "action": "done"}, "no longer exists"),
        ({"id": True, "action": "done"}, "no longer exists"),
        ({"id": str(own.pk), "action": "done"}, "no longer exists"),
        ({"action": "done"}, "no longer exists"),
    ]
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        for frame, says in wrong:
            await client.send(type="step", **frame)
            assert says in (await client.until("error"))[-1]["error"], frame
        assert not [frame for frame in client.frames if "step" in frame]
    assert await rows(ActionItem.unscoped.order_by("id").values()) == before
