"""E-mails: who, when, the subject, the text, and the names of what is attached."""

from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.extracted import Extracted, Unread, gettext_noop
from coaching.library.extractors.markup import parse_html

SHOWN = ("From", "To", "Cc", "Date", "Subject")
MOST_PARTS = 500
TOO_MANY_PARTS = gettext_noop("This email has too many parts.")
MOST_CHARACTERS = 10_000
"""Of a header: decoding takes quadratic time."""


def extract(data: bytes) -> Extracted:
    """Return the headers, the text and the list of attachments."""
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    headers = {name: text for name in SHOWN if (text := _header(message, name))}
    body, attached = _parts(message)
    lines = [f"{name}: {text}" for name, text in headers.items()]
    if attached:
        lines.append(f"Attachments: {', '.join(attached)}")
    return Extracted(
        pages=("\n".join([*lines, "", body]),), hints={name.lower(): text for name, text in headers.items()}
    )


def _header(message: EmailMessage, name: str) -> str:
    """Return a header decoded, but not parsed: the parser fails on some addresses."""
    found = [str(value) for key, value in message.raw_items() if key.lower() == name.lower()]
    joined = " ".join(", ".join(found)[:MOST_CHARACTERS].split())
    try:
        return " ".join(str(make_header(decode_header(joined))).split())
    except (HeaderParseError, LookupError, UnicodeError):
        return joined


def _parts(message: EmailMessage) -> tuple[str, list[str]]:
    plain: list[str] = []
    marked: list[str] = []
    attached: list[str] = []
    for number, part in enumerate(message.walk()):
        if number > MOST_PARTS:
            raise Unread("refused", TOO_MANY_PARTS)
        name = _file_name(part)
        if name:
            attached.append(name)
        elif part.get_content_type() == "text/plain":
            plain.append(_text(part))
        elif part.get_content_type() == "text/html":
            marked.append(parse_html(_text(part))[1])
    return "\n\n".join(text.strip() for text in plain or marked), attached


def _file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename()
    except (LookupError, UnicodeError, ValueError):
        name = "unnamed"
    if name is None and part.get_content_disposition() == "attachment":
        name = "unnamed"
    return " ".join((name or "").split())[:255]


def _text(part: EmailMessage) -> str:
    raw = part.get_payload(decode=True)
    charset = part.get_content_charset("") or ""
    return decode(raw, charset) if isinstance(raw, bytes) else ""
