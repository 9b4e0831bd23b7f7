"""`forget_lines` on a real socket: the card shows what goes, and a yes strikes it."""

import json
import re
from datetime import UTC, date, datetime

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from django.utils.html import strip_tags
from django.utils.translation import gettext

from coaching.context.brief_lines import corrected_text
from coaching.engine.errors import ToolError
from coaching.files.selectors import read_file, read_versions
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.models import MadeBy
from coaching.practice.script import Reply, ToolUse
from coaching.practice.server import PracticeServer
from coaching.tools.forget_lines import FORGET_LINES, MOST_LINES, NOTHING
from coaching.tools.going_lines import GoingLines, details_of, lines_going
from coaching.tools.save_file import SAVE_FILE
from coaching.transcript.going_lines import going_shown
from sessions_app.brief_corrections import MAX_CORRECTIONS, correct_brief
from sessions_app.briefs import BRIEFS_AT_ONCE, corrections_of, newest_briefs_with
from sessions_app.database import in_database
from sessions_app.models import BriefCorrection, Message, Session, SessionBrief, ToolCallRecord
from sessions_app.turn_records import CARD_DETAILS, UNTIL_ANSWERED
from tests.jobs.conftest import add_turn, opened_session
from tests.live_sage import LiveSage, open_socket
from tests.sockets.questions import results_in
from tests.tools.committing_context import CommittingContext

pytestmark = pytest.mark.django_db(transaction=True)

TOM, WORK = "You left Tom in March [1]", "You want to work less [2]"
CALL = ToolUse("forget_lines", {"words": ["tom"]}, id="toolu_forget")


async def save(user: User, file_type: str, content: str, **given: str) -> None:
    context = CommittingContext(user_id=user.pk, tool_use_id=f"toolu_{file_type}")
    text = json.dumps({"file_type": file_type, "content": content, **given})
    assert not (await SAVE_FILE.run(context, SAVE_FILE.parse(text))).is_error


def make_brief(session: Session, *lines: str) -> None:
    text = "\n".join(f"- {line}" for line in lines)
    SessionBrief.unscoped.create(session=session, version=1, text=text, covers_from=1, covers_until=2)


def headings_in(page: str) -> list[tuple[str, str]]:
    """Return the words above the lines that would go, and where they lead."""
    found = re.findall(r'<p id="call-[^"]*-from-\d+">(.*?)</p>', page)
    return [(strip_tags(each), each.split('href="')[1].split('"')[0]) for each in found]


def make_briefs(user: User, number: int) -> None:
    for _ in range(number):
        session = Session.unscoped.create(user=user)
        make_brief(session, TOM)
        correct_brief(
            user_id=user.pk, session_id=session.id, words="", finish=corrected_text, line=WORK, is_strike=True
        )


def make_step(user: User) -> int:
    new = NewAction(client_id=own_client(user.pk).id, title="Fetch the books from Tom")
    return propose(user_id=user.pk, new=new, made_by=MadeBy.USER, is_accepted=True).pk


