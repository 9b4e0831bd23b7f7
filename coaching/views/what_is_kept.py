"""What Sage stores of a person, and what leaves the server: the rows of *Settings → Your data*.

Over 300 lines, because it is a list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.models import CalendarKind, CalendarSource, ProgramToken, PushDevice, Scope
from coaching.programs.grants import grants_of
from coaching.voice.transcription import LOCAL_HOSTS, is_transcribed_here, transcription_host

_ANTHROPIC = "api.anthropic.com"
_READING = (Scope.READ, Scope.CHAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A row of the page: what is stored, in which models, and the name of the page's URL that shows it."""

    name: Promise
    text: Promise
    models: Sequence[str]
    page: str = ""


KEPT: Sequence[Kept] = (
    Kept(
        name=gettext_lazy("Your account"),
        text=gettext_lazy(
            "Your email addresses, how you sign in, your settings, how much the AI model was used for you, "
            "and the rights and acts of operators."
        ),
        page="settings",
        models=[
            "account.EmailAddress",
            "account.EmailConfirmation",
            "mfa.Authenticator",
            "auth.User_groups",
            "auth.User_user_permissions",
            "admin.LogEntry",
            "coaching.Profile",
            "coaching.FileUsage",
            "coaching.CallUsage",
            "sessions_app.ModelUsage",
        ],
    ),
    Kept(
        name=gettext_lazy("Your conversations"),
        text=gettext_lazy(
            "What you and Sage write, your answers to its questions, what it looked up or saved meanwhile, "
            "what it remembers of each conversation with your corrections, and your folders."
        ),
        page="sessions",
        models=[
            "sessions_app.Session",
            "sessions_app.SessionFolder",
            "sessions_app.Message",
            "sessions_app.Turn",
            "sessions_app.Round",
            "sessions_app.ToolCallRecord",
            "sessions_app.SessionEvent",
            "sessions_app.SessionBrief",
            "sessions_app.BriefCorrection",
            "coaching.SessionScope",
        ],
    ),
    Kept(
        name=gettext_lazy("Your feedback on answers"),
        text=gettext_lazy(
            "Your ratings and notes. The people who run this server see only what you chose to share, "
            "without your name."
        ),
        models=["coaching.AnswerFeedback"],
    ),
    Kept(
        name=gettext_lazy("Your files"),
        text=gettext_lazy(
            "What Sage writes down for you: your life map, plans, logs, captures and its notes about you. "
            "You can read every version of each one."
        ),
        page="files",
        models=["coaching.UserFile", "coaching.UserFileVersion", "coaching.Capture"],
    ),
    Kept(
        name=gettext_lazy("Your ratings and days"),
        text=gettext_lazy(
            "How you rated the parts of your life, each day’s intention and priorities, and questions that "
            "Sage left for later."
        ),
        page="journal",
        models=["coaching.PulseRating", "coaching.DayPlan", "coaching.ReflectionPrompt"],
    ),
    Kept(
        name=gettext_lazy("Your photos"),
        text=gettext_lazy(
            "Smaller copies, without place, time and camera, and your descriptions. No AI model gets them."
        ),
        page="journal",
        models=["coaching.Photo"],
    ),
    Kept(
        name=gettext_lazy("Your letters"),
        text=gettext_lazy("Letters about a month, and the sentences of yours that they rest on."),
        page="journal",
        models=["coaching.Letter"],
    ),
    Kept(
        name=gettext_lazy("Your next steps"),
        text=gettext_lazy("What you plan to do, the words it comes from, and what became of it."),
        page="library_actions",
        models=["coaching.ActionItem", "coaching.StepChange"],
    ),
    Kept(
        name=gettext_lazy("Your library"),
        text=gettext_lazy(
            "Your documents and recordings, their text and pages, what Sage found in them, what it was "
            "answered about them, your clients, projects and corrections, what is accepted without asking "
            "you, and every change, so that you can undo it."
        ),
        page="library",
        models=[
            "coaching.Document",
            "coaching.DocumentText",
            "coaching.DocumentPage",
            "coaching.DocumentImage",
            "coaching.DocumentCall",
            "coaching.DocumentCorrection",
            "coaching.KnowledgeEntry",
            "coaching.Client",
            "coaching.Project",
            "coaching.LibraryEffect",
            "coaching.AutoApproval",
        ],
    ),
    Kept(
        name=gettext_lazy("Mail to your library"),
        text=gettext_lazy(
            "The address for it, which mails were taken and which wait, and how many were refused."
        ),
        models=[
            "coaching.InboxAddress",
            "coaching.InboxMail",
            "coaching.InboxWaiting",
            "coaching.InboxRefusal",
        ],
    ),
    Kept(
        name=gettext_lazy("What you dictate"),
        text=gettext_lazy(
            "A recording until it is turned into words, and its words until they are in the field: at most "
            "a day."
        ),
        models=["coaching.Recording"],
    ),
    Kept(
        name=gettext_lazy("Your safety plan and words of danger"),
        text=gettext_lazy(
            "The plan is one of your files. Of words that sounded like danger: that they did, when Sage "
            "asked how you are, and when you said that it shouldn’t."
        ),
        page="safety",
        models=[
            "sessions_app.SafetyVerdict",
            "coaching.CaptureVerdict",
            "coaching.CareAsk",
            "coaching.CareEnd",
        ],
    ),
    Kept(
        name=gettext_lazy("Your calendars"),
        text=gettext_lazy(
            "The calendars you added with their events, and the addresses of their feeds. Sage sees today’s"
            " events."
        ),
        page="calendar",
        models=["coaching.CalendarSource", "coaching.CalendarEvent"],
    ),
    Kept(
        name=gettext_lazy("Your reminders"),
        text=gettext_lazy(
            "When and how you want to be reminded, the devices you allowed, and what was sent."
        ),
        page="reminders",
        models=["coaching.Reminder", "coaching.SentReminder", "coaching.PushDevice"],
    ),
    Kept(
        name=gettext_lazy("Your programs"),
        text=gettext_lazy("The programs you connected and your tokens: what each may do, and until when."),
        page="programs",
        models=["coaching.ProgramToken", "allauth_idp_oidc.Token", "allauth_idp_oidc.Client"],
    ),
    Kept(
        name=gettext_lazy("Your imports"),
        text=gettext_lazy(
            "What each import brought and left behind, and what the other app knew about you. The file that"
            " you uploaded goes once it has been read."
        ),
        page="imports",
        models=["coaching.Import"],
    ),
    Kept(
        name=gettext_lazy("An index for search"),
        text=gettext_lazy("Passages of your conversations, files and documents, so that they are found."),
        page="search",
        models=["coaching.RecallPassage", "coaching.RecallLanguage", "coaching.RecallVector"],
    ),
)
"""Each model with a person's rows is in one of them; `coaching.personal_data.ownership` lists those."""


