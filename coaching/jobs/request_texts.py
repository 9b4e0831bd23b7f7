"""What the requests of background jobs share: a conversation's words and answers as data."""

import re
from collections.abc import Iterable, Sequence
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day
from coaching.legacy_text.blocks import strip_block_tags
from coaching.transcript.answers import Said
from sessions_app.models import BriefCorrection, CorrectionKind

_TAG = re.compile(
    r"<(?=/?\s*(?:transcript|beginning|language|said|brief|corrections?|struck|line)\b)", re.IGNORECASE
)


def said_lines(
    said: Sequence[Said], *, most_characters: int | None = None, zone: ZoneInfo | None = None
) -> list[str]:
    """Return each piece in a tag that names its speaker, perhaps only its first characters.

    With `zone` the first piece of each day names the day.
    """
    lines, last = [], ""
    for piece in said:
        day = f"{local_day(piece.message.created_at, zone):%A, %Y-%m-%d}" if zone else ""
        named = f' day="{day}"' if day != last else ""
        last = day
        speaker = "person" if piece.is_by_person else "sage"
        lines.append(f'<said by="{speaker}"{named}>\n{fenced(piece.text[:most_characters])}\n</said>')
    return lines


def correction_sections(corrections: Sequence[BriefCorrection]) -> list[str]:
    """Return the sections of what a person has corrected and removed of what Sage remembers."""
    struck = [each.line for each in corrections if each.kind == CorrectionKind.STRIKE]
    corrected = [
        each.words + (f" (about: {each.line})" if each.line else "")
        for each in corrections
        if each.kind == CorrectionKind.CORRECTION
    ]
    return [
        section("corrections", [f"- {fenced(line)}" for line in corrected]),
        section("struck", [f"- {fenced(line)}" for line in struck]),
    ]


def section(name: str, lines: Iterable[str]) -> str:
    """Return lines in a section's tags."""
    return "\n".join([f"<{name}>", *lines, f"</{name}>"])


def fenced(text: str) -> str:
    """Return text that can neither close its section nor open another."""
    return _TAG.sub("&lt;", strip_block_tags(text))
