"""The sentences of a text, and its first and last words. Knows no language: abbreviations may end one."""

import re
from collections.abc import Sequence

LEAST_WORDS = 4
"""A shorter sentence, such as a greeting, is taken together with its neighbour."""
_SENTENCE = re.compile(
    r"(?=[^\s.!?…。！？])(?:[^.!?…。！？\n]++|[.!?…](?![\s\"'”’»)\]]|\Z))*+[.!?…。！？]*+[\"'”’»)\]]*+"
)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    return [" ".join(found.split()) for found in _SENTENCE.findall(text)]


def first_words(text: str, *, characters: int) -> str:
    """Return the first sentence, with the next one if it is short; an ellipsis is the rest of a long one."""
    taken = _enough(sentences_of(text))
    return taken if len(taken) <= characters else f"{taken[: characters - 1].rsplit(' ', 1)[0]}…"


def last_words(text: str, *, characters: int) -> str:
    """Return the last sentence, with the one before it if it is short."""
    taken = _enough(sentences_of(text)[::-1], is_reversed=True)
    return taken if len(taken) <= characters else f"…{taken[1 - characters :].split(' ', 1)[-1]}"


def cut_words(text: str, *, words: int, characters: int) -> str:
    """Return a text's first whole sentences within so many words and characters."""
    kept: list[str] = []
    for sentence in sentences_of(text):
        longer = " ".join([*kept, sentence])
        if len(longer.split()) > words or len(longer) > characters:
            break
        kept.append(sentence)
    if kept:
        return " ".join(kept)
    cut = " ".join(text.split()[:words])[:characters]
    return f"{cut}…" if cut else ""


def _enough(sentences: Sequence[str], *, is_reversed: bool = False) -> str:
    taken: list[str] = []
    for sentence in sentences:
        taken.append(sentence)
        if len(" ".join(taken).split()) >= LEAST_WORDS:
            break
    return " ".join(taken[::-1] if is_reversed else taken)
