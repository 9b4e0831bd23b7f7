"""What a situation's file says. Anything else in a file is an error.

A line of theirs without an answer below it is answered by the model; `opening` lets Sage speak first.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from coaching.models import FileType, LifeDomain
from sessions_app.models import SessionKind

FOLDER = Path(__file__).parent / "situations"
OPENING = "opening"
"""Sage speaks first."""
DEFAULT_WORDS = 120
Language = Literal["en", "de", "es"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class Them(_Strict):
    """A line of the person. `attached` are names of documents."""

    them: str
    attached: tuple[str, ...] = ()


class Sage(_Strict):
    """An answer that is given, because the situation begins after it."""

    sage: str


Line = Literal["opening"] | Them | Sage


ORDINARY_TALK: tuple[Line, ...] = (
    Them(them="The week was all right, I think."),
    Sage(sage="What was best about it?"),
    Them(them="The walk yesterday."),
    Sage(sage="Then that is what you take along."),
)


class Person(_Strict):
    """Who it is. Somebody who isn't new has had an ordinary conversation before, if the file has none."""

    name: str
    new: bool = False
    zone: str = "Europe/London"
    language: str = "en"
    next_checkin: date | None = None


class LifeFile(_Strict):
    """A file as the person or Sage left it, that many days ago."""

    type: FileType
    name: str | None = None
    text: str
    attributes: dict[str, Any] = Field(default_factory=dict)
    days_ago: int = 1


class Step(_Strict):
    """Something to do, as it stands in the list."""

    title: str
    quote: str = ""
    due: date | None = None
    client: str = ""


class LifeDocument(_Strict):
    """A document that was read."""

    name: str
    text: str
    type: str = "letter"
    client: str = ""


class Life(_Strict):
    """What is known of them before. `ratings` are one a week, the last a week ago."""

    files: tuple[LifeFile, ...] = ()
    captures: tuple[str, ...] = ()
    ratings: dict[LifeDomain, tuple[int, ...]] = Field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    clients: tuple[str, ...] = ()
    documents: tuple[LifeDocument, ...] = ()


class Earlier(_Strict):
    """A conversation before this one, which has ended; `summary` is what its job would have written."""

    at: datetime
    kind: SessionKind = SessionKind.OPEN_CONVERSATION
    talk: tuple[Line, ...]
    summary: str = ""


class SavedFile(_Strict):
    """A file that Sage must have written. `says` and `not_says` are phrases; `a|b` is one or the other."""

    type: FileType
    says: tuple[str, ...] = ()
    not_says: tuple[str, ...] = ()


class StepEffect(_Strict):
    """A step that is there afterwards; what isn't named may be anything."""

    title: str = ""
    quote: str = ""
    due: date | None = None
    state: Literal["open", "proposed", "done", "dropped", "dismissed"] = "open"
    outcome: str = ""


class Expected(_Strict):
    """What code can check. The defaults hold in every situation."""

    calls: tuple[str, ...] = ()
    no_calls: tuple[str, ...] = ()
    saved: tuple[SavedFile, ...] = ()
    nothing_saved: bool = False
    steps: tuple[StepEffect, ...] = ()
    no_new_steps: bool = False
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    questions: int = 1
    words: int = DEFAULT_WORDS
    language: Language = "en"
    card: Literal["none", "concern", "immediate", "any"] = "none"
    offers: bool = True
    entered: str = ""
    completed: str = ""
    not_completed: bool = False


class Situation(_Strict):
    """One situation: what came before, what they write, and what is expected of the answer.

    `good` and `never` are for a judge, one by one; `best` is an answer to the last line that a good coach
    would give. `taps` answers what Sage puts before them: `yes` or `no` to cards, `first` to options, and
    ratings by domain; what isn't in it isn't answered.
    """

    name: str
    about: str
    group: str
    person: Person
    at: datetime
    kind: SessionKind = SessionKind.OPEN_CONVERSATION
    client: str = ""
    life: Life = Life()
    before: tuple[Earlier, ...] = ()
    talk: tuple[Line, ...] = Field(min_length=1)
    taps: dict[str, Any] = Field(default_factory=dict)
    expect: Expected = Expected()
    good: tuple[str, ...] = Field(min_length=1)
    never: tuple[str, ...] = Field(min_length=1)
    best: str

    @model_validator(mode="after")
    def _is_answered_last(self) -> "Situation":
        if isinstance(self.talk[-1], Sage):
            raise ValueError("the last line must be theirs, or opening: it is what the model answers")
        may_open = self.person.new or self.kind != SessionKind.OPEN_CONVERSATION
        if not isinstance(self.talk[0], Them) and not may_open:
            raise ValueError("Sage speaks first only in an arc, and to somebody new")
        return self

    @property
    def history(self) -> tuple[Earlier, ...]:
        """The conversations before this one."""
        if self.before or self.person.new:
            return self.before
        at = (self.at - timedelta(days=4)).replace(hour=20)
        return (Earlier(at=at, talk=ORDINARY_TALK),)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.person.zone)

    @property
    def moment(self) -> datetime:
        """Return when their first line that the model answers is written."""
        return self.at.replace(tzinfo=self.zone)


@cache
def read_situation(path: Path) -> Situation:
    """Read one file. Raises `pydantic.ValidationError` and `yaml.YAMLError`."""
    return Situation.model_validate({"name": path.stem, **yaml.safe_load(path.read_text())})


def read_situations(names: Sequence[str] = ()) -> Sequence[Situation]:
    """Return all situations, or those of the names or groups. Raises `LookupError` for an unknown one."""
    found = [read_situation(path) for path in sorted(FOLDER.glob("*.yaml"))]
    if unknown := set(names) - {word for each in found for word in (each.name, each.group)}:
        raise LookupError(f"There is no situation or group {', '.join(sorted(unknown))}.")
    return [each for each in found if not names or {each.name, each.group} & set(names)]
