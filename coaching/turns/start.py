"""Starts a turn: the user's message, the turn and its request, committed together.

The user's life is read first, outside the transaction, so that a failed read only leaves a section out. What
depends on the session is read under its lock. The user waits for all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from coaching.clock.timezones import UNKNOWN_TIMEZONE
from coaching.context.library import with_attached
from coaching.context.life import READ_ERRORS, Life, LifeQuery, Unknown, read_life
from coaching.context.prompt import BuiltPrompt, build_turn
from coaching.library.documents.attaching import attach
from coaching.library.resolutions import note_asked
from coaching.library.rows.attached import read_attached_last
from coaching.models import Document, Profile
from coaching.people.help_lines import count_card
from coaching.people.languages import in_model_language
from coaching.safety.card import METADATA_KEY, kept_danger, metadata_of, metadata_of_danger
from coaching.safety.danger import Danger
from coaching.safety.doing import agrees_to_do
from coaching.tools import offered_tools
from coaching.turns.care import care_of_turn
from coaching.turns.kept import read_kept
from coaching.turns.last_question import asked_in, danger_of_words, last_question_query
from coaching.turns.pictures import with_pictures
from coaching.turns.request import RequestKind, TurnRequest
from coaching.turns.second_looks import LookSubject, words_of
from coaching.turns.setup import TurnSetup, limits_left, state_of, stored_prompt_of, with_taint
from sessions_app import retries, services
from sessions_app.history import DOCUMENTS_KEY, PROGRAM_KEY
from sessions_app.limits import RateLimit
from sessions_app.models import Message, Session
from sessions_app.opened_turns import NewTurn, OpenedTurn
from sessions_app.queries import Columns, Condition, Query, Rows, parameter, prepared, run_queries
from sessions_app.stored_prompts import StoredPrompt
from sessions_app.turn_locks import TurnKey
from sessions_app.verdicts import NewVerdict, store_verdict

logger = structlog.get_logger(__name__)

MAX_ZONES = 10_000
_zones: dict[int, tuple[str, str]] = {}
"""Each user's last known time zone, verified against the profile each time."""

_PROFILE, _PERSON = Columns(Profile), Columns(User, "user__")


@prepared
def _profile() -> QuerySet[Any, Any]:
    return Profile.of(parameter("user")).values_list(*_PROFILE.lookups, *_PERSON.lookups)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedTurn:
    """A turn that was opened. It has no setup if it was opened before, or if its request couldn't be built.

    `kept` are files written by turns that were withdrawn, which stay, and `effects` says what else they did.
    `look_subject` is what a second look at a new message needs, None where it is read later or not needed.
    """

    opened: OpenedTurn
    setup: TurnSetup | None = None
    kept: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    look_subject: LookSubject | None = None

    @property
    def danger(self) -> Danger | None:
        return kept_danger(self.opened.message.metadata)


class _PromptBuilder:
    """Builds a turn's prompt while the turn is opened, and keeps it for the setup."""

    def __init__(self, life: Life, attached: Sequence[Document], *, kind: RequestKind) -> None:
        self.profile = life.profile
        self._is_edit, self._is_message = kind == "edit", kind == "message"
        self._life = life
        self._attached = attached
        self.session: Session | None = None
        self.built: BuiltPrompt | None = None

    def build(self, session: Session, message: Message) -> StoredPrompt:
        with in_model_language():
            return self._build(session, message)

    def _build(self, session: Session, message: Message) -> StoredPrompt:
        self.session = session
        now, life = self._life.now, self._life
        if session.id != life.session_id:  # a message to a session that has ended goes into another one
            life = read_life(LifeQuery(profile=self.profile, session_id=session.id, now=now))
        if self._attached and not isinstance(life.library, Unknown):
            life = replace(life, library=with_attached(life.library, self._attached))
        self.built = build_turn(
            session,
            profile=self.profile,
            tools=offered_tools(self.profile),
            now=now,
            life=life,
            newest=message,
            care=care_of_turn(life, session, message, is_edit=self._is_edit),
        )
        note_asked(user_id=self.profile.user_id, session_id=session.id, step_ids=self.built.asked_steps)
        before = self.built.said_before_at
        place = {"before_at": before.isoformat() if before else "", "zone": self.profile.timezone}
        return replace(stored_prompt_of(self.built), place=place)

    def look_subject_of(self, opened: OpenedTurn) -> LookSubject | None:
        """Return what a second look at the turn's message needs, if the prompt was built for a new one."""
        if not opened.is_new or self.built is None or not self._is_message or not settings.SAGE_SAFETY_MODEL:
            return None
        return words_of(opened.message, before=self.built.before, user_id=self.profile.user_id)

    def setup_of(self, opened: OpenedTurn) -> TurnSetup | None:
        """Return the turn's setup; None if no prompt was built for it."""
        if not opened.is_new or self.built is None or self.session is None:
            return None
        request, _ = with_pictures(self.built.request, user_id=self.profile.user_id)
        setup = TurnSetup(
            key=TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence),
            user_id=self.profile.user_id,
            session_id=opened.session_id,
            timezone=self.profile.zone,
            state=state_of(self.session),
            request=request,
            limits=limits_left(opened.turn),
            is_opening=opened.turn.is_unanswered_opening,
        )
        return with_taint(setup, self.built.turn_metadata)


