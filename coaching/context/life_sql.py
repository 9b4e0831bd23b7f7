"""The statements that read a life, and how much each of them gives."""

from coaching.files.types import RULES
from coaching.models import FileType

READ_CHARACTERS = 24_000
NEWEST = {FileType.CHECK_IN: 3, FileType.DAILY_LOG: 7}
"""How many files of the types that are listed by date."""
WAITING_CAPTURES = 10
"""How many of the newest waiting captures."""

STANDING_TYPES = (
    FileType.SAGE_CONTEXT,
    FileType.OVERVIEW,
    FileType.LIFE_PLAN,
    FileType.WEEKLY_PLAN,
    FileType.SAGE_PATTERNS,
)


# Plain SQL, since the user waits for it before the first word: the ORM takes longer to compose these
# statements than the database to answer them. All are bound to one user.
# Names begin with the date; bounds inside the folder let one index give the newest in order.
_NEWEST = """
    UNION ALL (
        SELECT id, path, file_type, frontmatter, version_number FROM coaching_userfile
        WHERE user_id = %(user)s AND file_type = '{kind}' AND path >= '{place}/0' AND path <= '{place}/9999'
        ORDER BY path DESC LIMIT {limit}
    )"""
_LISTED = "".join(
    _NEWEST.format(kind=kind, place=RULES[kind].place, limit=limit) for kind, limit in NEWEST.items()
)
_WAITING = f"""
    UNION ALL (
        SELECT file.id, path, file_type, frontmatter, version_number FROM coaching_capture AS capture
        JOIN coaching_userfile AS file ON file.id = capture.file_id
        WHERE capture.user_id = %(user)s AND folded_on IS NULL AND put_away_at IS NULL
        ORDER BY captured_at DESC LIMIT {WAITING_CAPTURES}
    )"""  # noqa: S608
# Composed of our own literals only; every value is a parameter.
FILES_SQL = f"""
    SELECT file.path, file.file_type, file.frontmatter, file.version_number,
        length(version.content), left(version.content, %(characters)s)
    FROM (
        SELECT id, path, file_type, frontmatter, version_number FROM coaching_userfile
        WHERE user_id = %(user)s AND path = ANY(%(paths)s){_LISTED}{_WAITING}
    ) AS file JOIN coaching_userfileversion AS version
    ON version.file_id = file.id AND version.number = file.version_number
"""  # noqa: S608
PLANS_SQL = """
    SELECT date, intention, priorities, file_id FROM coaching_dayplan
    WHERE user_id = %(user)s AND date = ANY(%(days)s)
"""
CAPTURES_SQL = """
    SELECT count(*) FROM coaching_capture
    WHERE user_id = %(user)s AND folded_on IS NULL AND put_away_at IS NULL
"""
LAST_SESSION_SQL = """
    SELECT kind, last_active_at FROM sessions_app_session
    WHERE user_id = %(user)s AND id <> %(session)s AND last_message_number > 0
    ORDER BY last_active_at DESC LIMIT 1
"""
