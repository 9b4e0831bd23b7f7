"""Which character separates the fields of a table that is written as text."""

DELIMITERS = "\t;|,"
"""A comma comes last: in many languages it is part of numbers."""
MIN_LINES = 3
MAX_LINES = 50


def table_delimiter(text: str) -> str:
    """Return the delimiter if the beginning of a text is nothing but a table; empty for any other text.

    Sentences may have commas in every line: fields of a table don't begin with a blank, and between commas
    there are at least three.
    """
    lines = [line for line in text.split("\n")[:MAX_LINES] if line.strip()]
    if len(lines) < MIN_LINES:
        return ""
    for delimiter in DELIMITERS:
        counts = {_count(line, delimiter) for line in lines}
        least = 2 if delimiter == "," else 1
        is_prose = delimiter in ";," and any(f"{delimiter} " in _unquoted(line) for line in lines)
        if len(counts) == 1 and min(counts) >= least and not is_prose:
            return delimiter
    return ""


def likely_delimiter(text: str) -> str:
    """Return the delimiter of a text that is said to be a table: the one whose number a line varies least."""
    lines = [line for line in text.split("\n")[:MAX_LINES] if line.strip()]
    counts = {delimiter: [_count(line, delimiter) for line in lines] for delimiter in DELIMITERS}

    def share(delimiter: str) -> float:
        """Return the share of lines that have as many as most lines have."""
        found = counts[delimiter]
        usual = max(found, key=found.count, default=0)
        return found.count(usual) / len(found) if usual else 0

    best = max(DELIMITERS, key=share)
    if share(best):
        return best
    return max(DELIMITERS, key=lambda delimiter: (sum(counts[delimiter]), delimiter == ","))


def _count(line: str, delimiter: str) -> int:
    return _unquoted(line).count(delimiter)


def _unquoted(line: str) -> str:
    return "".join(line.split('"')[::2])
