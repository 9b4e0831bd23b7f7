"""The part of the ranking that goes by meaning: passages whose vectors are close to the question's.

All of the user's vectors are compared, in a scan of their own. How close the closest are spreads to the
message before and after, and is added to the score by words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coaching.recall.encoder import Vector

COMPARED, CLOSEST = 500, 300
"""Of the closest, so many are looked up; and of those that may be found, so many count."""
WEIGHT = 1.5
AROUND = ((0, 1.0), (1, 0.2), (-1, 0.2))
SPEAKER = 1.0
IS_QUESTION = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A question's vector, and the key of the model that made it."""

    vector: Vector
    model: int

    def values(self) -> Mapping[str, Any]:
        """Return the values of the statement's parts."""
        return {
            "vector": as_text(self.vector),
            "model": self.model,
            "near_by": [by for by, _ in AROUND],
            "near_shares": [share for _, share in AROUND],
            "meaning_weight": WEIGHT,
            "compared": COMPARED,
            "closest": CLOSEST,
        }


def as_text(vector: Vector) -> str:
    """Return a vector as the extension reads it."""
    return f"[{','.join(map(str, vector))}]"


# Closeness is counted from the last of the closest, in standard deviations of all: so it is 0 for all others.
CLOSEST_SQL = """
near AS MATERIALIZED (
    SELECT passage_id, -(vector <#> %(vector)s::halfvec) AS cosine FROM coaching_recallvector
    WHERE user_id = %(user)s AND model = %(model)s {only_near}
), best AS MATERIALIZED (
    SELECT source, {kind} AS kind, session_id, file_id, number, part, piece, moment, cosine
    FROM (SELECT * FROM near ORDER BY cosine DESC LIMIT %(compared)s) AS nearest
    JOIN coaching_recallpassage AS passage ON passage.user_id = %(user)s AND passage.id = passage_id {only}
    ORDER BY cosine DESC LIMIT %(closest)s
), meant AS MATERIALIZED (
    SELECT DISTINCT ON (session_id, file_id, kind, number) best.*,
        (cosine - (SELECT min(cosine) FROM best)) / (SELECT nullif(stddev_pop(cosine), 0) FROM near)
            AS closeness
    FROM best ORDER BY session_id, file_id, kind, number, cosine DESC
),
"""
UNITS_SQL = """(
    SELECT source, kind, session_id, file_id, number, part, piece, moment, score FROM scored
    UNION ALL SELECT source, kind, session_id, file_id, number, part, piece, moment, 0 FROM meant
) AS found"""
SPREAD_SQL = """
    SELECT session_id, file_id, kind, number, score, closeness FROM (
        SELECT session_id, file_id, kind, number, sum(score) AS score, sum(closeness) AS closeness,
            row_number() OVER (ORDER BY sum(score) DESC) AS place,
            row_number() OVER (ORDER BY sum(closeness) DESC) AS close_place
        FROM (
            SELECT session_id, file_id, kind, number + around.by AS number,
                score * around.share AS score, 0::float8 AS closeness
            FROM units JOIN unnest(%(by)s::int[], %(shares)s::float8[]) AS around(by, share)
                ON around.by = 0 OR (number > 0 AND number + around.by > 0)
            WHERE score > 0
            UNION ALL
            SELECT session_id, file_id, kind, number + around.by, 0, coalesce(closeness, 0) * around.share
            FROM meant JOIN unnest(%(near_by)s::int[], %(near_shares)s::float8[]) AS around(by, share)
                ON around.by = 0 OR (number > 0 AND number + around.by > 0)
        ) AS each GROUP BY 1, 2, 3, 4
    ) AS placed WHERE place <= %(spread)s AND score > 0 OR close_place <= %(spread)s
"""
SCORE_SQL = """
    coalesce(score / (SELECT nullif(sqrt(greatest(0,
        sum(score ^ 2) / max(passages) - (sum(score) / max(passages)) ^ 2)), 0) FROM weighed, whole), 0)
    + %(meaning_weight)s * closeness
"""
