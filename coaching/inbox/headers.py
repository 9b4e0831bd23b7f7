"""The headers of a mail that decide whose it is: lines, one sender, and words of recipients.

No pattern and no parser of the library: each function passes over its text once. Whatever could be read in
two ways raises `Unusual`; a mail that an ordinary program sends has none of it. Imports nothing of ours.
"""

from collections.abc import Iterator, Sequence

MAX_HEADERS = 500
MAX_ADDRESS = 254
MAX_SENDER = 2_000
_NAME = frozenset(range(33, 127)) - {ord(":")}
_ATOM = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~")
_LABEL = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_RECIPIENTS = frozenset({
    "delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "x-delivered-to", "to", "cc",
})  # fmt: skip
_BETWEEN_WORDS = str.maketrans(dict.fromkeys(' \t,;:<>()[]"\\', " "))

Header = tuple[str, bytes]
"""The name in small letters, and the value on one line."""


class Unusual(Exception):
    """The headers can be read in more than one way, or aren't what mail programs write."""


def headers_of(head: bytes) -> Sequence[Header]:
    """Return the headers in their order, unfolded. Raises `Unusual`."""
    found: list[tuple[str, list[bytes]]] = []
    for line in _lines(head):
        if line[:1] in (b" ", b"\t"):
            if not found:
                raise Unusual
            found[-1][1].append(line)
            continue
        name, colon, value = line.partition(b":")
        if not colon or not name or not _NAME.issuperset(name) or len(found) == MAX_HEADERS:
            raise Unusual
        found.append((name.decode("ascii").lower(), [value]))
    return [(name, b"".join(pieces).strip(b" \t")) for name, pieces in found]


def only(headers: Sequence[Header], name: str) -> str:
    """Return the value of the only header of a name, in ASCII. Raises `Unusual`."""
    values = [value for each, value in headers if each == name]
    if len(values) != 1:
        raise Unusual
    return in_ascii(values[0])


def in_ascii(value: bytes) -> str:
    """Return a value that has only printable ASCII, spaces and tabs. Raises `Unusual`."""
    if not all(32 <= byte < 127 or byte == 9 for byte in value):
        raise Unusual
    return value.decode("ascii")


def sender_of(value: str) -> str:
    """Return the one address of a From header, in small letters. Raises `Unusual`.

    The address stands alone, or in angle brackets after a name of words and quoted strings. Comments,
    groups, several addresses, and local parts in quotes are refused. Encoded words may stand in the name,
    which nothing reads.
    """
    if len(value) > MAX_SENDER:
        raise Unusual
    begins = _after_name(value)
    rest = value[begins:].strip(" \t")
    if rest.startswith("<"):
        if not rest.endswith(">"):
            raise Unusual
        return address_of(rest[1:-1])
    if value[:begins].strip(" \t"):
        raise Unusual
    return address_of(rest)


def address_of(text: str) -> str:
    """Return an address of plain words in small letters. Raises `Unusual`."""
    local, at, domain = text.partition("@")
    if not at or len(text) > MAX_ADDRESS or not all(_is_atom(word) for word in local.split(".")):
        raise Unusual
    return f"{local.lower()}@{domain_of(domain)}"


def domain_of(text: str) -> str:
    """Return a domain's name in small letters. Raises `Unusual`."""
    name = text.lower()
    labels = name.split(".")
    if len(labels) < 2 or not all(label and _LABEL.issuperset(label) for label in labels):
        raise Unusual
    return name


def tokens_in(headers: Sequence[Header], *, local: str, domain: str) -> Sequence[str]:
    """Return the different tokens of addresses `local+TOKEN@domain` in headers that name recipients."""
    begin, end = f"{local}+".lower(), f"@{domain}".lower()
    words = (word for name, value in headers if name in _RECIPIENTS for word in _words(value))
    room = len(begin) + len(end)
    found = (
        word[len(begin) : -len(end)]
        for word in words
        if len(word) > room and word.startswith(begin) and word.endswith(end)
    )
    return list(dict.fromkeys(found))


def _lines(head: bytes) -> Iterator[bytes]:
    """Yield the lines up to the empty one. Raises `Unusual` for NUL, and for half of a line's end."""
    for line in head.split(b"\r\n"):
        if not line:
            return
        if b"\r" in line or b"\n" in line or b"\0" in line:
            raise Unusual
        yield line


def _after_name(value: str) -> int:
    """Return where the address begins: at the first angle bracket, or at 0. Raises `Unusual`."""
    place, is_quoted = 0, False
    while place < len(value):
        character = value[place]
        if is_quoted:
            place += character == "\\"
            is_quoted = character != '"'
        elif character == "<":
            return place
        elif character == '"':
            is_quoted = True
        elif character == "@":
            if "<" in value[place:]:
                raise Unusual
        elif character not in " \t." and character not in _ATOM:
            raise Unusual
        place += 1
    if is_quoted:
        raise Unusual
    return 0


def _is_atom(word: str) -> bool:
    return bool(word) and _ATOM.issuperset(word)


def _words(value: bytes) -> Sequence[str]:
    return value.decode("ascii", "replace").translate(_BETWEEN_WORDS).lower().split()
