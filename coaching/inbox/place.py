"""The server, account and folder of mail that comes in, as `SAGE_INBOX_URL` names them."""

from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qs, unquote, urlsplit

PORT = 993
SHAPE = "must look like imaps://name%40host:password@host:993/INBOX."
TARGET = "Sage"
"""The folder that taken mails are moved to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPlace:
    """A mailbox. People send to `local+TOKEN@domain`. The password isn't shown by `repr`."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    folder: str
    local: str
    domain: str

    @property
    def digest(self) -> str:
        """The hash of what tells this folder from others."""
        return sha256("\0".join((self.host, self.user, self.folder)).encode()).hexdigest()

    def address_of(self, token: str) -> str:
        """Return the address that a token belongs to."""
        return f"{self.local}+{token}@{self.domain}"


def place_of(url: str) -> InboxPlace:
    """Return the place that a URL names. Raises `ValueError`, whose text doesn't repeat the URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
        asked = parse_qs(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        raise ValueError(SHAPE) from None
    if parts.scheme != "imaps":
        raise ValueError("must start with imaps://: Sage reads mail over TLS only.")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    folder = unquote(parts.path.removeprefix("/")) or "INBOX"
    if not (parts.hostname and user and password) or parts.fragment or asked.keys() - {"address"}:
        raise ValueError(SHAPE)
    # Servers separate the names of folders by a dot or a slash, and write other letters with an ampersand.
    is_target = folder.replace(".", "/").rpartition("/")[2].lower() == TARGET.lower()
    if not folder.isascii() or not folder.isprintable() or "&" in folder or is_target:
        raise ValueError(f"names a folder in printable ASCII, without &, other than {TARGET}.")
    if not (user + password).isprintable():
        raise ValueError(SHAPE)
    local, domain = _address(asked.get("address", [user])[-1])
    return InboxPlace(
        host=parts.hostname,
        port=port,
        user=user,
        password=password,
        folder=folder,
        local=local,
        domain=domain,
    )


def _address(text: str) -> tuple[str, str]:
    local, _, domain = text.lower().rpartition("@")
    plain = local.replace(".", "").replace("-", "").replace("_", "") + domain.replace(".", "").replace(
        "-", ""
    )
    if not local or "." not in domain or not (plain.isascii() and plain.isalnum()):
        raise ValueError(
            "needs the mailbox’s address, without a plus: as the name (sage%40sage.example), or as "
            "?address=sage@sage.example at its end."
        )
    return local, domain
