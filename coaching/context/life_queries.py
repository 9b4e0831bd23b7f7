"""The queries that read a life, and how much each of them gives."""

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, JSONObject, Left, Length, Right

from coaching.context.next_steps import NEXT_STEPS
from coaching.files.types import RULES
from coaching.models import (
    ActionItem,
    ActionState,
    Capture,
    ClientType,
    DayPlan,
    FileType,
    Import,
    LibraryEffect,
    LifeDomain,
    SessionScope,
    StepChange,
    UserFile,
)
from coaching.safety.card import ELSEWHERE_KEY, METADATA_KEY
from sessions_app.history import PROGRAM_KEY
from sessions_app.import_metadata import IMPORT_KEY, NO_BRANCH
from sessions_app.models import (
    USED,
    BriefCorrection,
    Message,
    MessageRole,
    Session,
    SessionBrief,
    ToolCallRecord,
    VerdictLevel,
)
from sessions_app.queries import over_all, parameter, prepared

READ_CHARACTERS = 24_000
NEWEST = {FileType.CHECK_IN: 3, FileType.DAILY_LOG: 7}
"""How many files of the types that are listed by date."""
WAITING_CAPTURES = 10
"""How many of the newest waiting captures."""
RECENT_SESSIONS = 3
SUMMARY_CHARACTERS = 1_000
WORDS_CHARACTERS = 600
"""Of a person's first and last message in a session."""
MOST_STEPS = 40
"""Of those that were written in a session."""

_STEP = (
    "id", "state", "client__name", "client__client_type", "created_at", "updated_at", "outcome", "quote",
    "message_number", "title", "due_date", "due_time", "repeats", "asked_for", "asked_in",
)  # fmt: skip

_STANDING_TYPES = (
    FileType.SAGE_CONTEXT,
    FileType.OVERVIEW,
    FileType.LIFE_PLAN,
    FileType.WEEKLY_PLAN,
    FileType.SAGE_PATTERNS,
)
_STANDING_PATHS = [
    *(RULES[file_type].place for file_type in _STANDING_TYPES),
    *(f"{RULES[FileType.DOMAIN].place}/{domain}.md" for domain in LifeDomain),
]


@prepared
def life_files() -> QuerySet[Any, Any]:
    """Return the query of standing files, those of two days, the newest dated ones and captures."""
    files = UserFile.of(parameter("user")).filter(versions__number=F("version_number")).order_by()
    days = map(parameter, ("plan_today", "plan_yesterday", "log_today", "log_yesterday"))
    captures = Capture.of(parameter("user")).waiting().order_by("-captured_at")
    captures = captures.filter(file__versions__number=F("file__version_number"))
    return _columns(files.filter(path__in=[*_STANDING_PATHS, *days])).union(
        *(_newest(files, file_type, limit) for file_type, limit in NEWEST.items()),
        _columns(captures, "file__")[:WAITING_CAPTURES],
        all=True,
    )


def _newest(files: QuerySet[UserFile], file_type: FileType, limit: int) -> QuerySet[Any, Any]:
    """Names begin with the date; with bounds inside the folder one index gives the newest in order."""
    place = RULES[file_type].place
    dated = files.filter(file_type=file_type, path__gte=f"{place}/0", path__lte=f"{place}/9999")
    return _columns(dated.order_by("-path"))[:limit]


def _columns(rows: QuerySet[Any, Any], path: str = "") -> QuerySet[Any, Any]:
    version = ("versions__program", "versions__created_at", "versions__source")
    columns = ("path", "file_type", "frontmatter", "version_number", *version)
    names = [f"{path}{name}" for name in columns]
    text = f"{path}versions__content"
    return rows.values_list(*names, Length(text), Left(text, READ_CHARACTERS))


@prepared
def life_plans() -> QuerySet[Any, Any]:
    """Return the query of the plans of two days."""
    plans = DayPlan.of(parameter("user")).filter(date__in=[parameter("today"), parameter("yesterday")])
    return plans.order_by().values_list("date", "intention", "priorities", "file_id")


