"""A brief's lines as its user corrected them.

What the user corrected or struck is applied whenever a brief is stored, sent or shown, whatever the model
wrote.
"""

import re
from collections.abc import Iterable, Sequence

from coaching.context.budget import count_tokens
from coaching.context.closeness import CITATION, SAME_PERCENT, closeness, is_close, without_struck
from sessions_app.models import BriefCorrection, CorrectionKind

MAX_TOKENS = 600
CORRECTIONS_TOKENS = 300
"""How much of a brief corrections may take, the newest first."""
CORRECTED = "Corrected by the person: "

_BULLET = re.compile(r"^(?:\s*(?:[-*•–—]|#+|\d{1,2}[.)])\s+)+")


def lines_of(text: str) -> list[str]:
    """Return the lines of a brief without bullets; empty lines are left out."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if re.search(r"\w", line)]


def without_citations(line: str) -> str:
    """Return a line without the numbers of the messages that it rests on."""
    return re.sub(rf"(?<!\s)\s*{CITATION.pattern}", "", line).strip()


def brief_text(lines: Iterable[str]) -> str:
    """Return the stored form of lines."""
    return "\n".join(f"- {line}" for line in lines)


def corrected_lines(text: str, corrections: Sequence[BriefCorrection]) -> list[str]:
    """Return a brief's lines without what the user ruled out, and with what they corrected, in `MAX_TOKENS`.

    Lines that don't fit are left out, the last first. Applied twice it changes nothing more.
    """
    struck = [each.line for each in corrections if each.kind == CorrectionKind.STRIKE]
    wrong = [each.line for each in corrections if each.kind == CorrectionKind.CORRECTION and each.line]
    stands = [
        line
        for line in lines_of(text)
        if not line.startswith(CORRECTED) and not any(closeness(each, line) >= SAME_PERCENT for each in wrong)
    ]
    kept = without_struck(stands, struck)
    stated: list[str] = []
    for each in reversed(corrections):
        is_there = any(is_close(each.words, line) for line in kept)
        if each.kind == CorrectionKind.CORRECTION and not is_there:
            statement = _statement_of(each)
            if count_tokens(brief_text([*stated, statement])) <= CORRECTIONS_TOKENS:
                stated.append(statement)
    stated.reverse()
    while kept and count_tokens(brief_text([*kept, *stated])) > MAX_TOKENS:
        kept.pop()
    return [*kept, *stated]


def corrected_text(text: str, corrections: Sequence[BriefCorrection]) -> str:
    """Return the stored form of a brief's corrected lines."""
    return brief_text(corrected_lines(text, corrections))


def _statement_of(correction: BriefCorrection) -> str:
    about = f" (about: “{correction.line}”)" if correction.line else ""
    return f"{CORRECTED}{correction.words}{about}"
