"""What a user may edit in a file: its body, and the attributes of its type. Pure.

The server sets type and day; every other frontmatter entry stays as it is, because imports bring their own.
Frontmatter that can't be read stays verbatim.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_noop
from pydantic import ValidationError

from coaching.files.attributes import NO_ATTRIBUTES, FileAttributes, check_attributes
from coaching.files.drafts import FileDraft, check_content
from coaching.files.errors import FileRefused
from coaching.files.frontmatter import (
    build_frontmatter,
    parse_file,
    render_file,
    split_head,
    starts_with_frontmatter,
)
from coaching.files.paths import path_of_stored
from coaching.files.selectors import FileText
from coaching.files.standing import outdated_part
from coaching.files.types import ATTRIBUTE_ORDER, RULES, AttributeName
from coaching.models import FileType

STARTS_WITH_BLOCK = gettext_noop(
    "The text starts with a block between two lines of ---, which Sage adds itself. Remove the block, or "
    "start with another line."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Editable:
    """A file's text as its user may edit it.

    `attributes` are those of its type with a valid value; a rating is the newest one, and of a status and a
    rating that contradict each other only the newer is there (`outdated` names the other). Without
    `has_fields` the frontmatter can't be read, and only the body can be edited.
    """

    file_type: FileType
    body: str
    attributes: FileAttributes
    frontmatter: Mapping[str, Any]
    head: str
    has_fields: bool
    outdated: str | None

    def says(self, *, body: str, attributes: FileAttributes) -> bool:
        """Return whether the file has exactly this body and these attributes."""
        return self.body == _trimmed(body) and _values(self.attributes) == _values(attributes)


def editable_of(found: FileText) -> Editable:
    """Return what may be edited of a file."""
    file_type = FileType(found.file.file_type)
    written, body = parse_file(found.text)
    outdated = outdated_in(found, written)
    frontmatter = {name: value for name, value in written.items() if name != outdated}
    head = split_head(found.text)[0]
    return Editable(
        file_type=file_type,
        body=_trimmed(body),
        attributes=_typed(file_type, frontmatter, None if outdated == "updated_rating" else found.rating),
        frontmatter=frontmatter,
        head=head,
        has_fields=bool(written) or not head,
        outdated=outdated,
    )


def outdated_in(found: FileText, frontmatter: Mapping[str, Any]) -> str | None:
    """Name the entry of a domain's page that a newer one contradicts, if any."""
    return outdated_part(frontmatter.get("status"), found.written_at, found.rating, found.rated_at)


def says_again(text: str, newest: FileText, held: Editable) -> bool:
    """Return whether a text gives the status that the newest version has and that no longer held."""
    return held.outdated == "status" and text == newest.text


def build_edit(
    newest: FileText, *, body: str, attributes: FileAttributes, now: datetime, timezone: ZoneInfo
) -> FileDraft:
    """Build a draft with this body and these attributes; all else stays. Raises `FileRefused`."""
    held = editable_of(newest)
    body = _trimmed(check_content(body.replace("\r\n", "\n")))
    if starts_with_frontmatter(body):
        raise FileRefused(STARTS_WITH_BLOCK)
    if not body and held.file_type == FileType.REFLECTION_PROMPT:
        raise FileRefused(gettext_noop("A question can’t be empty."))
    check_attributes(held.file_type, attributes)
    path = path_of_stored(held.file_type, newest.file.path, now=now, timezone=timezone)
    if held.has_fields:
        frontmatter = build_frontmatter(held.file_type, attributes, day=path.day)
        frontmatter |= kept_entries(held, frontmatter)
        if "date" in frontmatter:  # A file's day doesn't change with its text.
            frontmatter["date"] = held.frontmatter.get("date", frontmatter["date"])
        text = render_file(frontmatter, body)
    else:
        frontmatter, text = {}, f"{held.head}\n{body}\n"
    return FileDraft(
        file_type=held.file_type,
        path=path,
        text=text,
        body=body,
        frontmatter=frontmatter,
        now=now,
        timezone=timezone,
        occasion="edited",
        is_said_again=says_again(text, newest, held),
        **_news(held.attributes, attributes),
    )


