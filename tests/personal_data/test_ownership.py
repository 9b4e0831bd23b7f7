"""Export and removal cover every model, including future ones."""

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.contenttypes.fields import GenericForeignKey
from django.db import connection, models
from django.db.models import Model

from coaching.personal_data.ownership import owned_models
from coaching.personal_data.rows import LEFT_OUT_FIELDS, LEFT_OUT_MODELS, exported_models, file_name_of

MENTIONS = {
    "coaching.HistoricalPlacementRule.history_user",
    "coaching.HistoricalReference.history_user",
    "coaching.HistoricalSkill.history_user",
}
"""Rows of the installation that name an operator; the name is removed, the row stays."""
NOBODYS_COLUMNS = {"sessions_app.RunnerProcess.owner"}
"""These look like references to a person but identify a process."""
OBJECTS = {
    "coaching.Document.storage_key",
    "coaching.Import.storage_key",
    "coaching.Photo.storage_key",
    "coaching.Recording.storage_key",
    "coaching.UserFileVersion.storage_key",
}

_LOOKS_LIKE_A_PERSON = re.compile(r"(^|_)(user|owner|person|author|account|username|email)(_id|_name)?$")


def ownerless() -> list[type[Model]]:
    owned = {entry.model for entry in owned_models()} | {User}
    return [model for model in apps.get_models(include_auto_created=True) if model not in owned]


def test_what_only_mentions_a_person_is_known() -> None:
    owned = {entry.model for entry in owned_models()} | {User}
    mentions = {
        f"{model._meta.label}.{field.name}"
        for model in ownerless()
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey) and field.related_model in owned
    }
    assert mentions == MENTIONS


def test_no_column_of_nobodys_row_could_hold_a_person() -> None:
    found = {
        f"{model._meta.label}.{field.name}"
        for model in ownerless()
        for field in model._meta.concrete_fields
        if not field.is_relation and _LOOKS_LIKE_A_PERSON.search(field.attname)
    }
    assert found == NOBODYS_COLUMNS


def test_no_relation_leads_anywhere_that_the_walk_does_not_see() -> None:
    for model in apps.get_models(include_auto_created=True):
        assert not [field for field in model._meta.private_fields if isinstance(field, GenericForeignKey)], (
            model
        )


def test_every_model_is_exported_or_left_out_for_a_reason() -> None:
    labels = {owned.label for owned in owned_models()}
    assert LEFT_OUT_MODELS.keys() <= labels
    assert {owned.label for owned in exported_models()} == labels - LEFT_OUT_MODELS.keys()
    names = [file_name_of(owned) for owned in exported_models()]
    assert len(set(names)) == len(names)


def test_fields_that_are_left_out_exist() -> None:
    for name in LEFT_OUT_FIELDS:
        label, _, field = name.rpartition(".")
        assert apps.get_model(label)._meta.get_field(field)


def test_objects_of_people_are_known_to_export_and_removal() -> None:
    """A new kind of stored object is under the person's root, and its bytes belong in the archive."""
    found = {
        f"{owned.label}.{field.name}"
        for owned in owned_models()
        for field in owned.model._meta.concrete_fields
        if isinstance(field, models.FileField) or re.search(r"storage|object_key|bucket", field.name)
    }
    assert found == OBJECTS


@pytest.mark.django_db
def test_no_table_of_ours_is_without_a_model() -> None:
    known = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
    assert tables - known == {"django_migrations"}
