"""`save_file`: writes a file of the user's.

The model gives type, body and attributes; the server decides path, frontmatter and version. The result
reports success only after both bytes and row are stored.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from django.utils.translation import gettext_noop as _
from pydantic import Field

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.files import store
from coaching.files.after_effects import outlasts_file
from coaching.files.attributes import NO_ATTRIBUTES, FileAttributes, StorableText
from coaching.files.drafts import MAX_CONTENT_CHARACTERS, FileDraft, build_draft
from coaching.files.permissions import WRITTEN_TYPES, check_may_write
from coaching.files.standing import check_standing
from coaching.files.types import ATTRIBUTE_NAMES, ATTRIBUTE_ORDER, RULES, VALUE_NAMES, AttributeName
from coaching.models import FileSource, FileType, UserFile
from coaching.tools.context import ToolContext
from coaching.tools.day_additions import is_addition, is_said
from coaching.tools.evidence import refuse_in_danger
from coaching.tools.presentation import (
    PAGE,
    REPLACES,
    Changed,
    Presentation,
    SageTool,
    held,
    text_in,
)
from sessions_app.errors import Refused

DESCRIPTION = (
    "Write one of the user's markdown files. Use it when something has become clear that they want to keep. "
    "content is the whole new body, no frontmatter: keep what still holds. Attributes are what "
    "the user gave or agreed to now; others keep their value."
    + "".join(
        f" {file_type}: {RULES[file_type].purpose}."
        for file_type in WRITTEN_TYPES
        if RULES[file_type].purpose
    )
)

UNREADABLE = (
    "{names}: the file begins with a block that can't be read, which was kept as it is; only the text was "
    "saved."
)


ASKED_FIRST = frozenset({FileType.SAGE_CONTEXT, FileType.SAGE_PATTERNS, FileType.SAFETY_PLAN})
"""Pages that later conversations go by, or somebody in danger: after texts of others a new one waits, too."""

CHANGED_SINCE = (
    "Nothing was saved: the file has changed since. Use read_file, and save it again with what it says now."
)


class SaveFileInput(ToolInput):
    """The input of `save_file`.

    Its schema leaves out the types that only users write, and doesn't list the attributes twice.
    """

    file_type: FileType
    file_name: Annotated[StorableText, Field(max_length=100)] | None = Field(
        default=None,
        description=(
            "domain: its name. Days, check-ins: YYYY-MM-DD if not today. reflection-prompt: a title."
        ),
    )
    content: Annotated[StorableText, Field(max_length=MAX_CONTENT_CHARACTERS)]
    attributes: FileAttributes | None = None
    remove: list[AttributeName] | None = Field(
        default=None, max_length=len(ATTRIBUTE_ORDER), description="Attributes to remove."
    )

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        schema = super().model_json_schema(*args, **kwargs)
        schema["$defs"]["FileType"]["enum"] = [str(file_type) for file_type in WRITTEN_TYPES]
        schema["properties"]["remove"]["items"] = {"type": "string"}
        return schema


async def _run(context: ToolContext, given: SaveFileInput) -> ToolResult:
    try:
        draft = _draft(context, given)
        return await store.save_file(
            user_id=context.user_id,
            draft=draft,
            source=FileSource(context.source),
            session_id=context.session_id,
            tool_use_id=context.tool_use_id,
            commit=lambda write: context.commit(lambda: _write(context, given, write)),
        )
    except Refused as refused:
        raise ToolError(str(refused)) from refused


def _write(context: ToolContext, given: SaveFileInput, write: Callable[[], store.StoredFile]) -> ToolResult:
    """Write the file. Raises `ToolError` if what is added to a day comes in a turn with a card."""
    if is_addition(context, given.file_type):
        refuse_in_danger(context)
    return _said(context, write())


def _draft(context: ToolContext, given: SaveFileInput) -> FileDraft:
    """Return the draft of a call. Raises `Refused`."""
    check_may_write(context.effective_kind, given.file_type)
    if given.attributes:
        check_standing(given.attributes.status, given.attributes.updated_rating)
    return build_draft(
        file_type=given.file_type,
        file_name=given.file_name,
        content=given.content,
        attributes=given.attributes or NO_ATTRIBUTES,
        remove=given.remove or (),
        now=context.now,
        timezone=context.timezone,
    )


def _changes(context: ToolContext, given: SaveFileInput) -> Changed:
    draft = _draft(context, given)
    is_more = given.file_type in ASKED_FIRST or outlasts_file(context.user_id, draft)
    if draft.path.is_always_new:
        return Changed(replaces=None, is_more=is_more)
    versions = UserFile.of(context.user_id).filter(path=draft.path.text())
    newest = versions.values_list("version_number", flat=True).first()
    return Changed(replaces=newest or 0, is_more=is_more)


def _holds(context: ToolContext, given: SaveFileInput) -> bool:
    """Say whether a plan of a day is asked about: it is added to, and not in the user's own words alone."""
    return is_addition(context, given.file_type) and not is_said(context, _draft(context, given))


