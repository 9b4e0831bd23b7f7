"""Reads the earlier app's export: profile, sessions with messages, files, ratings."""

from collections.abc import Generator, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from coaching.legacy.importers.bounded import Unreadable
from coaching.legacy.importers.json_stream import Item
from coaching.legacy.importers.sentences import gettext_noop
from coaching.legacy.importers.things import (
    MAX_ID_CHARACTERS,
    Format,
    FoundConversation,
    FoundFile,
    FoundMessage,
    FoundProfile,
    FoundRating,
    Problem,
    Thing,
    UnknownFields,
    id_of,
    moment_of,
    too_large,
    where_of,
)

LISTS = ("sessions", "files", "ratings")

NOT_A_LIST = gettext_noop("This must be a list.")
NOT_AN_OBJECT = gettext_noop("This must be an object.")
MISSING = gettext_noop("This is missing.")


def _moment(value: object) -> object:
    if value is None:
        return None
    moment = moment_of(value)
    if moment is None:
        raise ValueError("this isn’t a time such as 2026-01-31T08:30:00Z")
    return moment


def _id(value: object) -> object:
    return id_of(value) or value


Domain = Literal["career", "relationships", "health", "finances", "learning", "creativity", "play", "meaning"]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Id = Annotated[str, BeforeValidator(_id), Field(min_length=1, max_length=MAX_ID_CHARACTERS)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Message(_Part):
    id: Id
    role: Literal["user", "assistant"]
    content: str
    created_at: Moment | None = None
    metadata: dict[str, Any] | None = None


class _Session(_Part):
    id: Id
    kind: str = ""
    status: str = ""
    title: str | None = None
    started_at: Moment | None = None
    messages: list[Any]


class _File(_Part):
    path: str = Field(min_length=1)
    content: str
    updated_at: Moment


class _Rating(_Part):
    domain: Domain
    rating: int = Field(ge=1, le=5)
    rated_at: Moment


class _Profile(_Part):
    name: str | None = None
    timezone: str | None = None


PartT = TypeVar("PartT", bound=_Part)


class SageAdapter:
    """The earlier app's export."""

    format: Format = "sage"

    def recognises(self, item: Item) -> bool:
        return item.path[0] in (*LISTS, "profile")

    def read(self, item: Item) -> Iterator[Thing]:
        if isinstance(item.value, Unreadable):
            yield too_large(item, item.value)
            return
        match item.path:
            case ("profile",):
                yield from self._profile(item)
            case ("sessions", int()):
                yield from self._session(item)
            case ("files", int()):
                yield from self._file(item)
            case ("ratings", int()):
                yield from self._rating(item)
            case (str() as name, *_) if name in LISTS:
                yield Problem(where=where_of(item), text=NOT_A_LIST)
            case (step, *_):
                yield UnknownFields(names=frozenset({str(step)[:60]}))

    def _profile(self, item: Item) -> Iterator[Thing]:
        found = yield from _checked(_Profile, item)
        if found is not None:
            yield FoundProfile(name=found.name or "", timezone=found.timezone or "", where=where_of(item))

    def _session(self, item: Item) -> Iterator[Thing]:
        found = yield from _checked(_Session, item)
        if found is None:
            return
        messages = []
        for place in range(len(found.messages)):
            message = yield from _checked(_Message, item, "messages", place)
            if message is not None:
                messages.append(_found_message(message))
        yield FoundConversation(
            imported_id=found.id,
            kind=found.kind,
            status=found.status,
            title=found.title or "",
            started_at=found.started_at,
            messages=messages,
            where=where_of(item),
        )

    def _file(self, item: Item) -> Iterator[Thing]:
        found = yield from _checked(_File, item)
        if found is not None:
            yield FoundFile(
                path=found.path, content=found.content, updated_at=found.updated_at, where=where_of(item)
            )

    def _rating(self, item: Item) -> Iterator[Thing]:
        found = yield from _checked(_Rating, item)
        if found is not None:
            yield FoundRating(
                domain=found.domain, rating=found.rating, rated_at=found.rated_at, where=where_of(item)
            )


def _checked(
    model: type[PartT], item: Item, *path: str | int
) -> Generator[Problem | UnknownFields, None, PartT | None]:
    """Return a checked part of an item, None where it can't be read; yield what is wrong or unknown."""
    value: Any = item.value
    for step in path:
        value = value[step]
    if not isinstance(value, Mapping):
        yield Problem(where=where_of(item, *path), text=NOT_AN_OBJECT)
        return None
    unknown = value.keys() - model.model_fields.keys()
    if unknown:
        yield UnknownFields(names=frozenset(f"{_kind_of(item, path)}.{name[:60]}" for name in unknown))
    try:
        return model.model_validate(dict(value))
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_input=False, include_context=False):
            yield Problem(where=where_of(item, *path, *wrong["loc"]), text=_in_words(wrong))
            break
        return None


def _kind_of(item: Item, path: tuple[str | int, ...]) -> str:
    """Return the kind of place without numbers: `sessions[].messages[]`."""
    steps = ("[]" if isinstance(step, int) else f".{step}" for step in (*item.path, *path))
    return "".join(steps).removeprefix(".")


def _in_words(wrong: Mapping[str, Any]) -> str:
    if wrong["type"] == "missing":
        return MISSING
    return f"{str(wrong['msg']).removeprefix('Value error, ').removesuffix('.')}."


def _found_message(message: _Message) -> FoundMessage:
    return FoundMessage(
        imported_id=message.id,
        role=message.role,
        text=message.content,
        created_at=message.created_at,
        metadata=dict(message.metadata or {}),
    )