def build_restore(old: FileText, newest: FileText, *, now: datetime, timezone: ZoneInfo) -> FileDraft:
    """Build the draft that restores an older version's text, byte for byte.

    Only a status that a newer rating contradicts isn't restored.
    """
    file_type, text = FileType(old.file.file_type), old.text
    frontmatter, body = parse_file(text)
    then = replace(old, rating=newest.rating, rated_at=newest.rated_at)
    if outdated_in(then, frontmatter) == "status":
        del frontmatter["status"]
        text = render_file(frontmatter, _trimmed(body))
    attributes = _typed(file_type, frontmatter, None)
    return FileDraft(
        file_type=file_type,
        path=path_of_stored(file_type, old.file.path, now=now, timezone=timezone),
        text=text,
        body=_trimmed(body),
        frontmatter=frontmatter,
        attributes=attributes,
        cleared=_news(editable_of(newest).attributes, attributes)["cleared"],
        now=now,
        timezone=timezone,
        occasion="restored",
    )


def build_imported(
    file_type: FileType, path: str, *, content: str, now: datetime, timezone: ZoneInfo
) -> FileDraft:
    """Build the draft of a new file that keeps an imported text, frontmatter included. Raises `FileRefused`.

    `now` is when the file was written.
    """
    text = check_content(content.replace("\r\n", "\n")).strip() + "\n"
    frontmatter, body = parse_file(text)
    if not body.strip():
        raise FileRefused("The file is empty.")
    return FileDraft(
        file_type=file_type,
        path=path_of_stored(file_type, path, now=now, timezone=timezone),
        text=text,
        body=_trimmed(body),
        frontmatter=frontmatter,
        attributes=_typed(file_type, frontmatter, None),
        now=now,
        timezone=timezone,
        occasion="imported",
        expected_version=0,
    )


def merge_attributes(base: FileAttributes, mine: FileAttributes, theirs: FileAttributes) -> FileAttributes:
    """Apply the changes from `base` to `mine` on top of `theirs`."""
    was, own, others = _values(base), _values(mine), _values(theirs)
    merged = {
        name: own.get(name) if own.get(name) != was.get(name) else others.get(name)
        for name in ATTRIBUTE_ORDER
    }
    return FileAttributes.model_validate(merged)


def kept_entries(held: Editable, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries without a field that `written` lacks, in order."""
    typed = held.attributes.given()
    return {key: value for key, value in held.frontmatter.items() if key not in written and key not in typed}


def _trimmed(body: str) -> str:
    return body.strip()


def _typed(file_type: FileType, frontmatter: Mapping[str, Any], rating: int | None) -> FileAttributes:
    values = {}
    for name in ATTRIBUTE_ORDER:
        if name in RULES[file_type].attributes and name in frontmatter:
            try:
                FileAttributes.model_validate({name: frontmatter[name]})
            except ValidationError:
                continue
            values[name] = frontmatter[name]
    if rating is not None and "updated_rating" in RULES[file_type].attributes:  # The text may have none.
        values["updated_rating"] = rating
    return FileAttributes.model_validate(values)


def _values(attributes: FileAttributes) -> dict[str, Any]:
    return {name: value for name, value in attributes.given().items() if value != []}


def _news(was: FileAttributes, given: FileAttributes) -> dict[str, Any]:
    """Return the attributes that are new or changed, and those that are gone."""
    old, new = _values(was), _values(given)
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    cleared: frozenset[AttributeName] = frozenset(
        name for name in ATTRIBUTE_ORDER if name in old and name not in new
    )
    return {
        "attributes": FileAttributes.model_validate(changed) if changed else NO_ATTRIBUTES,
        "cleared": cleared,
    }
