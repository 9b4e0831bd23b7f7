"""A user's edit keeps everything else in the file and has the side effects of SPEC."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import MAX_CONTENT_CHARACTERS, FileDraft, build_draft
from coaching.files.edits import build_edit, editable_of, merge_attributes
from coaching.files.errors import FileMoved, FileRefused
from coaching.files.frontmatter import parse_file
from coaching.files.selectors import FileText, read_file
from coaching.files.store import StoredFile, restore_version, store_below_newest, store_edit
from coaching.models import (
    Capture,
    DayPlan,
    FileSource,
    FileType,
    Profile,
    PulseRating,
    ReflectionPrompt,
    UserFile,
    UserFileVersion,
)
from sessions_app.database import in_database
from tests.files.auditor import audit_files
from tests.files.storing import store_file

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=2)
ZONE = ZoneInfo("Europe/Berlin")

in_a_database = pytest.mark.django_db(transaction=True)


def found(text: str, *, path: str = "life-map/career.md", file_type: FileType = FileType.DOMAIN) -> FileText:
    return FileText(
        file=UserFile(path=path, file_type=file_type, version_number=1),
        version=UserFileVersion(number=1, content=text),
    )


def edited(before: FileText, body: str | None = None, attributes: FileAttributes | None = None) -> FileDraft:
    held = editable_of(before)
    return build_edit(
        before,
        body=held.body if body is None else body,
        attributes=held.attributes if attributes is None else attributes,
        now=LATER,
        timezone=ZONE,
    )


def test_an_edit_keeps_every_entry_that_no_field_stands_for() -> None:
    before = found(
        "---\ntype: domain\nupdated: 2026-11-01\nstatus: good\nupdated_rating: 9\nenergy: high\n"
        "origin: {app: old, ids: [1, 2.5, null]}\ndate: someday\nearlier-name: 'ja: nein'\n---\n\nText\n"
    )
    held = editable_of(before)
    assert held.attributes == FileAttributes.model_validate({"status": "good"})
    draft = edited(before, "New text\r\nsecond line", FileAttributes(preview_line="One line"))
    frontmatter, body = parse_file(draft.text)
    assert (
        frontmatter
        == draft.frontmatter
        == {
            "type": "domain",
            "updated": "2026-11-23",
            "preview_line": "One line",
            "updated_rating": 9,
            "energy": "high",
            "origin": {"app": "old", "ids": [1, 2.5, None]},
            "date": "someday",
            "earlier-name": "ja: nein",
        }
    )
    assert body == "New text\nsecond line\n"
    assert draft.attributes == FileAttributes(preview_line="One line")
    assert draft.cleared == {"status"}


def test_frontmatter_that_nobody_can_read_stays_word_for_word() -> None:
    head = "---\nstatus: &a good\nother: *a\n---\n"
    before = found(f"{head}\nText\n")
    assert not editable_of(before).has_fields
    assert edited(before, "New").text == f"{head}\nNew\n"


def test_a_file_without_frontmatter_gets_its_own() -> None:
    draft = edited(found("Only words\n"))
    assert draft.text == "---\ntype: domain\nupdated: 2026-11-23\n---\n\nOnly words\n"


@pytest.mark.parametrize(
    ("path", "file_type", "day"),
    [
        ("daily-logs/2026-11-03.md", FileType.DAILY_LOG, "2026-11-03"),
        ("captures/2026-11-03-081500.md", FileType.CAPTURE, "2026-11-03"),
        ("reflections/2026-11-03-enough.md", FileType.REFLECTION_PROMPT, "2026-11-03"),
        ("captures/2026-99-99-081500.md", FileType.CAPTURE, "2026-11-23"),
    ],
)
def test_the_day_that_a_file_is_of_stays(path: str, file_type: FileType, day: str) -> None:
    assert edited(found("x", path=path, file_type=file_type)).frontmatter["date"] == day
    told = found("---\ndate: 2020-02-02\n---\n\nx", path=path, file_type=file_type)
    assert edited(told).frontmatter["date"] == "2020-02-02"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x" * (MAX_CONTENT_CHARACTERS + 1), "100,001 characters; 100,000 is the most"),
        ("a\x00b", "character 2 is NUL"),
        ("ab\ud800", "character 3 is a lone surrogate"),
        ("---\nstatus: good\n---\nText", "starts with a block"),
    ],
)
def test_a_text_that_does_not_fit_is_refused_with_the_reason(body: str, message: str) -> None:
    with pytest.raises(FileRefused, match=message):
        edited(found("x"), body)


def test_a_user_may_empty_a_file_but_not_a_question() -> None:
    assert edited(found("x"), "  \r\n ").body == ""
    prompt = found("x", path="reflections/2026-11-03-x.md", file_type=FileType.REFLECTION_PROMPT)
    with pytest.raises(FileRefused, match="can’t be empty"):
        edited(prompt, " ")


def test_an_attribute_of_another_type_is_refused() -> None:
    with pytest.raises(FileRefused, match="energy"):
        edited(found("x"), attributes=FileAttributes(energy="high"))


def test_attributes_merge_each_for_itself() -> None:
    base = FileAttributes(intention="a", priorities=["one"], energy="low")
    mine = FileAttributes(intention="b", priorities=["one"])
    theirs = FileAttributes(intention="c", priorities=["one", "two"], energy="low")
    assert merge_attributes(base, mine, theirs) == FileAttributes(intention="b", priorities=["one", "two"])


async def write(user: User, file_type: FileType, content: str = "Text", **attributes: object) -> StoredFile:
    name = attributes.pop("name", None)
    draft = build_draft(
        file_type=file_type,
        file_name=str(name) if name else None,
        content=content,
        attributes=FileAttributes.model_validate(attributes),
        now=NOW,
        timezone=ZONE,
    )
    return await store_file(user_id=user.pk, draft=draft, source=FileSource.TOOL)


def edit(user: User, path: str, body: str | None = None, **attributes: object) -> StoredFile:
    """Edit the newest version; attributes that aren't given stay, None removes one."""
    newest = read_file(user_id=user.pk, path=path)
    given = {**editable_of(newest).attributes.given(), **attributes}
    draft = edited(newest, body, FileAttributes.model_validate(given))
    return store_edit(user_id=user.pk, draft=draft, expected_version=newest.version.number)


