"""The folders that people and models name, as pages show them."""

from coaching.library.references.words import stored_folder, stored_folder_in_any_language
from coaching.library.rows.documents import documents_of


def folder_meant(
    *, user_id: int, client_id: int | None = None, name: str, is_any_language: bool = False
) -> str:
    """Return the stored name of a folder that is named as a page shows it.

    One that a person's documents are in comes before a shipped one whose translation has the same name.
    """
    stored = stored_folder_in_any_language(name) if is_any_language else stored_folder(name)
    if stored == name:
        return name
    own = documents_of(user_id=user_id, client_id=client_id, folder=name)
    return name if own.exists() else stored
