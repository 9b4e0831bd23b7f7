"""Cues of subtitle files as lines: when, who, what."""

import re
from collections.abc import Sequence

from coaching.library.extractors.extracted import Extracted

_TIMES = re.compile(
    r"(?:(\d{1,9}):)?(\d{1,2}):(\d{2})[.,](\d{3})\s++-->\s++(?:(\d{1,9}):)?(\d{1,2}):(\d{2})[.,]\d{3}"
)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?\s++([^<>]*+)>", re.IGNORECASE)
_TAGS = re.compile(r"</?(?:[a-z]+|\d\d:[\d:.]+)(?:[. ][^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_SPEAKER = re.compile(r"([^\W\d_][^:.!?]{0,39}):\s+\S")
MAX_SPEAKERS = 20


def read_cues(text: str) -> Extracted:
    """Return one line a cue, `[00:01:05] Speaker: words`, without styles and comments."""
    lines: list[str] = []
    speakers: dict[str, None] = {}
    end = ""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        rows = block.strip("\n").split("\n")
        at = next((number for number, row in enumerate(rows[:3]) if _TIMES.search(row)), None)
        if at is None:
            continue
        found = _TIMES.search(rows[at])
        assert found is not None
        said = _spoken(rows[at + 1 :])
        if not said:
            continue
        lines.append(f"[{_moment(*found.groups()[:3])}] {said}")
        end = _moment(*found.groups()[4:7])
        if speaker := _SPEAKER.match(said):
            speakers[speaker[1]] = None
    hints = {"speakers": ", ".join(list(speakers)[:MAX_SPEAKERS]), "ends_at": end}
    return Extracted(pages=("\n".join(lines),), hints={name: hint for name, hint in hints.items() if hint})


def _spoken(rows: Sequence[str]) -> str:
    said = " ".join(row.strip() for row in rows if row.strip())
    said = _VOICE.sub(lambda voice: f"{voice[1].strip()}: ", said)
    return " ".join(_TAGS.sub("", said).split())


def _moment(hours: str | None, minutes: str, seconds: str) -> str:
    return f"{int(hours or 0):02}:{int(minutes):02}:{seconds}"
