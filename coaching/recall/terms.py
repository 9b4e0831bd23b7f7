"""The terms of a question: its words as the index stems them, in each language of the user's passages."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sessions_app.queries import Query, run_query

MAX_TERMS = 24
EXACT_WEIGHT = 0.3
FRAMING_WEIGHT = 0.3
_LONGEST_LEXEME = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of a question: the lexemes that it may be in a passage, any of which counts.

    `name` is the word where it may be one: written with a capital letter. `is_exact` terms are words as they
    were written: a passage that has one has its stem, too.
    """

    lexemes: tuple[str, ...]
    weight: float = 1.0
    name: str = ""
    is_exact: bool = False

    @property
    def query(self) -> str:
        """The lexemes as a `tsquery`, any of them."""
        return " | ".join(map(quoted, self.lexemes))


def quoted(lexeme: str) -> str:
    """Return a lexeme as text of a `tsquery`."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


_SQL = """
WITH asked AS (
    SELECT coaching_recall_language(%(text)s) AS language
), languages AS (
    SELECT language AS name FROM asked WHERE language <> 'simple'
    UNION SELECT 'english'
    UNION SELECT name FROM coaching_recalllanguage WHERE user_id = %(user)s
), words AS (
    SELECT word, positions[1] AS place FROM unnest(to_tsvector('simple', %(text)s)) AS found(word, positions)
)
SELECT word, ARRAY(
    SELECT DISTINCT stem FROM languages, unnest(ts_lexize((name || '_stem')::regdictionary, word)) AS stem
) AS stems, false AS is_pair, place
FROM words, asked
WHERE language = 'simple' OR ts_lexize((language || '_stem')::regdictionary, word) <> '{}'
UNION ALL
SELECT pair, ARRAY[pair], true, 0 FROM unnest(coaching_recall_pairs(%(text)s)) AS pair
ORDER BY place, word
"""


def read_terms(
    text: str, *, user_id: int, without: Collection[str] = (), framing: Collection[str] = ()
) -> Sequence[Term]:
    """Return the terms of a question, at most `MAX_TERMS`, without stop words and the words `without`.

    The words `framing` weigh less. A word that isn't its own stem is a second, lighter term: what was said in
    the same form ranks higher.
    """
    rows = run_query(Query(_SQL, {"text": text, "user": user_id}))
    capitalised = {word for word in text.split() if word[:1].isupper()}
    names = {word.strip(".,;:!?\"'’()").removesuffix("’s").removesuffix("'s").lower() for word in capitalised}
    terms: list[Term] = []
    exact: list[Term] = []
    has_pairs = any(is_pair for _, _, is_pair, _ in rows)
    for word, stems, is_pair, _ in rows:
        if word in without or len(word) > _LONGEST_LEXEME or (has_pairs and not is_pair and _is_run(word)):
            continue
        lexemes = tuple(sorted(stem for stem in stems if stem)) or (word,)
        if word in framing:
            terms.append(Term(lexemes=lexemes, weight=FRAMING_WEIGHT))
            continue
        terms.append(Term(lexemes=lexemes, name=word if word in names else ""))
        if word not in lexemes:
            exact.append(Term(lexemes=(word,), weight=EXACT_WEIGHT, is_exact=True))
    return [*terms[:MAX_TERMS], *exact[: MAX_TERMS // 2]]


def _is_run(word: str) -> bool:
    """Say whether a word is a run of a script without word breaks, which its pairs stand for."""
    return any(character >= "\u0e00" for character in word) and not word.isascii()
