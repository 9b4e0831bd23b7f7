"""Who sends a request, before anything queries the database: by the session's cookie, or by address."""

from hashlib import sha256
from ipaddress import IPv4Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest, parse_cookie

from coaching.people.in_flight import signed_in_browsers


def uploader_of(cookies: str) -> str | None:
    """Return who sends a request with this `Cookie` header; None for a browser that isn't known."""
    browser = _digest_of(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    person = signed_in_browsers.person_of(browser)
    return None if person is None else f"person {person}"


def browser_of(request: HttpRequest) -> str:
    """Return a digest of the session cookie, or an empty string without one."""
    return _digest_of(request.COOKIES.get(settings.SESSION_COOKIE_NAME))


def _digest_of(cookie: str | None) -> str:
    return sha256(cookie.encode()).hexdigest() if cookie else ""


def address_of(request: HttpRequest) -> str:
    """Return the address that a request comes from."""
    return client_address(
        request.META.get("HTTP_X_FORWARDED_FOR", ""), str(request.META.get("REMOTE_ADDR", ""))
    )


def client_address(forwarded: str, peer: str) -> str:
    """Return the client's address: the last one that a proxy before us added (`forwarded`), or the peer's.

    `REMOTE_ADDR` would be the first one, which a client can forge. For IPv6 it is the /64 network: a host
    usually has all of its addresses.
    """
    text = (forwarded.rpartition(",")[2].strip() if settings.IS_BEHIND_HTTPS else "") or peer
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if isinstance(address, IPv4Address) or address.ipv4_mapped:
        return text
    return str(IPv6Network((address, 64), strict=False))
