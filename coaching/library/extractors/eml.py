"""E-mails: who, when, the subject, the text, and the names of what is attached."""

from collections.abc import Iterable

from coaching.library.extractors import mime
from coaching.library.extractors.attached import Found, take
from coaching.library.extractors.decoding import as_utf8_if_wide, decode_alike
from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.markup import MAX_TAGS, ONLY_BEGINNING, parse_html, up_to_tags

SHOWN = ("From", "To", "Cc", "Date", "Subject")


def extract(data: bytes) -> Extracted:
    """Return the headers, the text and the list of attachments. Raises `Unread`."""
    parts = list(mime.split(as_utf8_if_wide(data)))
    headers = {name: mime.text_of(value) for name in SHOWN if (value := parts[0].headers.get(name.lower()))}
    attached = [part for part in parts if part.file_name]
    body, is_cut = _body([part for part in parts if not part.file_name])
    lines = [f"{name}: {text}" for name, text in headers.items()]
    if attached:
        lines.append(f"Attachments: {', '.join(part.file_name for part in attached)}")
    attachments, note = take(map(_found, attached))
    return Extracted(
        pages=("\n".join([*lines, "", body]),),
        hints={name.lower(): text for name, text in headers.items()},
        note="\n".join(filter(None, [ONLY_BEGINNING if is_cut else "", note])),
        attachments=attachments,
    )


def _found(part: mime.MimePart) -> Found:
    return Found(
        name=part.file_name,
        content_type=part.content_type,
        is_in_text=not part.is_attached,
        read=part.content,
    )


def _body(parts: Iterable[mime.MimePart]) -> tuple[str, bool]:
    """Return the plain text, or without it that of the HTML, and whether something was left out."""
    plain = [part for part in parts if part.content_type == "text/plain"]
    if plain:
        return "\n\n".join(text.strip() for text in _texts(plain)), False
    left = MAX_TAGS
    shown: list[str] = []
    for text in _texts(part for part in parts if part.content_type == "text/html"):
        kept, tags = up_to_tags(text, left)
        shown.append(parse_html(kept)[1])
        if len(kept) < len(text):
            return "\n\n".join(shown), True
        left -= tags
    return "\n\n".join(shown), False


def _texts(parts: Iterable[mime.MimePart]) -> list[str]:
    return decode_alike((part.content(), part.charset) for part in parts)
