"""Replies of the earlier app as today's: text in rounds, and their blocks as calls. No I/O.

Such a reply is stored as it came, with blocks, or as `backfill_legacy` has rewritten it, with the original in
its metadata. Both show the same. A reply of today has rounds, and blocks in it are no calls.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2s
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from coaching.files.attributes import NO_ATTRIBUTES
from coaching.files.drafts import FileDraft, build_draft
from coaching.files.errors import FileRefused
from coaching.legacy_text.blocks import without_block_tags
from coaching.legacy_text.parser import BlockCall, ParsedReply, parse_blocks
from coaching.tools.complete_session import COMPLETE_SESSION
from coaching.tools.enter_structured_arc import ENTER_STRUCTURED_ARC
from coaching.tools.save_file import SAVE_FILE, SaveFileInput
from coaching.tools.show_options import SHOW_OPTIONS
from sessions_app.models import Message, MessageRole
from sessions_app.pending_calls import SUPERSEDED

ORIGINAL_KEY = "original"
"""In a message's metadata: its text before its blocks became calls."""

ROUNDS_KEY = "round_ends"
"""In the metadata of a reply of today."""
_parsed = lru_cache(maxsize=64)(parse_blocks)  # a page asks several times for the same


def is_old(message: Message) -> bool:
    """Whether a reply was written by the earlier app, or imported, and is stored as it came."""
    return message.role == MessageRole.ASSISTANT and ROUNDS_KEY not in message.metadata


def parsed_reply(message: Message) -> ParsedReply | None:
    """Return what an old reply says, if it has blocks."""
    if not is_old(message) or "[" not in message.content:
        return None
    parsed = _parsed(message.content)
    return parsed if parsed.has_tags else None


def texts_of_rounds(message: Message) -> list[str]:
    """Return the text of each round of a stored reply, without tags of blocks, joined as it is stored."""
    if parsed := parsed_reply(message):
        return _split(parsed.text, parsed.round_ends)
    ends = message.metadata.get(ROUNDS_KEY) or [len(message.content)]
    return [without_block_tags(text) for text in _split(message.content, ends)]


def text_of_reply(message: Message) -> str:
    """Return a stored reply as its readers see it."""
    return "".join(texts_of_rounds(message))


def old_inputs(message: Message) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return names and inputs of the calls of an old reply; empty for one of today."""
    if ORIGINAL_KEY in message.metadata:
        return [(call["name"], call["input"]) for call in message.metadata.get("tool_calls") or ()]
    parsed = parsed_reply(message)
    return [(call.name, call.input) for call in parsed.calls] if parsed else ()


def old_calls(message: Message, *, zone: ZoneInfo) -> Sequence[Mapping[str, Any]]:
    """Return the calls of an old reply as metadata has them; empty for one of today."""
    if ORIGINAL_KEY in message.metadata:
        return message.metadata.get("tool_calls") or ()
    parsed = parsed_reply(message)
    return tool_calls_of(parsed, message, zone=zone) if parsed else ()


def tool_calls_of(parsed: ParsedReply, message: Message, *, zone: ZoneInfo) -> list[dict[str, Any]]:
    """Build the `tool_calls` of a message's metadata. Their ids depend on its session and number alone."""
    seed = blake2s(f"{message.session_id}:{message.number}".encode(), digest_size=9).hexdigest()
    return [
        {
            "id": f"old_{seed}_{place}",
            "name": call.name,
            "input": dict(call.input),
            "result": _result_of(call, message, zone),
            "is_error": False,
            "round": call.round_number,
        }
        for place, call in enumerate(parsed.calls, start=1)
    ]


def draft_of(call: BlockCall, message: Message, *, zone: ZoneInfo) -> FileDraft:
    """Build the file that a block wrote, as `save_file` would have then. Raises `FileRefused`."""
    try:
        given = SaveFileInput.model_validate(dict(call.input))
    except ValidationError as error:
        raise FileRefused(str(error)) from error
    return build_draft(
        file_type=given.file_type,
        file_name=given.file_name,
        content=given.content,
        attributes=given.attributes or NO_ATTRIBUTES,
        now=message.created_at,
        timezone=zone,
    )


def _result_of(call: BlockCall, message: Message, zone: ZoneInfo) -> str:
    match call.name:
        case SHOW_OPTIONS.name:
            return SUPERSEDED
        case ENTER_STRUCTURED_ARC.name:
            return _json(success=True, arc=call.input["arc"])
        case COMPLETE_SESSION.name:
            return _json(success=True, completed="session")
        case SAVE_FILE.name:
            try:
                return _json(success=True, path=draft_of(call, message, zone=zone).path.text())
            except FileRefused:
                return _json(success=False, reason="There is no place for it among today’s files.")
    raise ValueError(call.name)


def _json(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False)


def _split(text: str, ends: Sequence[int]) -> list[str]:
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
