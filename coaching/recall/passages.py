"""The texts of hits, read by source. A new source is a reader here, and a trigger that indexes its rows.

The text of a piece is cut by the database's own function, so it is the text that was indexed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from coaching.files.frontmatter import MAX_FRONTMATTER_CHARACTERS, body_start
from coaching.legacy_text.blocks import excerpt_without_tags
from coaching.models import RecallSource
from coaching.recall.hits import Hit, NearbyMessage, Passage
from coaching.recall.visibility import visible
from sessions_app.queries import Query, run_query

PIECE_CHARACTERS = 1_200
"""How far after the last one a piece of a text begins."""
HEAD_CHARACTERS = MAX_FRONTMATTER_CHARACTERS + 1_000
"""What is read of a file to know where its body begins."""
AROUND_CHARACTERS = 300
AROUND_STEPS = 20
"""How far to look for the neighbours of a hit, over those that were withdrawn or are hidden."""

Places = Mapping[int, Passage]
"""Passages by the place of their hit in the list that was read; what is gone by then is missing."""


class Reader(Protocol):
    """Reads the passages of one source's hits, of this user only."""

    def __call__(self, hits: Mapping[int, Hit], *, user_id: int) -> Places:
        """Return the passages of the hits that are still there."""
        ...


_MESSAGES = """
SELECT hit.place, message.role = 'user', session.title, message.metadata ->> 'imported_id',
    CASE message.role WHEN 'user' THEN 'message-' || message.number ELSE 'turn-' || message.turn_id END,
    session.last_message_number - message.number, coaching_recall_piece(texts.words, hit.piece),
    before.is_by_user, before.text, after.is_by_user, after.text
FROM unnest(%(places)s::int[], %(ids)s::bigint[], %(parts)s::int[], %(pieces)s::int[])
    AS hit(place, id, part, piece)
JOIN sessions_app_message AS message ON message.id = hit.id
JOIN sessions_app_turn AS turn ON turn.id = message.turn_id AND {visible}
JOIN sessions_app_session AS session ON session.id = message.session_id AND session.user_id = %(user)s
    AND session.deleted_at IS NULL
JOIN LATERAL coaching_recall_texts(message.content, message.metadata) AS texts ON texts.part = hit.part
LEFT JOIN LATERAL (
    SELECT near.role = 'user' AS is_by_user, left(near.content, %(around)s) AS text
    FROM sessions_app_message AS near JOIN sessions_app_turn AS turn ON turn.id = near.turn_id
    WHERE near.session_id = message.session_id AND {visible_near}
        AND near.number BETWEEN message.number - %(steps)s AND message.number - 1
    ORDER BY near.number DESC LIMIT 1
) AS before ON true
LEFT JOIN LATERAL (
    SELECT near.role = 'user' AS is_by_user, left(near.content, %(around)s) AS text
    FROM sessions_app_message AS near JOIN sessions_app_turn AS turn ON turn.id = near.turn_id
    WHERE near.session_id = message.session_id AND {visible_near}
        AND near.number BETWEEN message.number + 1 AND message.number + %(steps)s
    ORDER BY near.number ASC LIMIT 1
) AS after ON true
"""
_MESSAGES_SQL = _MESSAGES.format(visible=visible("message"), visible_near=visible("near"))
_SUMMARIES_SQL = """
SELECT hit.place, session.title, coaching_recall_piece(
    CASE hit.part WHEN 0 THEN session.summary
        ELSE coaching_recall_arcs(session.metadata) -> hit.part - 1 ->> 'summary' END,
    hit.piece
)
FROM unnest(%(places)s::int[], %(ids)s::uuid[], %(parts)s::int[], %(pieces)s::int[])
    AS hit(place, id, part, piece)
JOIN sessions_app_session AS session ON session.id = hit.id AND session.user_id = %(user)s
    AND session.deleted_at IS NULL
"""
_BRIEFS_SQL = """
SELECT hit.place, session.title, coaching_recall_piece(
    CASE WHEN brief.corrected_at IS NULL THEN brief.text ELSE brief.corrected_text END, hit.piece
)
FROM unnest(%(places)s::int[], %(ids)s::uuid[], %(pieces)s::int[]) AS hit(place, id, piece)
JOIN sessions_app_session AS session ON session.id = hit.id AND session.user_id = %(user)s
    AND session.deleted_at IS NULL
JOIN LATERAL (
    SELECT text, corrected_text, corrected_at FROM sessions_app_sessionbrief
    WHERE session_id = session.id AND NOT is_withdrawn
    ORDER BY version DESC LIMIT 1
) AS brief ON true
"""
_FILES_SQL = """
SELECT hit.place, file.path, coaching_recall_piece(version.content, hit.piece),
    CASE WHEN left(version.content, 40) ~ '^\ufeff?\\s*---' THEN left(version.content, %(head)s) ELSE '' END
FROM unnest(%(places)s::int[], %(ids)s::bigint[], %(pieces)s::int[]) AS hit(place, id, piece)
JOIN coaching_userfile AS file ON file.id = hit.id AND file.user_id = %(user)s
JOIN coaching_userfileversion AS version ON version.file_id = file.id AND version.number = file.version_number
"""

