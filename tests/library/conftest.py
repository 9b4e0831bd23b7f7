"""The shipped references and placement rules, as values and in the database."""

import pytest

from coaching.library.references.current import References
from coaching.library.references.files import read_reference_files, sync_reference_files


@pytest.fixture(scope="session")
def shipped() -> References:
    """The references and rules as their files say."""
    files = read_reference_files()
    return References({text.file_type: text for text in files.references}, files.rules)


@pytest.fixture
def synced_references(transactional_db_or_db: None) -> None:
    """The shipped references and rules are in the database."""
    sync_reference_files()
