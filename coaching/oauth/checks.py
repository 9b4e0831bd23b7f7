"""What Sage requires beyond allauth's provider, before it is called.

allauth requires a code challenge of public clients only, and takes a plain one; it takes any resource; it
answers `prompt=none` from consents to any client; it allows redirects more parameters than were registered;
and it raises for texts that a database or a URL can't hold.
"""

import re

from django.http import QueryDict

from coaching.files.attributes import check_storable
from coaching.programs.clients import has_registered
from coaching.programs.redirects import Redirect
from sessions_app.errors import Refused

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
MAX_PARAMETER = 4_000
GRANTS = ("authorization_code", "refresh_token")


class WrongRequest(Exception):
    """A request that isn't passed on: an error of RFC 6749 or 8707, and a sentence for developers."""

    def __init__(self, error: str, sentence: str) -> None:
        self.error = error
        super().__init__(sentence)


def check_authorization(asked: QueryDict, *, resource: str) -> None:
    """Check what is asked of a person. Raises `WrongRequest`."""
    check_texts(asked)
    if "none" in asked.get("prompt", "").split():
        raise WrongRequest("consent_required", "Sage always asks the person: prompt=none isn't possible.")
    if asked.get("response_type") != "code":
        raise WrongRequest("unsupported_response_type", "response_type has to be code.")
    if asked.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(
        asked.get("code_challenge", "")
    ):
        raise WrongRequest("invalid_request", "Send a code_challenge with code_challenge_method=S256.")
    if asked.getlist("resource") != [resource]:
        raise WrongRequest("invalid_target", f"resource has to be {resource}.")
    try:
        redirect = Redirect(asked.get("redirect_uri", ""))
    except Refused as refusal:
        raise WrongRequest("invalid_request", str(refusal)) from refusal
    if not has_registered(asked.get("client_id", ""), redirect):
        raise WrongRequest("invalid_request", "No such program has registered this redirect_uri.")


def check_token_request(sent: QueryDict, *, resource: str, has_authorization: bool) -> None:
    """Check what is sent for a token. Raises `WrongRequest`."""
    check_texts(sent)
    if has_authorization or "client_secret" in sent:
        raise WrongRequest("invalid_client", "Programs here have no secret: send client_id alone.")
    if sent.get("grant_type") not in GRANTS:
        raise WrongRequest("unsupported_grant_type", f"grant_type has to be one of {', '.join(GRANTS)}.")
    if sent.getlist("resource") not in ([], [resource]):
        raise WrongRequest("invalid_target", f"resource has to be {resource}.")


def check_texts(sent: QueryDict) -> None:
    """Check that all parameters are text that can be stored, and short. Raises `WrongRequest`."""
    for name, values in sent.lists():
        for text in (name, *values):
            try:
                check_storable(text)
            except ValueError:
                raise WrongRequest(
                    "invalid_request", "A parameter holds a character that isn't text."
                ) from None
            if len(text) > MAX_PARAMETER:
                raise WrongRequest("invalid_request", f"A parameter has over {MAX_PARAMETER} characters.")
