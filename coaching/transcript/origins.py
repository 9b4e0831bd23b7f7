"""Where an imported conversation comes from: the app, the day of the import, and its other branches."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from coaching.clock.days import local_day
from coaching.models import Import, Profile
from sessions_app.import_metadata import BRANCH_KEY, IMPORT_KEY, ORIGIN_KEY
from sessions_app.models import Session, TitleSource

MAX_BRANCHES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginItem:
    """The line about an import.

    `title` is the one in its export, empty if it is as here; with `is_withheld` it isn't shown at
    once. `branch_of` is the conversation of which this is another branch.
    """

    app: str
    imported_on: date
    title: str
    is_withheld: bool
    model: str
    project: str
    branch_of: uuid.UUID | None
    branches: Sequence[uuid.UUID]


def read_origin(session: Session) -> OriginItem | None:
    """Return where a session comes from; None for one that began here."""
    import_id = session.metadata.get(IMPORT_KEY)
    row = Import.of(session.user_id).filter(pk=import_id).first() if import_id else None
    if row is None:
        return None
    told, own = session.metadata.get(ORIGIN_KEY) or {}, Session.of(session.user_id)
    root = told.get(BRANCH_KEY)
    named = own.filter(metadata__has_key="imported_id", metadata__imported_id=root) if root else own.none()
    others = own.filter(
        metadata__has_key="imported_id",
        **{f"metadata__{ORIGIN_KEY}__{BRANCH_KEY}": session.metadata["imported_id"]},
    )
    ids = () if root else others.order_by("started_at", "pk").values_list("pk", flat=True)[:MAX_BRANCHES]
    profile = Profile.of(session.user_id).first() or Profile(user_id=session.user_id)
    return OriginItem(
        app=row.get_file_format_display(),
        imported_on=local_day(row.created_at, profile.zone),
        title=told.get("title", ""),
        is_withheld=session.title_source == TitleSource.WITHHELD,
        model=told.get("model", ""),
        project=told.get("project", ""),
        branch_of=named.values_list("pk", flat=True).first(),
        branches=list(ids),
    )
