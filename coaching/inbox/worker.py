"""Reads the headers of one mail: the module of the processes of `coaching.inbox.claims`.

A request's head is JSON: `{"server", "local", "domain"}`, its body the headers. The answer is a JSON
object: `{"tokens", "refusal", "sender", "message", "subject"}`, whose `refusal` is empty for a mail whose
server proved its sender. Doesn't import Django.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from coaching.inbox.authentication import proven_domain
from coaching.inbox.headers import Header, Unusual, headers_of, in_ascii, only, sender_of, tokens_in
from coaching.library.extractors.mime import text_of
from coaching.sandbox.preloading import load_codecs

MAX_TOKENS = 10
MAX_SUBJECT = 200
UNUSUAL, UNPROVEN = "unusual", "unproven"


def answer(head: bytes, data: bytes) -> bytes:
    asked = json.loads(head)
    found: dict[str, Any] = {"tokens": [], "refusal": UNUSUAL, "sender": "", "message": "", "subject": ""}
    try:
        headers = headers_of(data)
        tokens = tokens_in(headers, local=asked["local"], domain=asked["domain"])
        found["tokens"] = tokens[:MAX_TOKENS]
        found |= _claims(headers, asked["server"])
    except Unusual:
        pass
    return json.dumps(found).encode()


def _claims(headers: Sequence[Header], server: str) -> dict[str, str]:
    sender = sender_of(only(headers, "from"))
    topmost = next((value for name, value in headers if name == "authentication-results"), b"")
    domain = proven_domain(in_ascii(topmost), server=server)
    message = only(headers, "message-id")
    if not message:
        raise Unusual
    subject = next((value for name, value in headers if name == "subject"), b"")
    return {
        "refusal": "" if domain and sender.partition("@")[2] == domain else UNPROVEN,
        "sender": sender,
        "message": sha256(message.encode()).hexdigest(),
        "subject": text_of(subject).replace("\0", "")[:MAX_SUBJECT].encode("utf-8", "replace").decode(),
    }


load_codecs()
