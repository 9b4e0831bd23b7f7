"""A person's rows as JSON, model by model: every field except those listed here with a reason."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Field, Model, QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext_noop

from coaching.personal_data.ownership import OwnedModel, owned_models

BATCH = 100

LEFT_OUT_MODELS: Mapping[str, str] = {
    "account.EmailConfirmation": gettext_noop("keys from sent emails; they give access to the account"),
    "admin.LogEntry": gettext_noop("what an operator did in the admin, and to whom: it names other people"),
    "allauth_idp_oidc.Client": gettext_noop("what programs say of themselves; it belongs to nobody"),
    "auth.User_groups": gettext_noop("permissions that an operator granted"),
    "auth.User_user_permissions": gettext_noop("permissions that an operator granted"),
    "coaching.DocumentPage": gettext_noop("made from documents in this archive"),
    "coaching.RecallLanguage": gettext_noop("made from messages and files in this archive"),
    "coaching.RecallPassage": gettext_noop("made from messages and files in this archive"),
    "coaching.RecallVector": gettext_noop("made from messages and files in this archive"),
}
"""Owned models that aren't exported, with the reason."""

LEFT_OUT_FIELDS: Mapping[str, str] = {
    "allauth_idp_oidc.Token.hash": gettext_noop("gives access to the account"),
    "auth.User.password": gettext_noop("gives access to the account"),
    "coaching.CalendarSource.digest": gettext_noop("calculated from the content"),
    "coaching.Document.storage_key": gettext_noop("says where this server stores it"),
    "coaching.DocumentCall.request": gettext_noop("made from documents in this archive"),
    "coaching.DocumentCall.rounds": gettext_noop("made from documents in this archive"),
    "coaching.DocumentImage.data": gettext_noop("made from the document’s file"),
    "coaching.DocumentImage.thumbnail": gettext_noop("made from the document’s file"),
    "coaching.DocumentText.fingerprint": gettext_noop("calculated from the text"),
    "coaching.Photo.storage_key": gettext_noop("says where this server stores it"),
    "coaching.Photo.thumbnail": gettext_noop("made from the photo in this archive"),
    "coaching.Recording.storage_key": gettext_noop("says where this server stores it"),
    "coaching.UserFileVersion.content": gettext_noop("included in the archive’s files"),
    "coaching.ProgramToken.digest": gettext_noop("gives access to the account"),
    "coaching.PushDevice.auth": gettext_noop("can be used to reach your browser"),
    "coaching.PushDevice.endpoint": gettext_noop("can be used to reach your browser"),
    "coaching.PushDevice.p256dh": gettext_noop("can be used to reach your browser"),
    "coaching.Import.storage_key": gettext_noop("says where this server stores an upload until it is read"),
    "coaching.UserFileVersion.storage_key": gettext_noop("says where this server stores it"),
    "mfa.Authenticator.data": gettext_noop("gives access to the account"),
    "sessions_app.SessionBrief.corrected_text": gettext_noop("made from the text and the corrections"),
    "sessions_app.Round.blocks": gettext_noop("the text again, with data that only its model can read"),
    "sessions_app.Session.opening": gettext_noop("made from files and summaries in this archive"),
    "sessions_app.Turn.fence": gettext_noop("says which process may write"),
    "sessions_app.Turn.owner": gettext_noop("says which process runs it"),
    "sessions_app.Turn.prefix": gettext_noop("made from messages and files in this archive"),
    "sessions_app.Turn.shown": gettext_noop("included in `rounds.json`"),
}
"""Fields that aren't exported, with the reason."""

_MOMENTS = ("started_at", "created_at", "captured_at", "rated_at", "added_at", "starts_at", "date")


def exported_models() -> Sequence[OwnedModel]:
    return [owned for owned in owned_models() if owned.label not in LEFT_OUT_MODELS]


def file_name_of(owned: OwnedModel) -> str:
    return f"{slugify(str(owned.model._meta.verbose_name_plural))}.json"


def rows_as_json(owned: OwnedModel, *, user_id: int) -> Iterator[str]:
    """Yield a JSON list of the person's rows, oldest first, piece by piece."""
    fields = _exported_fields(owned.model)
    separator = "[\n"
    for row in in_batches(owned.rows_of(user_id).only(*(field.name for field in fields))):
        yield separator + _as_json({field.attname: field.value_from_object(row) for field in fields})
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def account_as_json(user: User) -> str:
    fields = _exported_fields(get_user_model())
    return _as_json({field.attname: field.value_from_object(user) for field in fields}) + "\n"


def in_batches(rows: QuerySet[Model]) -> Iterator[Any]:
    """Yield rows in batches, oldest first, with no transaction open in between."""
    names = {field.name for field in rows.model._meta.concrete_fields}
    moment = next((name for name in _MOMENTS if name in names), "pk")
    ids = list(rows.order_by(moment, "pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        found = rows.in_bulk(batch)
        yield from (found[pk] for pk in batch if pk in found)


def _exported_fields(model: type[Model]) -> "list[Field[Any, Any]]":
    label = model._meta.label
    return [field for field in model._meta.concrete_fields if f"{label}.{field.name}" not in LEFT_OUT_FIELDS]


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)


def _plain(value: object) -> object:
    """Return a value that JSON lacks as text. Raises `TypeError` for an unexpected type."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case UUID() | Decimal():
            return str(value)
        case bytes() | memoryview():
            return base64.b64encode(value).decode()
    if hasattr(value, "storage"):  # a file field's
        return str(value)
    raise TypeError(type(value).__name__)