def read_storage() -> Sequence[str]:
    """Return sentences that say where this server keeps all of it."""
    return list(_storage())


def _storage() -> Iterator[str]:
    if settings.ENVIRONMENT.s3_bucket:
        host = _host(settings.ENVIRONMENT.s3_endpoint_url) or "Amazon S3"
        if host in LOCAL_HOSTS:
            yield _(
                "Texts are in this server’s database; files, documents, photos and recordings are in the "
                "object store on this machine."
            )
        else:
            yield _(
                "Texts are in this server’s database; files, documents, photos and recordings are at "
                "%(host)s."
            ) % {"host": host}
    else:
        yield _("All of it is in this server’s database and in its data folder.")
    if settings.SAGE_BACKUP_DIR:
        yield (
            _("A backup is made each night, encrypted, and kept for a week.")
            if settings.SAGE_BACKUP_KEY
            else _("A backup is made each night and kept for a week.")
        )
    yield _("What you haven’t sent yet is in your browser.")


def is_model_here() -> bool:
    """Return whether the AI model, or a server that may pass on what it gets, is on this machine."""
    return bool(settings.SAGE_MODEL_FILE) or _host(settings.ANTHROPIC_BASE_URL) in LOCAL_HOSTS


def read_what_leaves(user_id: int) -> Sequence[str]:
    """Return a sentence for each receiver outside this server, as it is configured and used by the person."""
    return [*_to_servers(), *_to_what_they_chose(user_id)]


def _to_servers() -> Iterator[str]:
    """Yield what goes to servers that this installation is set up with."""
    if not (settings.IS_PRACTICE_MODEL or is_model_here()):
        yield _(
            "To the AI model at %(host)s: your message, the conversation so far, and what of your files, "
            "days, events and next steps belongs to it; captures, and conversations again for titles, "
            "summaries and letters; documents, unless you chose “Never send these to the AI model”."
        ) % {"host": _host(settings.ANTHROPIC_BASE_URL) or _ANTHROPIC}
    if transcription_host() and not is_transcribed_here():
        yield _("To %(host)s, which turns them into words: your recordings, if you agreed to it below.") % {
            "host": transcription_host()
        }
    if settings.HAS_MAIL:
        yield _(
            "By mail, to your address: links to confirm it, notices about your account, and the reminders "
            "that you want by mail."
        )
    if settings.SAGE_INBOX and settings.SAGE_INBOX.host not in LOCAL_HOSTS:
        yield _("What you mail to your library comes by a mailbox at %(host)s.") % {
            "host": settings.SAGE_INBOX.host
        }
    reported = [
        _host(url) for url in (settings.ENVIRONMENT.sentry_dsn, settings.ENVIRONMENT.otlp_endpoint) if url
    ]
    for host in dict.fromkeys(host for host in reported if host not in LOCAL_HOSTS):
        yield _("To %(host)s: which errors there were and how long things took, without your words.") % {
            "host": host
        }


def _to_what_they_chose(user_id: int) -> Iterator[str]:
    if PushDevice.of(user_id).exists():
        yield _(
            "Notifications to your devices, encrypted, by the push service of each browser. They contain "
            "words of yours only if you chose that for next steps."
        )
    if CalendarSource.of(user_id).filter(kind=CalendarKind.FEED).exists():
        yield _(
            "Requests for the calendars that you follow, to the servers of their feeds, with nothing of "
            "yours."
        )
    if _has_reading_programs(user_id):
        yield _("What your programs may read, to them.")


def _has_reading_programs(user_id: int) -> bool:
    """Return whether a program holds a token or a consent now that lets it read something."""
    now = timezone.now()
    tokens = ProgramToken.of(user_id).filter(expires_at__gt=now, scopes__overlap=_READING)
    return tokens.exists() or any(
        scope in _READING for grant in grants_of(user_id, now=now) for scope in grant.scopes
    )


def _host(url: object) -> str:
    return urlsplit(str(url or "")).hostname or ""
