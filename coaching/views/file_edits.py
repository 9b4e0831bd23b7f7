"""Editing a file by plain forms: preview, save, conflicts. Input is never lost."""

from dataclasses import dataclass, replace
from http import HTTPStatus

from django.contrib.auth.decorators import login_required
from django.contrib.messages import info, success
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import retarget

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import MAX_CONTENT_CHARACTERS, FileDraft
from coaching.files.edits import Editable, build_edit, editable_of, merge_attributes
from coaching.files.errors import FileMoved, FileRefused, StorageFailed
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.safety_plans import PLAN_PATH
from coaching.files.selectors import FileText, accessible_file, read_file
from coaching.files.store import store_below_newest, store_edit
from coaching.models import FileType, UserFile, UserFileVersion, is_private
from coaching.people.accounts import load_profile, user_id_of
from coaching.people.attempts import AttemptLimit, TooOften
from coaching.sandbox.differences import compare, merge
from coaching.sandbox.markdown import render_markdown
from coaching.transcript.names import folder_name, name_of
from coaching.views.capture_cards import note_edit
from coaching.views.file_form import FileForm, text_with_facts
from coaching.views.parts import or_404, status_of, with_wait

PREVIEWS_IN_A_MINUTE = 120
UNREADABLE = gettext_lazy(
    "Nothing was saved, because the form was incomplete. Please make your changes again."
)
NOT_SAVED = gettext_lazy("Not saved yet. Correct the fields marked below and save again.")
TOO_LONG_TO_SHOW = gettext_lazy(
    "The text has %(count)s characters; the limit is %(most)s. Shorten it to save it."
)

_previews = AttemptLimit(attempts=PREVIEWS_IN_A_MINUTE, seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A submitted edit, and the file's current state."""

    request: HttpRequest
    user_id: int
    newest: FileText
    held: Editable
    form: FileForm

    @property
    def opened(self) -> int:
        """The version that was edited, 0 if unknown: its file may have been deleted, and made anew."""
        if self.form.cleaned_data.get("file") not in ("", str(self.newest.file.pk)):
            return 0
        text = str(self.form.cleaned_data.get("version", ""))
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0

    @property
    def body(self) -> str:
        """The edited text: the form's, or the one before a merge."""
        is_earlier = self.request.POST.get("do") in ("mine", "aside") and "mine" in self.request.POST
        text: str = self.form.cleaned_data["mine" if is_earlier else "body"]
        return text

    @property
    def attributes(self) -> FileAttributes:
        given: FileAttributes = self.form.cleaned_data["attributes"]
        return given


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, path: str) -> HttpResponse:
    """Show, preview or save an edit."""
    user_id = user_id_of(request)
    newest = _newest(user_id, path)
    if path == PLAN_PATH and request.method != "POST":
        return redirect("edit_safety_plan")  # this page's script keeps drafts on the device
    held = editable_of(newest)
    if "body" not in request.POST:  # A form without a text would empty the file.
        form = FileForm.showing(held, body=held.body, attributes=held.attributes, version=newest.version)
        return _editor(request, newest, form, refusal=str(UNREADABLE) if request.method == "POST" else "")
    form = FileForm(held, request.POST)
    is_valid = form.is_valid()
    if request.POST.get("do") == "preview":
        try:
            _previews.count(user_id)
        except TooOften as refused:
            status = HTTPStatus.TOO_MANY_REQUESTS
            return with_wait(_editor(request, newest, form, refusal=refused.shown(), status=status), refused)
        return _editor(request, newest, form, preview=_preview_of(form.cleaned_data["body"]))
    if not is_valid:
        return _editor(request, newest, form, refusal=str(NOT_SAVED))
    return _save(Edit(request=request, user_id=user_id, newest=newest, held=held, form=form))


@login_required
@require_POST
def preview(request: HttpRequest, path: str) -> HttpResponse:
    """Render a text as on the file's page."""
    user_id = user_id_of(request)
    with or_404():
        accessible_file(user_id=user_id, path=path)
    try:
        _previews.count(user_id)
    except TooOften as refused:
        words = _("%(refusal)s What you write is safe on this page.") % {"refusal": refused.shown()}
        response = HttpResponse(words, content_type="text/plain", status=HTTPStatus.TOO_MANY_REQUESTS)
        return retarget(with_wait(response, refused), "#preview-state")
    body = request.POST.get("body", "").replace("\r\n", "\n")
    return render(request, "coaching/fragments/file_preview.html", {"preview": _preview_of(body)})


def _preview_of(body: str) -> SafeString | str:
    if len(body) > MAX_CONTENT_CHARACTERS:
        return str(TOO_LONG_TO_SHOW) % {
            "count": _in_words(len(body)),
            "most": _in_words(MAX_CONTENT_CHARACTERS),
        }
    return render_markdown(strip_frontmatter(body))


def _newest(user_id: int, path: str) -> FileText:
    with or_404():
        return read_file(user_id=user_id, path=path)


