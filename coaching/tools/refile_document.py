"""`refile_document`: files one of the user's documents elsewhere, once they said yes."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop as _

from coaching.engine.errors import ToolError
from coaching.engine.tools import ToolInput, ToolResult
from coaching.library.documents.refiling import Refiling, refile_document, refiled
from coaching.library.references.words import is_shown_as, shown_folder
from coaching.models import Client, Document, Project
from coaching.tools.confirmed import answers, checks, runs
from coaching.tools.context import CallContext
from coaching.tools.document_findings import NO_DOCUMENT, check_id
from coaching.tools.presentation import DOCUMENT, CardField, Presentation, SageTool, card
from coaching.tools.reach import check_document, default_place
from coaching.tools.results import Id, Name

DESCRIPTION = (
    "File one of the user's documents under another type, folder, client or project, after their yes. Use "
    "it when they say it is filed wrongly or belongs elsewhere."
)
NOTHING_SAID = "Say where it belongs: file_type, folder, client_id or project_id."
LABELS = {"file_type": _("Type"), "folder": _("Folder"), "client": _("For"), "project": _("Project")}
COMPARED = {"client": "client_id", "project": "project_id"}
"""Two may have the same name."""
BECOMES = " → "


class FolderField(CardField):
    """A folder's name, of which pages show a translation if it is a shipped one."""

    def with_value(self, value: object) -> CardField:
        return super().with_value(shown_folder(value) if isinstance(value, str) else value)

    def parsed(self, value: object, *, was: object = None) -> object:
        parsed = super().parsed(value)
        is_same = isinstance(was, str) and isinstance(parsed, str) and is_shown_as(was, parsed)
        return was if is_same else parsed


FIELDS = (FolderField(name="folder", label=_("Folder (leave empty for the usual one)"), max_length=120),)


class RefileDocumentInput(ToolInput):
    document_id: Id
    file_type: Name | None = None
    folder: Name | None = None
    client_id: Id | None = None
    project_id: Id | None = None


def _check(context: CallContext, given: RefileDocumentInput) -> Mapping[str, Any]:
    """Return the document's name, and of what changes, what it is and what it will be."""
    document = _document(context, given)
    try:
        before, after = refiled(
            user_id=context.user_id, document_id=document.pk, to=_refiling(context, given)
        )
    except (Client.DoesNotExist, Project.DoesNotExist):
        raise ToolError(NO_DOCUMENT) from None
    changes = {}
    for name, label in LABELS.items():
        was, becomes = (getattr(each, name) or "–" for each in (before, after))
        compared = COMPARED.get(name, name)
        if getattr(before, compared) != getattr(after, compared):
            changes[label] = f"{was}{BECOMES}{becomes}"
    return {DOCUMENT: document.name, **changes}


def _write(context: CallContext, given: RefileDocumentInput) -> ToolResult:
    document = _document(context, given)
    refile_document(
        user_id=context.user_id,
        document_id=document.pk,
        to=_refiling(context, given),
        made_by=context.tier.made_by,
        tool_use_id=context.tool_use_id,
    )
    document.refresh_from_db()
    return ToolResult.of(
        written=True, document_id=document.pk, file_type=document.file_type, folder=document.folder
    )


def _document(context: CallContext, given: RefileDocumentInput) -> Document:
    try:
        document_id = check_id(given.document_id)
        check_document(context, document_id)
        return Document.of(context.user_id).get(id=document_id, is_withheld=False)
    except Document.DoesNotExist:
        raise ToolError(NO_DOCUMENT) from None


def _refiling(context: CallContext, given: RefileDocumentInput) -> Refiling:
    if not (given.file_type or given.folder or given.client_id or given.project_id):
        raise ToolError(NOTHING_SAID)
    client_id, project_id = None, None
    if given.client_id or given.project_id:
        # The same before and after the yes: what the card shows is what is written.
        client, project = default_place(context, client_id=given.client_id, project_id=given.project_id)
        client_id, project_id = client.pk, project.pk if project else None
    return Refiling(
        file_type=given.file_type or "",
        folder=given.folder or "",
        client_id=client_id,
        project_id=project_id,
    )


REFILE_DOCUMENT: SageTool[RefileDocumentInput] = SageTool(
    name="refile_document",
    description=DESCRIPTION,
    input_model=RefileDocumentInput,
    kind="confirm",
    run=runs(_write),
    check=checks(_check),
    answer=answers(_write, FIELDS, shown_by=_check),
    presentation=Presentation(
        once=_("asked to file a document elsewhere"),
        often=_("asked {count} times to file a document elsewhere"),
        activity=_("Writing"),
        question=card(_("File this document like this?"), FIELDS, yes=_("File it"), done=_("Filed.")),
    ),
)