@pytest.mark.slow
@in_a_database
async def test_an_edit_is_a_version_of_the_users_and_its_bytes_are_stored(
    each_storage: str, user: User
) -> None:
    path = (await write(user, FileType.DOMAIN, name="career", status="okay")).path
    stored = await in_database(edit, user, path, "Mine", status="good")
    assert (stored.version, stored.is_new_version) == (2, True)
    newest = await in_database(read_file, user_id=user.pk, path=path)
    assert (newest.version.source, newest.version.session_id) == (FileSource.USER, None)
    assert newest.file.frontmatter["status"] == "good"
    await in_database(audit_files, user.pk)


@in_a_database
async def test_only_a_changed_rating_is_a_rating(disk_storage: object, user: User) -> None:
    path = (await write(user, FileType.DOMAIN, name="career", updated_rating=2, status="okay")).path
    await in_database(edit, user, path, "A word mended")
    assert await in_database(PulseRating.unscoped.count) == 1
    await in_database(edit, user, path, updated_rating=4)
    ratings = await in_database(
        lambda: list(PulseRating.unscoped.order_by("pk").values_list("domain", "rating", "rated_at"))
    )
    assert ratings == [("career", 2, NOW), ("career", 4, LATER)]
    await in_database(edit, user, path, updated_rating=None)
    assert await in_database(PulseRating.unscoped.count) == 2


@in_a_database
async def test_an_edited_day_plan_changes_the_day_by_what_was_edited(
    disk_storage: object, user: User
) -> None:
    path = (await write(user, FileType.DAY_PLAN, intention="Slow", priorities=["Walk", "Write"])).path
    plan = await in_database(DayPlan.unscoped.get)
    plan.priorities[0]["is_done"] = True
    plan.intention = "As home has it"
    await in_database(plan.save)
    await in_database(edit, user, path, "Other words")
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.intention, len(plan.priorities)) == ("As home has it", 2), "what wasn't edited stays"
    await in_database(edit, user, path, priorities=["Rest", "Walk"])
    plan = await in_database(DayPlan.unscoped.get)
    assert [(one["text"], one["is_done"]) for one in plan.priorities] == [("Rest", False), ("Walk", True)]
    await in_database(edit, user, path, intention=None, priorities=None)
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.date, plan.intention, plan.priorities) == (date(2026, 11, 21), "", [])
    await in_database(restore_version, user_id=user.pk, path=path, number=1, now=LATER, timezone=ZONE)
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.intention, len(plan.priorities)) == ("Slow", 2)