@prepared
def next_steps() -> QuerySet[Any, Any]:
    """Return the query of the nearest open steps, and of those that were closed or taken back lately.

    They are the person's own, and before them those of the client that the session is about. Each row says
    how many there are of its sort: due from `today` on, overdue, without a date, or closed.
    """
    scope = SessionScope.of(parameter("user")).filter(session=parameter("session")).order_by()
    steps = ActionItem.of(parameter("user")).exclude(document__is_withheld=True).order_by()
    steps = steps.filter(Q(client__client_type=ClientType.SELF) | Q(client__in=scope.values("client")))
    effects = LibraryEffect.of(parameter("user")).filter(action_item=OuterRef("pk"), undone_at=None)
    program = Subquery(effects.exclude(program="").order_by("-id").values("program")[:1])
    changes = StepChange.of(parameter("user")).filter(action_item=OuterRef("pk")).order_by("-at", "-id")
    said = Case(
        When(message_number__isnull=False, then=F("quote")), default=Value(""), output_field=TextField()
    )
    change = Subquery(changes.values(newest=JSONObject(kind=F("kind"), at=F("at"), quote=said))[:1])

    own_last = Case(When(client__client_type=ClientType.SELF, then=1), default=0)

    def first(rows: QuerySet[ActionItem], *order: Any) -> QuerySet[Any, Any]:
        columns = (*_STEP, program, change, Window(Count("id")))
        return rows.order_by(own_last, *order).values_list(*columns)[:NEXT_STEPS]

    opened = steps.filter(state=ActionState.OPEN)
    is_resolved = Q(state__in=[ActionState.DONE, ActionState.DROPPED])
    closed = steps.exclude(state=ActionState.OPEN).filter(
        Q(updated_at__gte=parameter("yesterday")) | is_resolved & Q(updated_at__gte=parameter("since"))
    )
    ahead = opened.filter(due_date__gte=parameter("today"))
    return first(ahead, "due_date", F("due_time").asc(nulls_last=True), "id").union(
        first(opened.filter(due_date__lt=parameter("today")), "-due_date", "-id"),
        first(opened.filter(due_date=None), "-id"),
        first(closed, "-updated_at"),
        all=True,
    )


@prepared
def waiting_captures() -> QuerySet[Any, Any]:
    return Capture.of(parameter("user")).waiting().order_by().values_list(over_all("count", "id"))


@prepared
def recent_sessions() -> QuerySet[Any, Any]:
    """Return the query of the last sessions before `session` in which the user said something.

    They are the user's own, without other branches of imported ones. A session that was opened from a client
    adds the last ones of that client, which are in no other.
    """
    others = Session.of(parameter("user")).exclude(id=parameter("session")).filter(USED, NO_BRANCH)
    own = others.filter(Q(scope=None) | Q(scope__client__client_type=ClientType.SELF))
    scope = SessionScope.of(parameter("user")).filter(session=parameter("session")).order_by()
    of_client = others.filter(scope__client=Subquery(scope.values("client")[:1]))
    of_client = of_client.exclude(scope__client__client_type=ClientType.SELF)
    return recent_rows(own).union(recent_rows(of_client), all=True)


def recent_rows(sessions: QuerySet[Session]) -> QuerySet[Any, Any]:
    """Return the rows of the newest of some sessions, as `continuity.recent_of` takes them."""
    said = Message.unscoped.filter(session=OuterRef("pk"), turn__is_withdrawn=False, role=MessageRole.USER)
    of_danger = Q(metadata__has_any_keys=[METADATA_KEY, ELSEWHERE_KEY]) | Q(
        safety_verdict__level__in=[VerdictLevel.CONCERN, VerdictLevel.IMMEDIATE]
    )
    # Words of a program would taint every other conversation; the summary is Sage's.
    clean = said.exclude(of_danger).exclude(metadata__has_any_keys=["is_hidden", PROGRAM_KEY])
    answers = ToolCallRecord.unscoped.filter(turn__session=OuterRef("pk"), turn__is_withdrawn=False)
    brief = SessionBrief.unscoped.filter(session=OuterRef("pk"), is_withdrawn=False).order_by("-version")
    corrections = BriefCorrection.unscoped.filter(session=OuterRef("pk")).order_by("pk")
    steps = ActionItem.unscoped.filter(session=OuterRef("pk"), message_number__isnull=False)
    steps = steps.exclude(state=ActionState.PROPOSED).order_by("-pk")
    step = JSONObject(title=F("title"), quote=Left("quote", WORDS_CHARACTERS), due=F("due_date"))
    imports = Import.unscoped.annotate(key=Cast("pk", TextField())).filter(
        user=OuterRef("user"), key=KeyTextTransform(IMPORT_KEY, OuterRef("metadata"))
    )
    client = Case(When(~Q(scope__client__client_type=ClientType.SELF), then=F("scope__client__name")))
    values = JSONObject(
        summary=Left("summary", SUMMARY_CHARACTERS),
        has_danger=Exists(said.filter(of_danger)) | Exists(answers.filter(metadata__has_key=METADATA_KEY)),
        first=Subquery(clean.order_by("number").values(text=Left("content", WORDS_CHARACTERS))[:1]),
        second=Subquery(clean.order_by("number").values(text=Left("content", WORDS_CHARACTERS))[1:2]),
        has_third=Exists(clean.order_by("number")[2:]),
        last=Subquery(clean.order_by("-number").values(text=Right("content", WORDS_CHARACTERS))[:1]),
        brief=Subquery(brief.values(values=JSONObject(text=F("text"), left_open=F("left_open")))[:1]),
        corrections=ArraySubquery(
            corrections.values(values=JSONObject(kind=F("kind"), line=F("line"), words=F("words")))
        ),
        steps=ArraySubquery(steps.values(values=step)[:MOST_STEPS]),
        client=client,
        import_format=Subquery(imports.values("file_format")[:1]),
    )
    numbers = ("summary_covers", "last_message_number", "imported_until")
    columns = ("id", "kind", "status", "last_active_at", *numbers)
    rows = sessions.order_by("-last_active_at").values_list(*columns, values)
    return rows[:RECENT_SESSIONS]
