"""The names of jobs and of their queues, and which of the due jobs runs first."""

from enum import IntEnum

SUMMARY_JOB = "summarise_session"
BRIEF_JOB = "write_brief"
TITLE_JOB = "write_title"
DOCUMENT_JOB = "read_document"
ANALYSIS_JOB = "analyse_document"
DOCUMENTS_JOB = "read_documents"
HEARING_JOB = "hear_document"
MAIL_REMINDER_JOB = "mail_reminder"
PUSH_REMINDER_JOB = "push_reminder"
IMPORT_JOB = "import_upload"
REFRESH_JOB = "refresh_calendar"
ENCODING_JOB = "encode_new_passages"
REMOVAL_JOB = "remove_person"
LETTER_JOB = "write_letter"
RECORDING_JOB = "transcribe_recording"

REMOVAL_QUEUE = "removals"
BULK_QUEUE = "bulk"
"""The queue of jobs that may be many and long: a worker always keeps a slot for the others."""
DOCUMENTS_QUEUE = "documents"
"""The queue of documents that nobody waits for in a conversation: a worker has slots for it alone."""
REMINDERS_QUEUE = "reminders"
"""The queue of reminders, which wait for servers of others: a worker has slots for it alone."""
INBOX_QUEUE = "inbox"
"""The queue of the job that reads incoming mail, for minutes if its server is slow."""
VOICE_QUEUE = "voice"
"""The queue of recordings, for whose words somebody waits: a worker has slots for it alone."""
HEARING_QUEUE = "recordings"
"""The queue of recordings in the library, each of which takes minutes: a worker has slots for it alone."""


class JobPriority(IntEnum):
    """Which of the due jobs runs first: the one with the highest priority."""

    REMOVAL = 40
    CHAT_UPLOAD = 30
    BRIEF = 20
    TITLE = 10
    ORDINARY = 0
    BULK = -10
    AFTERWARDS = -20
