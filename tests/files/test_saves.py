"""A save keeps what it doesn't name, and a log links to the captures that it takes in."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import build_draft
from coaching.files.edits import build_edit, editable_of
from coaching.files.errors import FileRefused
from coaching.files.frontmatter import parse_file
from coaching.files.log_captures import HEADING, LinkedCapture, with_links
from coaching.files.objects import store_object
from coaching.files.selectors import read_file
from coaching.files.store import StoredFile, restore_version, save_file, store_edit
from coaching.files.types import AttributeName
from coaching.life.pulse import store_ratings
from coaching.models import (
    Capture,
    DayPlan,
    FileSource,
    FileType,
    LifeDomain,
    PulseRating,
    UserFile,
    UserFileVersion,
)
from sessions_app.database import in_database
from tests.files.auditor import audit_files
from tests.files.storing import store_file

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")
CAREER = "life-map/career.md"
LOG = "daily-logs/2026-11-21.md"

in_a_database = pytest.mark.django_db(transaction=True)
pytestmark = pytest.mark.usefixtures("disk_storage")


async def save(
    user: User,
    content: str = "Words.",
    *,
    file_type: FileType = FileType.DOMAIN,
    name: str | None = None,
    remove: tuple[AttributeName, ...] = (),
    now: datetime = NOW,
    **attributes: Any,
) -> StoredFile:
    draft = build_draft(
        file_type=file_type,
        file_name="career" if file_type == FileType.DOMAIN else name,
        content=content,
        attributes=FileAttributes.model_validate(attributes),
        remove=remove,
        now=now,
        timezone=ZONE,
    )
    return await store_file(user_id=user.pk, draft=draft, source=FileSource.TOOL)


async def put(user: User, path: str, text: str) -> None:
    """Store a text as from an import."""
    stored = await store_object(user_id=user.pk, data=text.encode())

    def write() -> None:
        file = UserFile.unscoped.create(
            user=user,
            path=path,
            file_type=FileType.DOMAIN,
            frontmatter=parse_file(text)[0],
            size=stored.size,
            sha256=stored.sha256,
            version_number=1,
        )
        UserFileVersion.unscoped.create(
            file=file,
            number=1,
            content=text,
            size=stored.size,
            sha256=stored.sha256,
            storage_key=stored.key,
            source=FileSource.IMPORT,
            created_at=timezone.now(),
        )

    await in_database(write)


async def text_of(user: User, path: str = CAREER) -> str:
    return (await in_database(read_file, user_id=user.pk, path=path)).text


async def ratings(user: User) -> list[int]:
    rated = PulseRating.unscoped.filter(user=user).order_by("pk").values_list("rating", flat=True)
    return await in_database(lambda: list(rated))


@in_a_database
async def test_a_casual_save_keeps_status_and_rating_and_rates_nothing_again(user: User) -> None:
    await save(user, status="in_crisis", updated_rating=1, preview_line="It burns")
    await save(user, "Talked about the week.")
    frontmatter, body = parse_file(await text_of(user))
    assert body == "Talked about the week.\n"
    assert frontmatter == {
        "type": "domain",
        "updated": "2026-11-21",
        "status": "in_crisis",
        "updated_rating": 1,
        "preview_line": "It burns",
    }
    assert await ratings(user) == [1], "only a rating that this save names is an event"
    file = await in_database(UserFile.unscoped.get, path=CAREER)
    assert file.frontmatter == frontmatter
    await save(user, "Better.", status="needs_attention")
    assert parse_file(await text_of(user))[0]["status"] == "needs_attention"
    assert parse_file(await text_of(user))[0]["updated_rating"] == 1
    await in_database(audit_files, user.pk)


@in_a_database
async def test_of_a_status_and_a_rating_that_contradict_each_other_the_newer_stays(user: User) -> None:
    await save(user, status="thriving", updated_rating=5, preview_line="Fine")
    await save(user, "Worse.", updated_rating=1)
    frontmatter = parse_file(await text_of(user))[0]
    assert frontmatter["updated_rating"] == 1
    assert frontmatter["preview_line"] == "Fine"
    assert "status" not in frontmatter
    await save(user, "Better.", status="good")
    frontmatter = parse_file(await text_of(user))[0]
    assert frontmatter["status"] == "good"
    assert "updated_rating" not in frontmatter
    assert await ratings(user) == [5, 1], "the series keeps all"


@in_a_database
async def test_a_status_that_a_newer_rating_contradicts_goes_with_any_save_and_can_be_said_again(
    user: User,
) -> None:
    async def rate(rating: int, after: timedelta) -> None:
        career = {LifeDomain.CAREER: rating}
        await in_database(
            store_ratings, user_id=user.pk, ratings=career, note="", session_id=None, rated_at=NOW + after
        )

    await save(user, status="thriving", updated_rating=5)
    await rate(1, timedelta(hours=1))
    again = await save(user, status="thriving", now=NOW + timedelta(hours=2))
    assert parse_file(await text_of(user))[0].get("status") == "thriving", "named anew"
    assert (again.version, await ratings(user)) == (2, [5, 1])
    await rate(2, timedelta(hours=3))
    once_more = await save(user, status="thriving", now=NOW + timedelta(hours=4))
    assert (once_more.version, once_more.is_new_version) == (3, True), "the same bytes, said at another time"
    await rate(1, timedelta(hours=5))
    await save(user, "Tired.", now=NOW + timedelta(hours=6))
    frontmatter = parse_file(await text_of(user))[0]
    assert "status" not in frontmatter
    zone, later = ZoneInfo("Europe/Berlin"), NOW + timedelta(hours=7)
    await in_database(UserFileVersion.of(user.pk).filter(number=1).update, created_at=NOW)
    await in_database(restore_version, user_id=user.pk, path=CAREER, number=1, now=later, timezone=zone)
    frontmatter = parse_file(text := await text_of(user))[0]
    assert "status" not in frontmatter, "a restored text doesn't say it anew"
    assert text.endswith("\n\nWords.\n")
    await in_database(audit_files, user.pk)


@in_a_database
async def test_what_is_taken_away_is_gone_and_nothing_else(user: User) -> None:
    await save(user, status="good", updated_rating=4, preview_line="Fine")
    await save(user, remove=("status", "preview_line"))
    frontmatter = parse_file(await text_of(user))[0]
    assert "status" not in frontmatter
    assert "preview_line" not in frontmatter
    assert frontmatter["updated_rating"] == 4
    with pytest.raises(FileRefused, match="status can't be both given and removed in one save"):
        await save(user, status="good", remove=("status",))
    with pytest.raises(FileRefused, match="energy doesn't belong to the type domain"):
        await save(user, remove=("energy",))


@in_a_database
async def test_removing_the_intention_empties_it_in_the_day_and_leaving_it_out_does_not(user: User) -> None:
    await save(user, file_type=FileType.DAY_PLAN, intention="Slow", priorities=["Walk"])
    await save(user, "Other words.", file_type=FileType.DAY_PLAN)
    assert (await in_database(DayPlan.unscoped.get)).intention == "Slow"
    assert parse_file(await text_of(user, "day-plans/2026-11-21.md"))[0]["intention"] == "Slow"
    await save(user, file_type=FileType.DAY_PLAN, remove=("intention",))
    plan = await in_database(DayPlan.unscoped.get)
    assert (plan.intention, [one["text"] for one in plan.priorities]) == ("", ["Walk"])


@in_a_database
async def test_a_file_of_one_day_keeps_the_date_that_it_came_with(user: User) -> None:
    await put(user, LOG, "---\ntype: daily-log\ndate: 2026-11-20\n---\n\nAfter midnight.\n")
    await save(user, "More.", file_type=FileType.DAILY_LOG)
    assert parse_file(await text_of(user, LOG))[0]["date"] == "2026-11-20"


@in_a_database
async def test_what_the_user_and_an_import_wrote_is_merged_with(user: User) -> None:
    await put(
        user, CAREER, "---\ntype: domain\nupdated: 2020-01-01\nstatus: so-so\nmood: grey\n---\n\nImported.\n"
    )
    opened = await in_database(read_file, user_id=user.pk, path=CAREER)
    edited = build_edit(
        opened,
        body="By hand.",
        attributes=FileAttributes.model_validate({"updated_rating": 2}),
        now=NOW,
        timezone=ZONE,
    )
    await in_database(store_edit, user_id=user.pk, draft=edited, expected_version=1)
    await save(user, "By Sage.", preview_line="Grey")
    frontmatter, body = parse_file(await text_of(user))
    assert body == "By Sage.\n"
    assert frontmatter["updated_rating"] == 2
    assert frontmatter["mood"] == "grey"
    assert frontmatter["status"] == "so-so", "what no field stands for is nobody's to drop"
    assert frontmatter["preview_line"] == "Grey"
    await save(user, "By Sage.", remove=("status",))
    assert "status" not in parse_file(await text_of(user))[0]


@in_a_database
async def test_a_head_that_cannot_be_read_stays_word_for_word_and_what_has_no_place_is_said(
    user: User,
) -> None:
    head = "---\nstatus: *nothing\n---\n"
    await put(user, CAREER, f"{head}\nOld words.\n")
    stored = await save(user, "New words.", updated_rating=5, remove=("status",))
    assert await text_of(user) == f"{head}\nNew words.\n"
    assert stored.unwritten == ("status", "updated_rating")
    assert await ratings(user) == []
    assert not editable_of(await in_database(read_file, user_id=user.pk, path=CAREER)).has_fields


@in_a_database
async def test_whoever_is_faster_is_merged_with(user: User) -> None:
    await save(user, status="needs_attention")
    await asyncio.gather(
        save(user, "One.", updated_rating=2),
        save(user, "Two.", preview_line="A line"),
        save(user, "Three.", status="in_crisis"),
    )
    frontmatter = parse_file(await text_of(user))[0]
    assert (frontmatter["updated_rating"], frontmatter["preview_line"]) == (2, "A line")
    assert frontmatter["status"] == "in_crisis"
    await in_database(audit_files, user.pk)


@in_a_database
async def test_captures_stand_in_the_log_that_folds_them_with_links(user: User) -> None:
    for minute, words in enumerate(("Call\nmum [soon](x)", "An idea")):
        await save(user, words, file_type=FileType.CAPTURE, now=NOW + timedelta(minutes=minute))
    await save(user, "A good day.", file_type=FileType.DAILY_LOG, energy="low")
    body = parse_file(await text_of(user, LOG))[1]
    assert body == (
        f"A good day.\n\n{HEADING}\n\n"
        "- [2026-11-21, 10:00](../captures/2026-11-21-100000.md) Call mum [soon](x)\n"
        "- [2026-11-21, 10:01](../captures/2026-11-21-100100.md) An idea\n"
    )
    assert await in_database(Capture.unscoped.exclude(folded_on=None).count) == 2
    # Rewritten without them, with a third capture added meanwhile and one that the text links to itself.
    await save(user, "Third", file_type=FileType.CAPTURE, now=NOW + timedelta(minutes=2))
    again = "A better day, with [an idea](/files/captures/2026-11-21-100100.md) in it."
    await save(user, again, file_type=FileType.DAILY_LOG)
    body = parse_file(await text_of(user, LOG))[1]
    for minute in range(3):
        assert body.count(f"captures/2026-11-21-100{minute}00.md") == 1
    assert body.startswith(again)
    assert await in_database(Capture.unscoped.filter(folded_on=NOW.date()).count) == 3


@in_a_database
async def test_what_was_put_away_is_not_folded(user: User) -> None:
    stored = await save(user, "Not this", file_type=FileType.CAPTURE)
    await in_database(Capture.unscoped.update, put_away_at=NOW)
    await save(user, "A day.", file_type=FileType.DAILY_LOG)
    assert stored.path not in await text_of(user, LOG)
    assert (await in_database(Capture.unscoped.get)).folded_on is None


@in_a_database
async def test_two_logs_at_once_take_a_late_capture_in_once(user: User) -> None:
    await save(user, "Monday.", file_type=FileType.DAILY_LOG, name="2026-11-16")
    monday = NOW - timedelta(days=5)
    late = await save(user, "Late.", file_type=FileType.CAPTURE, now=monday)
    days = ("2026-11-18", "2026-11-19", "2026-11-20")
    await asyncio.gather(*(save(user, day, file_type=FileType.DAILY_LOG, name=day) for day in days))
    capture = await in_database(Capture.unscoped.get)
    holding = [day for day in days if late.path in await text_of(user, f"daily-logs/{day}.md")]
    assert holding == [str(capture.folded_on)]


def test_a_log_that_is_full_names_what_fits_and_the_rest_waits() -> None:
    captures = [
        LinkedCapture(id=number, path=f"captures/2026-11-21-10000{number}.md", excerpt="x" * 100)
        for number in range(5)
    ]
    body, named = with_links("A day.", captures, most_characters=400)
    assert len(body) <= 400
    assert [capture.id for capture in named] == [0, 1]


@pytest.mark.parametrize("heading", ["## Captures", "## Festgehalten", "**Notas**"])
def test_a_log_in_any_language_lists_its_captures_in_one_place(heading: str) -> None:
    captures = [
        LinkedCapture(id=number, path=f"captures/2026-11-21-10000{number}.md", excerpt="Ein Gedanke")
        for number in range(3)
    ]
    body, _ = with_links(f"Ein guter Tag.\n\n{heading}\n", captures[:1])
    body = body.replace(HEADING, heading) + "\n\n## Morgen\n\nFrüh raus."  # written by Sage or its user
    once, named = with_links(body, captures)
    assert [capture.id for capture in named] == [0, 1, 2]
    assert HEADING not in once or heading == HEADING
    assert once.endswith("## Morgen\n\nFrüh raus.")
    positions = [once.index(capture.path) for capture in captures]
    assert positions == sorted(positions)
    assert once[positions[0] : positions[2]].count("\n") == 2
    assert with_links(once, captures) == (once, named)


@in_a_database
async def test_a_log_is_not_written_where_one_of_its_captures_went_elsewhere_meanwhile(user: User) -> None:
    await save(user, "A thought.", file_type=FileType.CAPTURE)
    tries: list[int] = []

    async def commit(write: Any) -> StoredFile:
        # Another log takes it in after this one was prepared, once.
        if not tries:
            await in_database(Capture.unscoped.update, folded_on=NOW.date() - timedelta(days=1))
        tries.append(1)
        stored: StoredFile = await in_database(write)
        return stored

    draft = build_draft(file_type=FileType.DAILY_LOG, content="A day.", now=NOW, timezone=ZONE)
    await save_file(
        user_id=user.pk,
        draft=draft,
        source=FileSource.TOOL,
        session_id=None,
        tool_use_id="",
        commit=commit,
    )
    assert len(tries) == 2
    assert "captures/" not in await text_of(user, LOG)
