"""Sessions, messages, turns with their rounds and calls, and model usage.

Rules that must never break are database constraints here. This package makes no
model call and opens no socket; sessions are reached only through `selectors.accessible_session`.

Over 300 lines, because the tables refer to each other.
"""

import json
import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from sessions_app.opening_message import OPENING_ID
from sessions_app.owned import Owned, OwnedQuerySet


class SessionKind(models.TextChoices):
    """What a session is for. The arc kinds have a beginning, an end and artefacts."""

    OPEN_CONVERSATION = "open_conversation", _("Conversation")
    OPEN_DAY = "open_day", _("Open the day")
    CLOSE_DAY = "close_day", _("Close the day")
    WEEKLY_CHECKIN = "weekly_checkin", _("Weekly check-in")
    LIFE_MAPPING = "life_mapping", _("Life mapping")


class SessionStatus(models.TextChoices):
    """A session leaves `active` once, for one of the others, and never comes back."""

    ACTIVE = "active", _("Active")
    COMPLETED = "completed", _("Completed")
    EXPIRED = "expired", _("Expired")
    ABANDONED = "abandoned", _("Ended")


class TitleSource(models.TextChoices):
    """Whose words a session's title are.

    `withheld`: Sage gives none, since the conversation begins with words of danger or can't be titled.
    """

    WORDS = "", "First words"
    MODEL = "model", "Sage"
    USER = "user", "User"
    WITHHELD = "withheld", "Withheld"


