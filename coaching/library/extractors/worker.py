"""Reads one document: the module of the processes of `coaching.library.pipeline.extraction`."""

import importlib
import json
import re
from collections.abc import Sequence

from PIL import Image

from coaching.library.extractors.content_types import wrong_name
from coaching.library.extractors.detection import find_type
from coaching.library.extractors.extracted import UNWANTED, Extracted, Unread, gettext_noop
from coaching.library.extractors.left_out import joined_notes
from coaching.library.extractors.registry import EXTRACTORS
from coaching.sandbox.preloading import load_codecs

MAX_CHARACTERS = 2_000_000
TAIL_CHARACTERS = 500_000
UNCLEANED = 2
"""Times as much is cleaned at most: cleaning 25 million characters takes seconds."""
MAX_HINT_CHARACTERS = 300
ENDS_READ = gettext_noop("It’s very long, so Sage read only the beginning and the end.")

_LINE_ENDS = re.compile("\r\n|[\r\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def answer(head: bytes, data: bytes) -> bytes:
    """Read a document whose name is `head`. Return a line of JSON, the pages' text, and the image, if any."""
    name = head.decode("utf-8", "replace")
    content_type = ""
    try:
        content_type = find_type(data, name)
        extracted = EXTRACTORS[content_type](data)
    except Unread as error:
        said = {"outcome": error.outcome, "sentence": error.sentence, "content_type": content_type}
        return json.dumps(said).encode() + b"\n"
    return _answer(extracted, name, content_type)


def _answer(extracted: Extracted, name: str, content_type: str) -> bytes:
    pages = list(extracted.pages)
    numbers = list(extracted.pages_read or range(1, len(pages) + 1))
    is_cut = sum(map(len, pages)) > UNCLEANED * MAX_CHARACTERS
    if is_cut:
        pages, numbers = _cut(pages, numbers, UNCLEANED)
    pages = [_clean(page) for page in pages]
    if sum(map(len, pages)) > MAX_CHARACTERS:
        is_cut = True
        pages, numbers = _cut(pages, numbers)
    has_text = any(character.isalnum() for page in pages for character in page)
    notes = [wrong_name(name, content_type), extracted.note, ENDS_READ if is_cut else ""]
    text = "\f".join(pages if has_text else ()).encode()
    said = {
        "outcome": "text" if has_text else "no_text",
        "sentence": joined_notes(notes),
        "content_type": content_type,
        "text_bytes": len(text),
        "page_count": extracted.page_count,
        "pages_read": numbers if has_text and (extracted.pages_read or is_cut) else [],
        "picture_pages": list(extracted.picture_pages),
        "filled": extracted.filled,
        "hints": {key: _hint(hint) for key, hint in extracted.hints.items()},
        "image_bytes": len(extracted.image),
        "attachments": [
            {"name": _hint(each.name), "size": each.size, "is_taken": each.data is not None}
            for each in extracted.attachments
        ],
    }
    attached = b"".join(each.data for each in extracted.attachments if each.data is not None)
    return json.dumps(said, ensure_ascii=False).encode() + b"\n" + text + extracted.image + attached


def _clean(text: str) -> str:
    kept = UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    return _BLANK_LINES.sub("\n\n", kept).strip()


def _hint(text: str) -> str:
    return " ".join(_clean(text).split())[:MAX_HINT_CHARACTERS]


def _cut(pages: Sequence[str], numbers: Sequence[int], times: int = 1) -> tuple[list[str], list[int]]:
    """Return the beginning and the end of a text, with the numbers of the pages they come from."""
    head = _up_to(list(zip(pages, numbers, strict=True)), times * (MAX_CHARACTERS - TAIL_CHARACTERS))
    rest = sum(map(len, pages)) - sum(len(page) for page, _ in head)
    backwards = [(page[::-1], number) for page, number in zip(pages, numbers, strict=True)][::-1]
    tail = [(page[::-1], number) for page, number in _up_to(backwards, min(times * TAIL_CHARACTERS, rest))][
        ::-1
    ]
    if tail and tail[0][1] == head[-1][1]:
        head[-1] = (f"{head[-1][0]}\n[…]\n{tail[0][0]}", head[-1][1])
        tail = tail[1:]
    kept = [*head, *tail]
    return [page for page, _ in kept], [number for _, number in kept]


def _up_to(pages: Sequence[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    kept: list[tuple[str, int]] = []
    for page, number in pages:
        if most <= 0:
            break
        kept.append((page[:most], number))
        most -= len(page)
    return kept


# What readers load when it is first used.
load_codecs()
Image.init()
for _name in ("_strptime", "mimetypes"):
    importlib.import_module(_name)
