"""Recall: the passages of a user's own history that answer a question in everyday words."""

import uuid
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from coaching.clock.travel import zone_after
from coaching.models import WITHHELD_SOURCES, Profile, RecallSource
from coaching.recall.encoder import Encoder, NotEncoded, Vector, configured_encoder
from coaching.recall.hits import Hit
from coaching.recall.meaning import Meaning
from coaching.recall.question import Question, read_question
from coaching.recall.ranking import NEWEST_SQL, ranking_statement
from coaching.recall.terms import Term, read_terms
from coaching.recall.vectors import has_vectors
from sessions_app.queries import Query, run_queries

DEFAULT_LIMIT = 8
MAX_LIMIT = 100
ENCODE_SECONDS = 1.0
"""How long a search waits for its question's vector, which takes some hundredths of a second."""


FOR_MODELS: Sequence[str] = tuple(source for source in RecallSource if source not in WITHHELD_SOURCES)
"""The sources that a model may get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What may be found. `session_id` limits to one session, `since` to what was said then or later.

    `client_id` and `project_id` limit to what the library has of a client or a project. `is_page`: of a
    document its pages, not what is known of the whole.

    With `reached` nothing is found of what the library has of other clients, nor of conversations about them;
    but documents attached in `open_session_id` are.

    Nothing is found of the sessions `other_than`.

    What may never be sent to a model is found only where `sources` name it.

    Of the session `open_session_id` neither the brief nor a message from `open_number` on is found: the model
    sees them anyway.
    """

    sources: Collection[str] = FOR_MODELS
    session_id: uuid.UUID | None = None
    since: datetime | None = None
    client_id: int | None = None
    project_id: int | None = None
    reached: Collection[int] | None = None
    is_page: bool = False
    open_session_id: uuid.UUID | None = None
    open_number: int = 0
    other_than: Collection[uuid.UUID] = ()

    @property
    def are_narrow(self) -> bool:
        """Say whether most of what is close to a question may be out of bounds."""
        is_some = not set(self.sources).issuperset(FOR_MODELS)
        limits = (self.session_id, self.since, self.client_id, self.project_id, self.reached)
        is_limited = any(limit is not None for limit in limits)
        return is_some or self.is_page or is_limited or bool(self.other_than)


ANYTHING = Bounds()

_NEAR_WITHIN = "AND passage_id IN (SELECT id FROM coaching_recallpassage WHERE user_id = %(user)s {only})"

_OF_LIBRARY = """AND CASE WHEN source ^@ 'document' THEN file_id IN (
        SELECT id FROM coaching_document WHERE user_id = %(user)s AND {column} = %({column})s)
    WHEN source ^@ 'knowledge' THEN file_id IN (
        SELECT id FROM coaching_knowledgeentry WHERE user_id = %(user)s AND {column} = %({column})s)
    WHEN source ^@ 'step' THEN file_id IN (
        SELECT id FROM coaching_actionitem WHERE user_id = %(user)s AND {column} = %({column})s)
    ELSE false END"""

_OF_REACHED = """AND CASE WHEN source ^@ 'document' THEN file_id IN (
        SELECT id FROM coaching_document WHERE user_id = %(user)s AND (client_id = ANY(%(reached)s)
            OR session_id = %(attached_in)s::uuid))
    WHEN source ^@ 'knowledge' THEN file_id IN (
        SELECT id FROM coaching_knowledgeentry WHERE user_id = %(user)s AND client_id = ANY(%(reached)s))
    WHEN source ^@ 'step' THEN file_id IN (
        SELECT id FROM coaching_actionitem WHERE user_id = %(user)s AND client_id = ANY(%(reached)s))
    ELSE session_id IS NULL OR session_id NOT IN (
        SELECT scope.session_id FROM coaching_sessionscope AS scope
        JOIN coaching_client AS client ON client.id = scope.client_id AND client.user_id = %(user)s
        WHERE client.id <> ALL(%(reached)s))
    END"""

# A scan of the whole partition costs more than the planner thinks: it would compare every vector first.
_BY_INDEX = Query("SELECT set_config('enable_seqscan', 'off', true)", {})
_BY_ANY_PLAN = Query("SELECT set_config('enable_seqscan', 'on', true)", {})


