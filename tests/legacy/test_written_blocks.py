"""Files that only the replies' blocks wrote have the bytes that the same saves would give."""

from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from coaching.files.drafts import build_draft
from coaching.models import DayPlan, FileSource, FileType, PulseRating, UserFile
from tests.legacy.exports import BEGAN
from tests.legacy.test_import_command import one_session, run_import, said, write

pytestmark = pytest.mark.django_db(transaction=True)

CAREER = '[FILE_UPDATE type="domain" name="career"]\n{body}\n[/FILE_UPDATE]'


def test_blocks_give_the_bytes_of_the_same_save(tmp_path: Path, user: User) -> None:
    messages = [
        said("user", "About work."),
        said("assistant", "Noted. " + CAREER.format(body="I like my work."), minute=1),
        said("user", CAREER.format(body="The user's own words write nothing."), minute=2),
        said("assistant", "Changed. " + CAREER.format(body="I love my work."), minute=3),
    ]
    counts = run_import(write(tmp_path, one_session(*messages)), user)
    assert counts["files"] == 1
    file = UserFile.of(user.pk).get()
    version = file.versions.get()
    written_at = BEGAN.replace(minute=BEGAN.minute + 3)
    same = build_draft(
        file_type=FileType.DOMAIN,
        file_name="career",
        content="I love my work.",
        now=written_at,
        timezone=ZoneInfo("UTC"),
    )
    assert (file.path, version.content) == ("life-map/career.md", same.text)
    assert (version.source, version.created_at) == (FileSource.IMPORT, written_at.astimezone(UTC))
    assert not PulseRating.of(user.pk).exists()


def test_a_block_counts_only_where_the_export_has_no_file(tmp_path: Path, user: User) -> None:
    export = one_session(
        said("user", "Hi."), said("assistant", CAREER.format(body="From a block."), minute=1)
    )
    path = "life-map/career.md"
    export["files"] = [{"path": path, "content": "The file itself.", "updated_at": BEGAN.isoformat()}]
    for _ in range(2):
        run_import(write(tmp_path, export), user)
    assert UserFile.of(user.pk).get(path=path).versions.get().content == "The file itself.\n"


def test_an_imported_day_plan_is_the_plan_of_its_day(tmp_path: Path, user: User) -> None:
    head = "type: day-plan\ndate: 2023-01-02\nintention: Rest\npriorities: [Walk, Read]"
    content = f"---\n{head}\n---\n\nA slow day.\n"
    file = {"path": "day-plans/2023-01-02.md", "content": content, "updated_at": BEGAN.isoformat()}
    run_import(write(tmp_path, {"files": [file]}), user)
    plan = DayPlan.of(user.pk).get()
    assert (str(plan.date), plan.intention) == ("2023-01-02", "Rest")
    assert [priority["text"] for priority in plan.priorities] == ["Walk", "Read"]
    assert UserFile.of(user.pk).get().versions.get().content == content
