"""What goes along when a client or a project is deleted."""

from collections.abc import Sequence

from django.utils.translation import ngettext_lazy

from coaching.models import ActionItem, Client, Document, KnowledgeEntry, Project, SessionScope

PROJECTS = ngettext_lazy("%(count)s project", "%(count)s projects", "count")
DOCUMENTS = ngettext_lazy("%(count)s document", "%(count)s documents", "count")
ENTRIES = ngettext_lazy("%(count)s knowledge entry", "%(count)s knowledge entries", "count")
ITEMS = ngettext_lazy("%(count)s action item", "%(count)s action items", "count")


def removal_of_client(client: Client) -> Sequence[str]:
    """Return what goes along with a client, each kind with its number."""
    projects = Project.of(client.user_id).filter(client=client).count()
    return [*([PROJECTS % {"count": projects}] if projects else []), *_rows_of(client.user_id, client=client)]


def removal_of_project(project: Project) -> Sequence[str]:
    """Return what goes along with a project, each kind with its number."""
    return _rows_of(project.user_id, project=project)


def conversations_about(place: Client | Project) -> int:
    """Count the conversations that are kept, but about nobody any more."""
    field = "client" if isinstance(place, Client) else "project"
    return SessionScope.of(place.user_id).filter(**{field: place}).count()


def _rows_of(user_id: int, **place: Client | Project) -> Sequence[str]:
    counts = [
        (DOCUMENTS, Document.of(user_id).filter(**place).count()),
        (ENTRIES, KnowledgeEntry.of(user_id).filter(**place).count()),
        (ITEMS, ActionItem.of(user_id).filter(**place).count()),
    ]
    return [words % {"count": count} for words, count in counts if count]
