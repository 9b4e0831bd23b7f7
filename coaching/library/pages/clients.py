"""A client's page: projects and folders, and the forms that change, archive and delete it."""

from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from coaching.library.clients import (
    accessible_client,
    archive_client,
    change_client,
    create_project,
    restore_client,
)
from coaching.library.pages.forms import ClientForm, ProjectForm
from coaching.library.pages.frame import drop_of, folder_in, folders_of, frame_of, reading_of, status_of_form
from coaching.library.removals import conversations_about, delete_client, removal_of_client
from coaching.library.rows.clients import list_projects
from coaching.library.rows.folders import Place
from coaching.models import Client
from coaching.people.accounts import user_id_of
from coaching.people.own_changes import EditConflict
from coaching.views.parts import back_to, or_404
from sessions_app.errors import Refused


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def client(request: HttpRequest, client_id: int) -> HttpResponse:
    """Show a client, or one of its folders; a post changes it or adds a project (`do`)."""
    user_id = user_id_of(request)
    with or_404():
        found = accessible_client(user_id=user_id, client_id=client_id)
    if request.method != "POST":
        return _page(request, found)
    match request.POST.get("do"):
        case "project":
            return _add_project(request, found)
        case "archive":
            return _archive(request, found)
        case "restore":
            return _restore(request, found)
        case _:
            return _change(request, found)


def _page(
    request: HttpRequest,
    client: Client,
    *,
    form: ClientForm | None = None,
    project_form: ProjectForm | None = None,
    is_conflict: bool = False,
) -> HttpResponse:
    place = Place(user_id=client.user_id, client=client)
    context = {**frame_of(request, "documents", user_id=client.user_id), "client": client}
    if "folder" in request.GET:
        return render(request, "coaching/pages/library_folder.html", context | folder_in(request, place))
    reading = reading_of(place)
    context |= {
        **reading,
        **drop_of(place),
        "projects": list_projects(client.user_id, client),
        "folders": folders_of(place, reading["progress"]),
        "form": form or ClientForm(client=client),
        "is_form_refused": form is not None,
        "project_form": project_form or ProjectForm(),
        "is_project_refused": project_form is not None,
    }
    is_refused = form is not None or project_form is not None
    status = status_of_form(is_refused=is_refused, is_conflict=is_conflict)
    return render(request, "coaching/pages/library_client.html", context, status=status)


def _add_project(request: HttpRequest, client: Client) -> HttpResponse:
    form = ProjectForm(request.POST)
    if form.is_valid():
        try:
            made = create_project(user_id=client.user_id, client_id=client.pk, **form.cleaned_data)
        except Refused as refusal:
            form.add_error("name", refusal.shown())
        else:
            success(request, _("%(name)s was added.") % {"name": made.name})
            return redirect("library_project", made.pk)
    return _page(request, client, project_form=form)


def _change(request: HttpRequest, client: Client) -> HttpResponse:
    form = ClientForm(request.POST, client=client)
    if form.is_valid():
        try:
            with or_404():
                change_client(
                    user_id=client.user_id, client_id=client.pk, changes=form.values(), seen=form.seen()
                )
        except EditConflict as conflict:
            with or_404():
                client.refresh_from_db()
            form = form.renewed(ClientForm(client=client), both=conflict.fields)
            return _page(request, client, form=form, is_conflict=True)
        except Refused as refusal:
            form.add_error("name", refusal.shown())
        else:
            success(request, _("Saved."))
            return back_to("library_client", of=client.pk)
    return _page(request, client, form=form)


def _archive(request: HttpRequest, client: Client) -> HttpResponse:
    form = ClientForm({"name": client.name, "client_type": client.client_type}, client=client)
    try:
        with or_404():
            archive_client(user_id=client.user_id, client_id=client.pk)
    except Refused as refusal:
        form.add_error(None, refusal.shown())
        return _page(request, client, form=form)
    success(request, _("%(name)s was archived.") % {"name": client.name})
    return back_to("library_client", of=client.pk)


def _restore(request: HttpRequest, client: Client) -> HttpResponse:
    with or_404():
        restore_client(user_id=client.user_id, client_id=client.pk)
    success(request, _("%(name)s was restored.") % {"name": client.name})
    return back_to("library_client", of=client.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, client_id: int) -> HttpResponse:
    """List what goes along with a client, and delete it."""
    user_id = user_id_of(request)
    with or_404():
        found = accessible_client(user_id=user_id, client_id=client_id)
    refusal = ""
    if request.method == "POST":
        try:
            delete_client(user_id=user_id, client_id=client_id)
        except Refused as refused:
            refusal = refused.shown()
        else:
            success(request, _("%(name)s was deleted.") % {"name": found.name})
            return back_to("library")
    context = {
        **frame_of(request, "documents", user_id=user_id),
        "name": found.name,
        "client": found,
        "removals": removal_of_client(found),
        "conversations": conversations_about(found),
        "refusal": refusal,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/pages/library_delete.html", context, status=status)