def start_turn(
    request: TurnRequest, *, owner: str, rate_limit: RateLimit, metadata: Mapping[str, Any] | None = None
) -> StartedTurn:
    """Open the requested turn; return it with its setup.

    The user's text is screened for danger, unless `metadata` holds the findings already; they are stored with
    the message. If the model's request can't be built, the message is committed without it; the turn
    tries again and shows how that ends. Raises what `request.access` and the service raise.
    """
    with in_model_language():
        life, asked = _read_life(request)
    if metadata is None and request.has_text:
        metadata = metadata_of(request.text)
    if asked:
        metadata = _judged(request.text, metadata or {}, asked=asked_in(asked), is_wary=life.remembers_danger)
    is_said = bool(metadata)
    attached = _attach(request)
    if attached:
        metadata = {**(metadata or {}), DOCUMENTS_KEY: [document.pk for document in attached]}
    if request.program:
        metadata = {**(metadata or {}), PROGRAM_KEY: request.program}
    builder = _PromptBuilder(life, attached, kind=request.kind)
    new = NewTurn(
        user_id=request.user_id,
        session_id=request.session_id,
        owner=owner,
        rate_limit=rate_limit,
        build_prompt=builder.build,
    )
    try:
        opened = _open(request, new, metadata)
    except READ_ERRORS as error:
        # Without a database the message couldn't be stored either.
        if isinstance(error, OperationalError | InterfaceError):
            raise
        logger.exception("prompt_not_built", session_id=str(request.session_id))
        opened, setup = _open(request, replace(new, build_prompt=None), metadata), None
    else:
        setup = builder.setup_of(opened)
    if is_said and opened.is_new:
        _note_danger(opened.message)
    kept, effects = read_kept(opened.withdrawn) if opened.withdrawn else ((), ())
    look_subject = builder.look_subject_of(opened) if setup else None
    return StartedTurn(opened=opened, setup=setup, kept=kept, effects=effects, look_subject=look_subject)


def _judged(words: object, metadata: Mapping[str, Any], *, asked: str, is_wary: bool) -> Mapping[str, Any]:
    """Return a message's metadata with the danger that it has as an answer to what Sage said before it."""
    if answered := danger_of_words(words, asked=asked):
        return {**metadata, **metadata_of_danger(answered)}
    if not is_wary and METADATA_KEY in metadata and agrees_to_do(words, asked=asked):
        return {key: value for key, value in metadata.items() if key != METADATA_KEY}
    return metadata


def _attach(request: TurnRequest) -> Sequence[Document]:
    """Return the documents of a message; an edited one keeps those that it had. Raises `Refused`."""
    given = request.documents
    if given is None and request.kind == "edit":
        given = read_attached_last(user_id=request.user_id, session_id=request.session_id)
    if not given or not request.has_text:
        return ()
    return attach(user_id=request.user_id, session_id=request.session_id, given=given)


_OPENED_WITHOUT_TEXT = {
    "opening": services.open_with_sage,
    "retry": retries.retry_turn,
    "again": retries.answer_again,
    "continue": retries.continue_turn,
}


def _open(request: TurnRequest, new: NewTurn, metadata: Mapping[str, Any] | None) -> OpenedTurn:
    match request.kind:
        case "message" | "edit" as kind:
            open_turn = services.open_turn if kind == "message" else services.edit_message
            return open_turn(new, text=request.text, client_id=request.client_id, metadata=metadata)
        case "opening" | "retry" | "again" | "continue" as kind:
            return _OPENED_WITHOUT_TEXT[kind](new)
        case never:
            assert_never(never)


def _note_danger(message: Message) -> None:
    """Count the card of a new message, and store its danger, so that a later session knows of it."""
    danger = kept_danger(message.metadata)
    if danger is not None:
        count_card(danger.level, now=timezone.now())
        store_verdict(message.pk, NewVerdict(level=danger.level, about=danger.about, topic=danger.topic))


def _read_life(request: TurnRequest) -> tuple[Life, Rows]:
    """Read the user's profile, life, and what they may answer (`last_question_query`), and check access.

    It is one round trip if their time zone hasn't changed, since the day decides what is read.
    """
    now, user_id, session_id = timezone.now(), request.user_id, request.session_id
    known = _zones.get(user_id, (UNKNOWN_TIMEZONE, ""))
    guess = Profile(user_id=user_id, timezone=known[0], earlier_timezones=known[1])
    guessed = LifeQuery(profile=guess, session_id=session_id, now=now)
    query = last_question_query(request)
    first = [] if query is None else [query]
    try:
        profile, answers = _read_profile(user_id, request.access, [*first, *guessed.queries()])
    except READ_ERRORS as error:
        if isinstance(error, OperationalError | InterfaceError):
            raise
        # Part of the life can't be read: `read_life` finds out which.
        profile, answers = _read_profile(user_id, request.access, first)
    _remember_zone(profile)
    asked, answers = [row for rows in answers[: len(first)] for row in rows], answers[len(first) :]
    life = LifeQuery(profile=profile, session_id=session_id, now=now)
    return read_life(life, answers if _zones_of(profile) == known else ()), asked


def _read_profile(
    user_id: int, access: Condition | None, more: Sequence[Query]
) -> tuple[Profile, Sequence[Rows]]:
    """Return a user's profile, created on first use, and the rows of `more`; `access` is checked first."""
    queries = [_profile(user=user_id), *more]
    if access is None:
        found, *answers = run_queries(queries)
    else:
        granted, found, *answers = run_queries([access.query, *queries])
        access.check(granted)
    if not found:
        return Profile.of(user_id).select_related("user").get_or_create()[0], answers
    profile = _PROFILE.object_of(found[0][: len(_PROFILE)])
    profile.user = _PERSON.object_of(found[0][len(_PROFILE) :])
    return profile, answers


def _remember_zone(profile: Profile) -> None:
    if len(_zones) >= MAX_ZONES:
        _zones.clear()
    _zones[profile.user_id] = _zones_of(profile)


def _zones_of(profile: Profile) -> tuple[str, str]:
    return profile.timezone, profile.earlier_timezones
