"""Typed attributes of a file. The server renders them as frontmatter."""

import re
from collections.abc import Collection
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from coaching.files.errors import FileRefused
from coaching.files.types import ATTRIBUTE_ORDER, RULES, AttributeName
from coaching.models import FileType, LifeDomain
from coaching.models.life import DomainStatus

_NUL = "\x00"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def check_storable(value: object) -> object:
    """Return the value; raise `ValueError` with the reason if its text can't be stored."""
    if not isinstance(value, str):
        return value
    if found := _LONE_SURROGATE.search(value):
        raise ValueError(
            f"character {found.start() + 1} is a lone surrogate (half of a character), which can't be "
            "stored; write the whole character or leave it out"
        )
    if _NUL in value:
        raise ValueError(
            f"character {value.index(_NUL) + 1} is NUL (U+0000), which can't be stored; leave it out"
        )
    return value


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise ValueError("it is blank; leave it out")
    return line


def _without_repeats(values: list[LifeDomain]) -> list[LifeDomain]:
    return list(dict.fromkeys(values))


StorableText = Annotated[str, BeforeValidator(check_storable)]
Word = Annotated[StorableText, Field(min_length=1, max_length=80), AfterValidator(_one_line)]
Line = Annotated[StorableText, Field(min_length=1, max_length=300), AfterValidator(_one_line)]


class FileAttributes(BaseModel):
    """Facts about the file, as the user said or agreed to them. `RULES` says which types take which."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: DomainStatus | None = None
    updated_rating: int | None = Field(default=None, ge=1, le=5)
    energy: Word | None = None
    mood_signal: Word | None = None
    domains_touched: Annotated[list[LifeDomain], AfterValidator(_without_repeats)] | None = Field(
        default=None, max_length=8
    )
    intention: Line | None = None
    priorities: list[Line] | None = Field(default=None, max_length=10)
    themes: list[Line] | None = Field(default=None, max_length=10)
    preview_line: Line | None = None

    def given(self) -> dict[str, str | int | list[str]]:
        """Return the given attributes as plain values, in a fixed order."""
        values = self.model_dump(mode="json", exclude_none=True)
        return {name: values[name] for name in ATTRIBUTE_ORDER if name in values}


NO_ATTRIBUTES = FileAttributes()


def check_attributes(
    file_type: FileType, attributes: FileAttributes, removed: Collection[AttributeName] = ()
) -> None:
    """Raise `FileRefused` if an attribute doesn't belong to the type, or is given and removed at once."""
    fitting, given = RULES[file_type].attributes, attributes.given()
    if both := [name for name in given if name in removed]:
        raise FileRefused(
            f"{', '.join(both)} can't be both given and removed in one save; do one or the other."
        )
    named = [name for name in ATTRIBUTE_ORDER if name in given or name in removed]
    if unknown := [name for name in named if name not in fitting]:
        fit = ", ".join(name for name in ATTRIBUTE_ORDER if name in fitting)
        takes = f"Its attributes are: {fit}." if fit else "It takes no attributes; leave them out."
        raise FileRefused(f"{', '.join(unknown)} doesn't belong to the type {file_type}. {takes}")
