"""What the stages pass on: documents that are read together, and how each of them ended.

Values only. A stage takes a batch and returns the next one; it changes no row by itself, except that the
model's calls are recorded as they are made.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from coaching.engine.ports import ModelClient
from coaching.library.documents.filing import Decision
from coaching.library.evidence import Source
from coaching.library.extractors.content_types import RECORDINGS, SRT, VTT
from coaching.library.pipeline.claims import Claim
from coaching.models import Document, DocumentState

_TRANSCRIPTS = frozenset({VTT, SRT, *RECORDINGS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    data: bytes
    media_type: str

    @property
    def base64(self) -> str:
        return b64encode(self.data).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a model says about a document, with words of the vocabulary only.

    `proposal` holds what it suggested that isn't in the vocabulary, `dropped_facts` says how many facts the
    document didn't bear out.
    """

    file_type: str
    confidence: float
    alternatives: Sequence[Mapping[str, Any]] = ()
    tags: Sequence[str] = ()
    summary: str = ""
    key_facts: Sequence[Mapping[str, Any]] = ()
    dropped_facts: int = 0
    why: str = ""
    proposal: Mapping[str, Any] = field(default_factory=dict)

    @property
    def next_confidence(self) -> float:
        """How likely the next best type is."""
        return max((each["confidence"] for each in self.alternatives), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a document ends, or why it waits. `values` are further fields of its row."""

    state: DocumentState
    reason: str = ""
    decision: Decision | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    is_attempt: bool = False

    @property
    def is_duplicate(self) -> bool:
        return self.state == DocumentState.DUPLICATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A document with almost the same text."""

    document_id: int
    name: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A document on its way through the stages.

    `reading_note` says what of it isn't in `text`; `picture_pages` are the numbers of pages that are pictures
    and have to be read from them, `filled` is as in `DocumentText`, and `unread` is the sentence for a
    document without any text.
    `references` are the types whose references the model is shown, the likeliest first; `is_unseen` says that
    it chose one whose reference it wasn't shown, `is_unlikely` that the document's words don't suggest the
    type that it chose. `placement_fault` says why it can't be filed by itself.
    """

    document: Document
    text: str = ""
    pages_read: Sequence[int] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    reading_note: str = ""
    picture_pages: Sequence[int] = ()
    page_count: int = 0
    filled: str = ""
    unread: str = ""
    image: Image | None = None
    references: Sequence[str] = ()
    verdict: Verdict | None = None
    is_second_reading: bool = False
    is_unseen: bool = False
    is_unlikely: bool = False
    twin: Twin | None = None
    decision: Decision | None = None
    placement_fault: str = ""
    ending: Ending | None = None

    @property
    def evidence_source(self) -> Source:
        """The document's own text, as what is said of it is checked against it."""
        return Source(self.text, pages_read=self.pages_read)

    @property
    def ranked_text(self) -> str:
        """The hints and the text, by which references are ranked."""
        hints = "\n".join(str(value) for value in self.hints.values())
        return f"{hints}\n{self.text}" if hints else self.text

    @property
    def ranked_tags(self) -> Sequence[str]:
        return ("transcript",) if self.document.content_type in _TRANSCRIPTS else ()

    def ended(self, state: DocumentState, reason: str, **values: Any) -> "Item":
        return replace(self, ending=Ending(state=state, reason=reason, values=values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The documents of a claim that haven't ended, and the calls that were made about them."""

    claim: Claim
    items: Sequence[Item]
    call_ids: tuple[int, ...] = ()

    def with_items(self, items: Sequence[Item]) -> "Batch":
        return replace(self, items=tuple(items))

    def each(self, change: Callable[[Item], Item]) -> "Batch":
        """Return the batch with every document that hasn't ended changed."""
        return self.with_items([item if item.ending else change(item) for item in self.items])

    @property
    def open_items(self) -> Sequence[Item]:
        return [item for item in self.items if item.ending is None]


async def _go_on() -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What stages need from outside. `is_offered_tools` is off for `classify --no-tools`.

    With `leaves_recordings`, those that a server has to hear are left to their own job.

    `calls` is held while the model is asked, so that it limits how many calls run at once. `stored` runs
    after each step's commit.
    """

    client: Callable[[], Awaitable[ModelClient]]
    calls: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)
    is_offered_tools: bool = True
    leaves_recordings: bool = False
    stored: Callable[[], Awaitable[None]] = _go_on


Stage = Callable[[Batch, Services], Awaitable[Batch]]
