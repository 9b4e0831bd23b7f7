"""What is taken of an email's attachments: as many files, and as many bytes, as an upload may have."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from coaching.library.extractors.extracted import Attachment, gettext_noop

MAX_NAME = 255
MAX_ATTACHMENTS = 50
MAX_BYTES = 25 * 1024 * 1024
"""Of all together."""
MAX_LISTED = 60
"""As many are named, with those that aren't taken."""
MORE_ATTACHED = gettext_noop("This email has more attachments than Sage lists.")
SMALL_PICTURE_BYTES = 50_000
_SIGNATURES = frozenset({
    "application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An attachment before its bytes are read. `is_in_text`: the text shows it, as it does a logo."""

    name: str
    content_type: str
    is_in_text: bool
    read: Callable[[], bytes]

    def is_decoration(self, size: int) -> bool:
        """Say whether it is no document: a signature, or a small picture within the text."""
        is_picture = self.content_type.startswith("image/") and size < SMALL_PICTURE_BYTES
        return self.content_type in _SIGNATURES or (self.is_in_text and is_picture)


def take(found: Iterable[Found]) -> tuple[tuple[Attachment, ...], str]:
    """Return attachments with their bytes within the limits, and a note if some aren't listed.

    What is no document is left out.
    """
    taken: list[Attachment] = []
    room = MAX_BYTES
    count = 0
    for each in found:
        data = each.read()
        if each.is_decoration(len(data)):
            continue
        if len(taken) == MAX_LISTED:
            return tuple(taken), MORE_ATTACHED
        fits = count < MAX_ATTACHMENTS and len(data) <= room
        taken.append(Attachment(name=each.name, size=len(data), data=data if fits else None))
        room -= len(data) if fits else 0
        count += int(fits)
    return tuple(taken), ""
