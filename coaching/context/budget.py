"""How much of a prompt may be context: estimates, and what is shortened when there is too much.

The oldest and the longest texts are shortened first, each with a mark.
"""

import math
from collections.abc import Callable, Iterator, Sequence

PROMPT_TOKENS = 15_000
"""The limit for prompt, tools and context together (SPEC 3.6)."""
SPARE_TOKENS = 600

PROSE_CHARACTERS = 4.0
JSON_CHARACTERS = 3.4
"""Characters a token, measured with SmolLM2's tokenizer: 4.0 of the base skill; 3.8 of tool definitions as
JSON, 3.45 with the marks that a server adds when it renders them."""

MOST_TOKENS_A_CHARACTER = 2
"""One of four bytes in UTF-8 is estimated at 1.75 tokens."""

MARK_TOKENS = 40
_WHOLE_LINES = 0.8
_TAIL_SHARE = 0.35
"""Of what is kept of a long message: what it asks often stands at its end."""
MAX_QUOTED, SENTENCE_CHARACTERS = 3, 200
"""Of what is left out of a long message and matters."""


def count_tokens(text: str) -> int:
    """Estimate a prose text's tokens, rather too high than too low.

    Four characters of English are one token; characters with more bytes in UTF-8 take more tokens.
    """
    return _estimate(text, PROSE_CHARACTERS)


def is_short(text: str, tokens: int) -> bool:
    """Return whether a text takes at most so many tokens whatever its characters are; no text is counted."""
    return len(text) * MOST_TOKENS_A_CHARACTER <= tokens


def count_json_tokens(text: str) -> int:
    """Estimate the tokens of JSON, whose marks and names take more than prose does."""
    return _estimate(text, JSON_CHARACTERS)


def _estimate(text: str, characters_per_token: float) -> int:
    characters = len(text)
    more_bytes = 0 if text.isascii() else len(text.encode("utf-8", "replace")) - characters
    return math.ceil(characters / characters_per_token + more_bytes / 2)


def shorten(text: str, tokens: int, *, hint: str) -> str:
    """Return at most `tokens` of the text, from its beginning, with a mark of how much is left out."""
    whole = count_tokens(text)
    if whole <= tokens:
        return text
    kept = max(0, int(len(text) * max(0, tokens - MARK_TOKENS) / whole))
    head = text[:kept]
    line_end = head.rfind("\n")
    if line_end > kept * _WHOLE_LINES:
        head = head[:line_end]
    mark = f"[shortened: {len(text) - len(head):,} characters are left out{hint}]"
    return f"{head.rstrip()}\n{mark}" if head.strip() else mark


def shorten_middle(text: str, tokens: int, *, matters: Callable[[str], bool] | None = None) -> str:
    """Return at most `tokens` of the text, from its beginning and its end, with a mark between them.

    The mark quotes sentences that are left out and matter.
    """
    whole = count_tokens(text)
    if whole <= tokens:
        return text
    kept, tail = _ends_within(tokens, text, whole)
    quoted = ""
    if matters:
        between = text[max(0, kept - tail - SENTENCE_CHARACTERS) : len(text) - tail + SENTENCE_CHARACTERS]
        found = [each for each in _sentences_of(between) if matters(each)][:MAX_QUOTED]
        quoted = "".join(f" “{each}”" for each in found)
    if quoted:
        quoted = f", among them:{quoted}"
        kept, tail = _ends_within(tokens - count_tokens(quoted), text, whole)
    mark = f"[shortened: {len(text) - kept:,} characters of this message are left out here{quoted}]"
    return "\n".join(part for part in (text[: kept - tail], mark, text[len(text) - tail :]) if part)


def _ends_within(tokens: int, text: str, whole: int) -> tuple[int, int]:
    """Return how many characters of a text stay, and how many of them at its end."""
    kept = max(0, int(len(text) * max(0, tokens - MARK_TOKENS) / whole))
    return kept, int(kept * _TAIL_SHARE)


def _sentences_of(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for sentence in line.replace("! ", "!. ").replace("? ", "?. ").split(". "):
            for start in range(0, len(sentence), SENTENCE_CHARACTERS):
                yield sentence[start : start + SENTENCE_CHARACTERS].strip()


def fair_caps(sizes: Sequence[int], weights: Sequence[float], budget: int) -> Sequence[int]:
    """Return the most tokens that each text may take so that all together keep to the budget.

    Short texts stay whole; the long ones share the rest by weight. Each gets at least a mark, so the sum may
    exceed a small budget: the caller then leaves texts out.
    """
    if sum(sizes) <= budget:
        return sizes

    def caps(level: float) -> list[int]:
        return [
            min(size, max(MARK_TOKENS, int(level * weight)))
            for size, weight in zip(sizes, weights, strict=True)
        ]

    level = _largest(lambda level: sum(caps(level)) <= budget, upper=float(max(sizes) / min(weights)))
    return caps(level)


def _largest(fits: Callable[[float], bool], *, upper: float) -> float:
    lower = 0.0
    for _ in range(40):
        middle = (lower + upper) / 2
        lower, upper = (middle, upper) if fits(middle) else (lower, middle)
    return lower
