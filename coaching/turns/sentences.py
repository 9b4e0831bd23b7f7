"""Where the sentences and the quotes of a streamed text begin and end."""

from collections.abc import Iterator

MAX_SENTENCE = 2_000
"""The characters of a sentence that are held, and of what came before it in its line."""
_QUOTES = {"“": "”", "„": "“”", "«": "»", "»": "«", '"': '"'}
_ENDS = ".!?…"


def quoted(text: str) -> Iterator[tuple[int, int]]:
    """Yield where quotes begin and end, with their marks; each stands within a line."""
    place = 0
    while place < len(text):
        end = _quote_end(text, place)
        if end:
            yield place, end
        place = end or place + 1


def _quote_end(text: str, start: int) -> int:
    """Return where the quote ends that begins at a place; 0 if none does."""
    closing = _QUOTES.get(text[start], "")
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    ends = (text.find(mark, start + 1, line_end) for mark in closing)
    return min((end + 1 for end in ends if end >= 0), default=0)


def sentence_before(line: str) -> str:
    """Return the beginning of the sentence in which a line breaks off."""
    start = place = 0
    while place < len(line):
        quote = _quote_end(line, place)
        if not quote and _is_end(line, place):
            start = place + 1
        place = quote or place + 1
    return line[start:]


def sentence_end(text: str, start: int, *, is_closed: bool) -> int:
    """Return where the sentence ends that goes on at a place; 0 if that isn't known yet."""
    place = start
    while place < len(text):
        if text[place] == "\n" or place - start > MAX_SENTENCE:
            return place
        quote = _quote_end(text, place)
        if not quote and _is_end(text, place):
            return place + 1
        place = quote or place + 1
    return len(text) if is_closed else 0


def _is_end(text: str, place: int) -> bool:
    """Return whether a sentence ends with a character.

    A space follows then, and no citation, digit or small letter: what stands before a citation belongs to it.
    """
    if text[place] not in _ENDS:
        return False
    following = text[place + 1 : place + 3]
    is_new = following[1:] != "" and following[1] not in "[(" and not following[1].isdigit()
    return following[:1] == " " and is_new and not following[1].islower()
