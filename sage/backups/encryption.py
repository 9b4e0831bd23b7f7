"""Encrypts an archive as a stream: chunks under AES-256-GCM, as in the STREAM construction.

The file begins with `MAGIC`, a salt and a value that tells a wrong key from damage. Each chunk's nonce holds
its number and whether it is the last, so a file that was cut, reordered or added to doesn't decrypt.
"""

import os
from hmac import compare_digest
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sage.backups.errors import ArchiveDamaged, BackupError

MAGIC = b"sage-backup-encrypted 1\n"
CHUNK_BYTES = 1 << 16
TAG_BYTES = 16
_SALT_BYTES = _CHECK_BYTES = 16
_KEY_BYTES = 32


class Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class EncryptingFile:
    """Encrypts what is written; `finish` writes the last chunk."""

    def __init__(self, file: Writable, key: bytes) -> None:
        salt = os.urandom(_SALT_BYTES)
        self._cipher, check = _derive(key, salt)
        self._file, self._pending, self._number = file, bytearray(), 0
        file.write(MAGIC + salt + check)

    def write(self, data: bytes, /) -> None:
        self._pending += data
        while len(self._pending) > CHUNK_BYTES:
            self._put(bytes(self._pending[:CHUNK_BYTES]), is_last=False)
            del self._pending[:CHUNK_BYTES]

    def finish(self) -> None:
        self._put(bytes(self._pending), is_last=True)

    def _put(self, chunk: bytes, *, is_last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, is_last=is_last), chunk, MAGIC))
        self._number += 1


class DecryptingFile:
    """Decrypts what `file` holds after `MAGIC`. Raises `BackupError` for another key."""

    def __init__(self, file: Readable, key: bytes) -> None:
        salt = file.read(_SALT_BYTES)
        self._cipher, check = _derive(key, salt)
        if not compare_digest(file.read(_CHECK_BYTES), check):
            raise BackupError("SAGE_BACKUP_KEY isn't the key of this archive, or its beginning is damaged.")
        self._file, self._plain, self._number = file, bytearray(), 0
        self._next = file.read(CHUNK_BYTES + TAG_BYTES)
        self._is_at_end = False

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes, fewer only at the end. Raises `ArchiveDamaged`."""
        while len(self._plain) < size and not self._is_at_end:
            self._decrypt_chunk()
        found = bytes(self._plain[:size])
        del self._plain[:size]
        return found

    def _decrypt_chunk(self) -> None:
        chunk, self._next = self._next, self._file.read(CHUNK_BYTES + TAG_BYTES)
        self._is_at_end = not self._next
        try:
            nonce = _nonce(self._number, is_last=self._is_at_end)
            self._plain += self._cipher.decrypt(nonce, chunk, MAGIC)
        except InvalidTag:
            raise ArchiveDamaged("The archive is damaged or cut short: it doesn't decrypt.") from None
        self._number += 1


def _derive(key: bytes, salt: bytes) -> tuple[AESGCM, bytes]:
    """Return the cipher of one file, whose salt is its own, and the value that shows the right key."""
    derived = HKDF(SHA256(), _KEY_BYTES + _CHECK_BYTES, salt, b"sage backup 1").derive(key)
    return AESGCM(derived[:_KEY_BYTES]), derived[_KEY_BYTES:]


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11) + bytes([is_last])
