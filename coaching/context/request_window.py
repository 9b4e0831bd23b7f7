"""Reads the end of a session's history, and chooses the window of it that a request has.

How much fits follows from the frame that stands before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from coaching.context.frame import build_frame, frame_tokens, sizes_beside
from coaching.context.life import Life, Unknown
from coaching.context.message_limits import MessageLimits
from coaching.context.opening import Opening
from coaching.context.prompt_tools import PromptTools
from coaching.context.sizes import PromptSizes
from coaching.context.window import Window, open_window, rows_to_read, smaller_window
from coaching.skills.loader import SkillLibrary, load_library, skills_moment
from sessions_app import selectors
from sessions_app.models import Message, MessageRole, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWindow:
    """The end of a history as it was `read`, and the `window` of it that is sent; both end with the newest.

    `opening` is the stored one, which may be sent again. `limits` and `sizes` say how much of each message,
    and how many of them, the request has. `shortened` is what the session keeps if the newest message was
    shortened.
    """

    session: Session
    opening: Opening | None
    read: Sequence[Message]
    window: Window
    limits: MessageLimits
    sizes: PromptSizes
    shortened: Mapping[str, Any] = field(default_factory=dict)

    @property
    def messages(self) -> Sequence[Message]:
        return self.window.messages

    @property
    def newest(self) -> Message:
        return self.read[-1]

    @property
    def before(self) -> Sequence[Message]:
        """The messages that were read, without the newest."""
        return self.read[:-1]

    @property
    def tokens(self) -> int:
        return self.limits.count_all(self.messages)

    @property
    def is_moved(self) -> bool:
        """Whether it begins elsewhere than with the stored opening."""
        return self.opening is not None and self.opening.edge != self.window.edge

    @property
    def kept_opening(self) -> Opening | None:
        """The stored opening if it is sent again, None if a new one has to be built."""
        is_outdated = self.opening is None or self.opening.brief_revision != self.session.brief_revision
        return None if is_outdated or self.is_moved else self.opening

    @property
    def said_before_at(self) -> datetime | None:
        """When the user's last message before the newest was sent, if any."""
        said = [message for message in self.before if message.role == MessageRole.USER]
        shown = [message.created_at for message in said if message.marks_day]
        return shown[-1] if shown else None

    def halved(self) -> "RequestWindow | None":
        """Return half of it, with the newest message shortened to that; None if nothing gives way."""
        half = self.tokens // 2
        smaller = smaller_window(self.window, self.limits.count)
        window = self.window if smaller is None else smaller
        excess = self.limits.count_all(window.messages) - half
        shortened = self.limits.shorten(window.messages[-1], by=excess)
        if smaller is None and not shortened:
            return None
        return replace(self, window=window, shortened=shortened)


def read_window(
    session: Session, *, life: Life, tools: PromptTools[Any], newest: Message | None = None
) -> RequestWindow:
    """Read a history and return its window; `newest` is given if that message isn't stored yet."""
    opening = Opening.from_text(session.opening)
    edge = opening.edge if opening else None
    frame = build_frame(session, tools=tools, library=skill_library(life, skills_moment(session)))
    sizes = sizes_beside(frame_tokens(frame, tools))
    limit = rows_to_read(edge, last=session.last_message_number, minimum=sizes.messages, step=sizes.step)
    read, older = selectors.history_tail(session, limit=limit, newest=newest)
    limits = MessageLimits(session, read, sizes=sizes, tools=tools)
    window = open_window(
        read,
        minimum=sizes.messages,
        step=sizes.step,
        older=older,
        edge=edge,
        covered=session.brief_covers,
        most=sizes.window,
        count_tokens=limits.count,
    )
    return RequestWindow(
        session=session, opening=opening, read=read, window=window, limits=limits, sizes=sizes
    )


def skill_library(life: Life, moment: datetime) -> SkillLibrary:
    """Return the skills of a moment, as operators have edited them."""
    states = life.skill_states
    return load_library(moment, None if isinstance(states, Unknown) else states)