class SessionFolder(Owned):
    """A user's folder for sessions. The folders of files and documents are others, which have no rows."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="session_folders",
        db_constraint=False,  # its migration adds one that cascades in the database
    )
    name = models.CharField(max_length=60)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = [Lower("name"), "id"]
        constraints = [
            models.UniqueConstraint("user", Lower("name"), name="session_folder_name_once"),
            # What the key of a session's folder refers to: no session is in somebody else's.
            models.UniqueConstraint(fields=["id", "user"], name="session_folder_of_user"),
        ]

    def __str__(self) -> str:
        return f"folder {self.pk}"


class Session(Owned):
    """One conversation of one user."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="coaching_sessions"
    )
    kind = models.CharField(max_length=32, choices=SessionKind, default=SessionKind.OPEN_CONVERSATION)
    status = models.CharField(max_length=16, choices=SessionStatus, default=SessionStatus.ACTIVE)
    active_arc = models.CharField(max_length=32, blank=True, default="", help_text="Empty outside an arc.")
    title = models.CharField(max_length=200, blank=True, default="")
    title_source = models.CharField(
        max_length=16, choices=TitleSource, blank=True, default=TitleSource.WORDS, db_default=""
    )
    title_covers = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="The last message that the title was made from; 0 for the user's own.",
    )
    summary = models.TextField(blank=True, default="")
    summary_covers = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="The last message that the summary was made from; 0 without one, and for Sage's own.",
    )
    metadata = models.JSONField(default=dict, blank=True)
    opening = models.TextField(
        blank=True, default="", help_text="What is sent before the window, as canonical JSON text."
    )
    last_message_number = models.PositiveIntegerField(
        default=0, help_text="Counts messages under this row's lock: numbers have no gaps."
    )
    event_seq = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Counts the facts in its log, under this row's lock."
    )
    brief_covers = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="The last message that the newest brief in use covers; 0 without one.",
    )
    brief_revision = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="Changes when the opening must be rebuilt: a correction, a strike, a withdrawn brief.",
    )
    brief_attempts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Attempts to write a brief since the last one that succeeded."
    )
    is_only_opened = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Sage spoke first and the user hasn't said anything: it counts as unused.",
    )
    continues = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="continued_by"
    )
    imported_until = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="The last message that an import has brought; 0 for a session that began here.",
    )
    # `auto_now_add` would replace the times of an import.
    started_at = models.DateTimeField(default=timezone.now, editable=False)
    last_active_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)
    client_id = models.CharField(  # noqa: DJ001 - nulls are distinct
        max_length=100, null=True, blank=True, help_text="Of the form that opened it: sent twice, it is one."
    )
    folder = models.ForeignKey(
        SessionFolder,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="sessions",
        db_index=False,
        db_constraint=False,  # its migration adds one that includes the user
    )
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True, help_text="It isn't among the others then.")
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="By its user, who can undo it until the row is deleted."
    )

    class Meta:
        ordering = ["-last_active_at"]
        constraints = [
            models.UniqueConstraint(fields=["user", "kind", "client_id"], name="session_client_id_once"),
            models.UniqueConstraint(
                F("user"),
                KeyTextTransform("imported_id", "metadata"),
                condition=Q(metadata__has_key="imported_id"),
                name="session_imported_id_once",
            ),
            models.CheckConstraint(condition=Q(status__in=SessionStatus.values), name="session_status_known"),
            models.CheckConstraint(condition=Q(kind__in=SessionKind.values), name="session_kind_known"),
            models.CheckConstraint(
                condition=Q(title_source__in=TitleSource.values), name="session_title_source_known"
            ),
            models.CheckConstraint(
                condition=Q(active_arc="") | Q(active_arc__in=SessionKind.values), name="session_arc_known"
            ),
            models.CheckConstraint(
                condition=Q(status=SessionStatus.ACTIVE, ended_at__isnull=True)
                | (~Q(status=SessionStatus.ACTIVE) & Q(ended_at__isnull=False)),
                name="session_ended_at_iff_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-last_active_at"], name="session_user_recent"),
            models.Index(fields=["last_active_at"], name="session_recent"),
            models.Index(
                fields=["brief_attempts"], condition=Q(brief_attempts__gt=0), name="session_brief_failing"
            ),
            models.Index(fields=["folder"], condition=Q(folder__isnull=False), name="session_in_folder"),
            models.Index(
                fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="session_deleted"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.id}"

    @classmethod
    def of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return the user's sessions without those that they deleted, which look missing everywhere."""
        return super().of(user_id).filter(deleted_at=None)

    @classmethod
    def deleted_of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return the sessions that the user deleted and can still restore."""
        return super().of(user_id).exclude(deleted_at=None)

    @classmethod
    def stored_of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return all sessions of the user, also those that they deleted and can still restore."""
        return super().of(user_id)

    @property
    def is_used(self) -> bool:
        """Whether its user has said something in it. `USED` is the same as a condition."""
        return self.last_message_number > 0 and not self.is_only_opened

    @property
    def effective_kind(self) -> str:
        """The kind that decides what may be written: the active arc's, else the session's own."""
        return self.active_arc or self.kind


USED = Q(last_message_number__gt=0, is_only_opened=False)
"""Sessions in which their user has said something."""


def listed(path: str = "") -> Q:
    """Return what holds for the sessions that lists show: used ones, and an arc that Sage has opened.

    An arc in which its user says nothing leaves the lists when it ends. `path` leads to the session.
    """
    is_begun, is_used = Q((f"{path}last_message_number__gt", 0)), Q((f"{path}is_only_opened", False))
    is_open_arc = Q(
        (f"{path}status", SessionStatus.ACTIVE),
        (f"{path}kind__in", [kind for kind in SessionKind if kind != SessionKind.OPEN_CONVERSATION]),
    )
    return is_begun & (is_used | is_open_arc)


class TurnStatus(models.TextChoices):
    """`running` and `awaiting_user` are open; the others are how a turn ended."""

    RUNNING = "running", "Running"
    AWAITING_USER = "awaiting_user", "Waits for the user"
    COMPLETED = "completed", "Completed"
    STOPPED = "stopped", "Stopped by the user"
    SUPERSEDED = "superseded", "Superseded"
    FAILED = "failed", "Failed"
    INTERRUPTED = "interrupted", "Interrupted"


