"""Whether words are keys pressed at random."""

import re

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DRAWN_OUT = re.compile(r"(.)\1{3,}")
_RARE_PAIR = re.compile(r"(?=sd|df|fg|hj|jk|kl|dk|kj|jh|qw|tz|zx|xc|cv|vb|lk|fd|sj|dj|lj|gf|hg|jf|kf|vc|xz)")


def is_mash(plain: str) -> bool:
    """Return whether most words look like keys pressed at random."""
    words = [word.lower() for word in _WORD.findall(plain) if len(word) > 3 and not word.isdigit()]
    return bool(words) and 2 * sum(map(_is_odd, words)) >= len(words)


def _is_odd(word: str) -> bool:
    word = _DRAWN_OUT.sub(r"\1", word)
    is_spoken = re.search(r"[aeiouy]|[^a-z]", word) and len(word) > 1
    return not is_spoken or len(_RARE_PAIR.findall(word)) > 1
