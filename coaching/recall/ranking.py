"""The statement that ranks a user's passages for the terms of a question.

BM25 with the statistics of the user's own passages, spread over the messages around, then weighed by what
the question prefers. Its cost grows with the passages of that user, whatever the size of the table: the first
step reads them by `(user, id)`, and everything after it works on at most `CANDIDATES` rows, those with the
rarest words first. The figures were tuned on the conversations of `tests/bench/recall`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from coaching.recall import meaning
from coaching.recall.meaning import Meaning
from coaching.recall.question import Question
from coaching.recall.terms import Term
from coaching.recall.visibility import visible

CANDIDATES = 300
SPREAD_CANDIDATES = 200
K1, B = 1.0, 0.4
AROUND = ((0, 1.0), (1, 0.65), (-1, 0.45), (2, 0.35), (-2, 0.3), (3, 0.2), (-3, 0.2), (4, 0.15), (-4, 0.15))
"""What a message gets of the score of the one that many numbers before it: an answer more than a question."""
SPEAKER = 1.0
IN_TIME = 1.0
SAYS_WHEN = 0.3
IS_QUESTION = -0.55
ADDRESSED_TIMES = 2

_TIME_WORDS = (
    "yesterday|today|tonight|tomorrow|last|next|ago|recently|week|weekend|weeks|month|months|years?|since|"
    "(mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|"
    "october|november|december|[12][0-9]{3}"
)
_GREETINGS = " | ".join(
    f"'{word}'"
    for word in (
        "hey",
        "hi",
        "hello",
        "dear",
        "thank",
        "wow",
        "congrat",
        "yeah",
        "yes",
        "sorri",
        "great",
        "bye",
    )
)
_NAMES_WEIGHED = 2

# A message is one hit together with its tool calls, and a document with its pages; any other text is its own.
_KIND = (
    "CASE WHEN message_id IS NOT NULL THEN 'message' WHEN part = 0 OR source ^@ 'document' THEN source "
    "ELSE source || part END"
)

# A row that has any term matches. ts_rank of a word is 0.6079 * (1 + 1/4 + 1/9 + …) for its occurrences, and
# 0.6079 / (1 - rank) - 0.55 is their number again, within 2 %.
_SQL = """
WITH matched AS MATERIALIZED (
    SELECT source, {kind} AS kind, session_id, file_id, number, part, piece, is_by_user, length, moment,
        {columns}
    FROM coaching_recallpassage
    WHERE user_id = %(user)s AND lexemes @@ %(any)s::tsquery {only}
), whole AS MATERIALIZED (
    SELECT count(*)::float8 AS passages, greatest(avg(length), 1)::float8 AS mean
    FROM coaching_recallpassage WHERE user_id = %(user)s
), counted AS MATERIALIZED (
    SELECT {counts} FROM matched
), known AS MATERIALIZED (
    SELECT {weights}, sign(%(speaker)s {signs}) AS speaker FROM whole, counted
), scored AS (
    SELECT source, kind, session_id, file_id, number, part, piece, moment, {score} AS score
    FROM matched, known, whole ORDER BY score DESC LIMIT %(candidates)s
), {closest} units AS MATERIALIZED (
    SELECT DISTINCT ON (session_id, file_id, kind, number) * FROM {units}
    ORDER BY session_id, file_id, kind, number, score DESC
), spread AS MATERIALIZED (
{spread}
), weighed AS MATERIALIZED (
    SELECT coalesce(units.source, 'message') AS source, spread.session_id, spread.file_id, spread.number,
        message.id AS message_id, coalesce(units.part, 0) AS part, coalesce(units.piece, 0) AS piece,
        coalesce(message.created_at, units.moment) AS moment,
        spread.score * (1
            + CASE WHEN {is_by_speaker} THEN {speaker_share} ELSE 0 END
            + CASE WHEN coalesce(message.created_at, units.moment) BETWEEN %(after)s AND %(before)s
                THEN {time_share} ELSE 0 END
            + CASE WHEN %(asks_when)s AND message.content ~* '\\m({time_words})\\M'
                THEN {when_share} ELSE 0 END
            + CASE WHEN {is_question} THEN {question_share} ELSE 0 END
        ) AS score,
        {closeness} AS closeness
    FROM spread CROSS JOIN known
    LEFT JOIN units ON units.session_id IS NOT DISTINCT FROM spread.session_id
        AND units.file_id IS NOT DISTINCT FROM spread.file_id
        AND units.kind = spread.kind AND units.number = spread.number
    LEFT JOIN sessions_app_message AS message
        ON message.session_id = spread.session_id AND message.number = spread.number
    LEFT JOIN sessions_app_turn AS turn ON turn.id = message.turn_id
    WHERE spread.number = 0 OR (
        {visible} AND (units.source IS NOT NULL OR message.content <> '') {only_around}
    )
)
SELECT source, session_id, file_id, number, message_id, part, piece, moment, {fused} AS score
FROM weighed ORDER BY score DESC, moment DESC LIMIT %(limit)s
"""
_SPREAD = """
    SELECT session_id, file_id, kind, number + around.by AS number, sum(score * around.share) AS score
    FROM units JOIN unnest(%(by)s::int[], %(shares)s::float8[]) AS around(by, share)
        ON around.by = 0 OR (number > 0 AND number + around.by > 0)
    GROUP BY 1, 2, 3, 4 ORDER BY score DESC LIMIT %(spread)s
"""
_IS_BY_SPEAKER = "known.speaker <> 0 AND (message.role = 'user') IS NOT DISTINCT FROM (known.speaker > 0)"
_IS_QUESTION = "length(message.content) < 250 AND message.content ~ '\\?\\s*$'"
_CLOSENESS = f"""
    spread.closeness + CASE WHEN {_IS_BY_SPEAKER} THEN {meaning.SPEAKER} ELSE 0 END
        + CASE WHEN {_IS_QUESTION} THEN {meaning.IS_QUESTION} ELSE 0 END
