"""What a request of a program may say, and what it gets: the schemas of the interface.

Texts are checked as those of forms are, so that none is stored that the database or an encoder refuses.
"""

from datetime import date, datetime, time
from typing import Annotated, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from coaching.files.attributes import Line, StorableText
from coaching.files.drafts import MAX_CONTENT_CHARACTERS
from coaching.files.organising import MAX_TITLE_CHARACTERS
from coaching.library.drafts import MAX_DESCRIPTION, MAX_TITLE
from coaching.life.captures import MAX_CAPTURE_CHARACTERS
from coaching.models import ActionPriority, DocumentState, FileType
from coaching.recall.question import MAX_CHARACTERS
from coaching.turns.step_changes import ClockTime
from sessions_app.text import MAX_MESSAGE_CHARACTERS

MAX_ID = 2**63 - 1
MAX_PAGE = 100
ItemT = TypeVar("ItemT")

Id = Annotated[int, Field(ge=1, le=MAX_ID)]
Limit = Annotated[int, Field(ge=1, le=MAX_PAGE, description="How many at most.")]
Offset = Annotated[int, Field(ge=0, le=1_000_000, description="How many to leave out, from the first on.")]
Turned = Literal["running", "done", "failed", "awaiting_user"]
Source = Literal["file", "document", "knowledge", "step", "summary"]
StepState = Literal["open", "done", "dropped"]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Failure(BaseModel):
    """Why a request failed, as a sentence."""

    error: str
    page: str = Field(default="", description="Where the person goes on, if only they can; else left out.")


class Page(BaseModel, Generic[ItemT]):
    """A part of a list, and how many there are in all."""

    items: list[ItemT]
    total: int


class NewCapture(_Given):
    text: Annotated[StorableText, Field(min_length=1, max_length=MAX_CAPTURE_CHARACTERS)]


class KeptCapture(BaseModel):
    """A stored capture. Its file's path is only given to a token that may read files."""

    id: int
    captured_at: datetime
    page: str = Field(description="The address of the captures, for people.")


class File(BaseModel):
    path: str
    type: FileType
    title: str
    version: int
    size: int = Field(description="Bytes.")
    updated_at: datetime
    page: str = Field(description="The address of the file, for people.")


class FileWithText(File):
    text: str = Field(description="The whole file: frontmatter and body.")


class WrittenFile(BaseModel):
    """A file that was written. What else it says needs the scope `read`."""

    path: str
    version: int
    updated_at: datetime
    page: str = Field(description="The address of the file, for people, with Undo.")


class FileVersion(BaseModel):
    version: int
    size: int
    source: str = Field(description="Who wrote it: tool, user, import or job.")
    program: str = Field(description="The name of the program that wrote it for the person; else empty.")
    created_at: datetime


class NewNote(_Given):
    title: Annotated[Line, Field(max_length=MAX_TITLE_CHARACTERS)]
    text: Annotated[StorableText, Field(max_length=MAX_CONTENT_CHARACTERS)]


class FileEdit(_Given):
    text: Annotated[StorableText, Field(max_length=MAX_CONTENT_CHARACTERS)] = Field(
        description="The body, below the frontmatter, which stays."
    )
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(
        description="The version that it is based on. If that isn't the newest, nothing is written (409)."
    )


class Step(BaseModel):
    id: int
    title: str
    description: str
    state: StepState
    due_date: date | None
    due_time: time | None
    repeats: str
    priority: ActionPriority
    client: str = Field(description="Whom it is about; empty for the person.")
    origin: str
    updated_at: datetime
    page: str = Field(description="The address of the step, for people, with Undo.")


class ChangedStep(BaseModel):
    """A step that was changed. What else it says needs the scope `read`."""

    id: int
    state: StepState
    updated_at: datetime
    page: str = Field(description="The address of the step, for people, with Undo.")


Repeats = Annotated[
    StorableText, Field(max_length=40, description="daily, weekly, monthly, or days such as mon,thu.")
]


class NewStep(_Given):
    title: Annotated[Line, Field(max_length=MAX_TITLE)]
    description: Annotated[StorableText, Field(max_length=MAX_DESCRIPTION)] = ""
    due_date: date | None = None
    due_time: ClockTime | None = None
    repeats: Repeats = ""
    priority: ActionPriority = ActionPriority.MEDIUM


class StepEdit(_Given):
    """What it leaves out stays; null clears a date or a time."""

    title: Annotated[Line, Field(max_length=MAX_TITLE)] = ""
    description: Annotated[StorableText, Field(max_length=MAX_DESCRIPTION)] = ""
    due_date: date | None = None
    due_time: ClockTime | None = None
    repeats: Repeats = ""
    priority: ActionPriority = ActionPriority.MEDIUM
    state: StepState | None = Field(default=None, description="What became of it.")
    occurrence: date | None = Field(
        default=None,
        description="With the state done: the due date for which a step that repeats is done. 409 if it has "
        "moved on from that date. Another due date beside it is the one to which the step moves on. Without "
        "this, it is done for its present date, or for the due date of the request.",
    )


class Document(BaseModel):
    id: int
    name: str
    state: DocumentState
    type: str
    folder: str
    client: str
    project: str
    summary: str
    created_at: datetime
    page: str = Field(description="The address of the document, for people.")


class DocumentWithText(Document):
    text: str
    facts: list[dict[str, object]]


class Hit(BaseModel):
    source: Source
    title: str
    excerpt: str
    moment: datetime
    page: str = Field(description="The address where people see it.")


class Found(BaseModel):
    """What was found, the best first."""

    items: list[Hit]


Question = Annotated[StorableText, Field(min_length=1, max_length=MAX_CHARACTERS)]


class Summary(BaseModel):
    """What a conversation was about. Its messages need the scope `chat`."""

    kind: str
    title: str
    summary: str
    last_active_at: datetime


class Conversation(BaseModel):
    id: UUID
    kind: str
    status: str
    title: str
    last_active_at: datetime
    page: str = Field(description="The address of the conversation, for people.")


class Message(BaseModel):
    number: int
    role: Literal["user", "assistant"]
    text: str
    program: str = Field(description="The name of the program that sent it for the person; else empty.")
    created_at: datetime


class NewMessage(_Given):
    text: Annotated[StorableText, Field(min_length=1, max_length=MAX_MESSAGE_CHARACTERS)]


class HelpLine(BaseModel):
    name: str
    phone: str
    text: str
    url: str
    hours: str


class Answer(BaseModel):
    """A message and what became of it."""

    status: Turned
    conversation: UUID
    turn: UUID
    text: str = Field(description="Sage's answer, once it is `done`; before that empty.")
    notice: str = Field(description="A sentence for the person, such as why it failed.")
    help_lines: list[HelpLine] = Field(
        description="Where to find help, if the message speaks of danger. Show them to the person."
    )
    page: str = Field(
        description="The conversation's address. With `awaiting_user` the person answers there."
    )
