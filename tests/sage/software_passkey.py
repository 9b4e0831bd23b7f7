"""A passkey in software: answers what a browser's credential API would, without a browser."""

import hashlib
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

Options = dict[str, Any]
FLAG = AuthenticatorData.FLAG


class SoftwarePasskey:
    """One passkey for one site. Whether it checks the person is `verifies`."""

    def __init__(self, *, site: str = "testserver", verifies: bool = True) -> None:
        self._site = site
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._id = os.urandom(16)
        self._user = ""
        self._flags = FLAG.UP | FLAG.UV if verifies else FLAG.UP

    def register(self, options: Options) -> str:
        """Return the credential for options to create one."""
        asked = options["publicKey"]
        self._user = asked["user"]["id"]
        public = ES256.from_cryptography_key(self._key.public_key())  # type: ignore[no-untyped-call]  # fido2's
        credential = AttestedCredentialData.create(b"\0" * 16, self._id, public)
        data = AuthenticatorData.create(self._site_hash, self._flags | FLAG.AT, 0, credential)
        response = {
            "clientDataJSON": websafe_encode(self._client_data("webauthn.create", asked)),
            "attestationObject": websafe_encode(bytes(AttestationObject.create("none", data, {}))),
        }
        return self._credential(response, {"credProps": {"rk": True}})

    def sign(self, options: Options) -> str:
        """Return the credential for options to sign in."""
        client_data = self._client_data("webauthn.get", options["publicKey"])
        data = bytes(AuthenticatorData.create(self._site_hash, self._flags, 0))
        signature = self._key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": websafe_encode(client_data),
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(signature),
            "userHandle": self._user,
        }
        return self._credential(response, {})

    @property
    def _site_hash(self) -> bytes:
        return hashlib.sha256(self._site.encode()).digest()

    def _client_data(self, kind: str, asked: Options) -> bytes:
        data = {"type": kind, "challenge": asked["challenge"], "origin": f"https://{self._site}"}
        return json.dumps(data).encode()

    def _credential(self, response: dict[str, str], extensions: dict[str, Any]) -> str:
        encoded = websafe_encode(self._id)
        fields = {"id": encoded, "rawId": encoded, "type": "public-key", "response": response}
        return json.dumps(fields | {"clientExtensionResults": extensions})