_DOCUMENTS_SQL = """
SELECT hit.place, document.name, coaching_recall_piece(
    CASE hit.part WHEN 0 THEN coaching_recall_document_words(document)
        ELSE coaching_recall_page(stored.text, stored.pages_read, hit.part) END,
    hit.piece
)
FROM unnest(%(places)s::int[], %(ids)s::bigint[], %(parts)s::int[], %(pieces)s::int[])
    AS hit(place, id, part, piece)
JOIN coaching_document AS document ON document.id = hit.id AND document.user_id = %(user)s
LEFT JOIN coaching_documenttext AS stored ON stored.document_id = document.id
WHERE hit.part = 0 OR stored.text IS NOT NULL
"""
_KNOWLEDGE_SQL = """
SELECT hit.place, entry.title, coaching_recall_piece(coaching_recall_entry_words(entry), hit.piece)
FROM unnest(%(places)s::int[], %(ids)s::bigint[], %(pieces)s::int[]) AS hit(place, id, piece)
JOIN coaching_knowledgeentry AS entry
    ON entry.id = hit.id AND entry.user_id = %(user)s AND entry.state = 'accepted'
"""
_STEPS_SQL = """
SELECT hit.place, step.title, coaching_recall_piece(coaching_recall_step_words(step), hit.piece)
FROM unnest(%(places)s::int[], %(ids)s::bigint[], %(pieces)s::int[]) AS hit(place, id, piece)
JOIN coaching_actionitem AS step ON step.id = hit.id AND step.user_id = %(user)s
    AND step.state IN ('open', 'done', 'dropped')
"""


def read_passages(hits: Sequence[Hit], *, user_id: int) -> Sequence[Passage]:
    """Return the passages of hits in their order, without those that are gone."""
    found: dict[int, Passage] = {}
    for sources, read in _READERS:
        own = {place: hit for place, hit in enumerate(hits) if hit.source in sources}
        if own:
            found |= read(own, user_id=user_id)
    return [found[place] for place in sorted(found)]


def _read_messages(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.message_id for hit in hits.values()]
    values = {
        **_values(hits, ids, user_id=user_id),
        "around": AROUND_CHARACTERS,
        "steps": AROUND_STEPS,
    }
    return {row[0]: _message_passage(hits[row[0]], row) for row in run_query(Query(_MESSAGES_SQL, values))}


def _message_passage(hit: Hit, row: Sequence[Any]) -> Passage:
    _, is_by_user, title, imported_id, anchor, later, text, before_by, before, after_by, after = row
    return Passage(
        hit=hit,
        text=text if is_by_user else excerpt_without_tags(text),
        title=title,
        is_by_user=is_by_user,
        imported_id=imported_id,
        anchor=anchor,
        later=later,
        before=_words(before_by, before),
        after=_words(after_by, after),
    )


def _words(is_by_user: bool, text: str | None) -> NearbyMessage | None:
    shown = text if is_by_user else excerpt_without_tags(text or "")
    return NearbyMessage(is_by_user=is_by_user, text=shown) if shown else None


def _read_summaries(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.session_id for hit in hits.values()]
    return _read_texts(_SUMMARIES_SQL, hits, ids, user_id=user_id)


def _read_briefs(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.session_id for hit in hits.values()]
    return _read_texts(_BRIEFS_SQL, hits, ids, user_id=user_id)


def _read_files(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.file_id for hit in hits.values()]
    values = {**_values(hits, ids, user_id=user_id), "head": HEAD_CHARACTERS}
    found: dict[int, Passage] = {}
    for place, path, text, head in run_query(Query(_FILES_SQL, values)):
        before = hits[place].piece * PIECE_CHARACTERS
        body_from = min(max(body_start(head) - before, 0), len(text))
        found[place] = Passage(hit=hits[place], text=text, title=path, body_from=body_from)
    return found


def _read_documents(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.file_id for hit in hits.values()]
    return _read_texts(_DOCUMENTS_SQL, hits, ids, user_id=user_id)


def _read_knowledge(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.file_id for hit in hits.values()]
    return _read_texts(_KNOWLEDGE_SQL, hits, ids, user_id=user_id)


def _read_steps(hits: Mapping[int, Hit], *, user_id: int) -> Places:
    ids = [hit.file_id for hit in hits.values()]
    return _read_texts(_STEPS_SQL, hits, ids, user_id=user_id)


def _values(hits: Mapping[int, Hit], ids: Sequence[object], *, user_id: int) -> dict[str, Any]:
    return {
        "user": user_id,
        "places": list(hits),
        "ids": list(ids),
        "parts": [hit.part for hit in hits.values()],
        "pieces": [hit.piece for hit in hits.values()],
    }


def _read_texts(sql: str, hits: Mapping[int, Hit], ids: Sequence[object], *, user_id: int) -> Places:
    rows = run_query(Query(sql, _values(hits, ids, user_id=user_id)))
    return {place: Passage(hit=hits[place], text=text or "", title=title) for place, title, text in rows}


_READERS: Sequence[tuple[frozenset[str], Reader]] = (
    (frozenset({RecallSource.MESSAGE, RecallSource.TOOL}), _read_messages),
    (frozenset({RecallSource.SUMMARY}), _read_summaries),
    (frozenset({RecallSource.BRIEF}), _read_briefs),
    (frozenset({RecallSource.FILE}), _read_files),
    (frozenset({RecallSource.DOCUMENT, RecallSource.WITHHELD_DOCUMENT}), _read_documents),
    (frozenset({RecallSource.KNOWLEDGE, RecallSource.WITHHELD_KNOWLEDGE}), _read_knowledge),
    (frozenset({RecallSource.STEP, RecallSource.WITHHELD_STEP}), _read_steps),
)
