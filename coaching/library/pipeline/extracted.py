"""What a document's reader answered, checked: whoever made the document may have written the answer, too."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from django.utils.translation import gettext_noop

from coaching.library.extractors.content_types import JPEG, NAMES
from coaching.library.extractors.left_out import MAX_NOTE, joined_notes
from coaching.library.rows.reading_notes import pictures_note
from coaching.sandbox import answers
from coaching.sandbox.errors import UntrueAnswer

MAX_HEAD_BYTES = 1_000_000
MAX_PAGES = 1_000_000
MAX_PICTURE_PAGES = 500
MAX_FILLED = 32
MAX_HINTS = 20
MAX_HINT = 300
MAX_ATTACHMENTS = 100
MAX_ATTACHMENT_BYTES = 1 << 40

_JPEG_START = b"\xff\xd8\xff"
_NO_TEXT = gettext_noop("Sage found no text in it. If it’s a scan, upload a version with text.")
_PICTURES = gettext_noop("Its pages are pictures, which Sage can’t read. Upload a version with text.")
_IMAGE = gettext_noop("This is an image, so it has no text of its own.")

Outcome = Literal["text", "no_text", "needs_password", "broken", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file inside an email; `data` is None if it didn't fit into the reader's answer."""

    name: str
    size: int
    data: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What was found in a document.

    `sentence` explains every outcome except `text`, where it says what was left out or is odd, if anything.
    `content_type` is found by content. `pages_read` are the numbers of the pages in `pages`, empty if all
    are; `picture_pages` are those of pages that are pictures. `filled` differs between copies of a form with
    other values, and is empty without any. `note` says what isn't in the text, or is odd. `hints` are facts
    that the file states about itself: as untrusted as its text. `image` holds an image for a model that sees,
    of type `media_type`.
    """

    outcome: Outcome
    sentence: str
    content_type: str = ""
    pages: tuple[str, ...] = ()
    page_count: int = 0
    pages_read: tuple[int, ...] = ()
    picture_pages: tuple[int, ...] = ()
    filled: str = ""
    note: str = ""
    hints: Mapping[str, str] = field(default_factory=dict)
    image: bytes = b""
    media_type: str = ""
    attachments: tuple[AttachedFile, ...] = ()

    @property
    def text(self) -> str:
        """The pages, separated by form feeds."""
        return "\f".join(self.pages)


def extraction_of(answer: bytes) -> Extraction:
    """Return what an answer of the reader says. Raises `UntrueAnswer`."""
    line, _, rest = answer.partition(b"\n")
    if len(line) > MAX_HEAD_BYTES:
        raise UntrueAnswer
    said = answers.json_object(line)
    length = answers.number(said.get("text_bytes", 0), most=len(rest))
    image_end = length + answers.number(said.get("image_bytes", 0), most=len(rest) - length)
    image = rest[length:image_end]
    outcome: Outcome | None = next((one for one in get_args(Outcome) if one == said.get("outcome")), None)
    if outcome is None or (image and not image.startswith(_JPEG_START)):
        raise UntrueAnswer
    sentence = answers.text(said.get("sentence"), most=MAX_NOTE)
    pictures = _numbers(said.get("picture_pages", []), most=MAX_PICTURE_PAGES)
    unread = pictures if outcome == "text" else pictures[1:] if image else ()
    note = joined_notes([pictures_note(unread), sentence if outcome == "text" else ""])
    if outcome == "no_text":
        without = _IMAGE if image else _PICTURES if pictures else _NO_TEXT
        sentence = joined_notes([without, sentence])
    pages = tuple(_text(rest[:length]).split("\f")) if outcome == "text" else ()
    return Extraction(
        outcome=outcome,
        sentence=sentence,
        content_type=_content_type(said.get("content_type")),
        pages=pages,
        page_count=answers.number(said.get("page_count", 0), most=MAX_PAGES),
        pages_read=_numbers(said.get("pages_read", []), most=len(pages)),
        picture_pages=pictures,
        note=note,
        filled=answers.text(said.get("filled", ""), most=MAX_FILLED),
        hints=_hints(said.get("hints", {})),
        image=image,
        media_type=JPEG if image else "",
        attachments=_attachments(said.get("attachments", []), rest[image_end:]),
    )


def _numbers(value: object, *, most: int) -> tuple[int, ...]:
    return tuple(answers.number(number, most=MAX_PAGES) for number in answers.list_of(value, most=most))


def _attachments(value: object, data: bytes) -> tuple[AttachedFile, ...]:
    """Return the files; their bytes follow one another."""
    attached: list[AttachedFile] = []
    at = 0
    for each in answers.list_of(value, most=MAX_ATTACHMENTS):
        if not isinstance(each, dict):
            raise UntrueAnswer
        is_taken = each.get("is_taken") is True
        size = answers.number(each.get("size"), most=len(data) - at if is_taken else MAX_ATTACHMENT_BYTES)
        name = answers.text(each.get("name"), most=MAX_HINT)
        attached.append(AttachedFile(name=name, size=size, data=data[at : at + size] if is_taken else None))
        at += size if is_taken else 0
    return tuple(attached)


def _text(data: bytes) -> str:
    try:
        return answers.text(data.decode(), most=len(data))
    except UnicodeDecodeError:
        raise UntrueAnswer from None


def _content_type(value: object) -> str:
    if not isinstance(value, str) or not (value == "" or value in NAMES):
        raise UntrueAnswer
    return value


def _hints(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or len(value) > MAX_HINTS:
        raise UntrueAnswer
    return {
        answers.text(name, most=MAX_HINT): answers.text(hint, most=MAX_HINT) for name, hint in value.items()
    }
