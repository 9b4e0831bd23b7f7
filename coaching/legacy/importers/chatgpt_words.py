"""The words of a ChatGPT export's messages, as they were shown.

Calls of tools, their results and hidden messages weren't shown, so they have none, but for pictures that were
made and documents of the canvas, which are calls with JSON.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from coaching.legacy.importers.chatgpt_left import PICTURE, SHOWN, SOUNDS, key_of
from coaching.legacy.importers.things import (
    FoundMessage,
    in_markdown,
    list_of,
    mapping_of,
    moment_of,
    text_of,
)

Message = Mapping[str, Any]
_WHOLE_TEXT = ".*"
# What is between private characters is shown as a name, a link or the mark of a source. Marks of sources mean
# nothing without the page that they were shown on.
_MARK = re.compile("\ue200([^\ue200\ue201]*+)\ue201")
_SOURCE = re.compile(
    "\ue202turn\\d+[a-z]+\\d+|【[^】]{0,100}†[^】]{0,100}】|:contentReference\\[oaicite:\\d+\\]\\{index=\\d+\\}"
    '|:chatgpt-content-reference\\{index="\\d+"\\}|[\ue200-\ue206]'
)
# A draft, such as a mail, stands between two such lines.
_WRITING = re.compile(r"^:::(?:writing\{[^\n]*)?[ \t]*(?:\n|\Z)", re.MULTILINE)


class Reader:
    """Reads the messages of nodes, each after its parent, whose canvas it goes on with."""

    def __init__(self, nodes: Mapping[str, Any]) -> None:
        self._nodes = nodes
        self._canvas: dict[object, Mapping[str, Any]] = {}

    def message(self, key: str) -> FoundMessage | None:
        """Return the message of a node as it was shown, None where it has no words or no ID."""
        node = mapping_of(self._nodes.get(key))
        message = mapping_of(node.get("message"))
        parent = node.get("parent")
        before = self._canvas.get(parent, {}) if isinstance(parent, str) else {}
        canvas, has_changed = _canvas_after(message, before)
        self._canvas[key] = canvas
        if mapping_of(message.get("metadata")).get("is_visually_hidden_from_conversation"):
            return None
        role = mapping_of(message.get("author")).get("role")
        text = _document(canvas) if has_changed else _text(message, role)
        asked = _asked_for(message) if role == "tool" and text and not has_changed else ""
        imported_id = key_of(node) if message else ""
        if not (text.strip() and imported_id):
            return None
        return FoundMessage(
            imported_id=imported_id,
            role="user" if role == "user" else "assistant",
            text=f"{text}\n\n{asked}" if asked else text,
            created_at=moment_of(message.get("create_time")),
            shorter=(len(text), "") if asked else None,
        )


def is_partly_changed(message: Message) -> bool:
    """Return whether a message changes a part of the document in the canvas."""
    return message.get("recipient") == "canmore.update_textdoc" and not _is_rewritten(_canvas_call(message))


def _text(message: Mapping[str, Any], role: object) -> str:
    metadata = mapping_of(message.get("metadata"))
    if role == "tool":
        return _pictures(message, metadata)
    if role not in ("user", "assistant") or message.get("recipient") not in (None, "all"):
        return ""
    names = [text_of(mapping_of(each).get("name")) for each in list_of(metadata.get("attachments"))]
    attached = ", ".join(filter(None, names))
    text = _words(mapping_of(message.get("content")))
    return f"{text}\n\n(Attached: {attached})".strip() if attached else text


def _words(content: Mapping[str, Any]) -> str:
    if kind_of(content) not in SHOWN:
        return ""
    parts = list_of(content.get("parts"))
    texts = [text for part in parts if (text := _part(part)).strip()]
    if not texts and any(kind_of(part) in SOUNDS for part in parts):
        texts = ["(A voice message)"]
    text = _SOURCE.sub("", _MARK.sub(_shown, "\n\n".join(texts)))
    return _WRITING.sub("", text) if ":::writing{" in text else text


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    return "(An image)" if kind_of(part) == PICTURE else text_of(mapping_of(part).get("text"))


def _shown(mark: re.Match[str]) -> str:
    kind, *values = mark[1].split("\ue202")
    first = values[0] if values else ""
    if kind == "url" and len(values) > 1:
        return f"[{first}]({values[1]})"
    if not kind.endswith("entity"):
        return ""
    try:
        named = json.loads(first)
    except (ValueError, RecursionError):
        return first
    return text_of(named[1]) if isinstance(named, list) and len(named) > 1 else ""


def _pictures(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """Return words for the pictures that a tool has made; others are pages that it has read."""
    title = text_of(metadata.get("image_gen_title"))
    parts = list_of(mapping_of(message.get("content")).get("parts"))
    pictures = [part for part in parts if kind_of(part) == PICTURE]
    is_made = bool(title) or any(
        mapping_of(part.get("metadata")).keys() & {"dalle", "generation"} for part in pictures
    )
    shown = f"(An image: {title})" if title else "(An image)"
    return "\n\n".join([shown] * len(pictures)) if is_made else ""


def _asked_for(message: Message) -> str:
    """Return the words that pictures were made by, which their names have only in part."""
    parts = map(mapping_of, list_of(mapping_of(message.get("content")).get("parts")))
    made = [mapping_of(mapping_of(part.get("metadata")).get("dalle")) for part in parts]
    return "\n\n".join(dict.fromkeys(filter(str.strip, (text_of(each.get("prompt")) for each in made))))


def _canvas_after(message: Mapping[str, Any], before: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the document in the canvas after a message, and whether the message has written it."""
    match message.get("recipient"):
        case "canmore.create_textdoc":
            return _canvas_call(message), True
        case "canmore.update_textdoc" if _is_rewritten(given := _canvas_call(message)):
            return {**before, "content": given["updates"][0].get("replacement")}, True
    return before, False


def _canvas_call(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON of a call, which is a text or the only part of one."""
    content = mapping_of(message.get("content"))
    texts = [content.get("text"), *list_of(content.get("parts"))]
    try:
        return mapping_of(json.loads("".join(map(text_of, texts))))
    except (ValueError, RecursionError):
        return {}


def _is_rewritten(given: Mapping[str, Any]) -> bool:
    updates = list_of(given.get("updates"))
    return len(updates) == 1 and mapping_of(updates[0]).get("pattern") == _WHOLE_TEXT


def _document(canvas: Mapping[str, Any]) -> str:
    kind, _, language = text_of(canvas.get("type")).partition("/")
    content = text_of(canvas.get("content"))
    shown_as = language if kind == "code" else None
    return in_markdown(text_of(canvas.get("name")), content, language=shown_as) if content.strip() else ""


def kind_of(value: object) -> str:
    """Return the content type of a message's content or of a part of it."""
    return text_of(mapping_of(value).get("content_type"))
