"""The query that reads what a conversation is shown of the library: a few rows, however large the library is.

For people without a library each of its parts is one look into an index.
"""

from sessions_app.queries import Query

MAX_ATTACHED = 40
READ_CHARACTERS = 4_000
"""Of the text of an attached document; no section shows more."""
MAX_NEWEST = 5
MAX_OF_CLIENT = 10

# What is never sent to the model isn't even counted, nor is what came of it. Archived clients count only in
# conversations about them. Documents are wide rows: only those that are shown are read whole, the others in
# an index (`document_headlines`).
_SQL = """
WITH scope AS MATERIALIZED (
    SELECT scope.client_id, scope.project_id FROM coaching_sessionscope AS scope
    JOIN coaching_client AS client ON client.id = scope.client_id AND client.user_id = %(user)s
    WHERE scope.session_id = %(session)s
), archived AS MATERIALIZED (
    SELECT id FROM coaching_client
    WHERE user_id = %(user)s AND status = 'archived' AND NOT EXISTS (SELECT FROM scope)
), documents AS MATERIALIZED (
    SELECT document.id, document.state, document.created_at,
        (EXISTS (SELECT FROM scope)
            AND document.project_id IS NOT DISTINCT FROM (SELECT project_id FROM scope)) AS is_of_project
    FROM coaching_document AS document
    WHERE document.user_id = %(user)s AND NOT document.is_withheld
        AND document.state NOT IN ('duplicate', 'refused', 'failed')
        AND (NOT EXISTS (SELECT FROM scope) OR document.client_id = (SELECT client_id FROM scope))
        AND document.client_id NOT IN (SELECT id FROM archived)
), newest AS MATERIALIZED (
    SELECT id FROM documents ORDER BY is_of_project DESC, created_at DESC, id DESC
    LIMIT CASE WHEN EXISTS (SELECT FROM scope) THEN %(of_client)s ELSE %(newest)s END
), actions AS MATERIALIZED (
    SELECT action.id FROM coaching_actionitem AS action
    WHERE action.user_id = %(user)s AND action.state = 'open'
        AND (NOT EXISTS (SELECT FROM scope) OR action.client_id = (SELECT client_id FROM scope))
        AND action.client_id NOT IN (SELECT id FROM archived)
        AND NOT EXISTS (
            SELECT FROM coaching_document AS source
            WHERE source.id = action.document_id AND source.is_withheld
        )
)
SELECT jsonb_build_object(
    'documents', (SELECT count(*) FROM documents),
    'in_review', (SELECT count(*) FROM documents WHERE state = 'review'),
    'actions', (SELECT count(*) FROM actions),
    'clients', (SELECT count(*) FROM coaching_client WHERE user_id = %(user)s AND status <> 'archived'),
    'scope', (
        SELECT jsonb_build_object(
            'client_id', client.id, 'client', client.name, 'client_type', client.client_type,
            'client_status', client.status, 'notes', left(client.notes, 500),
            'project_id', project.id, 'project', project.name, 'project_notes', left(project.notes, 500)
        )
        FROM scope JOIN coaching_client AS client ON client.id = scope.client_id
        LEFT JOIN coaching_project AS project ON project.id = scope.project_id
    ),
    'newest', (
        SELECT jsonb_agg(row ORDER BY row.created_at DESC, row.id DESC) FROM (
            SELECT document.id, document.name, document.file_type, document.state, document.created_at,
                client.name AS client, client.client_type
            FROM coaching_document AS document
            JOIN coaching_client AS client ON client.id = document.client_id
            WHERE document.id IN (SELECT id FROM newest)
        ) AS row
    ),
    'attached', (
        SELECT jsonb_agg(row) FROM (
            SELECT document.id, document.name, document.state, document.reason, document.file_type,
                document.summary, document.page_count, document.reading_note, document.is_withheld,
                document.content_type,
                length(stored.text) AS characters, left(stored.text, %(characters)s) AS head,
                EXISTS (
                    SELECT FROM coaching_documentimage AS image WHERE image.document_id = document.id
                ) AS has_image
            FROM coaching_document AS document
            LEFT JOIN coaching_documenttext AS stored ON stored.document_id = document.id
            WHERE document.session_id = %(session)s AND document.user_id = %(user)s
            ORDER BY document.id DESC LIMIT %(attached)s
        ) AS row
    ),
    'withheld', (SELECT jsonb_agg(id) FROM coaching_document WHERE user_id = %(user)s AND is_withheld)
)::text
WHERE EXISTS (SELECT FROM coaching_document WHERE user_id = %(user)s)
    OR EXISTS (SELECT FROM scope)
"""


def library_query(*, user_id: int, session_id: object) -> Query:
    """Return the query of one row of JSON text; no row where there is nothing to show."""
    return Query(
        _SQL,
        {
            "user": user_id,
            "session": session_id,
            "attached": MAX_ATTACHED,
            "characters": READ_CHARACTERS,
            "newest": MAX_NEWEST,
            "of_client": MAX_OF_CLIENT,
        },
    )
