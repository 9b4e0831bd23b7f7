"""Reads which passages have no vector yet, and stores vectors."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from django.contrib.auth.models import User
from django.db import Error, transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from coaching.models import RecallPassage, RecallVector
from coaching.recall.encoder import Vector
from coaching.recall.meaning import as_text
from sessions_app.queries import Query, run_query

logger = structlog.get_logger(__name__)

# A column of another type than the first migration's is the extension's.
_HAS_VECTORS = Query(
    "SELECT atttypid = to_regtype('halfvec') FROM pg_attribute "
    "WHERE attrelid = to_regclass('coaching_recallvector') AND attname = 'vector'",
    {},
)
_MAKE_ROOM = Query("SELECT coaching_recall_make_room_for_vectors()", {})
_MISSING = """
SELECT passage.id, coalesce(coaching_recall_words(passage), '')
FROM coaching_recallpassage AS passage
WHERE user_id = %(user)s AND NOT EXISTS (
    SELECT FROM coaching_recallvector AS vector
    WHERE vector.user_id = %(user)s AND vector.passage_id = passage.id AND vector.model = %(model)s
) ORDER BY passage.id LIMIT %(limit)s
"""
# A passage that was deleted meanwhile has none to be stored; one that is deleted now waits for this.
_STORE = """
INSERT INTO coaching_recallvector (user_id, passage_id, model, vector)
SELECT passage.user_id, passage.id, %(model)s, made.vector::halfvec
FROM unnest(%(ids)s::bigint[], %(vectors)s::text[]) AS made(id, vector)
JOIN coaching_recallpassage AS passage ON passage.user_id = %(user)s AND passage.id = made.id
ORDER BY passage.id FOR KEY SHARE OF passage
ON CONFLICT (user_id, passage_id) DO UPDATE SET model = excluded.model, vector = excluded.vector
RETURNING passage_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unencoded:
    """A passage without a vector, and its text."""

    passage_id: int
    text: str


def has_vectors() -> bool:
    """Say whether the table can hold vectors."""
    return run_query(_HAS_VECTORS) == [(True,)]


def make_room_for_vectors() -> bool:
    """Let the table hold vectors, with the database's extension; False where it can't have it."""
    if has_vectors():
        return True
    try:
        with transaction.atomic():
            run_query(_MAKE_ROOM)
    except Error as error:
        logger.warning("no_vectors", error=str(error.__cause__ or error).splitlines()[0])
        return False
    return True


def people_behind(*, model: int) -> Sequence[int]:
    """Return the ids of the users whose newest passage the model hasn't encoded."""
    passages = RecallPassage.unscoped.filter(user=OuterRef("pk")).order_by("-pk")
    vectors = RecallVector.unscoped.filter(user=OuterRef("pk"), model=model).order_by("-passage")
    people = User.objects.annotate(
        newest=Subquery(passages.values("pk")[:1]),
        encoded=Coalesce(Subquery(vectors.values("passage")[:1]), 0),
    )
    return list(people.filter(newest__gt=F("encoded")).order_by("pk").values_list("pk", flat=True))


def read_unencoded(user_id: int, *, model: int, limit: int) -> Sequence[Unencoded]:
    """Return the user's oldest passages without a vector of the model."""
    values = {"user": user_id, "model": model, "limit": limit}
    return [Unencoded(passage_id=pk, text=text) for pk, text in run_query(Query(_MISSING, values))]


def store_vectors(
    user_id: int, passages: Sequence[Unencoded], vectors: Sequence[Vector], *, model: int
) -> int:
    """Store the vectors of passages that are still there; return how many."""
    values = {
        "user": user_id,
        "model": model,
        "ids": [passage.passage_id for passage in passages],
        "vectors": [as_text(vector) for vector in vectors],
    }
    return len(run_query(Query(_STORE, values)))
