"""`save_file` from the model's side."""

import asyncio
import json
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import ToolCall, ToolResult
from coaching.files.permissions import may_write
from coaching.files.selectors import read_file, read_versions
from coaching.models import FileType, PulseRating, UserFile, UserFileVersion
from coaching.tools.save_file import SAVE_FILE
from coaching.tools.tainted import Ruling, rule_on
from sessions_app.database import in_database
from sessions_app.models import SessionKind
from tests.files.auditor import audit_files
from tests.files.conftest import S3
from tests.tools.committing_context import CommittingContext

in_a_database = pytest.mark.django_db(transaction=True)
pytestmark = pytest.mark.usefixtures("disk_storage")


async def save(context: CommittingContext, **given: Any) -> ToolResult:
    return await SAVE_FILE.run(context, SAVE_FILE.parse(json.dumps(given)))


@in_a_database
async def test_success_says_path_bytes_and_version_of_what_is_safe(user: User) -> None:
    context = CommittingContext(user_id=user.pk)
    result = await save(
        context,
        file_type="domain",
        file_name="health",
        content="---\nstatus: in_crisis\n---\n# Health\n\nSleeping better.",
        attributes={"status": "good", "updated_rating": 4, "preview_line": "Sleeping better"},
    )
    found = await in_database(read_file, user_id=user.pk, path="life-map/health.md")
    assert json.loads(result.content) == {
        "success": True,
        "path": "life-map/health.md",
        "bytes": len(found.text.encode()),
        "version": 1,
    }
    assert found.text == (
        "---\ntype: domain\nupdated: 2026-11-21\nstatus: good\nupdated_rating: 4\n"
        "preview_line: Sleeping better\n---\n\n# Health\n\nSleeping better.\n"
    )
    assert found.version.tool_use_id == "toolu_1"
    await in_database(audit_files, user.pk)


@pytest.mark.slow
@in_a_database
async def test_each_kind_writes_the_types_that_it_may_and_no_other(user: User) -> None:
    for kind, file_type in product(SessionKind.values, FileType.values):
        context = CommittingContext(user_id=user.pk, effective_kind=kind, tool_use_id=f"{kind} {file_type}")
        given = {"file_type": file_type, "content": f"Text of {kind}"}
        if file_type == FileType.DOMAIN:
            given["file_name"] = "play"
        before = await in_database(UserFileVersion.unscoped.count)
        if may_write(kind, FileType(file_type)):
            assert json.loads((await save(context, **given)).content)["success"] is True
            assert await in_database(UserFileVersion.unscoped.count) == before + 1
            continue
        with pytest.raises(ToolError, match=r"nothing was saved\. What may be written now: "):
            await save(context, **given)
        assert await in_database(UserFileVersion.unscoped.count) == before
    await in_database(audit_files, user.pk)


@in_a_database
async def test_one_call_takes_effect_once(user: User) -> None:
    context = CommittingContext(user_id=user.pk)
    given = {"file_type": "domain", "file_name": "play", "content": "A", "attributes": {"updated_rating": 3}}
    first = await save(context, **given)
    assert await save(context, **given) == first
    other = CommittingContext(user_id=user.pk, tool_use_id="toolu_2")
    again = await save(other, **given)
    assert json.loads(again.content)["version"] == 1
    assert await in_database(PulseRating.unscoped.count) == 1


@in_a_database
async def test_three_calls_at_once_make_three_files(user: User) -> None:
    results = await asyncio.gather(
        *(
            save(
                CommittingContext(user_id=user.pk, tool_use_id=f"toolu_{name}"),
                file_type="domain",
                file_name=name,
                content=f"About {name}",
            )
            for name in ("career", "play", "meaning")
        )
    )
    assert [json.loads(result.content)["path"] for result in results] == [
        "life-map/career.md",
        "life-map/play.md",
        "life-map/meaning.md",
    ]
    await in_database(audit_files, user.pk)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"content": "x" * 100_001}, "content: .*100,?000"),
        ({"content": "a\x00"}, r"content: .*NUL \(U\+0000\)"),
        ({"content": "a\ud800"}, "lone surrogate .*can't be stored"),
        ({"file_name": "a\x00"}, "file_name.*NUL"),
        ({"file_name": "\udfff"}, "lone surrogate"),
        ({"attributes": {"energy": "\ud800"}}, "lone surrogate"),
        ({"attributes": {"priorities": ["\x00"]}}, "attributes.priorities.0: .*NUL"),
        ({"attributes": {"updated_rating": 6}}, "attributes.updated_rating: .*less than or equal to 5"),
        ({"attributes": {"mood": "x"}}, "attributes.mood: Extra"),
        ({"file_type": "diary"}, "file_type: .*'domain', 'overview'"),
        ({"content": None}, "content: "),
        ({"content": ["x"]}, "content: "),
        ({"path": "../x"}, "path: Extra"),
    ],
)
def test_input_that_does_not_fit_is_refused_before_anything_runs(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolInputError, match=message) as refused:
        SAVE_FILE.parse(json.dumps({"file_type": "overview", "content": "x"} | given))
    str(refused.value).encode()


