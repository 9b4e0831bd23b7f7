"""One row of every model with people's rows, each with a word that identifies its owner.

A new model is filled in automatically; one with constraints that prevent it needs a line in `FITTING`.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Model

from coaching.personal_data.ownership import OwnedModel, owned_models

MOMENT = datetime(2026, 11, 20, 21, 30, tzinfo=UTC)

FITTING: Mapping[str, Mapping[str, Any]] = {
    "account.EmailAddress": {"primary": False},
    "coaching.ActionItem": {"state": "done", "done_at": MOMENT},
    "coaching.CareEnd": {"how": "said"},
    "coaching.Letter": {"month": date(2026, 11, 1)},
    "coaching.CalendarEvent": {"starts_at": MOMENT, "ends_at": MOMENT, "starts_on": None, "ends_on": None},
    "coaching.CalendarSource": {"kind": "file", "failures": 0, "failing_since": None, "error": ""},
    "coaching.Document": {
        "state": "filed",
        "level": "client",
        "duplicate_of": None,
        "similar_to": None,
        "part_of": None,
    },
    "coaching.Profile": {
        "timezone": "Asia/Tokyo",
        "earlier_timezones": "Europe/Berlin 2026-01-05T09:00:00+00:00",
    },
    "coaching.ProgramToken": {"scopes": ["read"], "expires_at": MOMENT + timedelta(days=90)},
    "coaching.PulseRating": {"rating": 3},
    "coaching.RecallVector": {"vector": "[1, 0]"},
    "coaching.Recording": {"state": "waiting"},
    "coaching.AutoApproval": {"kind": "note"},
    "coaching.UserFile": {
        "path": "life-map/career.md",
        "file_type": "domain",
        "version_number": 1,
        "deleted_at": None,
        "kept_plan": None,
    },
    "mfa.Authenticator": {"type": "totp"},
    "sessions_app.BriefCorrection": {"kind": "correction"},
    "sessions_app.Session": {
        "status": "active",
        "active_arc": "",
        "ended_at": None,
        "deleted_at": None,
        "last_message_number": 1,
        "title_source": "user",
    },
    "coaching.CaptureVerdict": {"look_due_at": None},
    "sessions_app.ToolCallRecord": {"state": "finished", "finished_at": MOMENT},
    "sessions_app.Turn": {"status": "completed", "ended_at": MOMENT, "prefix": "", "message_number": None},
}


COUNTED = frozenset({"coaching.FileUsage"})
"""Counted by the database, from the rows created here."""

INDEXED = frozenset({"coaching.RecallPassage", "coaching.RecallVector"})
"""Replaced by the database when the rows that they index are created."""


def live(user: User, word: str) -> dict[str, Model]:
    """Create a person's rows and return them by model label."""
    made: dict[type[Model], Model] = {User: user}
    # Closest to the user first: the others refer to them.
    late = COUNTED | INDEXED
    for owned in sorted(owned_models(), key=lambda owned: (owned.label in late, owned.path.count("__"))):
        _make_missing(owned, made, word)
    return {row._meta.label: row for model, row in made.items() if model is not User}


def _make_missing(owned: OwnedModel, made: dict[type[Model], Model], word: str) -> None:
    """Create a row, after the rows that it requires."""
    model = owned.model
    if model in made:
        return
    if owned.label in COUNTED:
        made[model] = owned.rows_of(made[User].pk).get()
        return
    values: dict[str, Any] = {}
    by_model = {entry.model: entry for entry in owned_models()}
    for field in model._meta.concrete_fields:
        if (field.primary_key and field.has_default()) or isinstance(field, models.AutoField):
            continue
        if isinstance(field, models.ForeignKey):
            target = field.related_model
            assert not isinstance(target, str)
            if target in by_model and target is not model and not field.null:
                _make_missing(by_model[target], made, word)
            values[field.name] = made.get(target) or _somebody_elses(target)
        elif isinstance(field, models.IntegerField) and _is_alone_unique(field):
            values[field.name] = made[User].pk
        else:
            values[field.name] = _value_of(field, f"{word} {model._meta.label}.{field.name}")
    row = model._base_manager.create(**values | dict(FITTING.get(owned.label, {})))
    made[model] = row


def _is_alone_unique(field: "models.Field[Any, Any]") -> bool:
    return any(each.fields == (field.name,) for each in field.model._meta.total_unique_constraints)


def _somebody_elses(target: type[Model]) -> Model | None:
    """Return a row without an owner where one is required."""
    if target is ContentType:
        return ContentType.objects.get_for_model(User)
    if target is Group:
        return Group.objects.get_or_create(name="readers")[0]
    return Permission.objects.first() if target is Permission else None


def _value_of(field: "models.Field[Any, Any]", text: str) -> Any:  # noqa: C901, PLR0912 - one case for each type
    if field.choices:
        return list(dict(field.flatchoices))[-1]
    match field:
        case ArrayField():
            return [_value_of(field.base_field, text)]
        case models.JSONField():
            return {"said": text}
        case models.EmailField():
            return f"{text.split(maxsplit=1)[0]}@example.org"
        case models.UUIDField():
            return field.get_default()
        case models.SlugField():
            return text.replace(" ", "-").replace(".", "-")[: field.max_length]
        case models.CharField() | models.TextField() | SearchVectorField():
            return text[: field.max_length] if field.max_length else text
        case models.BinaryField():
            return text.encode()
        case models.DateTimeField():
            return MOMENT
        case models.DateField():
            return date(2026, 11, 20)
        case models.TimeField():
            return time(8)
        case models.BooleanField():
            return False
        case models.IntegerField():
            return 1
        case models.FloatField() | models.DecimalField():
            return 1
    raise AssertionError(f"what is a {type(field).__name__}? tell tests/personal_data/life.py")
