"""The boxes of a file's task lists, ticked on its page: each tick is a version with one changed line."""

import re
from dataclasses import dataclass
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import get_template
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from coaching.files.edits import build_edit, editable_of
from coaching.files.errors import FileMoved, FileRefused
from coaching.files.frontmatter import parse_file
from coaching.files.selectors import FileText, read_file
from coaching.files.store import store_edit
from coaching.files.tasks import tasks_in, with_box
from coaching.models import UserFile, UserFileVersion
from coaching.people.accounts import load_profile, user_id_of
from coaching.sandbox.markdown import render_markdown
from coaching.views.file_versions import newest_rows
from coaching.views.parts import or_404, wants_part
from sessions_app.errors import Refused

MAX_TRIES = 5
CHANGED = gettext_noop("The file has changed in the meantime. This is its current text.")
NOT_HERE = gettext_noop("This box can’t be ticked here. Edit the file instead.")

_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
# A box as it is rendered, in a label with its words. Content has no tags of its own, so no text is one.
_BOX = re.compile(r"<input\b[^<>]*+>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A box to tick or not: its place, and the file and version whose page it was on."""

    place: int
    is_done: bool
    opened: int
    file: str


def with_boxes(html: SafeString, text: str) -> SafeString:
    """Return a rendered text whose boxes can be ticked; as it is if they can't be told apart."""
    tasks = tasks_in(text)
    if not tasks or len(_BOX.findall(html)) != len(tasks):
        return html
    template = get_template("coaching/components/task_box.html")
    boxes = iter([template.render({"place": place, "task": task}) for place, task in enumerate(tasks)])
    return mark_safe(_BOX.sub(lambda _box: next(boxes), html))  # noqa: S308 - sanitised markup and our template's


@login_required
@require_POST
def tick(request: HttpRequest, path: str) -> HttpResponse:
    """Tick or untick a box; respond with the text, or redirect to the file's page."""
    user_id = user_id_of(request)
    with or_404():
        newest = read_file(user_id=user_id, path=path)
    refusal = ""
    try:
        _store_tick(request, newest, _tick_in(request))
    except Refused as refused:
        refusal = refused.shown()
    if not wants_part(request):
        if refusal:
            info(request, refusal)
        response = redirect("file", path)
        response.status_code = HTTPStatus.SEE_OTHER
        return response
    with or_404():
        newest = read_file(user_id=user_id, path=path)
    body = parse_file(newest.text)[1]
    context = {
        "file": newest.file,
        "version": newest.version,
        "newest": newest.version.number,
        "versions": newest_rows(user_id=user_id, path=path),
        "zone": load_profile(request).zone,
        "refusal": refusal,
    }
    context["html"] = with_boxes(render_markdown(body), body)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "coaching/components/file_ticked.html", context, status=status)


def _tick_in(request: HttpRequest) -> Tick:
    """Return what a form asks for. Raises `Refused`."""
    boxes = [(name[4:], value) for name, value in request.POST.items() if name.startswith("box-")]
    version = request.POST.get("version", "")
    if len(boxes) != 1 or not (_NUMBER.fullmatch(boxes[0][0]) and _NUMBER.fullmatch(version)):
        raise Refused(gettext_noop("Sage couldn’t read that. Please try again."))
    place, value = boxes[0]
    return Tick(
        place=int(place), is_done=value == "1", opened=int(version), file=request.POST.get("file", "")
    )


def _store_tick(request: HttpRequest, newest: FileText, wanted: Tick) -> None:
    """Store the file with the box as wanted, on top of what others wrote meanwhile. Raises `Refused`."""
    for _try in range(MAX_TRIES):
        changed = _with_tick(newest, wanted, user_id=user_id_of(request))
        if changed is None:
            return
        draft = build_edit(
            newest,
            body=changed,
            attributes=editable_of(newest).attributes,
            now=timezone.now(),
            timezone=load_profile(request).zone,
        )
        try:
            store_edit(user_id=user_id_of(request), draft=draft, expected_version=newest.version.number)
        except FileMoved:
            newest = _read(request, newest)
        else:
            return
    raise FileRefused(CHANGED)


def _read(request: HttpRequest, known: FileText) -> FileText:
    try:
        return read_file(user_id=user_id_of(request), path=known.file.path)
    except UserFile.DoesNotExist:
        raise Http404 from None


def _with_tick(newest: FileText, wanted: Tick, *, user_id: int) -> str | None:
    """Return the body with the box as wanted; None if it is so already. Raises `Refused`."""
    if wanted.file not in ("", str(newest.file.pk)):  # deleted, and made anew under the same path
        raise FileRefused(CHANGED)
    body = editable_of(newest).body
    tasks = tasks_in(body)
    words = [task.words for task in tasks]
    if wanted.opened != newest.version.number and words != _words_of(newest, wanted.opened, user_id=user_id):
        raise FileRefused(CHANGED)
    if wanted.place >= len(tasks):
        raise FileRefused(CHANGED)
    task = tasks[wanted.place]
    if task.is_done == wanted.is_done:
        return None
    changed = with_box(body, task, is_done=wanted.is_done)
    if not _differ_in_box(render_markdown(body), render_markdown(changed), wanted.place):
        raise FileRefused(NOT_HERE)
    return changed


def _words_of(newest: FileText, number: int, *, user_id: int) -> list[str]:
    try:
        opened = read_file(user_id=user_id, path=newest.file.path, number=number)
    except (UserFile.DoesNotExist, UserFileVersion.DoesNotExist):
        return []
    return [task.words for task in tasks_in(editable_of(opened).body)]


def _differ_in_box(before: str, after: str, place: int) -> bool:
    """Return whether two rendered texts differ in the box at that place, and in nothing else."""
    old, new = _BOX.findall(before), _BOX.findall(after)
    changed = [index for index, boxes in enumerate(zip(old, new, strict=False)) if boxes[0] != boxes[1]]
    return _BOX.split(before) == _BOX.split(after) and changed == [place]
