"""What a user says about the brief of a session: corrections, strikes, and their undoing."""

import uuid
from collections.abc import Callable, Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from sessions_app.briefs import corrections_of, mark_changed, newest_brief, next_version, usable_briefs
from sessions_app.errors import Refused
from sessions_app.limits import lock_limits
from sessions_app.models import BriefCorrection, CorrectionKind, Session, SessionBrief
from sessions_app.selectors import accessible_session
from sessions_app.text import mended

Finish = Callable[[str, Sequence[BriefCorrection]], str]
"""Makes of a brief's text what is stored, by what the user said about it."""
MAX_CORRECTIONS = 50
CORRECTION_CHARACTERS = 500

TOO_MANY = _(
    "You can have up to %(most)s corrections across all your conversations. "
    "Undo one that you no longer need, here or in another conversation."
)


def room_for_corrections(user_id: int) -> int:
    """Return how many more corrections and strikes a person may have."""
    return max(0, MAX_CORRECTIONS - BriefCorrection.of(user_id).count())


@transaction.atomic
def correct_brief(
    *,
    user_id: int,
    session_id: uuid.UUID,
    words: str,
    finish: Finish,
    line: str = "",
    is_strike: bool = False,
) -> BriefCorrection:
    """Keep a correction, of a line or of the whole, or strike a line; the same one twice is one.

    `finish` makes of the newest version's text what recall finds from now on. Raises `Refused`, also where
    the user has too many in all conversations, and `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    words = " ".join(mended(words).split())
    if not is_strike and not words:
        raise Refused(_("Write what’s right, then save it."))
    if len(words) > CORRECTION_CHARACTERS:
        raise Refused(_("A correction can have up to %(most)s characters."), most=CORRECTION_CHARACTERS)
    kind = CorrectionKind.STRIKE if is_strike else CorrectionKind.CORRECTION
    values = {"kind": kind, "line": mended(line), "words": "" if is_strike else words}
    known = session.brief_corrections.filter(**values).first()
    if known is not None:
        return known
    lock_limits(user_id=user_id)
    if BriefCorrection.of(user_id).count() >= MAX_CORRECTIONS:
        raise Refused(TOO_MANY, most=MAX_CORRECTIONS)
    correction = BriefCorrection.within(session).create(session=session, **values)
    mark_changed(session)
    _correct_newest(session, finish)
    return correction


@transaction.atomic
def undo_correction(*, user_id: int, session_id: uuid.UUID, correction_id: int, finish: Finish) -> bool:
    """Forget a correction or a strike; return whether the brief has its line again.

    Where only an older version in use has the line, a new version gets it. `finish` makes of a text what is
    stored. Raises `BriefCorrection.DoesNotExist`, `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    correction = session.brief_corrections.get(pk=correction_id)
    correction.delete()
    mark_changed(session)
    is_restored = bool(correction.line) and _restore(session, f"- {correction.line}", finish)
    _correct_newest(session, finish)
    return is_restored


def _restore(session: Session, line: str, finish: Finish) -> bool:
    """Return whether the brief has the line, perhaps by a new version."""
    newest = newest_brief(session)
    holding = usable_briefs(session).filter(text__contains=line).order_by("-version")
    held = next((brief for brief in holding if line in brief.text.splitlines()), None)
    if newest is None or held is None:
        return False
    lines = newest.text.splitlines()
    if held != newest:
        lines.insert(held.text.splitlines().index(line), line)
    text = finish("\n".join(lines), corrections_of(session))
    if line not in text.splitlines():
        return False
    if held != newest:
        SessionBrief.within(session).create(
            session=session,
            version=next_version(session),
            text=text,
            left_open=newest.left_open,
            covers_from=newest.covers_from,
            covers_until=newest.covers_until,
            input_version=newest.input_version,
            cost_micro_usd=0,
        )
    return True


def _correct_newest(session: Session, finish: Finish) -> None:
    """Store the newest version's text as all corrections leave it; a trigger indexes it for recall."""
    brief = newest_brief(session)
    if brief is not None:
        brief.corrected_text = mended(finish(brief.text, corrections_of(session)))
        brief.corrected_at = timezone.now()
        brief.save(update_fields=["corrected_text", "corrected_at"])
