"""The request that a user's next message would send, as text. Sends nothing and writes nothing."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coaching.context.prompt import BuiltPrompt, build_turn
from coaching.engine.messages import ModelRequest
from coaching.models import Profile
from coaching.safety.card import metadata_of
from coaching.tools import offered_tools
from sessions_app.history import next_message
from sessions_app.models import MessageRole, Session, SessionKind

NEXT_WORDS = "(the next message)"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPreview:
    """A request with the estimated tokens of its parts, in the order of the request.

    Without the conversation they are `most_tokens` at most.
    """

    request: ModelRequest
    most_tokens: int
    tokens: Sequence[tuple[str, int]]

    @property
    def prompt_tokens(self) -> int:
        """Return the tokens of all that isn't conversation."""
        return sum(tokens for name, tokens in self.tokens if name != "conversation")

    def to_text(self) -> str:
        """Return the tokens by section, then the request in its order: tools, system, messages."""
        return "\n".join([*self._token_lines(), "", *_lines_of(self.request), ""])

    def _token_lines(self) -> Iterator[str]:
        yield f"Model: {self.request.model}"
        yield f"Tokens, estimated: {self.prompt_tokens:,} of {self.most_tokens:,} without the conversation"
        for name, tokens in self.tokens:
            yield f"  {tokens:>6,}  {name}"


def preview_request(
    *,
    user_id: int,
    now: datetime,
    session: Session | None = None,
    kind: str = SessionKind.OPEN_CONVERSATION,
    text: str = NEXT_WORDS,
) -> PromptPreview:
    """Build what `text` would send in a session, or in a new one of a kind; `now` is aware."""
    profile = Profile.of(user_id).select_related("user").first() or Profile(user_id=user_id)
    session = session or Session(user_id=user_id, kind=kind, started_at=now, last_active_at=now)
    message = next_message(session=session, role=MessageRole.USER, content=text, metadata=metadata_of(text))
    tools = offered_tools(profile)
    built = build_turn(session, profile=profile, tools=tools, now=now, newest=message)
    tokens = list(_tokens_of(built, tools.tokens))
    return PromptPreview(request=built.request, most_tokens=built.most_tokens, tokens=tokens)


def _tokens_of(built: BuiltPrompt, in_tools: int) -> Iterator[tuple[str, int]]:
    sent: Mapping[str, Any] = built.turn_metadata["context"]
    yield "tools", in_tools
    yield "system", sent["frame"] - in_tools
    for place, words in (("opening", "opening"), ("earlier", "earlier messages"), ("message", "message")):
        for name, tokens in sent[place].items():
            yield f"{words}: {name}", tokens
    yield "conversation", sent["window"]


def _lines_of(request: ModelRequest) -> Iterator[str]:
    for tool in request.tools:
        yield f"===== tool: {tool['name']}"
        yield tool["description"]
        yield json.dumps(tool["input_schema"], ensure_ascii=False)
    for block in request.system:
        yield "===== system"
        yield block["text"]
    for message in request.messages:
        yield f"===== {message['role']}"
        for block in message["content"]:
            yield _text_of(block)


def _text_of(block: Mapping[str, Any]) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "tool_use":
            return f"[call {block['name']}] {json.dumps(block['input'], ensure_ascii=False)}"
        case "tool_result":
            return f"[result] {_content_text(block['content'])}"
        case other:
            return f"[{other}]"


def _content_text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
