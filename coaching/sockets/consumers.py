"""The WebSocket of one session: frames in, events out. No rule of a turn lives here.

Two subprotocols carry the same events: HTML fragments (the default) and JSON frames (`sage.json`).
Channels handles one frame of a socket at a time, so nothing here waits for a turn.

Over 300 lines, because it has one handler per type of frame, and their table.
"""

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from coaching.engine.spans import span
from coaching.events import ErrorShown, SessionContinued, TurnEvent
from coaching.live.hub import Subscription
from coaching.live.runner import RestartingError, get_runner
from coaching.people.accounts import TIMEZONE_COOKIE
from coaching.people.danger_scans import scans
from coaching.people.help_lines import count_card
from coaching.people.languages import browser_language, language_of
from coaching.people.socket_access import (
    NOT_SIGNED_IN,
    TRY_AGAIN_LATER,
    FrameBudget,
    OpenSocket,
    SignedOutError,
    access_of,
    check_access,
    open_sockets,
)
from coaching.safety.countries import country_of_timezone
from coaching.sockets.fragments import StreamedReply
from coaching.sockets.frames import frame_of
from coaching.transcript.cards import card_without_database, read_card_of_refused
from coaching.turns.request import RequestKind, TurnRequest
from coaching.turns.step_changes import change_step
from sessions_app.database import in_database
from sessions_app.errors import FieldRefused, Refused, StillAnswering
from sessions_app.models import Session
from sessions_app.queries import Condition

logger = structlog.get_logger(__name__)

JSON_SUBPROTOCOL = "sage.json"
NOT_FOUND = 4404
TOO_MANY_SOCKETS = 4429
POLICY_VIOLATION = 1008
# Otherwise Channels subscribes each socket in Redis for nothing, and opens no socket without Redis.
NO_CHANNEL_LAYER = "none"
INTERNAL_ERROR = 1011
SERVICE_RESTART = 1012

MAX_IGNORED_FRAMES = 500

UNREADABLE = "That frame is not a JSON object."
TOO_MANY_FRAMES = gettext_noop("Too many messages at once. Please slow down.")
NO_ANSWER = gettext_noop("Sage can’t reach its database right now. Please try again in a moment.")


class SessionConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    channel_layer_alias = NO_CHANNEL_LAYER
    session_id: uuid.UUID
    user_id: int
    budget: FrameBudget
    subscription: Subscription | None = None
    sender: asyncio.Task[None] | None = None
    socket: OpenSocket | None = None
    ending: asyncio.Task[None] | None = None
    ignored_frames = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket in its user's language and release its resources, even if the server cancels this.

        A consumer that stalls for longer than the server waits is cancelled; `disconnect` then never runs.
        """
        try:
            with override(_language_of(scope)):
                await super().__call__(scope, receive, send)
        finally:
            self._release()

    async def dispatch(self, message: Any) -> None:
        """Handle a frame without Channels' round through a thread that closes connections: none is open."""
        if message["type"] == "websocket.receive":
            await self.websocket_receive(message)
        else:
            await super().dispatch(message)

    async def connect(self) -> None:
        """Accept, then attach, or close for whoever may not read."""
        self.is_json = JSON_SUBPROTOCOL in self.scope.get("subprotocols", ())
        await self.accept(JSON_SUBPROTOCOL if self.is_json else None)
        user = self.scope.get("user")
        if user is None or not user.is_authenticated:
            await self.close(NOT_SIGNED_IN)
            return
        self.user_id = user.pk
        self.session_id = self.scope["url_route"]["kwargs"]["session_id"]
        opened = OpenSocket(
            session_key=self.scope["session"].session_key or "",
            user_id=self.user_id,
            end=self.close,
            answers_ping=self.scope.get("sage.answers_ping", _is_taken_for_alive),
        )
        self.budget = open_sockets.budget_of(self.user_id)
        if not self.budget.admits():
            await self.close(TRY_AGAIN_LATER)
            return
        if not await open_sockets.admit(opened):
            await self.close(TOO_MANY_SOCKETS)
            return
        self.socket = opened
        try:
            self.subscription = await get_runner().readers.attach(
                user_id=self.user_id, session_id=self.session_id
            )
        except Session.DoesNotExist:
            await self.close(NOT_FOUND)
            return
        self.sender = asyncio.create_task(self._send_events(self.subscription), name="send events")
        self.sender.add_done_callback(self._close_after_failure)

    def _release(self) -> None:
        """Detach from the session, whose turn goes on. Must not wait."""
        if self.socket is not None:
            open_sockets.discard(self.socket)
        if self.subscription is not None:
            get_runner().readers.detach(self.session_id, self.subscription)
            self.subscription = None
        if self.sender is not None:
            self.sender.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Check access, then handle the frame; a bad frame is answered with a sentence."""
        if self.subscription is None:
            return
        if not self.budget.admits():
            await self._slow_down()
            return
        frame: dict[str, Any] = {}
        try:
            frame = _parsed(text_data)
            if frame.get("type") not in CHECKED_BY_FIRST_QUERY:
                await in_database(check_access, self._access())
            await self._handle(frame)
        except Refused as refusal:
            if isinstance(refusal, RestartingError) and not self.is_json and frame["type"] in SENT_AGAIN:
                await self._leave(frame, refusal)
            else:
                await self._refuse(frame, refusal)
        except SignedOutError:
            await self.close(NOT_SIGNED_IN)
        except Session.DoesNotExist:
            await self.close(NOT_FOUND)
        except DatabaseError:
            logger.warning("frame_without_database", session_id=str(self.session_id))
            await self._refuse_without_database(frame)

    def _access(self) -> Condition:
        return access_of(self.scope["session"].session_key, self.user_id)

    async def _slow_down(self) -> None:
        """Always reply: the dropped frame may have been a message."""
        self._show_error(_(TOO_MANY_FRAMES))
        self.ignored_frames += 1
        if self.ignored_frames > MAX_IGNORED_FRAMES:
            await self.close(POLICY_VIOLATION)

    async def _handle(self, frame: dict[str, Any]) -> None:
        kind = frame.get("type")
        handler = HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is None:
            raise Refused("A frame's type must be one of: %(types)s.", types=", ".join(HANDLERS))
        with span("request", frame=str(kind)):
            await handler(self, frame)

    async def handle_message(self, frame: dict[str, Any]) -> None:
        started = await get_runner().open_turn(self._turn_request("message", frame, access=self._access()))
        session_id = started.opened.session_id
        if session_id != self.session_id:
            if started.danger:  # its card went to the readers of the other conversation
                self._show(await in_database(read_card_of_refused, self.session_id, started.danger))
            self._show(SessionContinued(session_id=str(session_id)))
        elif not started.opened.is_new and self.subscription is not None:
            await get_runner().readers.resend(self.session_id, self.subscription)

    async def handle_edit(self, frame: dict[str, Any]) -> None:
        """Replace the user's last message."""
        await get_runner().open_turn(self._turn_request("edit", frame))

    async def handle_answer(self, frame: dict[str, Any]) -> None:
        await get_runner().answer_call(
            user_id=self.user_id,
            session_id=self.session_id,
            tool_use_id=frame.get("toolUseId"),
            value=frame.get("value"),
        )

    async def handle_dismiss(self, frame: dict[str, Any]) -> None:
        """End a pending call without an answer."""
        await get_runner().dismiss_call(
            user_id=self.user_id, session_id=self.session_id, tool_use_id=frame.get("toolUseId")
        )

    async def handle_step(self, frame: dict[str, Any]) -> None:
        """Edit, finish, drop or undo a next step."""
        await in_database(
            change_step,
            user_id=self.user_id,
            session_id=self.session_id,
            step_id=frame.get("id"),
            action=frame.get("action"),
            given=frame.get("input"),
        )

    async def handle_stop(self, _: dict[str, Any]) -> None:
        await get_runner().stop(user_id=self.user_id, session_id=self.session_id)

    async def handle_end(self, _: dict[str, Any]) -> None:
        """End the session without completing it."""
        await get_runner().end_session(user_id=self.user_id, session_id=self.session_id)

    async def handle_retry(self, _: dict[str, Any]) -> None:
        """Answer the last message again."""
        await get_runner().open_turn(self._turn_request("retry"))

    async def handle_again(self, _: dict[str, Any]) -> None:
        """Answer the last message once more, next to its present answer."""
        await get_runner().open_turn(self._turn_request("again"))

    async def handle_choose(self, frame: dict[str, Any]) -> None:
        """Choose among the answers to the last message."""
        await get_runner().choose_answer(
            user_id=self.user_id, session_id=self.session_id, turn_id=frame.get("turn")
        )

    async def handle_continue(self, _: dict[str, Any]) -> None:
        """Continue an answer that was cut for its length."""
        await get_runner().open_turn(self._turn_request("continue"))

    def _turn_request(
        self, kind: RequestKind, frame: Mapping[str, Any] | None = None, *, access: Condition | None = None
    ) -> TurnRequest:
        sent = frame or {}
        return TurnRequest(
            kind=kind,
            user_id=self.user_id,
            session_id=self.session_id,
            text=sent.get("text"),
            client_id=sent.get("id"),
            documents=sent.get("documents"),
            access=access,
        )

    async def _refuse(self, frame: dict[str, Any], refusal: Refused) -> None:
        """Show the help lines if the refused text speaks of danger, then the reason for the refusal."""
        danger = await scans.danger_in(_text_in(frame), user_id=self.user_id)
        field = refusal.field if isinstance(refusal, FieldRefused) else ""
        is_early = isinstance(refusal, StillAnswering)
        if danger is None:
            self._show_error(refusal.shown(), field, is_early=is_early)
            return
        self._show(await in_database(read_card_of_refused, self.session_id, danger))
        self._show_error(refusal.shown(), field, is_early=is_early)
        await in_database(count_card, danger.level, now=timezone.now())

    async def _leave(self, frame: dict[str, Any], refusal: Refused) -> None:
        """Close a page's socket, so that it reconnects to another process and sends the frame again there.

        A text that speaks of danger is refused instead: help lines mustn't wait for the next process.
        """
        if await scans.danger_in(_text_in(frame), user_id=self.user_id) is None:
            await self.close(SERVICE_RESTART)
            self._release()  # takes no further frame, which the page sends again, too
        else:
            await self._refuse(frame, refusal)

    async def _refuse_without_database(self, frame: dict[str, Any]) -> None:
        """Do the same at once and without the database, which may take long to answer."""
        country = country_of_timezone(self.scope.get("cookies", {}).get(TIMEZONE_COOKIE, ""))
        danger = await scans.danger_in(_text_in(frame), user_id=self.user_id)
        self._show(card_without_database(self.session_id, danger, country=country))
        self._show_error(_(NO_ANSWER))

    def _show(self, event: TurnEvent | None) -> None:
        """Show an event to this reader only."""
        if event is not None and self.subscription is not None:
            self.subscription.push(event)

    def _show_error(self, message: str, field: str = "", *, is_early: bool = False) -> None:
        if self.subscription is not None:
            self.subscription.push(ErrorShown(message=message, field=field, is_early=is_early))

    async def _send_events(self, subscription: Subscription) -> None:
        """Send events for as long as the socket lives; a slow socket makes this task wait, not the turn."""
        frames_of = self._json_of if self.is_json else StreamedReply().frames_of
        while True:
            for event in await subscription.next_batch():
                for frame in await frames_of(event):
                    # Channels' own `send` would only add its cost to every frame.
                    await self.base_send({"type": "websocket.send", "text": frame})

    def _close_after_failure(self, sender: "asyncio.Task[None]") -> None:
        """Close a socket whose sender failed, so that the client reconnects."""
        if not sender.cancelled() and (error := sender.exception()) is not None:
            logger.error("socket_sender_failed", session_id=str(self.session_id), exc_info=error)
            self.ending = asyncio.ensure_future(self.close(INTERNAL_ERROR))

    async def _json_of(self, event: TurnEvent) -> list[str]:
        frame = frame_of(event)
        return [] if frame is None else [_encoded(frame)]


