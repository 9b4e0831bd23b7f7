"""Which addresses are public. Pure: the caller checks the exact address that it connects to."""

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

from django.utils.translation import gettext_noop
from yarl import URL

from sessions_app.errors import Refused

MAX_CHARACTERS = 2_000
WEB_PORTS = (80, 443)
_SCHEMES = {"http": "http", "https": "https", "webcal": "https", "webcals": "https"}

# IANA's registries of special-purpose addresses, and multicast. In IPv6 only the range for global use is
# public, so mapped IPv4, NAT64, local and link-local addresses need no entry.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    )
)  # fmt: skip
_PUBLIC_6 = IPv6Network("2000::/3")
# Tunnels to arbitrary IPv4 addresses, benchmarks, documentation.
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

NO_ADDRESS = gettext_noop("Enter the address of a calendar feed. It starts with https:// or webcal://.")
ODD_ADDRESS = gettext_noop("That isn’t a valid address. Copy it again from your calendar app.")
NOT_THE_WEB = gettext_noop("Use an address that starts with https://, http:// or webcal://.")
WITH_PASSWORD = gettext_noop(
    "The address can’t contain a username and password. Use the calendar’s private link instead."
)
UNENCRYPTED = gettext_noop(
    "The address redirects to an unencrypted one, which others could read. Use another link."
)


def is_public(address: str) -> bool:
    """Return whether an IP address is public. False for anything that isn't a plain address."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    return ip.scope_id is None and ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def checked_address(text: str) -> URL:
    """Validate an address that a person typed. Raises `Refused` with a message."""
    text = text.strip()
    if not text:
        raise Refused(NO_ADDRESS)
    if len(text) > MAX_CHARACTERS or not text.isprintable() or "\\" in text:
        raise Refused(ODD_ADDRESS)
    if "://" not in text and ":" not in text.partition("/")[0]:
        text = f"https://{text}"
    try:
        url = URL(text)
        return _checked(url)
    except ValueError:
        raise Refused(ODD_ADDRESS) from None


def checked_redirect(url: URL, location: str) -> URL:
    """Return the target of a redirect. Raises `Refused` if it may not be followed."""
    if len(location) > MAX_CHARACTERS or not location.isprintable():
        raise Refused(ODD_ADDRESS)
    try:
        target = _checked(url.join(URL(location)))
    except ValueError:
        raise Refused(ODD_ADDRESS) from None
    if url.scheme == "https" and target.scheme != "https":
        raise Refused(UNENCRYPTED)
    return target


def _checked(url: URL) -> URL:
    if url.scheme not in _SCHEMES:
        raise Refused(NOT_THE_WEB)
    if not url.raw_host:
        raise Refused(ODD_ADDRESS)
    if url.raw_user is not None or url.raw_password is not None:
        raise Refused(WITH_PASSWORD)
    url = url.with_scheme(_SCHEMES[url.scheme]).with_fragment(None)
    if len(str(url)) > MAX_CHARACTERS:
        raise Refused(ODD_ADDRESS)
    return url
