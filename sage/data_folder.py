"""The private data folder with the secrets that Sage generates. Settings import it: starts nothing."""

import errno
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sage.env import SettingError
from sage.env_values import is_vapid_key

SECRET = "secret_key"  # noqa: S105 - the name of a file
NEXT_SECRET = "secret_key.next"  # noqa: S105


def open_data_folder(folder: Path) -> None:
    """Create the data folder, readable by its owner only. Raises `SettingError`."""
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise SettingError(_unusable(folder, error)) from None
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise SettingError(_unusable(folder, PermissionError(errno.EACCES, "no permission to write")))


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
        raise SettingError(_unusable(path, error)) from None
    try:
        _store_secret(path, make())
        return _read_secret(path)
    except OSError as error:
        raise SettingError(_unusable(path, error)) from None


def next_secrets(folder: Path) -> list[str]:
    """Return the secret key that a restore has prepared and not put into place yet, if there is one."""
    try:
        return [_read_secret(folder / NEXT_SECRET)]
    except FileNotFoundError:
        return []


def make_next_secret(folder: Path) -> str:
    """Return the secret key that `use_next_secret` will put into place, made on first use."""
    return read_or_make_secret(folder / NEXT_SECRET)


def keep_secret(folder: Path, name: str) -> None:
    """Give the present secret key a second name, under which it stays when it is replaced."""
    (folder / name).unlink(missing_ok=True)
    (folder / name).hardlink_to(folder / SECRET)


def use_next_secret(folder: Path) -> None:
    """Replace the secret key: all that the former one signed is void from the next start on."""
    with suppress(FileNotFoundError):  # another process was faster
        (folder / NEXT_SECRET).replace(folder / SECRET)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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


def advice(error: OSError) -> str:
    """Return what to do about a data folder that can't be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space on its disk, or set SAGE_DATA_DIR to a folder on another one."
    return "set SAGE_DATA_DIR to a folder that this user can write."


def _unusable(path: Path, error: OSError) -> str:
    return f"{path} can't be used ({error.strerror}): {advice(error)}"
