"""Reflection prompts for the user: shown one at a time, answered or skipped.

An answer goes where Sage reads it: into a conversation, or into a capture that the day's log takes in. The
prompt's own file keeps the question.
"""

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.db.models import Count, QuerySet, Window
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from coaching.clock.days import local_day
from coaching.life.captures import keep_capture
from coaching.models import Capture, ReflectionPrompt
from coaching.safety.danger import Danger
from sessions_app.errors import Refused

QUOTED_CHARACTERS = 1_000
"""Of a question above its answer. `prompt.html` says how long an answer may be, so that both fit."""
SHOWN_CHARACTERS = 2_000
NO_ANSWER_YET = gettext_lazy("I’d like to talk about it.")
ALREADY = gettext_noop("You’ve already answered or skipped this question.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPrompt:
    """A question, the day it was asked, and how many wait in total."""

    id: int
    text: str
    path: str
    asked_on: date
    is_open: bool = True
    waiting: int = 1


def read_next_prompt(*, user_id: int, timezone: ZoneInfo) -> ShownPrompt | None:
    """Return the newest open prompt, in one query."""
    waiting = _open(ReflectionPrompt.of(user_id)).select_related("file").annotate(waiting=Window(Count("id")))
    prompt = waiting.order_by("-created_at", "-id").first()
    return _shown(prompt, timezone=timezone, waiting=prompt.waiting) if prompt else None


def accessible_prompt(*, user_id: int, prompt_id: int, timezone: ZoneInfo) -> ShownPrompt:
    """Return a prompt, open or not. Raises `ReflectionPrompt.DoesNotExist`."""
    return _shown(ReflectionPrompt.of(user_id).select_related("file").get(id=prompt_id), timezone=timezone)


def skip_prompt(*, user_id: int, prompt_id: int, now: datetime) -> None:
    """Skip a question; its file stays. Raises `ReflectionPrompt.DoesNotExist`."""
    prompt = ReflectionPrompt.of(user_id).get(id=prompt_id)
    _open(ReflectionPrompt.of(user_id)).filter(id=prompt.pk).update(put_away_at=now)


def mark_answered(*, user_id: int, prompt_id: int, now: datetime) -> None:
    _open(ReflectionPrompt.of(user_id)).filter(id=prompt_id).update(answered_at=now)


def keep_answer(
    prompt: ShownPrompt,
    *,
    user_id: int,
    text: str,
    client_id: str,
    now: datetime,
    timezone: ZoneInfo,
    danger: Danger | None = None,
) -> Capture:
    """Store an answer with its question as a capture; idempotent. Raises `Refused`."""
    if not text.strip():
        raise Refused(gettext_noop("Please write something first."))
    if not (prompt.is_open or (client_id and Capture.of(user_id).filter(client_id=client_id).exists())):
        raise Refused(ALREADY)
    question = _quoted("\n".join(f"> {line}".rstrip() for line in prompt.text.splitlines()))
    kept = keep_capture(
        user_id=user_id,
        text=f"{question}\n\n{text}",
        client_id=client_id,
        now=now,
        timezone=timezone,
        danger=danger,
    )
    mark_answered(user_id=user_id, prompt_id=prompt.id, now=now)
    return kept


def question_and_answer(*, user_id: int, body: str) -> tuple[str, str]:
    """Return the question that a capture answers, and the person's words; it is empty where they ask none.

    Anybody can quote: only a question that Sage left them is Sage's.
    """
    lines = body.splitlines()
    count = next((place for place, line in enumerate(lines) if not line.startswith(">")), len(lines))
    question = "\n".join(line[1:].strip() for line in lines[:count]).removesuffix("…").strip()
    if not question:
        return "", body
    first = question.splitlines()[0]
    if not ReflectionPrompt.of(user_id).filter(text__startswith=first).exists():
        return "", body
    return question, "\n".join(lines[count:]).strip()


def message_about(prompt: ShownPrompt, text: str) -> str:
    """Return the user's first message for a conversation about the question, with or without an answer."""
    question = _("You left me a question: “%(question)s”") % {"question": _quoted(prompt.text)}
    return f"{question}\n\n{text.strip() or NO_ANSWER_YET}"


def _open(prompts: QuerySet[ReflectionPrompt]) -> QuerySet[ReflectionPrompt]:
    return prompts.filter(answered_at=None, put_away_at=None, file__deleted_at=None)


def _quoted(text: str) -> str:
    return text if len(text) <= QUOTED_CHARACTERS else f"{text[:QUOTED_CHARACTERS].rstrip()} …"


def _shown(prompt: ReflectionPrompt, *, timezone: ZoneInfo, waiting: int = 1) -> ShownPrompt:
    return ShownPrompt(
        id=prompt.pk,
        text=prompt.text[:SHOWN_CHARACTERS],
        path=prompt.file.path,
        asked_on=local_day(prompt.created_at, timezone),
        is_open=prompt.answered_at is None and prompt.put_away_at is None,
        waiting=waiting,
    )