"""

_NEWEST_SQL = """
SELECT units.source, units.session_id, units.file_id, units.number, message_id, units.part, piece, moment, 0.0
FROM (
    SELECT DISTINCT ON (session_id, file_id, kind, number)
        id, source, {kind} AS kind, session_id, file_id, number, message_id, part, piece, moment
    FROM coaching_recallpassage WHERE user_id = %(user)s {only}
    ORDER BY session_id, file_id, kind, number, part, piece
) AS units
LEFT JOIN sessions_app_message AS message ON message.id = units.message_id
LEFT JOIN sessions_app_turn AS turn ON turn.id = message.turn_id
WHERE units.message_id IS NULL OR ({visible})
ORDER BY moment DESC, units.id DESC LIMIT %(limit)s
"""
NEWEST_SQL = _NEWEST_SQL.format(kind=_KIND, visible=visible("message"), only="{only}")


def ranking_statement(
    question: Question, terms: Sequence[Term], meant: Meaning | None = None
) -> tuple[str, Mapping[str, Any]]:
    """Return the statement for a question's terms, of which there is at least one, and its values.

    Left open are `{only}`, `{only_near}` and `{only_around}`, conditions on a passage, on a vector and on a
    message `message`, and the values `user` and `limit`.
    """
    places = range(len(terms))
    names = [place for place in places if terms[place].name][:_NAMES_WEIGHED]
    if not any(term.weight == 1 and not term.name for term in terms):  # nothing but names is asked for
        names = []
    sql = _SQL.format(
        kind=_KIND,
        visible=visible("message"),
        closest=meaning.CLOSEST_SQL.replace("{kind}", _KIND) if meant else "",
        units=meaning.UNITS_SQL if meant else "scored",
        spread=meaning.SPREAD_SQL if meant else _SPREAD,
        closeness=_CLOSENESS if meant else "0",
        fused=meaning.SCORE_SQL if meant else "score",
        is_by_speaker=_IS_BY_SPEAKER,
        is_question=_IS_QUESTION,
        columns=", ".join([*map(_rank, places), *map(_address, names)]),
        counts=", ".join(
            [f"count(*) FILTER (WHERE rank{place} > 0) AS count{place}" for place in places]
            + [f"count(*) FILTER (WHERE named{place} AND is_by_user) AS by_user{place}" for place in names]
            + [
                f"count(*) FILTER (WHERE named{place} AND NOT is_by_user) AS by_sage{place}"
                for place in names
            ]
        ),
        weights=", ".join(_weight(place, terms[place], is_name=place in names) for place in places),
        signs=" ".join(f"+ ({_sign(place)})" for place in names),
        score=" + ".join(map(_score, places)),
        speaker_share=SPEAKER,
        time_share=IN_TIME,
        when_share=SAYS_WHEN,
        question_share=IS_QUESTION,
        time_words=_TIME_WORDS,
        only="{only}",
        only_around="{only_around}",
    )
    return sql, {**_values(question, terms, names), **(meant.values() if meant else {})}


def _values(question: Question, terms: Sequence[Term], names: Sequence[int]) -> Mapping[str, Any]:
    """Return the values of a statement; `names` are the places of terms that count as a name."""
    values: dict[str, Any] = {f"term{place}": term.query for place, term in enumerate(terms)}
    values |= {f"address{place}": f"({_GREETINGS}) <-> ({terms[place].query})" for place in names}
    return values | {
        "any": " | ".join(term.query for term in terms if not term.is_exact),
        "speaker": question.speaker,
        "asks_when": question.asks_when,
        "after": question.between[0] if question.between else None,
        "before": question.between[1] if question.between else None,
        "by": [by for by, _ in AROUND],
        "shares": [share for _, share in AROUND],
        "candidates": CANDIDATES,
        "spread": SPREAD_CANDIDATES,
    }


def _rank(place: int) -> str:
    return f"ts_rank('{{1,1,1,1}}', lexemes, %(term{place})s::tsquery) AS rank{place}"


def _address(place: int) -> str:
    return f"lexemes @@ %(address{place})s::tsquery AS named{place}"


def _weight(place: int, term: Term, *, is_name: bool) -> str:
    rarity = f"ln(1 + (passages - count{place} + 0.5) / (count{place} + 0.5))"
    weight = f"{term.weight} * {rarity}"
    if is_name:  # who is asked about says what to prefer, and isn't a word to find
        weight = f"CASE WHEN {_sign(place)} = 0 THEN {weight} ELSE 0 END"
    return f"{weight} AS weight{place}"


def _sign(place: int) -> str:
    """Return 1 if the name is how Sage addresses the user, -1 if the user addresses Sage so, else 0."""
    by_user, by_sage = f"by_user{place}", f"by_sage{place}"
    return (
        f"CASE WHEN {by_sage} >= {ADDRESSED_TIMES} AND {by_sage} >= 3 * {by_user} THEN 1 "
        f"WHEN {by_user} >= {ADDRESSED_TIMES} AND {by_user} >= 3 * {by_sage} THEN -1 ELSE 0 END"
    )


def _score(place: int) -> str:
    number = f"(0.6079 / (1.001 - least(rank{place}, 0.98)) - 0.55)"
    norm = f"{K1} * ({1 - B} + {B} * length / mean)"
    return (
        f"CASE WHEN rank{place} > 0 THEN weight{place} * {number} * {K1 + 1} / ({number} + {norm}) ELSE 0 END"
    )
