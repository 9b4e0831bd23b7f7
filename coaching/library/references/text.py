"""The text of a reference: YAML frontmatter, then markdown below three headings. No database access."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coaching.models import FilingLevel, ReferenceArea

HEADINGS = ("What it is", "How to recognise it", "What to extract")
MAX_WORDS = 250
MAX_PHRASES = 40
# Ten times as fast, where PyYAML was built with libyaml.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)

Line = Annotated[str, Field(pattern=r"^\S[^\n]*$", max_length=120)]
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]


class UnusableReference(ValueError):
    """A text that is no reference. The message names the line or the key."""


class LookAlike(BaseModel):
    """A type that is easily taken for this one; `tell` is how to tell them apart."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    file_type: Slug
    tell: Annotated[str, Field(pattern=r"^\S[^\n]*$", max_length=300)]


class _Filing(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    folder: Line
    level: Annotated[FilingLevel, Field(strict=False)]


class _Frontmatter(BaseModel):
    """The required frontmatter; no other keys are allowed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    file_type: Slug
    title: Line
    category: Slug
    area: Annotated[ReferenceArea, Field(strict=False)]
    tags: Annotated[list[Slug], Field(min_length=1)]
    phrases: Annotated[list[Line], Field(min_length=3, max_length=MAX_PHRASES)]
    look_alikes: Annotated[list[LookAlike], Field(min_length=1, max_length=5)]
    filing: _Filing


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceText:
    """A type of document and how to recognise it. `source` is the whole text, `body` the markdown."""

    file_type: str
    title: str
    category: str
    area: ReferenceArea
    tags: tuple[str, ...]
    phrases: tuple[str, ...]
    look_alikes: tuple[LookAlike, ...]
    folder: str
    level: FilingLevel
    body: str
    source: str

    @property
    def line(self) -> str:
        return f"{self.file_type}: {self.title} ({self.category})"

    @property
    def guidance(self) -> str:
        """What a model reads: the body, and how to tell the type from its look-alikes."""
        tells = "\n".join(f"- {other.file_type}: {other.tell}" for other in self.look_alikes)
        return f"# {self.title}\n\n{self.body}\n## Look-alikes\n\n{tells}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The words that a classification may use, each sorted."""

    file_types: tuple[str, ...]
    categories: tuple[str, ...]
    folders: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def of(
        cls,
        *,
        file_types: Collection[str],
        categories: Collection[str],
        folders: Collection[str],
        tags: Collection[str],
    ) -> Self:
        """Return a vocabulary of words in any order, each once."""
        return cls(
            file_types=tuple(sorted(set(file_types))),
            categories=tuple(sorted(set(categories))),
            folders=tuple(sorted(set(folders))),
            tags=tuple(sorted(set(tags))),
        )


def parse_reference(source: str) -> ReferenceText:
    """Parse a reference. Raises `UnusableReference`."""
    source = source.replace("\r\n", "\n").strip() + "\n"
    opening, separator, rest = source.partition("---\n")
    header, closing, body = rest.partition("\n---\n")
    if opening or not separator or not closing:
        raise UnusableReference("line 1: there is no frontmatter between two lines of ---")
    try:
        fields = _Frontmatter.model_validate(load_yaml(header))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise UnusableReference(f"line {line}: it isn't YAML ({error.problem})") from error
    except yaml.YAMLError as error:
        raise UnusableReference("line 1: it isn't YAML") from error
    except ValidationError as error:
        raise UnusableReference("; ".join(explain(error))) from error
    return ReferenceText(
        file_type=fields.file_type,
        title=fields.title,
        category=fields.category,
        area=fields.area,
        tags=tuple(fields.tags),
        phrases=tuple(fields.phrases),
        look_alikes=tuple(fields.look_alikes),
        folder=fields.filing.folder,
        level=fields.filing.level,
        body=body.strip() + "\n",
        source=source,
    )


def load_yaml(text: str) -> object:
    """Parse YAML. Raises `yaml.YAMLError`."""
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader


def explain(error: ValidationError) -> list[str]:
    """Return a line per invalid key: `tags.0: …`."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in fault["loc"])
        lines.append(f"{where}: {fault['msg']}" if where else fault["msg"])
    return lines


def reference_faults(reference: ReferenceText, vocabulary: Vocabulary) -> list[str]:
    """Return every error of a reference that could be parsed; each names its key or line."""
    faults = [
        *_unknown("category", [reference.category], vocabulary.categories),
        *_unknown("tags", reference.tags, vocabulary.tags),
        *_unknown("filing.folder", [reference.folder], vocabulary.folders),
        *_unknown("look_alikes", [other.file_type for other in reference.look_alikes], vocabulary.file_types),
        *_repeated("tags", reference.tags),
        *_repeated("phrases", [phrase.casefold() for phrase in reference.phrases]),
        *_repeated("look_alikes", [other.file_type for other in reference.look_alikes]),
    ]
    if reference.file_type in {other.file_type for other in reference.look_alikes}:
        faults.append(f"look_alikes: {reference.file_type} is the type itself")
    return faults + _body_faults(reference)


def _body_faults(reference: ReferenceText) -> list[str]:
    first_line = _lines(reference.source.partition(reference.body)[0]) + 1
    found = list(_HEADING.finditer(reference.body))
    faults = [
        f"line {first_line + _lines(reference.body[: match.start()])}: heading “{match[0]}” isn't expected"
        for match in found
        if match[0] not in {f"## {heading}" for heading in HEADINGS}
    ]
    titles = [match[0] for match in found]
    faults += [f"missing heading “## {heading}”" for heading in HEADINGS if f"## {heading}" not in titles]
    words = len(reference.guidance.split())
    if words > MAX_WORDS:
        faults.append(f"it has {words} words with its look-alikes, the limit is {MAX_WORDS}")
    return faults


def _lines(text: str) -> int:
    return text.count("\n")


def _unknown(key: str, given: Sequence[str], known: Collection[str]) -> list[str]:
    return [f"{key}: {word} isn't known" for word in given if word not in known]


def _repeated(key: str, given: Sequence[str]) -> list[str]:
    return [f"{key}: {word} stands there twice" for word in sorted({w for w in given if given.count(w) > 1})]