@in_a_database
async def test_a_content_of_exactly_the_limit_is_stored(user: User) -> None:
    result = await save(CommittingContext(user_id=user.pk), file_type="overview", content="x" * 100_000)
    assert json.loads(result.content)["bytes"] > 100_000


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"file_type": "domain"}, "must be one of career"),
    ({"file_type": "domain", "file_name": "../career"}, "must be one of career"),
    ({"file_type": "domain", "file_name": "career/../../x"}, "must be one of career"),
    ({"file_type": "overview", "file_name": "mine"}, "takes no file_name"),
    ({"file_type": "reflection-prompt", "file_name": "../../x"}, "short title"),
    (
        {"file_type": "overview", "attributes": {"status": "good"}},
        "status doesn't belong to the type overview",
    ),
    ({"file_type": "overview", "content": "  "}, "empty"),
    (
        {
            "file_type": "domain",
            "file_name": "play",
            "attributes": {"status": "thriving", "updated_rating": 1},
        },
        "“Thriving” and 1 of 5 contradict each other",
    ),
]


@in_a_database
async def test_a_refusal_says_what_would_be_taken_and_stores_nothing(user: User) -> None:
    for given, message in REFUSALS:
        with pytest.raises(ToolError, match=message):
            await save(CommittingContext(user_id=user.pk), **{"content": "x"} | given)
    assert not await in_database(UserFile.of(user.pk).exists)


def test_calls_that_may_meet_in_a_path_share_a_key() -> None:
    def key(**given: Any) -> str | None:
        return SAVE_FILE.conflict_key(SAVE_FILE.parse(json.dumps({"content": "x"} | given)))

    assert key(file_type="domain", file_name="play") == key(file_type="domain", file_name="play")
    assert key(file_type="domain", file_name="play") != key(file_type="domain", file_name="career")
    assert key(file_type="daily-log") == key(file_type="daily-log", file_name="2026-11-21")
    assert key(file_type="overview") != key(file_type="life-plan")
    assert key(file_type="capture") == key(file_type="capture")


@pytest.mark.slow
@in_a_database
@pytest.mark.s3
async def test_a_storage_that_fails_is_an_error_that_model_and_user_understand(
    s3_storage: S3, user: User
) -> None:
    context = CommittingContext(user_id=user.pk)
    await save(context, file_type="overview", content="Old")
    s3_storage.proxy.fault = "503"
    with pytest.raises(ToolError, match=r"couldn’t be saved just now. Nothing was changed"):
        await save(CommittingContext(user_id=user.pk, tool_use_id="2"), file_type="overview", content="New")
    s3_storage.proxy.fault = "none"
    versions = await in_database(read_versions, user_id=user.pk, path="life-map/_overview.md")
    assert len(versions) == 1


@in_a_database
async def test_a_call_that_was_not_allowed_when_it_was_ruled_on_may_only_add_later(user: User) -> None:
    plan = {"file_type": "life-plan", "content": "Mine."}
    await save(CommittingContext(user_id=user.pk, effective_kind=SessionKind.LIFE_MAPPING), **plan)
    text = json.dumps(plan)
    call = ToolCall(tool_use_id="toolu_2", name="save_file", round_number=1, position=0, input_json=text)
    context = CommittingContext(user_id=user.pk, effective_kind=SessionKind.OPEN_DAY, tool_use_id="toolu_2")
    rulings = await in_database(rule_on, [(call, SAVE_FILE, context)], ("letter.pdf",))
    assert rulings["toolu_2"] == Ruling(sources=("letter.pdf",), replaces=0)
