"""What a mail server says of a mail's sender in an Authentication-Results header (RFC 8601).

Only `dmarc=pass` with the domain that was checked counts. A header that can be read in two ways, or has two
such results, proves nothing. Imports only `headers`.
"""

from collections.abc import Iterator, Sequence

from coaching.inbox.headers import Unusual, domain_of

MAX_CHARACTERS = 16_000
MAX_COMMENT_DEPTH = 10

Part = Sequence[str]
"""The words between two semicolons. A quoted string is within one word, with its first quotation mark."""


def proven_domain(value: str, *, server: str) -> str:
    """Return the sender's domain that a server's DMARC check passed; empty if it says none.

    `value` is that of the topmost header. Raises `Unusual`.
    """
    if len(value) > MAX_CHARACTERS:
        raise Unusual
    first, *results = _parts(value)
    if not first or first[0].removeprefix('"').lower() != server.lower() or first[1:] not in ([], ["1"]):
        return ""
    dmarc = [part for part in results if _method(part) == "dmarc"]
    if len(dmarc) > 1:
        raise Unusual
    return _passed(dmarc[0]) if dmarc else ""


def _method(part: Part) -> str:
    """Return the name before the first `=`, without a version; empty for `none` and for nothing."""
    if not part or part == ["none"]:
        return ""
    name, is_result, _ = part[0].partition("=")
    name, _, version = name.lower().partition("/")
    is_name = bool(name) and name.replace("-", "").isalnum()
    if not is_result or not is_name or version not in ("", "1"):
        raise Unusual
    return name


def _passed(part: Part) -> str:
    if part[0].partition("=")[2].lower() != "pass":
        return ""
    froms = [word.partition("=")[2] for word in part[1:] if word.lower().startswith("header.from=")]
    if len(froms) != 1:
        raise Unusual
    return domain_of(froms[0].removeprefix('"'))


def _parts(value: str) -> list[list[str]]:
    """Split a value at its semicolons, and each part into words, without comments. Raises `Unusual`."""
    parts: list[list[str]] = [[]]
    word: list[str] = []
    for kind, text in _pieces(value):
        if kind == "text":
            word.append(text)
            continue
        if word:
            parts[-1].append("".join(word))
            word = []
        if kind == "end":
            parts.append([])
    if word:
        parts[-1].append("".join(word))
    return [_joined(words) for words in parts]


def _joined(words: list[str]) -> list[str]:
    """Join what stands on both sides of a lone `=`: `dmarc = pass`."""
    joined: list[str] = []
    for word in words:
        if joined and (word.startswith("=") or joined[-1].endswith("=")):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _pieces(value: str) -> Iterator[tuple[str, str]]:
    """Yield characters of words, quoted strings whole, spaces (also for comments) and ends of parts."""
    place = 0
    while place < len(value):
        character = value[place]
        if character == "(":
            place = _after_comment(value, place)
            yield "space", ""
        elif character == '"':
            text, place = _quoted(value, place)
            yield "text", f'"{text}'
        elif character in ")\\":
            raise Unusual
        else:
            kind = "space" if character in " \t" else "end" if character == ";" else "text"
            yield kind, character
            place += 1


def _after_comment(value: str, place: int) -> int:
    depth = 0
    while place < len(value):
        character = value[place]
        depth += (character == "(") - (character == ")")
        if depth > MAX_COMMENT_DEPTH:
            raise Unusual
        place += 1 + (character == "\\")
        if not depth:
            return place
    raise Unusual


def _quoted(value: str, place: int) -> tuple[str, int]:
    """Return a quoted string's text and the place after it."""
    text: list[str] = []
    place += 1
    while place < len(value):
        character = value[place]
        if character == '"':
            return "".join(text), place + 1
        if character == "\\":
            place += 1
        text.append(value[place : place + 1])
        place += 1
    raise Unusual
