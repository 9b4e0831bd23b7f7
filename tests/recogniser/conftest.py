"""A model file in the settings, and somebody who has agreed to it.

Without the extra, each module reports what it needs.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.models import Profile
from coaching.voice import recogniser
from coaching.voice.transcription import transcription_host
from tests.groups import ModuleWithoutGroup, is_installed
from tests.voice.conftest import disk_storage, fresh_limit, queue, send

__all__ = ["disk_storage", "fresh_limit", "queue", "send"]

HAS_WHISPER = is_installed("voice")
WORDS = "I called my mother."

if HAS_WHISPER:
    from tests.recogniser.speaking_model import write_model


class _ModuleWithoutWhisper(ModuleWithoutGroup):
    group = "voice"


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Don't import test modules whose packages are missing."""
    return None if HAS_WHISPER else _ModuleWithoutWhisper.from_parent(parent, path=module_path)


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that says `WORDS`, whatever it hears."""
    return write_model(tmp_path_factory.mktemp("model") / "ggml-test.bin", WORDS)


@pytest.fixture
def model(model_file: Path, settings: Settings) -> Iterator[Path]:
    """The model of this installation, whose processes have ended after the test."""
    settings.SAGE_TRANSCRIBE_URL = ""
    settings.SAGE_TRANSCRIBE_FILE = model_file
    yield model_file
    recogniser._host.close()


@pytest.fixture
def agreed(user: User, model: Path) -> User:
    """A person who has agreed that this server hears recordings."""
    Profile.unscoped.create(user=user, name="Ada", heard_by=transcription_host())
    return user
