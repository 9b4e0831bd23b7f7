"""A conversation as an operator reads it: in the order of its user's page, with the calls of each round.

Replies of the earlier app look like today's, without their tags. Every reading is logged.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.formats import date_format
from django.utils.safestring import SafeString

from coaching.files.safety_plans import PLAN_PATH
from coaching.models import Profile, is_private
from coaching.sandbox.markdown import render_replies
from coaching.transcript.old_replies import old_calls
from coaching.transcript.turn_items import rounds_of_answer
from sessions_app.admin import SessionAdmin, page_of_row, row_to_read, words_response
from sessions_app.models import Message, MessageRole, Session

MESSAGES_A_PAGE = 100
PRIVATE_FILE = "(a private file, which isn't shown here)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """A call with its input as names and values."""

    name: str
    is_error: bool
    values: Sequence[tuple[str, str]]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRound:
    """What Sage wrote before a number of calls, rendered, and these calls."""

    notes: str
    html: SafeString | str
    calls: Sequence[ReadCall]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """A message; the user's has `words`, Sage's has `rounds`."""

    number: int
    role: str
    created_at: datetime
    words: str = ""
    rounds: Sequence[ReadRound] = ()


def read_messages(messages: Sequence[Message], *, zone: ZoneInfo) -> Sequence[ReadMessage]:
    """Return messages as they were read. Rendering may take seconds."""
    replies = [message for message in messages if message.role == MessageRole.ASSISTANT]
    rendered = render_replies(text for reply in replies for text, _ in rounds_of_answer(reply))
    return [
        ReadMessage(
            number=message.number,
            role=message.get_role_display(),
            created_at=message.created_at,
            words=message.content if message.role == MessageRole.USER else "",
            rounds=list(_rounds(message, rendered, zone)) if message.role == MessageRole.ASSISTANT else (),
        )
        for message in messages
    ]


def _rounds(message: Message, rendered: Mapping[str, SafeString], zone: ZoneInfo) -> Iterator[ReadRound]:
    calls = old_calls(message, zone=zone) or message.metadata.get("tool_calls") or ()
    texts = rounds_of_answer(message)
    last = max([len(texts), *(call["round"] for call in calls)])
    for number in range(1, last + 1):
        text, notes = texts[number - 1] if number <= len(texts) else ("", "")
        made = [_call(call) for call in calls if max(call["round"], 1) == number]
        if text.strip() or notes.strip() or made:
            yield ReadRound(notes=notes, html=rendered.get(text, ""), calls=made)


def _call(call: Mapping[str, Any]) -> ReadCall:
    given = call["input"] if isinstance(call["input"], Mapping) else {"input": call["input"]}
    if is_private(str(given.get("file_type", ""))) or given.get("path") == PLAN_PATH:
        return ReadCall(name=call["name"], is_error=call["is_error"], values=[], result=PRIVATE_FILE)
    return ReadCall(
        name=call["name"],
        is_error=call["is_error"],
        values=[(name, _in_words(value)) for name, value in given.items()],
        result=call["result"] or "",
    )


def _in_words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


class TranscriptAdmin(SessionAdmin):
    def get_urls(self) -> list[URLPattern]:
        return [page_of_row(self, self.words, "words", takes="uuid"), *super().get_urls()]

    def words(self, request: HttpRequest, row_id: uuid.UUID) -> HttpResponse:
        """Show what was said, to an operator who may read it, and log the look."""
        session = row_to_read(request, self, Session.unscoped.select_related("user"), row_id)
        profile = Profile.of(session.user_id).first() or Profile(user_id=session.user_id)
        said = Message.within(session).filter(turn__is_withdrawn=False).order_by("number")
        page = Paginator(said, MESSAGES_A_PAGE).get_page(request.GET.get("page"))
        return words_response(
            request,
            self,
            "admin/sessions_app/session/words.html",
            title=f"{session.user.get_username()}, {session.get_kind_display().lower()}",
            subtitle=date_format(session.started_at, "DATETIME_FORMAT"),
            session=session,
            page=page,
            said=read_messages(list(page.object_list), zone=profile.zone),
        )
