"""What was attached to a message of a Claude export: pasted texts, texts of files, and names.

Pasted texts are its user's words. The text of a file stands under the file's name in a fence, so that it is
read as a document's. Files without a text stand by their names.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coaching.legacy.importers.things import MAX_MESSAGE_CHARACTERS, in_markdown, text_of

MAX_NAME_CHARACTERS = 255
LEAST_CHARACTERS = 500
"""Of a text that is cut, a shorter beginning isn't worth having."""

# A text that is pasted and long becomes an attachment.
_PASTED = re.compile(r"(?:paste(?:-\d+)?\.txt)?")
_BREAK = "\n\n"


@dataclass(slots=True)
class Attached:
    """What is attached to one message, in order; `earlier_names` are those that earlier versions wrote."""

    pasted: list[str] = field(default_factory=list)
    documents: dict[tuple[str, str], None] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    earlier_names: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A message's text with its attachments; `cut` and `left_out` are files whose texts didn't fit.

    `names` are files without a text.

    `shorter` is the text without those of files, as earlier versions read it: as many characters of it, and
    how it then ended.
    """

    text: str
    shorter: tuple[int, str] | None = None
    cut: Sequence[str] = ()
    left_out: Sequence[str] = ()
    names: Sequence[str] = ()


def attached_to(attachments: Sequence[Mapping[str, Any]], files: Sequence[Mapping[str, Any]]) -> Attached:
    """Sort a message's attachments."""
    made, pasted_as, names = Attached(), set(), dict[str, None]()
    for each in (*attachments, *files):
        name, words = text_of(each.get("file_name")), text_of(each.get("extracted_content")).strip()
        if words and _PASTED.fullmatch(name):
            pasted_as.add(name)
            made.pasted.append(words)
            continue
        if words:
            made.documents[name, words] = None
        if not name or name not in pasted_as:
            names[name or "a file"] = None
    with_text = {name for name, _ in made.documents}
    made.earlier_names = list(names)
    made.names = [name for name in names if name not in with_text]
    return made


def composed(words: Sequence[str], attached: Attached) -> Composed:
    """Put a message's text together, within what a message may have."""
    own = _BREAK.join(filter(None, [*words, *attached.pasted]))
    earlier = _BREAK.join(filter(None, [own, _named(attached.earlier_names)]))
    room = MAX_MESSAGE_CHARACTERS - len(earlier)
    shown: list[str] = []
    cut: list[str] = []
    left_out: list[str] = []
    for name, text in attached.documents:
        fitting = _fitting(name, text, room - len(_BREAK))
        if fitting is None:
            left_out.append(name)
            continue
        part, is_cut = fitting
        room -= len(part) + len(_BREAK)
        shown.append(part)
        cut += [name] if is_cut else []
    if not shown:
        return Composed(text=earlier, left_out=left_out, names=attached.names)
    text = _BREAK.join(filter(None, [own, *shown, _named([*attached.names, *left_out])]))
    shorter = (len(own), earlier[len(own) :])
    return Composed(text=text, shorter=shorter, cut=cut, left_out=left_out, names=attached.names)


def _fitting(name: str, text: str, room: int) -> tuple[str, bool] | None:
    """Return a document as it is shown, cut where it has to be; None where hardly anything fits."""
    title = name[:MAX_NAME_CHARACTERS]
    whole = in_markdown(title, text, language="")
    if len(whole) <= room:
        return whole, False
    note = f"{_BREAK}(Only the beginning of {' '.join(title.split())} fits into this message.)"
    kept = room - (len(whole) - len(text)) - len(note)
    if kept < LEAST_CHARACTERS:
        return None
    return in_markdown(title, text[:kept], language="") + note, True


def _named(names: Sequence[str]) -> str:
    return f"(Attached: {', '.join(names)})" if names else ""