OPEN_TURN_STATUSES = (TurnStatus.RUNNING, TurnStatus.AWAITING_USER)
ASKED_HERE = ~Q(metadata__has_key="is_imported")
"""Turns that were asked for here, not brought by an import."""
RETRIED_TURN_STATUSES = (TurnStatus.FAILED, TurnStatus.INTERRUPTED, TurnStatus.STOPPED)
CUT_FOR_LENGTH = "max_tokens"
"""The model's word for an answer that was cut because it got too long."""


class Turn(Owned):
    """One user message and all that answers it. At most one is open in a session.

    `prefix` is the request that the turn began with, as canonical JSON text (JSONB would reorder
    keys and rewrite numbers); it is cleared when the turn closes. `shown` is what the running
    round has shown so far, as JSON text `{"number", "text", "notes"}`, at most a second old.
    Every write of a runner first locks the row at its `fence`.

    Of turns that share a message, the one that isn't withdrawn is the message's own: a trigger checks it.
    """

    owner_path = "session__user"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    status = models.CharField(max_length=16, choices=TurnStatus, default=TurnStatus.RUNNING)
    stop_reason = models.CharField(max_length=40, blank=True, default="")
    failure = models.CharField(
        max_length=40, blank=True, default="", help_text="Why it failed, for operators."
    )
    user_notice = models.TextField(blank=True, default="", help_text="The one sentence the user was shown.")
    model = models.CharField(max_length=100, blank=True, default="")
    prefix = models.TextField(blank=True, default="")
    shown = models.TextField(blank=True, default="")
    fence = models.PositiveBigIntegerField(default=1)
    owner = models.CharField(max_length=64, blank=True, default="", help_text="The process that runs it.")
    is_stop_requested = models.BooleanField(default=False, help_text="Asked for in another process.")
    part = models.PositiveIntegerField(default=1, help_text="Counts parts: one more with every answer.")
    part_started_at = models.DateTimeField(default=timezone.now)
    is_withdrawn = models.BooleanField(
        default=False, help_text="Edited or asked again: it has left window, brief and recall."
    )
    is_opening = models.BooleanField(
        default=False, db_default=False, help_text="Sage speaks first: no message of the user began it."
    )
    message_number = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Of the message that it shares with other turns, each with an answer; else empty.",
    )
    metadata = models.JSONField(default=dict, blank=True)
    started_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(status__in=OPEN_TURN_STATUSES),
                name="turn_one_open_per_session",
            ),
            models.UniqueConstraint(
                fields=["session", "message_number"],
                condition=Q(message_number__isnull=False, is_withdrawn=False),
                name="turn_one_chosen_per_message",
            ),
            models.CheckConstraint(condition=Q(status__in=TurnStatus.values), name="turn_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=OPEN_TURN_STATUSES, ended_at__isnull=True)
                | (~Q(status__in=OPEN_TURN_STATUSES) & Q(ended_at__isnull=False, prefix="")),
                name="turn_closed_has_end_and_no_prefix",
            ),
        ]
        indexes = [
            models.Index(fields=["session", "-started_at"], name="turn_session_recent"),
            models.Index(fields=["owner"], condition=Q(status=TurnStatus.RUNNING), name="turn_running_owner"),
            models.Index(fields=["started_at"], name="turn_started"),
            models.Index(fields=["session"], condition=Q(is_withdrawn=True), name="turn_withdrawn"),
        ]

    def __str__(self) -> str:
        return f"turn {self.id}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_TURN_STATUSES

    @property
    def is_unanswered_opening(self) -> bool:
        """Whether Sage speaks first in it and the user hasn't answered one of its questions."""
        return self.is_opening and self.part == 1

    @property
    def can_be_retried(self) -> bool:
        """Whether its message may be answered again, where it is the session's last turn."""
        return self.status in RETRIED_TURN_STATUSES and not self.is_unanswered_opening

    @property
    def can_be_answered_again(self) -> bool:
        """Whether another answer to its message may be asked for, where it is the session's last turn."""
        return self.status == TurnStatus.COMPLETED and not self.is_opening

    @property
    def can_be_continued(self) -> bool:
        """Whether Sage may go on where its answer was cut, where it is the session's last turn."""
        return self.stop_reason == CUT_FOR_LENGTH

    def words_of_running_round(self) -> tuple[str, str]:
        """Return text and notes of the running round as last stored, both empty where there are none.

        `shown` is stored apart from the rounds, possibly after its round was; then it says nothing new.
        """
        shown = json.loads(self.shown) if self.shown else {}
        last = max((row.number for row in self.rounds.all()), default=0)
        if shown.get("number", last + 1) <= last:
            return "", ""
        return shown.get("text", ""), shown.get("notes", "")