async def _check(context: ToolContext, given: SaveFileInput) -> Mapping[str, Any]:
    """Return the page that the user is asked about."""
    try:
        return {PAGE: _draft(context, given).path.text(), REPLACES: context.replaces != 0}
    except Refused as refused:
        raise ToolError(str(refused)) from refused


def _said(context: ToolContext, stored: store.StoredFile) -> ToolResult:
    """Return what was saved. Raises `ToolError` for another version than the one that may be replaced."""
    if context.replaces is not None and stored.is_new_version and stored.version != context.replaces + 1:
        raise ToolError(CHANGED_SINCE)
    unwritten = {"attributes_not_saved": UNREADABLE.format(names=", ".join(stored.unwritten))}
    return ToolResult.of(
        success=True,
        path=stored.path,
        bytes=stored.size,
        version=stored.version,
        **(unwritten if stored.unwritten else {}),
    )


def _conflict_key(given: SaveFileInput) -> str:
    # The day of a missing date is known only when the call runs, so a type counts as one path.
    return (
        f"{given.file_type}:{given.file_name}" if given.file_type == FileType.DOMAIN else str(given.file_type)
    )


def _page_in_words(values: Mapping[str, Any]) -> str:
    """Return all that would be written: the attributes, with a dash for those that go, and the text."""
    given, removed = values.get("attributes"), values.get("remove")
    attributes = {name: "–" for name in removed if isinstance(name, str)} if isinstance(removed, list) else {}
    if isinstance(given, Mapping):
        attributes |= {name: _in_words(name, value) for name, value in given.items() if value is not None}
    lines = [f"{ATTRIBUTE_NAMES[name]}: {attributes[name]}" for name in ATTRIBUTE_ORDER if name in attributes]
    return "\n".join([*lines, *([""] if lines else []), text_in(values, "content")])


def _in_words(name: str, value: object) -> str:
    names = VALUE_NAMES.get(name, {})
    return ", ".join(
        str(names.get(each, each)) for each in map(str, value if isinstance(value, list) else [value])
    )


SAVE_FILE: SageTool[SaveFileInput] = SageTool(
    name="save_file",
    description=DESCRIPTION,
    input_model=SaveFileInput,
    kind="instant",
    run=_run,
    check=_check,
    changes=_changes,
    holds=_holds,
    conflict_key=_conflict_key,
    saved_fields=frozenset({"content"}),
    presentation=Presentation(
        once=_("saved a file"),
        often=_("saved {count} files"),
        activity=_("Writing it down"),
        question=held(
            _("Shall I save this page?"),
            yes=_("Save it"),
            done=_("Saved. Earlier versions are kept."),
            text=_page_in_words,
        ),
        writes_file=True,
    ),
)
