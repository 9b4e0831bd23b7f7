"""The public key of this server, with which browsers subscribe: only it can send to them then."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@lru_cache(maxsize=1)
def public_key(private_key: str) -> str:
    """Return the public key in URL-safe base64; empty if there is no private one."""
    if not private_key:
        return ""
    number = int.from_bytes(urlsafe_b64decode(f"{private_key}="))
    key = ec.derive_private_key(number, ec.SECP256R1()).public_key()
    return (
        urlsafe_b64encode(key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
        .decode()
        .rstrip("=")
    )
