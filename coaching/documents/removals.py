"""What goes along when a client or a project is deleted."""

from collections.abc import Sequence
from dataclasses import dataclass

from coaching.models import ActionItem, Client, Document, KnowledgeEntry, Project, SessionScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How many rows of a kind are deleted, or kept and only no longer linked."""

    name: str
    plural: str
    count: int
    is_kept: bool = False

    @property
    def shown_name(self) -> str:
        return self.name if self.count == 1 else self.plural


def removal_of_client(client: Client) -> Sequence[Removal]:
    """Count what goes along with a client, without what there is none of."""
    projects = Removal(
        name="project", plural="projects", count=Project.of(client.user_id).filter(client=client).count()
    )
    return _present([projects, *_rows_of(client.user_id, client=client)])


def removal_of_project(project: Project) -> Sequence[Removal]:
    """Count what goes along with a project, without what there is none of."""
    return _present(_rows_of(project.user_id, project=project))


def _rows_of(user_id: int, **place: Client | Project) -> list[Removal]:
    scopes = SessionScope.of(user_id).filter(**place).count()
    return [
        Removal(name="document", plural="documents", count=Document.of(user_id).filter(**place).count()),
        Removal(
            name="knowledge entry",
            plural="knowledge entries",
            count=KnowledgeEntry.of(user_id).filter(**place).count(),
        ),
        Removal(
            name="action item", plural="action items", count=ActionItem.of(user_id).filter(**place).count()
        ),
        Removal(name="conversation", plural="conversations", count=scopes, is_kept=True),
    ]


def _present(removals: Sequence[Removal]) -> Sequence[Removal]:
    return [removal for removal in removals if removal.count]
