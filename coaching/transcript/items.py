"""The items of a conversation, as values for the templates of page and stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from django.utils.safestring import SafeString

from coaching.events import AttachedDocument
from coaching.safety.card import Card
from coaching.transcript.arcs import EndingItem, HeadItem
from coaching.transcript.calls import ShownCall
from coaching.transcript.names import MadeFile
from coaching.transcript.why import WhyItem


@dataclass(frozen=True, slots=True, kw_only=True)
class DayItem:
    """The line between two days."""

    date: date
    kind: Literal["day"] = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidItem:
    """A user's message. Without `session_id` the page can't edit it. `program` names the one that sent it."""

    session_id: str
    number: int
    client_id: str
    text: str
    documents: Sequence[AttachedDocument] = ()
    program: str = ""
    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardItem:
    """The card with help lines next to a user's message."""

    card: Card
    kind: Literal["card"] = "card"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundItem:
    """One finished round: notes, rendered text, and calls. Never all empty."""

    notes: str
    html: SafeString
    calls: Sequence[ShownCall] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTime:
    """A time in the user's zone. Text, because a template would convert a datetime to the server's zone."""

    iso: str
    clock: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersItem:
    """Where an answer stands among several to one message; the ids are those of its neighbours' turns."""

    session_id: str
    place: int
    count: int
    previous: str = ""
    following: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackItem:
    """The buttons to rate an answer, of which one may be pressed already."""

    session_id: str
    rating: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnItem:
    """An answer; while `is_open` with the running round's text."""

    turn_id: str
    rounds: Sequence[RoundItem] = ()
    number: int | None = None
    at: ShownTime | None = None
    made: Sequence[MadeFile] = ()
    documents: Sequence[AttachedDocument] = ()
    why: WhyItem | None = None
    notice: str = ""
    is_stopped: bool = False
    can_retry: bool = False
    retry_seconds: int = 0
    can_continue: bool = False
    can_ask_again: bool = False
    answers: AnswersItem | None = None
    feedback: FeedbackItem | None = None
    is_open: bool = False
    live_html: str = ""
    live_text: str = ""
    live_notes: str = ""
    kind: Literal["turn"] = "turn"


ShownItem = DayItem | SaidItem | CardItem | TurnItem


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCall:
    tool_use_id: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneView:
    """The end of a part: the closed turn, or the files that a waiting one has `made`, and the session."""

    item: TurnItem | None
    made: Sequence[MadeFile]
    head: HeadItem
    ending: EndingItem | None