def _save(edit: Edit) -> HttpResponse:
    profile = load_profile(edit.request)
    try:
        draft = build_edit(
            edit.newest, body=edit.body, attributes=edit.attributes, now=timezone.now(), timezone=profile.zone
        )
        if edit.held.says(body=edit.body, attributes=edit.attributes):
            info(edit.request, _("No changes to save."))
            return _to_file(edit)
        if edit.opened != edit.newest.version.number:
            return _after_conflict(edit)
        return _store(edit, draft)
    except FileMoved:
        return _conflict(_on_newest(edit))
    except FileRefused as refused:
        status = status_of(refused)
        return _editor(edit.request, edit.newest, edit.form, refusal=refused.shown(), status=status)
    except StorageFailed as failed:
        status = HTTPStatus.SERVICE_UNAVAILABLE
        return _editor(edit.request, edit.newest, edit.form, refusal=failed.shown(), status=status)


def _store(edit: Edit, draft: FileDraft) -> HttpResponse:
    if edit.request.POST.get("do") == "aside":
        stored = store_below_newest(user_id=edit.user_id, draft=draft, newest=edit.newest)
        success(
            edit.request,
            _("Version %(kept)s was kept, as version %(newest)s. Your text is saved as version %(yours)s.")
            % {"kept": edit.newest.version.number, "newest": stored.version, "yours": stored.version - 1},
        )
    else:
        stored = store_edit(user_id=edit.user_id, draft=draft, expected_version=edit.opened)
        said = _("Saved as version %(number)s. Sage will use it from now on.")
        success(edit.request, said % {"number": stored.version})
    if edit.newest.file.file_type == FileType.CAPTURE:
        note_edit(edit.request, file_id=stored.file_id, version=stored.version, text=edit.body)
    return _to_file(edit)


def _after_conflict(edit: Edit) -> HttpResponse:
    """The file has changed since it was opened: ask, unless the user changed nothing."""
    base = _opened(edit)
    if base is not None and editable_of(base).says(body=edit.body, attributes=edit.attributes):
        info(
            edit.request,
            _("You made no changes, but the file has changed in the meantime. This is the current text."),
        )
        return _to_file(edit)
    return _conflict(edit)


def _opened(edit: Edit) -> FileText | None:
    if not edit.opened:
        return None
    try:
        opened = read_file(user_id=edit.user_id, path=edit.newest.file.path, number=edit.opened)
        # The form showed the newest rating.
        return replace(opened, rating=edit.newest.rating, rated_at=edit.newest.rated_at)
    except (UserFile.DoesNotExist, UserFileVersion.DoesNotExist):
        return None


def _on_newest(edit: Edit) -> Edit:
    """Return the same edit with the file's current state."""
    newest = _newest(edit.user_id, edit.newest.file.path)
    held = editable_of(newest)
    form = FileForm(held, edit.request.POST)
    form.is_valid()
    return Edit(request=edit.request, user_id=edit.user_id, newest=newest, held=held, form=form)


def _conflict(edit: Edit) -> HttpResponse:
    base, mine = _opened(edit), edit.body
    was = editable_of(base) if base else None
    merged, attributes = None, edit.attributes
    if was is not None:
        attributes = merge_attributes(was.attributes, edit.attributes, edit.held.attributes)
        merged = merge(base=was.body, mine=mine.strip(), theirs=edit.held.body)
        if merged is not None and len(merged) > MAX_CONTENT_CHARACTERS:
            merged = None
    body = mine if merged in (None, mine.strip()) else str(merged)
    form = FileForm.showing(
        edit.held, body=body, attributes=attributes, version=edit.newest.version, mine=mine
    )
    theirs = text_with_facts(edit.held.attributes, edit.held.body)
    context = {
        **_shown(edit.request, edit.newest),
        "form": form,
        "theirs": edit.newest.version,
        "opened": base.version.number if base else 0,
        "is_merged": body != mine,
        "their_changes": compare(text_with_facts(was.attributes, was.body), theirs) if was else None,
        "difference": compare(theirs, text_with_facts(attributes, body.strip())),
    }
    return render(edit.request, "coaching/pages/file_conflict.html", context, status=HTTPStatus.CONFLICT)


def _editor(
    request: HttpRequest,
    newest: FileText,
    form: FileForm,
    *,
    preview: SafeString | str | None = None,
    refusal: str = "",
    status: HTTPStatus = HTTPStatus.UNPROCESSABLE_ENTITY,
) -> HttpResponse:
    context = {**_shown(request, newest), "form": form, "preview": preview, "refusal": refusal}
    return render(
        request, "coaching/pages/file_edit.html", context, status=status if refusal else HTTPStatus.OK
    )


def _shown(request: HttpRequest, found: FileText) -> dict[str, object]:
    return {
        "here": "files",
        "zone": load_profile(request).zone,
        "file": found.file,
        "name": name_of(found.file),
        "folder": folder_name(found.file.path),
        "is_private": is_private(found.file.file_type),
        "most_characters": MAX_CONTENT_CHARACTERS,
        "most_in_words": _in_words(MAX_CONTENT_CHARACTERS),
    }


def _in_words(number: int) -> str:
    return number_format(number, force_grouping=True)


def _to_file(edit: Edit) -> HttpResponse:
    """Redirect to the file's page, whose script then deletes the stored draft."""
    address = reverse("file", args=[edit.newest.file.path])
    return HttpResponseRedirect(f"{address}#saved", status=HTTPStatus.SEE_OTHER)
