"""The library's first page: where files are dropped, what is being read, and clients with their folders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from coaching.library.clients import accessible_client, accessible_project, create_client, own_client
from coaching.library.pages.forms import ClientForm, moment_in
from coaching.library.pages.frame import drop_of, folders_of, frame_of, reading_of
from coaching.library.references.words import shown_folders
from coaching.library.rows.clients import count_folders, list_clients
from coaching.library.rows.folders import Place
from coaching.models import Client, ClientStatus, ClientType
from coaching.people.accounts import user_id_of
from coaching.views.parts import or_404
from sessions_app.errors import Refused

CLIENTS_A_PAGE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """A client with its folders and their number of documents."""

    client: Client
    folders: Sequence[tuple[str, int]]

    @classmethod
    def of(cls, client: Client, counts: Sequence[tuple[str, int]]) -> "ClientRow":
        names = shown_folders([name for name, _ in counts])
        named = [(names[name], count) for name, count in counts]
        return cls(client=client, folders=sorted(named, key=lambda folder: folder[0].casefold()))

    @property
    def count(self) -> int:
        return sum(count for _, count in self.folders)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def library(request: HttpRequest) -> HttpResponse:
    """Show the library; a post adds a client."""
    if request.method == "POST":
        return _add_client(request)
    return _page(request)


def _add_client(request: HttpRequest) -> HttpResponse:
    form = ClientForm(request.POST)
    if form.is_valid():
        try:
            client = create_client(
                user_id=user_id_of(request),
                name=form.cleaned_data["name"],
                client_type=ClientType(form.cleaned_data["client_type"]),
                status=ClientStatus(form.cleaned_data["status"] or ClientStatus.ACTIVE),
                notes=form.cleaned_data["notes"],
            )
        except Refused as refusal:
            form.add_error("name", refusal.shown())
        else:
            success(request, _("%(name)s was added.") % {"name": client.name})
            return redirect("library_client", client.pk)
    return _page(request, form=form)


def _page(request: HttpRequest, *, form: ClientForm | None = None) -> HttpResponse:
    user_id, place = user_id_of(request), Place(user_id=user_id_of(request))
    own_client(user_id)
    context: dict[str, Any] = {
        **frame_of(request, "documents", user_id=user_id),
        **reading_of(place, shown=_shown(request)),
        **drop_of(place),
        **_clients(request, user_id),
        "form": form or ClientForm(),
        "is_refused": form is not None,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form else HTTPStatus.OK
    return render(request, "coaching/pages/library.html", context, status=status)


def _shown(request: HttpRequest) -> Mapping[str, str]:
    """Return which clients the page shows, for the address of its parts."""
    return {name: request.GET[name] for name in ("archived", "page") if name in request.GET}


def _clients(request: HttpRequest, user_id: int) -> Mapping[str, Any]:
    is_archived = "archived" in request.GET
    page = Paginator(list_clients(user_id, is_archived=is_archived), CLIENTS_A_PAGE).get_page(
        request.GET.get("page")
    )
    folders = count_folders(user_id, list(page.object_list))
    return {
        "page": page,
        "rows": [ClientRow.of(client, folders.get(client.pk, ())) for client in page.object_list],
        "is_archived": is_archived,
        "archived_count": list_clients(user_id, is_archived=True).count(),
    }


@login_required
@require_safe
def progress(request: HttpRequest) -> HttpResponse:
    """Return how far the reading is, of everything, a client or a project, and the folders it changes."""
    user_id = user_id_of(request)
    place = Place(user_id=user_id)
    with or_404():
        if (project_id := _id_in(request, "project")) is not None:
            place = Place(user_id=user_id, project=accessible_project(user_id=user_id, project_id=project_id))
        elif (client_id := _id_in(request, "client")) is not None:
            place = Place(user_id=user_id, client=accessible_client(user_id=user_id, client_id=client_id))
    context = {**frame_of(request, "documents", user_id=user_id), "is_part": True}
    if place.client or place.project:
        context |= reading_of(place, since=moment_in(request.GET, "since"))
        # Not before, because it would open again what a person has closed.
        if not context["progress"].unfinished:
            context["folders"] = folders_of(place, context["progress"])
    else:
        context |= {**reading_of(place, shown=_shown(request)), **_clients(request, user_id)}
    return render(request, "coaching/components/library_changed.html", context)


def _id_in(request: HttpRequest, name: str) -> int | None:
    """Return an id of the URL, -1 for one that can't exist."""
    text = request.GET.get(name)
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
