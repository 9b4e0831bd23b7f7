"""A document's page: its text by page, what Sage found and why, and the forms that change that."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_http_methods

from coaching.library.decisions import accept_shown
from coaching.library.documents.filing import (
    delete_document,
    move_document,
    read_again,
    rename_document,
    withhold_document,
)
from coaching.library.documents.findings import FACTS_KEY, TRANSCRIPT_KEY
from coaching.library.documents.on_hold import let_read
from coaching.library.documents.readings import IS_WITHHELD, read_whole_again
from coaching.library.documents.reviews import accept_review, correct_document
from coaching.library.pages.forms import ids_in, seen_in
from coaching.library.pages.frame import folder_choices, frame_of, type_choices
from coaching.library.pages.places import place_choices_for, place_in
from coaching.library.pages.program_values import document_as_json
from coaching.library.pages.readings import shown_readings
from coaching.library.pages.text_pages import beginning_of, has_text, text_pages
from coaching.library.pages.viewer import chosen_in, has_viewer, viewer_at_once
from coaching.library.rows.documents import attachments_of, document_with_text
from coaching.library.rows.proposals import effects_of, entries_of, next_steps_of
from coaching.models import UNFINISHED_STATES, ActionItem, ActionState, Document, EntryState, KnowledgeEntry
from coaching.people.accounts import user_id_of
from coaching.sandbox.markdown import render_markdown
from coaching.views.parts import back_to, or_404, wants_part
from coaching.views.programs import login_or_401, wants_json
from sessions_app.errors import Refused

UNREADABLE = gettext_noop("Sage couldn’t read the form, so nothing was changed. Please try again.")
CHANGED_SINCE_SHOWN = gettext_noop(
    "These suggestions have changed since this page was loaded. Check them again."
)
NOT_REMEMBERED = gettext_noop("Saved.")
ALL_WITHHELD = gettext_noop("Sage won’t send this email or its attachments to the AI model any more.")
NOT_ON_HOLD = gettext_noop("This document no longer waits to be read.")
EFFECTS_SHOWN = 50
ATTACHMENTS_SHOWN = 100
MAX_SHOWN_CHARACTERS = 1_500_000


@login_or_401
@require_http_methods(["GET", "HEAD", "POST"])
def document(request: HttpRequest, document_id: int) -> HttpResponse:
    """Show a document, to a program as JSON; a post changes it (`do`)."""
    user_id = user_id_of(request)
    with or_404():
        found = document_with_text(user_id=user_id, document_id=document_id)
    if request.method == "POST":
        return _act(request, user_id, document_id, is_withheld=found.is_withheld)
    if wants_json(request):
        return JsonResponse(document_as_json(found))
    return _page(request, found)


def _page(request: HttpRequest, document: Document, *, refusal: str = "") -> HttpResponse:
    user_id = document.user_id
    with or_404():
        chosen = chosen_in(request, document) if request.method != "POST" else None
        is_viewable = has_viewer(document, has_text=has_text(document))
        pages = text_pages(document, chosen)
        viewer = viewer_at_once(document, chosen, pages) if is_viewable else None
    entries = entries_of(user_id=user_id, document_id=document.pk)
    actions = next_steps_of(user_id=user_id, document_id=document.pk)
    context = {
        **frame_of(request, "documents", user_id=user_id),
        "document": document,
        "client": document.client,
        "project": document.project,
        "is_unfinished": document.state in UNFINISHED_STATES,
        "pages": beginning_of(pages, MAX_SHOWN_CHARACTERS),
        "chosen": chosen.query if chosen else "",
        "viewer": viewer,
        "summary": render_markdown(document.summary) if document.summary else "",
        "entries": entries,
        "actions": actions,
        "seen_at": _newest_change(entries, actions),
        "effects": effects_of(user_id=user_id, document_id=document.pk)[:EFFECTS_SHOWN],
        "places": place_choices_for(document),
        "types": type_choices(),
        "folder_names": folder_choices(user_id=user_id, client_id=document.client_id),
        "attachments": attachments_of(user_id=user_id, document_id=document.pk)[:ATTACHMENTS_SHOWN],
        "readings": shown_readings(document),
        "is_readings_part": _is_readings_part(request),
        "imported": document.made_by_import,
        "refusal": refusal,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    response = render(request, "coaching/pages/document.html", context, status=status)
    if wants_part(request) and not context["is_unfinished"] and not _is_readings_part(request):
        response["HX-Refresh"] = "true"  # what was found belongs to the whole page
    return response


def _newest_change(entries: Iterable[KnowledgeEntry], actions: Iterable[ActionItem]) -> datetime | None:
    """Return when the newest of the proposals that are shown has changed, None without any."""
    waiting: list[KnowledgeEntry | ActionItem] = [
        *(entry for entry in entries if entry.state == EntryState.PROPOSED),
        *(item for item in actions if item.state == ActionState.PROPOSED),
    ]
    return max((made.updated_at for made in waiting), default=None)


def _is_readings_part(request: HttpRequest) -> bool:
    """Return whether the page replaces only its readings, while somebody may fill in its forms."""
    return wants_part(request) and request.headers.get("HX-Target") == "readings"


def _act(request: HttpRequest, user_id: int, document_id: int, *, is_withheld: bool) -> HttpResponse:
    what = request.POST.get("do", "")
    act = ACTS.get(what)
    try:
        if act is None:
            raise Refused(UNREADABLE)
        with or_404():
            act(request.POST, user_id=user_id, document_id=document_id)
    except Refused as refusal:
        with or_404():
            return _page(
                request,
                document_with_text(user_id=user_id, document_id=document_id),
                refusal=refusal.shown(),
            )
    success(request, gettext(_said(what, user_id, document_id, is_withheld=is_withheld)))
    if what == "delete":
        return back_to("library")
    return back_to("library_document", of=document_id)


def _said(what: str, user_id: int, document_id: int, *, is_withheld: bool) -> str:
    if what == "type" and is_withheld:
        return NOT_REMEMBERED
    if what == "withhold" and attachments_of(user_id=user_id, document_id=document_id).exists():
        return ALL_WITHHELD
    return SAID[what]


def _move(form: Mapping[str, Any], **whose: int) -> None:
    move_document(**whose, **place_in(form.get("place", "")), folder=form.get("folder", ""))


def _set_type(form: Mapping[str, Any], **whose: int) -> None:
    correct_document(**whose, file_type=form.get("file_type", ""), folder=form.get("folder", ""))


def _let_read(_form: Mapping[str, Any], *, user_id: int, document_id: int) -> None:
    if Document.of(user_id).get(id=document_id).is_withheld:
        raise Refused(IS_WITHHELD)
    if not let_read(user_id=user_id, document_ids=[document_id]):
        raise Refused(NOT_ON_HOLD)


def _accept_proposals(form: QueryDict, **whose: int) -> None:
    accepted = accept_shown(
        **whose,
        entry_ids=ids_in(form.getlist("entry")),
        action_ids=ids_in(form.getlist("action")),
        seen_at=seen_in(form),
    )
    if not accepted:
        raise Refused(CHANGED_SINCE_SHOWN)


ACTS: Mapping[str, Callable[..., Any]] = {
    "move": _move,
    "type": _set_type,
    "rename": lambda form, **whose: rename_document(**whose, name=form.get("name", "")),
    "accept": lambda _form, **whose: accept_review(**whose),
    "again": lambda _form, **whose: read_again(**whose),
    "read": _let_read,
    "facts": lambda _form, **whose: read_whole_again(**whose, kind=FACTS_KEY),
    "analyse": lambda _form, **whose: read_whole_again(**whose, kind=TRANSCRIPT_KEY),
    "withhold": lambda _form, **whose: withhold_document(**whose, is_withheld=True),
    "allow": lambda _form, **whose: withhold_document(**whose, is_withheld=False),
    "proposals": _accept_proposals,
    "delete": lambda _form, **whose: delete_document(**whose),
}
SAID: Mapping[str, str] = {
    "move": gettext_noop("Moved."),
    "type": gettext_noop("Saved. Sage will remember this for similar documents."),
    "rename": gettext_noop("Renamed."),
    "accept": gettext_noop("Filed."),
    "again": gettext_noop("Sage is reading it again."),
    "read": gettext_noop("Sage is reading it."),
    "facts": gettext_noop("Sage is looking for facts in the whole text."),
    "analyse": gettext_noop("Sage is analysing what was said."),
    "withhold": gettext_noop("Sage won’t send this document to the AI model any more."),
    "allow": gettext_noop("Sage can send this document to the AI model again."),
    "proposals": gettext_noop("The suggestions that were shown here are accepted."),
    "delete": gettext_noop("The document was deleted."),
}
