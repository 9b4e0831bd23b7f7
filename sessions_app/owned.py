"""Models whose rows belong to a user, and how they are queried.

An owned model has no `objects`. Queries start from a user (`of`) or from a row that was reached through one
(`within`), so a query without an owner can't be written by accident. Code for all users (the runner, jobs,
the admin) uses `unscoped`; tests/architecture/test_scoping.py lists every such place.
"""

from typing import Any, ClassVar, Self, TypeVar

from django.db import models

ModelT_co = TypeVar("ModelT_co", bound=models.Model, covariant=True)


class OwnedQuerySet(models.QuerySet[ModelT_co]):
    """The rows of one user. Rows created through it get that user, if they have a user field."""

    created_with: dict[str, int]

    def owned_by(self, user_id: int, path: str) -> Self:
        """Return the user's rows; `path` is the lookup from a row to its user."""
        rows = self.filter(**{f"{path}_id": user_id})
        rows.created_with = {} if "__" in path else {f"{path}_id": user_id}
        return rows

    def create(self, **kwargs: Any) -> ModelT_co:
        return super().create(**{**kwargs, **getattr(self, "created_with", {})})

    def _clone(self) -> Self:
        clone: Self = super()._clone()  # type: ignore[misc]  # the stubs don't know it
        clone.created_with = getattr(self, "created_with", {})
        return clone


class Unscoped(models.Manager[ModelT_co]):
    """All users' rows. Migrations know it as `objects`, so that they see an ordinary model."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "objects"


class NoObjects:
    """Replaces `objects`; its error says what to write instead."""

    def __get__(self, row: object, model: type[models.Model]) -> None:
        name = model.__name__
        raise AttributeError(f"{name} has no `objects`. Write {name}.of(user_id), or {name}.within(row).")


class Owned(models.Model):
    """A model whose rows belong to users. `owner_path` is the lookup from row to user."""

    owner_path: ClassVar[str] = "user"

    objects: ClassVar[NoObjects] = NoObjects()
    unscoped: ClassVar[models.Manager[Self]] = Unscoped()

    class Meta:
        abstract = True

    @classmethod
    def of(cls, user_id: int) -> OwnedQuerySet[Self]:
        return OwnedQuerySet(cls).owned_by(user_id, cls.owner_path)

    @classmethod
    def within(cls, *rows: "Owned") -> models.QuerySet[Self]:
        """Return what belongs to these rows of one model, which were reached through their user.

        Raises `TypeError` where there is no path to their model.
        """
        path = cls._path_to(type(rows[0])) if rows else "pk"
        return models.QuerySet(cls).filter(**{f"{path}__in": rows} if len(rows) != 1 else {path: rows[0]})

    @classmethod
    def _path_to(cls, model: type[models.Model]) -> str:
        reached: Any = cls
        steps: list[str] = []
        for step in cls.owner_path.split("__"):
            steps.append(step)
            reached = reached._meta.get_field(step).related_model
            if reached is model:
                return "__".join(steps)
        raise TypeError(f"{cls.__name__} doesn't belong to {model.__name__}")