async def test_a_yes_strikes_each_line_and_says_what_stays(
    live_sage: LiveSage,
    practice: PracticeServer,
    session: Session,
    cookie: str,
    user: User,
    other_user: User,
) -> None:
    began = datetime(2026, 3, 14, 12, tzinfo=UTC)
    earlier = await in_database(Session.unscoped.create, user=user, title="In March", started_at=began)
    anothers = await in_database(Session.unscoped.create, user=other_user)
    await in_database(make_brief, earlier, TOM, WORK)
    await in_database(make_brief, anothers, TOM)
    await save(user, "sage-context", "Lives in Bonn.\n\n- Was married to Tom.")
    await save(other_user, "sage-context", "Was married to Tom.")
    await save(user, "domain", "Tom has the children on Fridays.", file_name="relationships")
    step = await in_database(make_step, user)
    practice.script([Reply.of(CALL), "It's gone."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Please forget Tom.")
        frames = await client.until("done")
        [asked] = [frame["confirm"] for frame in frames if "confirm" in frame]
        assert asked["tool"] == "forget_lines"
        assert asked["lines"] == [
            {"page": "sage/context.md", "lines": ["Was married to Tom."]},
            {
                "session": str(earlier.id),
                "kind": "open_conversation",
                "title": "In March",
                "day": "2026-03-14",
                "lines": ["You left Tom in March"],
            },
        ]
        browser = Browser()
        await in_database(browser.force_login, user)
        page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
        assert '<li dir="auto">Was married to Tom.</li>' in page
        assert '<li dir="auto">You left Tom in March</li>' in page
        assert headings_in(page) == [
            ("On Sage’s page about you Context:", "/files/sage/context.md"),
            ("What Sage remembers of In March, 14 March 2026:", f"/chat/{earlier.id}/brief/"),
        ]
        await client.send(type="answer", toolUseId=CALL.id, value={"accept": True})
        await client.until("done")
    [answered] = results_in(practice, 1)
    result = json.loads(answered["content"])
    assert (result["lines_struck"], result["pages_changed"]) == (2, ["sage/context.md"])
    assert result["pages_that_still_say_it"] == ["life-map/relationships.md"]
    assert [each["id"] for each in result["steps_that_still_say_it"]] == [step]
    assert "until they delete the conversation" in result["what_stays"]

    found = await in_database(read_file, user_id=user.pk, path="sage/context.md")
    assert "Lives in Bonn." in found.text
    assert "Tom" not in found.text
    assert len(await in_database(read_versions, user_id=user.pk, path="sage/context.md")) == 2
    [brief] = await in_database(list, SessionBrief.of(user.pk).filter(session=earlier))
    assert brief.corrected_text == f"- {WORK}"
    theirs = await in_database(read_file, user_id=other_user.pk, path="sage/context.md")
    assert "Tom" in theirs.text
    assert await in_database(corrections_of, anothers) == []

    # The next conversation knows the page without the line.
    later = await in_database(Session.unscoped.create, user=user)
    async with open_socket(live_sage, later.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Good morning.")
        await client.until("done")
    request = json.dumps(practice.requests[-1].body["messages"])
    assert "Lives in Bonn." in request
    assert "Was married" not in request

    # Nothing keeps the lines that the card showed.
    page = (await in_database(browser.get, f"/chat/{session.id}/")).content.decode()
    assert "Was married" not in page
    call = await in_database(ToolCallRecord.of(user.pk).get, tool_use_id=CALL.id)
    assert "Was married" not in json.dumps(call.metadata)


def test_a_conversation_without_a_title_is_called_by_its_kind() -> None:
    details = details_of([GoingLines(lines=["Tom."], session="1", kind="open_day", day="2026-03-14")])
    with translation.override("de"):
        [shown] = going_shown(details)
        assert shown.title == gettext("Open the day") != "Open the day"
    assert (shown.day, shown.lines, shown.page) == (date(2026, 3, 14), ["Tom."], None)
    assert going_shown({}) == []


async def test_a_card_that_has_waited_since_an_older_version_is_shown_and_answered(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await save(user, "sage-patterns", "Tom again.\n\nTom called.")
    practice.script([Reply.of(CALL), "Done."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Please forget Tom.")
        await client.until("done")
        record = await in_database(ToolCallRecord.of(user.pk).get, tool_use_id=CALL.id)
        record.metadata[CARD_DETAILS][UNTIL_ANSWERED] = "Tom again."
        await in_database(record.save)
        (shown,) = going_shown(record.metadata[CARD_DETAILS])
        assert (shown.lines, shown.page, shown.session_id) == (["Tom again."], None, "")
        await client.send(type="answer", toolUseId=CALL.id, value={"accept": True})
        await client.until("done")
    found = await in_database(read_file, user_id=user.pk, path="sage/patterns.md")
    assert ("Tom again." in found.text, "Tom called." in found.text) == (False, True)


async def test_a_no_forgets_nothing(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    await save(user, "sage-patterns", "Tom again.")
    arc = ToolUse("enter_structured_arc", {"arc": "open_day"}, id="toolu_arc")
    practice.script([Reply.of(arc, CALL), "As you like."])  # held with an arc's beginning, too
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Please forget Tom.")
        await client.until("done")
        await client.send(type="answer", toolUseId=CALL.id, value={"accept": False})
        await client.until("done")
    found = await in_database(read_file, user_id=user.pk, path="sage/patterns.md")
    assert "Tom again." in found.text
    call = await in_database(ToolCallRecord.of(user.pk).get, tool_use_id=CALL.id)
    assert "Tom again" not in json.dumps(call.metadata)


async def test_what_is_written_while_the_card_waits_stays_and_a_deleted_conversation_is_left_out(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    deleted = await in_database(Session.unscoped.create, user=user, deleted_at=timezone.now())
    await in_database(make_brief, deleted, TOM)
    earlier = await in_database(Session.unscoped.create, user=user)
    await in_database(make_brief, earlier, "Tom's Großmutter is ill")
    call = ToolUse("forget_lines", {"words": ["Großmutter", "Tom"]}, id=CALL.id)
    practice.script([Reply.of(call), "It's gone."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Forget his grandmother, please.")
        await client.until("done")
        await save(user, "sage-context", "The Großmutter is well again.")
        await client.send(type="answer", toolUseId=CALL.id, value={"accept": True})
        await client.until("done")
    [answered] = results_in(practice, 1)
    result = json.loads(answered["content"])
    assert (result["lines_struck"], result["pages_changed"]) == (1, [])
    assert result["pages_that_still_say_it"] == ["sage/context.md"]
    assert await in_database(corrections_of, deleted) == []


async def test_words_that_nothing_has_or_too_much_are_refused_before_anybody_is_asked(user: User) -> None:
    assert FORGET_LINES.check is not None
    context = CommittingContext(user_id=user.pk)
    given = FORGET_LINES.parse(json.dumps({"words": ["Tom"]}))
    with pytest.raises(ToolError, match=NOTHING[:40]):
        await FORGET_LINES.check(context, given)
    await save(user, "sage-context", "\n".join(f"Tom, {number}" for number in range(MOST_LINES + 1)))
    with pytest.raises(ToolError, match="More than 30 lines"):
        await FORGET_LINES.check(context, given)


@pytest.mark.slow
def test_a_common_word_is_read_no_further_than_to_the_limit(user: User) -> None:
    assert FORGET_LINES.check is not None
    context = CommittingContext(user_id=user.pk)
    given = FORGET_LINES.parse(json.dumps({"words": ["Tom"]}))
    make_briefs(user, 3)
    with CaptureQueriesContext(connection) as few:
        async_to_sync(FORGET_LINES.check)(context, given)
    make_briefs(user, 17)
    with CaptureQueriesContext(connection) as more:
        details = async_to_sync(FORGET_LINES.check)(context, given)
    assert len(lines_going(details)) == 20
    assert len(more) == len(few), "what was said about the briefs is read together"
    make_briefs(user, 25)
    for session in Session.unscoped.bulk_create([Session(user=user) for _ in range(2 * BRIEFS_AT_ONCE)]):
        make_brief(session, TOM)
    with CaptureQueriesContext(connection) as most, pytest.raises(ToolError, match="More than 30 lines"):
        async_to_sync(FORGET_LINES.check)(context, given)
    assert len(most) <= len(few), "the second batch isn't read"


def test_briefs_beyond_the_first_batch_are_found_too(user: User, other_user: User) -> None:
    make_brief(Session.unscoped.create(user=other_user), TOM)
    sessions = Session.unscoped.bulk_create([Session(user=user) for _ in range(BRIEFS_AT_ONCE + 2)])
    for session in sessions:
        make_brief(session, TOM)
    found = newest_briefs_with(user_id=user.pk, words=["tom"])
    assert [brief.session for brief, _ in found] == sessions
    one = newest_briefs_with(user_id=user.pk, words=["tom"], sessions=[sessions[-1].id])
    assert [brief.session for brief, _ in one] == [sessions[-1]]


async def test_done_again_after_an_interruption_it_finds_what_is_left(user: User) -> None:
    await save(user, "sage-context", "Tom, and nobody else.")
    given = FORGET_LINES.parse(json.dumps({"words": ["ｔｏｍ"]}))
    for expected in (1, 0):
        context = CommittingContext(user_id=user.pk, tool_use_id="toolu_forget")
        result = json.loads((await FORGET_LINES.run(context, given)).content)
        assert result["lines_struck"] == expected
    found = await in_database(read_file, user_id=user.pk, path="sage/context.md")
    assert "Tom" not in found.text


async def opening_of_another(sage: LiveSage, practice: PracticeServer, user: User, cookie: str) -> str:
    """Begin another conversation and return what the model was sent."""
    later = await in_database(Session.unscoped.create, user=user)
    practice.script(["Good morning."])
    async with open_socket(sage, later.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Good morning.")
        await client.until("done")
    return json.dumps(practice.requests[-1].body["messages"])


async def test_no_opening_quotes_what_was_forgotten(
    live_sage: LiveSage, practice: PracticeServer, session: Session, cookie: str, user: User
) -> None:
    earlier = await in_database(
        opened_session, user, "I'm allergic to penicillin, and a nurse.", "I see.", "Night.", "Good night."
    )
    given = "You work as a nurse. You told Sage of your allergy to penicillin."
    summed_up = await in_database(Session.unscoped.create, user=user, summary=given)
    await in_database(add_turn, summed_up, "Hello.", "Hello.")
    await save(user, "sage-context", "A nurse.\n\n- Allergic to penicillin.")
    assert (await opening_of_another(live_sage, practice, user, cookie)).count("penicillin") == 3
    call = ToolUse("forget_lines", {"words": ["Penicillin"]}, id=CALL.id)
    practice.script([Reply.of(call), "It's gone."])
    async with open_socket(live_sage, session.id, cookie) as client:
        await client.until("sync")
        await client.send(type="message", text="Please forget the penicillin.")
        await client.until("done")
        await client.send(type="answer", toolUseId=CALL.id, value={"accept": True})
        await client.until("done")
    request = await opening_of_another(live_sage, practice, user, cookie)
    assert "penicillin" not in request
    assert "You work as a nurse." in request
    assert [each.line for each in await in_database(corrections_of, earlier)] == ["penicillin"]
    [said] = await in_database(list, Message.of(user.pk).filter(content__startswith="I'm allergic"))
    assert "penicillin" in said.content, "what was said stays in its conversation"


async def test_what_only_an_opening_quotes_can_be_forgotten_too(user: User, other_user: User) -> None:
    assert FORGET_LINES.check is not None
    await in_database(opened_session, other_user, "I see a therapist.", "I see.")
    earlier = await in_database(opened_session, user, "Tomorrow I see my therapist.", "I see.")
    asking = await in_database(opened_session, user, "Forget the therapist and Tom, please.", "Gladly.")
    context = CommittingContext(user_id=user.pk, session_id=asking.id, tool_use_id="toolu_forget")
    given = FORGET_LINES.parse(json.dumps({"words": ["therapist", "tom"]}))
    [going] = lines_going(await FORGET_LINES.check(context, given))
    assert (going.session, going.lines) == (str(earlier.id), ["Tomorrow I see my therapist."])
    result = json.loads((await FORGET_LINES.run(context, given)).content)
    assert (result["lines_struck"], result["conversations_no_longer_quoted"]) == (0, 2)
    assert [each.line for each in await in_database(corrections_of, earlier)] == ["therapist"]
    theirs = await in_database(BriefCorrection.of(other_user.pk).count)
    assert theirs == 0


async def test_where_there_is_no_room_for_another_strike_the_result_says_so(user: User) -> None:
    sessions = [await in_database(opened_session, user, "I see a therapist.", "I see.") for _ in range(2)]
    for number in range(MAX_CORRECTIONS - 1):
        line = f"Line {number}"
        await in_database(
            correct_brief,
            user_id=user.pk,
            session_id=sessions[0].id,
            words="",
            finish=corrected_text,
            line=line,
            is_strike=True,
        )
    context = CommittingContext(user_id=user.pk, tool_use_id="toolu_forget")
    given = FORGET_LINES.parse(json.dumps({"words": ["therapist"]}))
    result = json.loads((await FORGET_LINES.run(context, given)).content)
    assert (result["conversations_no_longer_quoted"], result["conversations_still_quoted"]) == (1, 1)
    context = CommittingContext(user_id=user.pk, tool_use_id="toolu_again")
    again = json.loads((await FORGET_LINES.run(context, given)).content)
    assert (again["conversations_no_longer_quoted"], again["conversations_still_quoted"]) == (0, 1)
