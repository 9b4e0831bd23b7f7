"""Knowledge: what the library knows of each client, proposals to accept, notes, and auto-approval."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from coaching.library.auto_approval import ACTION_ITEM, auto_approvals, set_auto_approval
from coaching.library.clients import own_client
from coaching.library.decisions import DECISIONS, edit
from coaching.library.drafts import MAX_CONTENT, MAX_TITLE, NewEntry
from coaching.library.pages.forms import id_field
from coaching.library.pages.frame import frame_of
from coaching.library.proposals import propose
from coaching.library.rows.clients import list_clients
from coaching.library.rows.proposals import dismissed_of, effects_of, entries_of
from coaching.models import EntryState, EntryType, KnowledgeEntry, MadeBy
from coaching.people.accounts import user_id_of
from coaching.people.attempts import TooOften
from coaching.people.own_changes import EditConflict
from coaching.sandbox.markdown import plain_words, render_markdown
from coaching.views.edit_forms import EditForm
from coaching.views.hits import searches
from coaching.views.parts import back_to, or_404, page_in, with_wait
from sessions_app.errors import Refused

ENTRIES_A_PAGE = 50
PROPOSALS_SHOWN = 50
MAX_QUERY = 200
EXCERPTED = 600
"""How many characters of an entry are read for its excerpt, which is shorter."""
EFFECTS_SHOWN = 20
KINDS = [*EntryType.choices, (ACTION_ITEM, gettext_lazy("Next step"))]


class EntryForm(EditForm):
    client = id_field(widget=forms.Select)
    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=MAX_TITLE,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    content = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=MAX_CONTENT,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
    )

    def __init__(self, data: Any = None, *, user_id: int, entry: KnowledgeEntry | None = None) -> None:
        initial = {"title": entry.title, "content": entry.content} if entry else {}
        made_with = {"user_id": user_id, "entry": entry}
        super().__init__(data, made_with=made_with, initial=initial, auto_id="entry-%s")
        self.user_id, self.entry = user_id, entry
        if entry:
            del self.fields["client"]
            self.carry()
        else:
            add_clients(self, user_id)


def add_clients(form: forms.Form, user_id: int) -> None:
    """Let a form choose whom something is about; first stands the person."""
    field = form.fields["client"]
    own = own_client(user_id)
    field.label, field.initial = gettext_lazy("Who it’s about"), own.pk
    assert isinstance(field.widget, forms.Select)
    field.widget.choices = [(client.pk, client.shown_name) for client in list_clients(user_id)]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def knowledge(request: HttpRequest) -> HttpResponse:
    """List and search what is known; a post adds a note or changes what is accepted by itself (`do`)."""
    user_id = user_id_of(request)
    if request.method != "POST":
        return _page(request, user_id)
    if request.POST.get("do") == "auto_approval":
        given = set(request.POST.getlist("kind"))
        for kind, _label in KINDS:
            set_auto_approval(user_id=user_id, kind=kind, is_given=kind in given)
        success(request, _("Saved."))
        return back_to("library_knowledge")
    form = EntryForm(request.POST, user_id=user_id)
    if form.is_valid():
        values = form.cleaned_data
        new = NewEntry(client_id=values["client"], title=values["title"], content=values["content"])
        try:
            with or_404():
                propose(user_id=user_id, new=new, made_by=MadeBy.USER, is_accepted=True)
        except Refused as refusal:
            form.add_error(None, refusal.shown())
        else:
            success(request, _("The note was added."))
            return back_to("library_knowledge")
    return _page(request, user_id, form=form)


def _page(request: HttpRequest, user_id: int, *, form: EntryForm | None = None) -> HttpResponse:
    query = request.GET.get("q", "")[:MAX_QUERY].replace("\x00", "")
    entries = entries_of(user_id=user_id, state=EntryState.ACCEPTED)
    refusal: TooOften | None = None
    if query.strip():
        try:
            searches.count(user_id)
            entries = _matching(entries, query)
        except TooOften as refused:
            entries, refusal = entries.none(), refused
    proposals = list(entries_of(user_id=user_id, state=EntryState.PROPOSED)[:PROPOSALS_SHOWN])
    given = auto_approvals(user_id)
    page = Paginator(entries.defer("key_points"), ENTRIES_A_PAGE).get_page(page_in(request))
    frame = frame_of(request, "knowledge", user_id=user_id)
    words = plain_words({_beginning(entry) for entry in (*page.object_list, *proposals)})
    context = {
        **frame,
        "page": page,
        "rows": [(entry, words[_beginning(entry)]) for entry in page.object_list],
        "proposals": [(entry, words[_beginning(entry)]) for entry in proposals],
        "dismissed": dismissed_of(entries_of(user_id=user_id, with_dismissed=True)),
        "query": query,
        "kinds": [(kind, label, kind in given) for kind, label in KINDS],
        "form": form or EntryForm(user_id=user_id),
        "is_refused": form is not None,
        "refusal": refusal.shown() if refusal else "",
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form else HTTPStatus.OK
    if refusal:
        status = HTTPStatus.TOO_MANY_REQUESTS
    return with_wait(
        render(request, "coaching/pages/library_knowledge.html", context, status=status), refusal
    )


def _beginning(entry: KnowledgeEntry) -> str:
    return entry.content[:EXCERPTED]


def _matching(entries: "QuerySet[KnowledgeEntry]", query: str) -> "QuerySet[KnowledgeEntry]":
    words: Sequence[str] = query.split()[:8]
    for word in words:
        entries = entries.filter(
            Q(title__icontains=word) | Q(content__icontains=word) | Q(client__name__icontains=word)
        )
    return entries


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: HttpRequest, entry_id: int) -> HttpResponse:
    """Show an entry; a post changes, accepts, dismisses, restores or deletes it (`do`)."""
    user_id = user_id_of(request)
    with or_404():
        found = entries_of(user_id=user_id, with_dismissed=True).get(pk=entry_id)
    if request.method != "POST":
        return _entry_page(request, found)
    do = request.POST.get("do", "")
    try:
        with or_404():
            decide = DECISIONS.get(do)
            if decide is None:
                return _save(request, found)
            decide(user_id=user_id, model=KnowledgeEntry, row_id=entry_id)
    except Refused as refusal:
        return _entry_page(request, found, refusal=refusal.shown())
    return back_to("library_entry", of=entry_id) if do == "restore" else redirect("library_knowledge")


def _save(request: HttpRequest, entry: KnowledgeEntry) -> HttpResponse:
    form = EntryForm(request.POST, user_id=entry.user_id, entry=entry)
    if not form.is_valid():
        return _entry_page(request, entry, form=form)
    user_id = entry.user_id
    given: dict[str, Any] = {"changes": form.values(), "seen": form.seen()}
    try:
        edit(user_id=user_id, model=KnowledgeEntry, row_id=entry.pk, **given)
    except Refused as refusal:
        entry = entries_of(user_id=user_id, with_dismissed=True).get(pk=entry.pk)
        both = refusal.fields if isinstance(refusal, EditConflict) else ()
        form = form.renewed(EntryForm(user_id=user_id, entry=entry), both=both)
        if not both:
            form.add_error(None, refusal.shown())
        return _entry_page(request, entry, form=form, is_conflict=bool(both))
    success(request, _("Saved."))
    return back_to("library_entry", of=entry.pk)


def _entry_page(
    request: HttpRequest,
    entry: KnowledgeEntry,
    *,
    form: EntryForm | None = None,
    refusal: str = "",
    is_conflict: bool = False,
) -> HttpResponse:
    context = {
        **frame_of(request, "knowledge", user_id=entry.user_id),
        "entry": entry,
        "html": render_markdown(entry.content),
        "effects": effects_of(user_id=entry.user_id).filter(entry=entry)[:EFFECTS_SHOWN],
        "form": form or EntryForm(user_id=entry.user_id, entry=entry),
        "is_refused": form is not None,
        "refusal": refusal,
    }
    is_refused = form is not None or refusal
    refused = HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY
    status = refused if is_refused else HTTPStatus.OK
    return render(request, "coaching/pages/library_entry.html", context, status=status)