@in_a_database
async def test_mending_a_word_repeats_nothing_that_happened(disk_storage: object, user: User) -> None:
    await write(user, FileType.CAPTURE, "A thought")
    log = await write(user, FileType.DAILY_LOG, energy="low")
    await in_database(Capture.unscoped.update, folded_on=None)
    check_in = await write(user, FileType.CHECK_IN, themes=["Rest"])
    due = date(2030, 1, 1)
    await in_database(Profile.unscoped.update, next_checkin_on=due)
    prompt = await write(user, FileType.REFLECTION_PROMPT, "What is enouhg?", name="Enough")
    await in_database(ReflectionPrompt.unscoped.update, answered_at=NOW)
    for path in (log.path, check_in.path):
        await in_database(edit, user, path, "Mended")
    await in_database(edit, user, prompt.path, "What is enough?")
    assert await in_database(Capture.unscoped.filter(folded_on=None).count) == 1
    assert (await in_database(Profile.unscoped.get, user=user)).next_checkin_on == due
    question = await in_database(ReflectionPrompt.unscoped.get)
    assert (question.text, question.answered_at) == ("What is enough?", NOW)


@in_a_database
async def test_an_edit_of_what_is_no_longer_the_newest_changes_nothing(
    disk_storage: object, user: User
) -> None:
    path = (await write(user, FileType.OVERVIEW, "One")).path
    opened = await in_database(read_file, user_id=user.pk, path=path)
    await write(user, FileType.OVERVIEW, "Two")
    with pytest.raises(FileMoved):
        await in_database(
            store_edit, user_id=user.pk, draft=edited(opened, "Mine"), expected_version=opened.version.number
        )
    texts = await in_database(audit_files, user.pk)
    assert [text.splitlines()[-1] for text in texts[path]] == ["One", "Two"]


@in_a_database
async def test_a_text_set_aside_is_a_version_and_the_newest_holds_on(each_storage: str, user: User) -> None:
    path = (await write(user, FileType.DAY_PLAN, "Sage's", intention="Slow")).path
    newest = await in_database(read_file, user_id=user.pk, path=path)
    mine = edited(newest, "Mine", FileAttributes(intention="Fast"))
    stored = await in_database(store_below_newest, user_id=user.pk, draft=mine, newest=newest)
    assert stored.version == 3
    texts = (await in_database(audit_files, user.pk))[path]
    assert texts[0] == texts[2]
    assert texts[1] == mine.text
    assert (await in_database(DayPlan.unscoped.get)).intention == "Slow"
    with pytest.raises(FileMoved):
        await in_database(store_below_newest, user_id=user.pk, draft=mine, newest=newest)


@pytest.mark.slow
@in_a_database
@pytest.mark.parametrize("round_", range(3))
async def test_sage_and_the_user_at_once_lose_no_version(
    disk_storage: object, user: User, round_: int
) -> None:
    path = (await write(user, FileType.OVERVIEW, "Begin")).path
    accepted: list[str] = ["Begin"]
    refused: list[str] = []

    async def as_sage(number: int) -> None:
        await write(user, FileType.OVERVIEW, f"Sage {number}")
        accepted.append(f"Sage {number}")

    async def as_user(number: int) -> None:
        try:
            await in_database(edit, user, path, f"User {number}")
            accepted.append(f"User {number}")
        except FileMoved:
            refused.append(f"User {number}")

    await asyncio.gather(*(writer(number) for number in range(10) for writer in (as_sage, as_user)))
    texts = (await in_database(audit_files, user.pk))[path]
    assert sorted(text.splitlines()[-1] for text in texts) == sorted(accepted)
    assert len(accepted) + len(refused) == 21
    # A refused writer still has the text, and saves it over the newer version.
    for text in refused:
        await in_database(edit, user, path, text)
    texts = (await in_database(audit_files, user.pk))[path]
    assert sorted(text.splitlines()[-1] for text in texts) == sorted(accepted + refused)
