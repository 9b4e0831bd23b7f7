"""Second factors and passkeys: allauth's behaviour where its settings aren't enough.

The secrets of authenticator apps and recovery codes are encrypted, so that a copy of the database doesn't
contain them. The key is derived from SECRET_KEY; SECRET_KEY_FALLBACKS are read, too.
"""

import base64
from collections.abc import Sequence

import structlog
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.contrib.auth.models import User
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from coaching.people.allauth_internals import new_totp_secret

logger = structlog.get_logger(__name__)

SALT = "sage.second_factor"
MAX_PASSKEYS = 20
ENCRYPTED = frozenset({"secret", "seed", "migrated_codes"})
"""What allauth encrypts of an authenticator's data."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Names things the way our pages do, and encrypts secrets."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("That code isn’t right. Check the latest one and try again."),
        "too_many_codes": _(
            "Too many attempts. Wait a few minutes, use a passkey, "
            "or sign in with a browser that you’ve used here before."
        ),
        "cannot_generate_recovery_codes": _("Set up an authenticator app or a passkey first."),
        "passkey_failed": _("That passkey didn’t work. Please try again."),
        "unknown_passkey": _("That passkey doesn’t belong to an account here. Try another way to sign in."),
        "too_many_passkeys": _("An account can have up to %s passkeys. Remove one first."),
    }

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return the secret, or one that fits no code if SECRET_KEY was lost."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            logger.error("second_factor_unreadable")
            return new_totp_secret()

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:  # noqa: A002 - allauth's name
        """Return a new passkey's name, which the person can change."""
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return gettext("Passkey") if number == 1 else gettext("Passkey %(number)s") % {"number": number}

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the site that passkeys are for: its host, shown as Sage."""
        entity: dict[str, str] = super().get_public_key_credential_rp_entity()
        return entity | {"name": "Sage"}


def second_factor_keys() -> list[str]:
    """Return the keys that secrets may be encrypted with, the current one first."""
    return [second_factor_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def second_factor_key(secret: str) -> str:
    """Return the key that SECRET_KEY stands for, which tells nothing about it."""
    digest = salted_hmac(SALT, "key", secret=secret, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).decode()


def encrypt_anew(former_keys: Sequence[str], key: str) -> int:
    """Encrypt all second factors with another key; return how many secrets no former key opens."""
    former, now, unreadable = _fernet([key, *former_keys]), Fernet(key), 0
    for authenticator in Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN):
        data = authenticator.data
        for name in ENCRYPTED.intersection(data):
            given = data[name] if isinstance(data[name], list) else [data[name]]
            try:
                secrets = [now.encrypt(former.decrypt(secret.encode())).decode() for secret in given]
            except InvalidToken:
                unreadable += 1
                continue
            data[name] = secrets if isinstance(data[name], list) else secrets[0]
        authenticator.save(update_fields=["data"])
    return unreadable


def _cipher() -> MultiFernet:
    return _fernet(second_factor_keys())


def _fernet(keys: Sequence[str]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
