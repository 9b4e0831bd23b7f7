"""What the metadata of imported sessions and messages says: its keys, and a condition by them."""

from django.db.models import F, Q

IMPORT_KEY = "import"
"""In a session's metadata: the import that made it."""
COMPLETED_KEY = "completed"
"""In a session's metadata: by the key of a later import, how many messages it completed."""
COMPLETED_BY_KEY = "completed_by"
"""In a message's metadata: the later import that completed it, or brought it as another answer."""
BROUGHT_BY_KEY = "brought_by"
"""In the metadata of another answer that was completed: the earlier import that brought it."""
SHORTER_KEY = "imported_shorter"
"""In a message's metadata: how it was before it was completed, as in `RecordedMessage.shorter`."""
ANSWERED_KEY = "answered"
"""In a session's metadata: by the key of a later import, how many other answers it brought."""
ORIGIN_KEY = "origin"
"""In a session's metadata: what its export says of where it was recorded."""
ORIGINS_KEY = "origins"
"""In a session's metadata: by the key of a later import, what that changed of `origin`, as it was before."""
TITLE_KEY = "title"
"""In a session's origin: its titles there that it doesn't have here."""
PROJECT_KEY = "project"
MODEL_KEY = "model"
"""In a session's origin: the models that answered, as far as is known."""
BRANCH_KEY = "branch_of"
"""In a session's origin: the imported id of the one of which it is another branch."""
CHOSEN_KEY = "chosen"
"""In a session's metadata: its user has chosen another answer, so it counts as used."""
NO_BRANCH = (
    Q(archived_at=None)
    | Q(**{f"metadata__{ORIGIN_KEY}__{BRANCH_KEY}__isnull": True})
    | Q(last_message_number__gt=F("imported_until"))
)
"""Sessions that aren't another branch, or were taken up here: branches stay behind what was shown."""
ADDED_KEY = "added"
"""In a session's metadata: by the key of a later import, the first and the last message that it appended."""