class RunnerProcess(models.Model):
    """A process that runs turns. Its `beat` moves every two seconds while it lives.

    Nobody compares clocks: an observer times with its own clock how long it has seen a beat unchanged.
    """

    owner = models.CharField(max_length=64, primary_key=True)
    beat = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "runner processes"

    def __str__(self) -> str:
        return self.owner


class MessageRole(models.TextChoices):
    USER = "user", "User"
    ASSISTANT = "assistant", "Sage"


class Message(Owned):
    """One item of history: words in `content`, everything else in `metadata`.

    An assistant's `metadata` holds `tool_calls` (id, name, input, result, is_error, round),
    `round_ends` (where each round's text ends in `content`), `notes` (round, text) and `usage`.
    A user's `client_id` is made by its client and is unique in the session for ever; `is_hidden` in
    its `metadata` marks one that the user never wrote ("go on"), `context` is the text that was sent
    before the user's words, and `said` what that text says.
    """

    owner_path = "session__user"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="messages")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="messages")
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=16, choices=MessageRole)
    content = models.TextField(blank=True, default="")
    metadata = models.JSONField(default=dict, blank=True)
    client_id = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - nulls are distinct
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["session", "number"]
        permissions = [("read_message_text", "Can read what people and Sage said")]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="message_number_once"),
            models.UniqueConstraint(fields=["session", "client_id"], name="message_client_id_once"),
            models.UniqueConstraint(
                fields=["turn"], condition=Q(role=MessageRole.ASSISTANT), name="message_one_answer_per_turn"
            ),
            models.CheckConstraint(condition=Q(role__in=MessageRole.values), name="message_role_known"),
            models.CheckConstraint(condition=Q(number__gte=1), name="message_number_from_one"),
        ]
        indexes = [
            models.Index(
                fields=["session"],
                condition=Q(metadata__has_any_keys=["safety", "danger_elsewhere"]),
                name="message_of_danger",
            )
        ]

    def __str__(self) -> str:
        return f"message {self.number} of {self.session_id}"

    @property
    def marks_day(self) -> bool:
        """Whether the page names its day: above it, or for the opening in the head. As `MARKS_DAY`."""
        return "is_hidden" not in self.metadata or self.client_id == OPENING_ID

    @property
    def known_verdict(self) -> "SafetyVerdict | None":
        """The verdict that was read with the message, if any; never asks the database."""
        found: SafetyVerdict | None = self._state.fields_cache.get("safety_verdict")
        return found


MARKS_DAY = ~Q(metadata__has_key="is_hidden") | Q(client_id=OPENING_ID)


class VerdictLevel(models.TextChoices):
    """How acute a danger is that somebody's words suggest."""

    NONE = "none", "None"
    CONCERN = "concern", "Concern"
    IMMEDIATE = "immediate", "Immediate"


