"""Starts a turn: the user's message, the turn and its request, committed together.

What a life is made of is read first, outside the transaction: a read that fails leaves a section out and
breaks nothing. What depends on the session is read under its lock. The user waits for all of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from coaching.clock.timezones import UNKNOWN_TIMEZONE
from coaching.context.pipeline import READ_ERRORS, read_ahead
from coaching.context.prompt import BuiltTurn, build_turn
from coaching.context.shelf import Shelf
from coaching.events import SafetyShown
from coaching.models import Profile
from coaching.people.help_lines import count_card
from coaching.safety.card import metadata_of
from coaching.tools import CHAT_TOOLS
from coaching.transcript.cards import read_cards
from coaching.turns.setup import TurnSetup, beginning_of, limits_left, state_of
from sessions_app.beginnings import Begin, Beginning
from sessions_app.models import Message, Session
from sessions_app.rows import Columns, Condition, Question, Rows, ask_together
from sessions_app.services import OpenedTurn
from sessions_app.turn_records import TurnKey

logger = structlog.get_logger(__name__)

MOST_ZONES = 10_000
_zones: dict[int, str] = {}
"""The time zone that each user had when they last spoke here: a guess, held against the profile each time."""

_PROFILE, _PERSON = Columns(Profile, "profile"), Columns(User, "person")
_PROFILE_SQL = f"""
    SELECT {_PROFILE.sql}, {_PERSON.sql} FROM coaching_profile AS profile
    JOIN auth_user AS person ON person.id = profile.user_id WHERE profile.user_id = %(user)s
"""  # noqa: S608 - names of columns alone


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedTurn:
    """A turn that was opened; without a setup where it is an old one, or its request is still to be built.

    The card stands beside its message.
    """

    opened: OpenedTurn
    setup: TurnSetup | None = None
    card: SafetyShown | None = None


class _Starter:
    """Builds a turn's request while the turn is being opened, and keeps it."""

    def __init__(self, profile: Profile, shelf: Shelf) -> None:
        self.profile = profile
        self._shelf = shelf
        self.session: Session | None = None
        self.built: BuiltTurn | None = None

    def begin(self, session: Session, message: Message) -> Beginning:
        """Build what the turn begins with."""
        self.session = session
        now, shelf = self._shelf.now, self._shelf
        if session.id != shelf.session_id:  # a message to a session that has ended goes into another one
            shelf = Shelf(profile=self.profile, session_id=session.id, now=now)
        tools = CHAT_TOOLS.definitions()
        self.built = build_turn(
            session, profile=self.profile, tools=tools, now=now, shelf=shelf, newest=message
        )
        return beginning_of(self.built)

    def setup_of(self, opened: OpenedTurn) -> TurnSetup | None:
        """Return what the turn needs before its first round; None where nothing was built for it."""
        if not opened.is_new or self.built is None or self.session is None:
            return None
        return TurnSetup(
            key=TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence),
            user_id=self.profile.user_id,
            session_id=opened.session_id,
            timezone=self.profile.zone,
            state=state_of(self.session),
            request=self.built.request,
            limits=limits_left(opened.turn),
        )


def start_turn(
    open_turn: Callable[..., OpenedTurn],
    *,
    user_id: int,
    session_id: UUID,
    access: Condition | None = None,
    **arguments: Any,
) -> StartedTurn:
    """Open a turn by one of the services; return it with what it needs before its first round, and its card.

    `access` must hold before anything that was read is used. Words among the `arguments` are looked through
    for danger unless they come with their `metadata`, and what was noticed is kept beside them. Where the
    request can't be built the message is committed without it: the turn then tries again, and says what came
    of it. Raises what `access` and the service raise.
    """
    shelf = _read_life(user_id, session_id, access)
    if "text" in arguments and "metadata" not in arguments:
        arguments["metadata"] = metadata_of(arguments["text"])
    starter = _Starter(shelf.profile, shelf)

    def opened(begin: Begin | None) -> OpenedTurn:
        return open_turn(user_id=user_id, session_id=session_id, begin=begin, **arguments)

    try:
        turn = opened(starter.begin)
    except READ_ERRORS as error:
        # A fault of the request alone: without a database the message couldn't be kept either.
        if isinstance(error, OperationalError | InterfaceError):
            raise
        logger.exception("turn_begins_without_request", session_id=str(session_id))
        turn, setup = opened(None), None
    else:
        setup = starter.setup_of(turn)
    card = _card_beside(turn, is_said=bool(arguments.get("metadata")))
    return StartedTurn(opened=turn, setup=setup, card=card)


def _card_beside(opened: OpenedTurn, *, is_said: bool) -> SafetyShown | None:
    """Read the card beside a new turn's message; words that are only answered again don't count again."""
    if not opened.is_new:
        return None
    card = read_cards(opened.session_id, [opened.message]).beside_message(opened.message)
    if card is not None and is_said:
        count_card(card.card.danger.level, now=timezone.now())
    return card


def _read_life(user_id: int, session_id: UUID, access: Condition | None) -> Shelf:
    """Read who speaks, whether they still may, and what their life is made of.

    It is one journey where their clock is the one that they had before: which day it is decides what is read.
    """
    now = timezone.now()
    known = _zones.get(user_id, UNKNOWN_TIMEZONE)
    ahead = Shelf(profile=Profile(user_id=user_id, timezone=known), session_id=session_id, now=now)
    answers: Sequence[Rows] = ()
    try:
        profile, answers = _ask_profile(user_id, access, ahead.questions())
    except READ_ERRORS as error:
        if isinstance(error, OperationalError | InterfaceError):
            raise
        # Something of the life can't be read: what fails is found out one by one.
        profile, _ = _ask_profile(user_id, access, ())
    shelf = Shelf(profile=profile, session_id=session_id, now=now)
    if answers and profile.timezone == known:
        shelf.take(answers)
    _remember_zone(profile)
    read_ahead(shelf)
    return shelf


def _ask_profile(
    user_id: int, access: Condition | None, more: Sequence[Question]
) -> tuple[Profile, Sequence[Rows]]:
    """Return a user's profile, made on first need, and the answers to more; `access` must hold first."""
    questions = [Question(_PROFILE_SQL, {"user": user_id}), *more]
    if access is None:
        found, *answers = ask_together(questions)
    else:
        granted, found, *answers = ask_together([access.question, *questions])
        access.check(granted)
    if not found:
        return Profile.of(user_id).select_related("user").get_or_create()[0], answers
    profile = _PROFILE.object_of(found[0][: len(_PROFILE)])
    profile.user = _PERSON.object_of(found[0][len(_PROFILE) :])
    return profile, answers


def _remember_zone(profile: Profile) -> None:
    if len(_zones) >= MOST_ZONES:
        _zones.clear()
    _zones[profile.user_id] = profile.timezone