def search(
    text: str,
    *,
    user_id: int,
    now: datetime,
    limit: int = DEFAULT_LIMIT,
    bounds: Bounds = ANYTHING,
    encoder: Encoder | None = None,
) -> Sequence[Hit]:
    """Return the best hits for a question, at most one for each message; the newest where it has no words.

    `now` is aware; days in the question are those of the user's time zone. The encoder is the configured one
    unless another is given; where none can be used, words alone decide.
    """
    searcher = read_searcher(user_id)
    question = read_question(text, user_names=searcher.names, now=now.astimezone(searcher.zone))
    encoder = encoder or configured_encoder()
    begun = encoder.begin([question.in_first_person]) if encoder and question.in_first_person else None
    terms = _terms(question, user_id=user_id)
    meaning = _meaning(begun, encoder) if encoder and begun and terms and has_vectors() else None
    sql, values = ranking_statement(question, terms, meaning) if terms else (NEWEST_SQL, {})
    only, only_around, limits = _conditions(bounds)
    near = _NEAR_WITHIN if bounds.are_narrow else ""
    statement = sql.replace("{only_near}", near).replace("{only}", only).replace("{only_around}", only_around)
    values = {**values, **limits, "user": user_id, "limit": min(limit, MAX_LIMIT)}
    _, rows, _ = run_queries([_BY_INDEX, Query(statement, values), _BY_ANY_PLAN])
    return [_hit(row) for row in rows]


def _meaning(begun: Future[Sequence[Vector]], encoder: Encoder) -> Meaning | None:
    """Return the question's vector; None where it doesn't come soon."""
    try:
        (vector,) = begun.result(ENCODE_SECONDS)
    except (NotEncoded, TimeoutError):
        return None
    return Meaning(vector=vector, model=encoder.key)


def _terms(question: Question, *, user_id: int) -> Sequence[Term]:
    """Return what to look for: names only where nothing else is asked, since they say whom it is about."""
    if not question.text.strip():
        return ()
    terms = read_terms(question.text, user_id=user_id, without=question.names, framing=question.framing)
    return terms or (read_terms(question.text, user_id=user_id) if question.names else ())


def _hit(row: Sequence[Any]) -> Hit:
    source, session_id, file_id, number, message_id, part, piece, moment, score = row
    return Hit(
        source=source,
        session_id=session_id,
        file_id=file_id,
        number=number,
        message_id=message_id,
        part=part,
        piece=piece,
        moment=moment,
        score=float(score),
    )


def _conditions(bounds: Bounds) -> tuple[str, str, dict[str, Any]]:
    """Return the conditions on a passage and on a message near one, and their values."""
    only, around = ["AND source = ANY(%(sources)s)"], []
    values: dict[str, Any] = {"sources": list(bounds.sources)}
    if RecallSource.MESSAGE not in bounds.sources:
        around.append("AND units.source IS NOT NULL")
    if bounds.session_id is not None:
        only.append("AND session_id = %(session)s")
        values["session"] = bounds.session_id
    if bounds.other_than:
        only.append("AND (session_id IS NULL OR session_id <> ALL(%(other_than)s::uuid[]))")
        values["other_than"] = list(bounds.other_than)
    if bounds.since is not None:
        only.append("AND moment >= %(since)s")
        around.append("AND message.created_at >= %(since)s")
        values["since"] = bounds.since
    for column, wanted in (("client_id", bounds.client_id), ("project_id", bounds.project_id)):
        if wanted is not None:
            only.append(_OF_LIBRARY.format(column=column))
            values[column] = wanted
    if bounds.reached is not None:
        only.append(_OF_REACHED)
        values |= {"reached": list(bounds.reached), "attached_in": bounds.open_session_id}
    if bounds.is_page:
        only.append("AND part > 0")
    if bounds.open_session_id is not None:
        only.append("AND NOT (number >= %(open_number)s AND number > 0 AND session_id = %(open_session)s)")
        only.append("AND NOT (source = 'brief' AND session_id = %(open_session)s)")
        around.append("AND NOT (message.number >= %(open_number)s AND message.session_id = %(open_session)s)")
        values |= {"open_session": bounds.open_session_id, "open_number": bounds.open_number}
    return " ".join(only), " ".join(around), values


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Who searches: the words of the user's names, and their time zone."""

    names: Collection[str]
    zone: ZoneInfo


def read_searcher(user_id: int) -> Searcher:
    """Read what a search needs to know of its user."""
    fields = ("user__username", "user__first_name", "name", "timezone", "earlier_timezones")
    found = Profile.of(user_id).values_list(*fields).first()
    if found is None:
        return Searcher(names=(), zone=ZoneInfo("UTC"))
    *names, zone, earlier = found
    return Searcher(names={word for name in names for word in name.split()}, zone=zone_after(zone, earlier))
