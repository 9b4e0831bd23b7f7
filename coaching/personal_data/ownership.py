"""Which rows belong to a person, found by following the relations of all models, including future ones.

A row belongs to a person if a chain of owning relations (those whose on_delete removes or protects the row)
leads to the user. Relations that would only be set to NULL are mentions: the row belongs to somebody else.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import ForeignKey, Model, QuerySet

_OWNING = (models.CASCADE, models.DO_NOTHING, models.PROTECT, models.RESTRICT)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedModel:
    """A model with people's rows: lookup to the user, and whether rows outlive it (history tables)."""

    model: type[Model]
    path: str
    is_left_behind: bool

    @property
    def label(self) -> str:
        return self.model._meta.label

    def rows_of(self, user_id: int) -> QuerySet[Model]:
        """Return the person's rows, ignoring filters of the model's own manager."""
        return self.model._base_manager.filter(**{self.path: user_id})


@cache
def owned_models() -> tuple[OwnedModel, ...]:
    """Return all models, join tables included, that lead to a user by label; the shortest chain counts."""
    found: dict[type[Model], OwnedModel] = {}
    nearest: Collection[type[Model]] = [get_user_model()]
    while nearest:
        further = {
            owned.model: owned
            for model in _models()
            if model not in found and (owned := _owned_through(model, nearest, found))
        }
        found |= further
        nearest = further.keys()
    return tuple(sorted(found.values(), key=lambda owned: owned.label))


def owner_of_argument(name: str) -> OwnedModel | None:
    """Return the model that an argument refers to (`session_id`: `Session`), None unless exactly one fits."""
    wanted = name.removesuffix("_id").split("_")
    if not name.endswith("_id"):
        return None
    named = [owned for owned in owned_models() if _words_of(owned.model)[-len(wanted) :] == wanted]
    whole = [owned for owned in named if len(_words_of(owned.model)) == len(wanted)]
    found = whole or named
    return found[0] if len(found) == 1 else None


def _words_of(model: type[Model]) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z][a-z0-9]*", model.__name__)]


def _models() -> list[type[Model]]:
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model is not get_user_model() and not model._meta.proxy
    ]


def _owned_through(
    model: type[Model], nearest: Collection[type[Model]], found: dict[type[Model], OwnedModel]
) -> OwnedModel | None:
    for field in _relations(model):
        owner = field.related_model
        if owner not in nearest or field.remote_field.on_delete not in _OWNING:
            continue
        above = found.get(owner)
        return OwnedModel(
            model=model,
            path=f"{field.name}__{above.path}" if above else field.name,
            is_left_behind=field.remote_field.on_delete is models.DO_NOTHING
            or bool(above and above.is_left_behind),
        )
    return None


def _relations(model: type[Model]) -> Iterator["ForeignKey[Any, Any]"]:
    return (field for field in model._meta.concrete_fields if isinstance(field, ForeignKey))