class LookOutcome(models.TextChoices):
    """What a second look saw, or why it saw nothing."""

    NONE = "none", "Nothing"
    CONCERN = "concern", "Concern"
    IMMEDIATE = "immediate", "Immediate"
    SKIPPED = "skipped", "Skipped over the budget"
    GIVEN_UP = "given_up", "Given up: too slow"
    FAILED = "failed", "Failed"
    NONSENSE = "nonsense", "No usable answer"


class SafetyVerdict(Owned):
    """What the rules, a second look, or Sage itself made of a message of the user: one row for each message.

    A row of its own, because the message's turn writes the message meanwhile. `level` is the most acute of
    all, `looked` the outcome of the second look alone, empty without one; `usage` is what its request cost.
    `noticed` is what Sage itself raised, empty where it raised nothing; `is_foreign`: it did so only in turns
    that had read texts of others, so it may have meant those.
    """

    owner_path = "session__user"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="safety_verdicts")
    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="safety_verdict")
    level = models.CharField(max_length=16, choices=VerdictLevel)
    about = models.CharField(max_length=8, choices=[("self", "Themselves"), ("other", "Somebody else")])
    topic = models.CharField(max_length=16, choices=[("life", "Life"), ("violence", "Violence")])
    looked = models.CharField(max_length=16, choices=LookOutcome, blank=True, default="")
    model = models.CharField(max_length=100, blank=True, default="")
    milliseconds = models.PositiveIntegerField(default=0)
    noticed = models.CharField(max_length=16, choices=VerdictLevel, blank=True, default="", db_default="")
    is_foreign = models.BooleanField(default=False, db_default=False)
    usage = models.ForeignKey(
        "ModelUsage", null=True, blank=True, on_delete=models.SET_NULL, related_name="safety_verdicts"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "safety check of a message"
        verbose_name_plural = "safety checks of messages"
        constraints = [
            models.CheckConstraint(condition=Q(level__in=VerdictLevel.values), name="verdict_level_known"),
            models.CheckConstraint(
                condition=Q(about__in=("self", "other"), topic__in=("life", "violence")),
                name="verdict_danger_known",
            ),
            models.CheckConstraint(
                condition=Q(looked="") | Q(looked__in=LookOutcome.values), name="verdict_looked_known"
            ),
            models.CheckConstraint(
                condition=Q(noticed="") | Q(noticed__in=VerdictLevel.values), name="verdict_noticed_known"
            ),
        ]
        indexes = [
            models.Index(fields=["session"], condition=~Q(level="none"), name="verdict_of_danger"),
        ]

    def __str__(self) -> str:
        return f"{self.level} of message {self.message_id}"


class Round(Owned):
    """One finished model answer of a turn, before its calls run.

    `blocks` is the assistant content as canonical JSON text, verbatim: thinking goes back only so.
    """

    owner_path = "turn__session__user"

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    part = models.PositiveIntegerField()
    blocks = models.TextField()
    text = models.TextField(blank=True, default="")
    notes = models.TextField(blank=True, default="")
    stop_reason = models.CharField(max_length=40, blank=True, default="")
    is_partial = models.BooleanField(default=False, help_text="Stopped or cut: words only.")
    upstream_id = models.CharField(max_length=100, blank=True, default="")
    model = models.CharField(max_length=100, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["turn", "number"]
        constraints = [models.UniqueConstraint(fields=["turn", "number"], name="round_number_once")]

    def __str__(self) -> str:
        return f"round {self.number} of {self.turn_id}"


class ToolCallState(models.TextChoices):
    """`running` is an unfinished instant call; `pending` waits for the user; the rest are ends."""

    RUNNING = "running", "Running"
    PENDING = "pending", "Waits for the user"
    FINISHED = "finished", "Finished"
    ANSWERED = "answered", "Answered"
    SUPERSEDED = "superseded", "Superseded"
    DISMISSED = "dismissed", "Dismissed"
    EXPIRED = "expired", "Expired"
    INTERRUPTED = "interrupted", "Interrupted"


_ENDS_OF_QUESTIONS = (
    ToolCallState.ANSWERED,
    ToolCallState.SUPERSEDED,
    ToolCallState.DISMISSED,
    ToolCallState.EXPIRED,
)


class ToolCallRecord(Owned):
    """One call of a round with its result; `(turn, tool_use_id)` makes its effect happen once.

    `input` is a projection to query; what goes back to the model is in `Round.blocks`. `value` is the user's
    answer. Where that was a yes to a call that any other turn would have run unasked, the call is `running`
    from then on, and runs with the turn's next part. `look_due_at`: from then on any process may take the
    second look at that answer's words; None once it has ended and where none is taken.
    """

    owner_path = "turn__session__user"

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="calls")
    round_number = models.PositiveIntegerField()
    position = models.PositiveIntegerField()
    tool_use_id = models.CharField(max_length=100)
    name = models.CharField(max_length=100)
    state = models.CharField(max_length=16, choices=ToolCallState, default=ToolCallState.RUNNING)
    input = models.JSONField(default=dict, blank=True)
    result = models.TextField(blank=True, default="")
    is_error = models.BooleanField(default=False)
    value = models.JSONField(null=True, blank=True, help_text="The user's answer to a pending call.")
    metadata = models.JSONField(default=dict, blank=True, help_text="What was noticed of that answer.")
    look_due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["turn", "round_number", "position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "tool_use_id"], name="call_once_per_turn"),
            models.CheckConstraint(condition=Q(state__in=ToolCallState.values), name="call_state_known"),
            models.CheckConstraint(
                condition=Q(
                    state__in=[ToolCallState.RUNNING, ToolCallState.PENDING], finished_at__isnull=True
                )
                | (
                    ~Q(state__in=[ToolCallState.RUNNING, ToolCallState.PENDING])
                    & Q(finished_at__isnull=False)
                ),
                name="call_finished_at_iff_finished",
            ),
        ]
        indexes = [
            models.Index(fields=["turn"], condition=Q(metadata__has_key="safety"), name="call_of_danger"),
            models.Index(
                fields=["look_due_at"], name="call_look_due", condition=Q(look_due_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.tool_use_id}"

    @property
    def is_allowed(self) -> bool:
        """Whether the user said yes to it, and it ran only then, runs now or will run."""
        return self.value is not None and self.state not in _ENDS_OF_QUESTIONS

    @property
    def shown_state(self) -> str:
        """The state of its question: answered as soon as the user has said yes."""
        return ToolCallState.ANSWERED if self.is_allowed else self.state


class UsagePurpose(models.TextChoices):
    TURN = "turn", "Turn"
    BRIEF = "brief", "Brief"
    SUMMARY = "summary", "Summary"
    TITLE = "title", "Title"
    SAFETY = "safety", "Second look"
    CLASSIFY = "classify", "Classification"
    CRITIC = "critic", "Critic"
    DOCUMENT = "document", "Document"
    LETTER = "letter", "Letter"
    VOICE = "voice", "Voice"


class ModelUsage(Owned):
    """Tokens and price of one model call. An unknown price is null, never zero."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="model_usage")
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="usage"
    )
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.SET_NULL, related_name="usage")
    round_number = models.PositiveIntegerField(null=True, blank=True)
    purpose = models.CharField(max_length=16, choices=UsagePurpose, default=UsagePurpose.TURN)
    model = models.CharField(max_length=100)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cache_creation_5m_tokens = models.PositiveIntegerField(default=0)
    cache_creation_1h_tokens = models.PositiveIntegerField(default=0)
    cache_read_tokens = models.PositiveIntegerField(default=0)
    audio_seconds = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of a recording, if its server counts seconds."
    )
    cost_micro_usd = models.PositiveBigIntegerField(null=True, blank=True)
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "model usage"
        constraints = [
            models.CheckConstraint(condition=Q(purpose__in=UsagePurpose.values), name="usage_purpose_known")
        ]
        indexes = [
            models.Index(F("user"), F("created_at").desc(), name="usage_user_recent"),
            models.Index(fields=["created_at"], name="usage_created"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.model} {self.created_at:%Y-%m-%d}"


class SessionBrief(Owned):
    """A version of what Sage remembers of a session: lines of text that cite message numbers.

    It adds the messages from `covers_from` on to the version before it, and covers all up to `covers_until`.
    """

    owner_path = "session__user"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="briefs")
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True, default="")
    corrected_text = models.TextField(
        blank=True, default="", db_default="", help_text="The text as corrected after it was stored."
    )
    corrected_at = models.DateTimeField(null=True, blank=True)
    left_open = models.TextField(
        blank=True, default="", db_default="", help_text="Those of its lines that are still open, one a line."
    )
    covers_from = models.PositiveIntegerField()
    covers_until = models.PositiveIntegerField()
    input_version = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="What it was written from: 0 words, 1 answers to questions, too."
    )
    model = models.CharField(max_length=100, blank=True, default="")
    usage = models.ForeignKey(
        ModelUsage, null=True, blank=True, on_delete=models.SET_NULL, related_name="briefs"
    )
    cost_micro_usd = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Of all requests that it took; unknown where one has no price."
    )
    lag_seconds = models.PositiveIntegerField(
        default=0, help_text="From the oldest message that it adds until it was stored."
    )
    is_withdrawn = models.BooleanField(default=False, help_text="It covers a message that was withdrawn.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["session", "version"], name="brief_version_once"),
            models.CheckConstraint(
                condition=Q(covers_from__gte=1, covers_until__gte=F("covers_from")),
                name="brief_covers_messages",
            ),
        ]

    def __str__(self) -> str:
        return f"brief {self.version} of {self.session_id}"


class CorrectionKind(models.TextChoices):
    CORRECTION = "correction", "Correction"
    STRIKE = "strike", "Removed line"


class BriefCorrection(Owned):
    """A correction of a brief in the user's `words`, or a line that must not return, in any version.

    `line` is the line that it is about; a correction may be about none.
    """

    owner_path = "session__user"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="brief_corrections")
    kind = models.CharField(max_length=16, choices=CorrectionKind)
    line = models.TextField(blank=True, default="")
    words = models.CharField(max_length=500, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=(Q(kind=CorrectionKind.CORRECTION) & ~Q(words=""))
                | (Q(kind=CorrectionKind.STRIKE, words="") & ~Q(line="")),
                name="brief_correction_says_something",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display().lower()} {self.pk}"


class EventKind(models.TextChoices):
    """What kind of fact a log holds; `session_events` has a class for each."""

    SAID = "said", "Message stored"
    TURN_OPENED = "turn_opened", "Turn opened"
    PART_ENDED = "part_ended", "Turn closed or waiting"
    CALL_ASKED = "call_asked", "Question asked"
    CALL_ENDED = "call_ended", "Question ended"
    CARD_GIVEN = "card_given", "Card with help lines"
    WITHDRAWN = "withdrawn", "Turns withdrawn"
    ANSWER_PICKED = "answer_picked", "Other answer chosen"
    ARC_ENTERED = "arc_entered", "Arc entered"
    ARC_LEFT = "arc_left", "Arc left"
    TITLED = "titled", "Title given"
    FILE_MOVED = "file_moved", "Document moved"
    STEP_TOLD = "step_told", "Next step written or changed"
    ENDED = "ended", "Session ended"


class SessionEvent(Owned):
    """A fact in a session's log: ids and small values, numbered without gaps under the session's lock."""

    owner_path = "session__user"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=EventKind)
    payload = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["session", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="event_seq_once"),
            models.CheckConstraint(condition=Q(kind__in=EventKind.values), name="event_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq} of {self.session_id}"
