"""A session's title: its first words, then one of Sage's, or the user's own, which stays for ever.

An arc's begins with one of Sage's that is made of no words: it covers no message, so nothing takes it back.

Every write locks the session's row, because each message writes that row's title, too.
"""

import uuid
from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.models import Message, MessageRole, SafetyVerdict, Session, TitleSource, VerdictLevel
from sessions_app.selectors import accessible_session
from sessions_app.session_events import Titled, append
from sessions_app.text import is_storable, title_from

MAX_CHARACTERS = 80
FIELDS = ("title", "title_source", "title_covers")


def name_session(session: Session, title: str) -> None:
    """Give a session that is being opened a title of Sage's, if there is one; the caller saves `FIELDS`."""
    if title:
        session.title, session.title_source, session.title_covers = title, TitleSource.MODEL, 0


@transaction.atomic
def rename_session(*, user_id: int, session_id: uuid.UUID, title: str) -> Session:
    """Store the user's own title. Raises `Refused`, and `Session.DoesNotExist`."""
    line = " ".join(title.split())
    if not line:
        raise Refused(_("Enter a title."))
    if len(line) > MAX_CHARACTERS:
        raise Refused(
            _("A title can have up to %(most)s characters. This one has %(length)s."),
            most=MAX_CHARACTERS,
            length=len(line),
        )
    if not is_storable(line):
        raise Refused(_("This title contains a character that can’t be stored. Please remove it."))
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    session.title, session.title_source, session.title_covers = line, TitleSource.USER, 0
    append(session, Titled(), changed=FIELDS)
    return session


@transaction.atomic
def store_title(*, user_id: int, session_id: uuid.UUID, title: str, numbers: Collection[int]) -> bool:
    """Store Sage's title for the messages with these numbers; an empty one leaves the session's as it is.

    Either way it isn't made again. Returns False if the title wasn't stored: the session has got another one
    meanwhile, or one of the messages was withdrawn or judged to be danger. Raises `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    if session.title_source != TitleSource.WORDS:
        return False
    if session.messages.filter(number__in=numbers, turn__is_withdrawn=True).exists():
        return False
    verdicts = SafetyVerdict.within(session).exclude(level=VerdictLevel.NONE)
    is_withheld = bool(title) and verdicts.filter(message__number__in=numbers).exists()
    title = "" if is_withheld else title
    session.title_source = TitleSource.MODEL if title else TitleSource.WITHHELD
    session.title = title or session.title
    session.title_covers = max(numbers)
    append(session, *([Titled()] if title else []), changed=FIELDS)
    return not is_withheld


@transaction.atomic
def withhold_title(message: Message) -> None:
    """Take back a title made from a message that turned out to be danger; the user's own stays.

    Raises `Session.DoesNotExist`.
    """
    session = accessible_session(
        user_id=message.session.user_id, session_id=message.session_id, is_locked=True
    )
    if session.title_source == TitleSource.USER:
        return
    if session.title_source == TitleSource.MODEL and message.number <= session.title_covers:
        session.title, session.title_source = "", TitleSource.WITHHELD
    elif session.title and session.title == title_from(message.content):
        session.title = ""
    else:
        return
    session.save(update_fields=FIELDS)


def withdraw_title(session: Session, *, since: int) -> None:
    """Have the title made again if it was made from a message `since`, which is about to be withdrawn.

    It stays until then, unless no message of the user is left before. The caller has locked the row.
    """
    if not since <= session.title_covers:
        return
    said = session.messages.filter(role=MessageRole.USER, turn__is_withdrawn=False, number__lt=since)
    if not said.exclude(metadata__has_key="is_hidden").exists():
        session.title = ""
    session.title_source, session.title_covers = TitleSource.WORDS, 0
    session.save(update_fields=FIELDS)
