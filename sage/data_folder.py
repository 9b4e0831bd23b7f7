"""The private data folder with the secrets that Sage generates. Settings import it: starts nothing."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from sage.env import SettingError
from sage.env_values import is_vapid_key


def open_data_folder(folder: Path) -> None:
    """Create the data folder, readable by its owner only. Raises `SettingError`."""
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise SettingError(_unusable(folder, error.strerror)) from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise SettingError(_unusable(folder, "no permission to write"))


def make_secret() -> str:
    return secrets.token_urlsafe(48)


def make_vapid_key() -> str:
    """Return a new private key for web push."""
    while not is_vapid_key(key := secrets.token_urlsafe(32)):
        pass
    return key


def read_or_make_secret(path: Path, make: Callable[[], str] = make_secret) -> str:
    """Return the secret at `path`, generated on first use: the file appears complete or not at all."""
    try:
        return _read_secret(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SettingError(_unusable(path, error.strerror)) from None
    try:
        _store_secret(path, make())
        return _read_secret(path)
    except OSError as error:
        raise SettingError(_unusable(path, error.strerror)) from None


def _read_secret(path: Path) -> str:
    secret = path.read_text(encoding="utf-8").strip()
    if len(secret) < 32:
        raise SettingError(f"{path} holds no secret: delete the file and Sage makes a new one.")
    return secret


def _store_secret(path: Path, secret: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secret + "\n")
            file.flush()
            os.fsync(file.fileno())
        # `link` fails if another process has just created the file.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


def _unusable(path: Path, reason: str | None) -> str:
    return f"{path} can't be used ({reason}): set SAGE_DATA_DIR to a folder that this user can write."