_encoded = json.JSONEncoder(ensure_ascii=False).encode
"""One encoder for all frames, since `json.dumps` with an option makes a new one each time."""


HANDLERS: Mapping[str, Callable[[SessionConsumer, dict[str, Any]], Awaitable[None]]] = {
    "message": SessionConsumer.handle_message,
    "edit": SessionConsumer.handle_edit,
    "answer": SessionConsumer.handle_answer,
    "dismiss": SessionConsumer.handle_dismiss,
    "step": SessionConsumer.handle_step,
    "stop": SessionConsumer.handle_stop,
    "retry": SessionConsumer.handle_retry,
    "again": SessionConsumer.handle_again,
    "choose": SessionConsumer.handle_choose,
    "continue": SessionConsumer.handle_continue,
    "end": SessionConsumer.handle_end,
}
"""The handler for each type of frame. The tenant matrix has a row for every one."""

SENT_AGAIN = ("message", "edit", "answer", "dismiss")
"""Frames that a page keeps until they are acknowledged, and sends again after it has reconnected."""
CHECKED_BY_FIRST_QUERY = ("message",)
"""Frames whose first query checks access, so that the check takes no extra round trip."""


class MissingConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Answers where no session is named, as for a missing session."""

    channel_layer_alias = NO_CHANNEL_LAYER

    async def connect(self) -> None:
        """Accept first, since only an open socket carries a close code."""
        await self.accept(
            JSON_SUBPROTOCOL if JSON_SUBPROTOCOL in self.scope.get("subprotocols", ()) else None
        )
        await self.close(NOT_FOUND)


async def _is_taken_for_alive(_seconds: float) -> bool:
    return True  # where the launcher doesn't serve: nobody can be asked


def _language_of(scope: Any) -> str:
    """Return the language of a socket's page: its user's, otherwise the browser's."""
    chosen = language_of(scope["user"]) if scope.get("user") else ""
    accepted = dict(scope.get("headers", ())).get(b"accept-language", b"")
    return chosen or browser_language(accepted.decode("latin-1"))


def _text_in(frame: dict[str, Any]) -> object:
    return frame.get("value") if frame.get("type") == "answer" else frame.get("text")


def _parsed(text: str | None) -> dict[str, Any]:
    """Parse a frame strictly. Raises `Refused`."""
    try:
        frame = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict):
        raise Refused(UNREADABLE)
    return frame
