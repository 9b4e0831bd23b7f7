"""A project's page: its folders, and the forms that change, archive and delete it."""

from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from coaching.library.clients import accessible_project, change_project
from coaching.library.pages.forms import ProjectForm
from coaching.library.pages.frame import drop_of, folder_in, folders_of, frame_of, reading_of, status_of_form
from coaching.library.removals import conversations_about, delete_project, removal_of_project
from coaching.library.rows.folders import Place
from coaching.models import Project, ProjectStatus
from coaching.people.accounts import user_id_of
from coaching.people.own_changes import EditConflict
from coaching.views.parts import back_to, or_404
from sessions_app.errors import Refused

STATUS_OF = {"archive": ProjectStatus.ARCHIVED, "restore": ProjectStatus.ACTIVE}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project(request: HttpRequest, project_id: int) -> HttpResponse:
    """Show a project, or one of its folders; a post changes it (`do`)."""
    with or_404():
        found = accessible_project(user_id=user_id_of(request), project_id=project_id)
    if request.method != "POST":
        return _page(request, found)
    match request.POST.get("do"):
        case "archive" | "restore" as what:
            return _set_status(request, found, STATUS_OF[what])
        case _:
            return _change(request, found)


def _page(
    request: HttpRequest, project: Project, *, form: ProjectForm | None = None, is_conflict: bool = False
) -> HttpResponse:
    place = Place(user_id=project.user_id, client=project.client, project=project)
    context = {
        **frame_of(request, "documents", user_id=project.user_id),
        "client": project.client,
        "project": project,
    }
    if "folder" in request.GET:
        return render(request, "coaching/pages/library_folder.html", context | folder_in(request, place))
    reading = reading_of(place)
    context |= {
        **reading,
        **drop_of(place),
        "folders": folders_of(place, reading["progress"]),
        "form": form or ProjectForm(project=project),
        "is_form_refused": form is not None,
    }
    status = status_of_form(is_refused=form is not None, is_conflict=is_conflict)
    return render(request, "coaching/pages/library_project.html", context, status=status)


def _change(request: HttpRequest, project: Project) -> HttpResponse:
    form = ProjectForm(request.POST, project=project)
    if form.is_valid():
        try:
            with or_404():
                change_project(
                    user_id=project.user_id, project_id=project.pk, changes=form.values(), seen=form.seen()
                )
        except EditConflict as conflict:
            with or_404():
                project.refresh_from_db()
            form = form.renewed(ProjectForm(project=project), both=conflict.fields)
            return _page(request, project, form=form, is_conflict=True)
        except Refused as refusal:
            form.add_error("name", refusal.shown())
        else:
            success(request, _("Saved."))
            return back_to("library_project", of=project.pk)
    return _page(request, project, form=form)


def _set_status(request: HttpRequest, project: Project, status: ProjectStatus) -> HttpResponse:
    with or_404():
        change_project(user_id=project.user_id, project_id=project.pk, changes={"status": status})
    archived = status == ProjectStatus.ARCHIVED
    said = _("%(name)s was archived.") if archived else _("%(name)s was restored.")
    success(request, said % {"name": project.name})
    return back_to("library_project", of=project.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, project_id: int) -> HttpResponse:
    """List what goes along with a project, and delete it."""
    user_id = user_id_of(request)
    with or_404():
        found = accessible_project(user_id=user_id, project_id=project_id)
    if request.method == "POST":
        with or_404():
            delete_project(user_id=user_id, project_id=project_id)
        success(request, _("%(name)s was deleted.") % {"name": found.name})
        return back_to("library_client", of=found.client_id)
    context = {
        **frame_of(request, "documents", user_id=user_id),
        "name": found.name,
        "client": found.client,
        "project": found,
        "removals": removal_of_project(found),
        "conversations": conversations_about(found),
        "refusal": "",
    }
    return render(request, "coaching/pages/library_delete.html", context)
