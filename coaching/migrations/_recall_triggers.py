"""The triggers that keep recall's index in the transaction of what they index."""

MESSAGES = """
CREATE TRIGGER coaching_recall_message_made AFTER INSERT ON sessions_app_message
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION coaching_recall_messages_made();
CREATE TRIGGER coaching_recall_message_changed AFTER UPDATE OF content, metadata, turn_id ON sessions_app_message
    FOR EACH ROW WHEN (
        OLD.content <> NEW.content OR OLD.turn_id <> NEW.turn_id
        OR OLD.metadata -> 'tool_calls' IS DISTINCT FROM NEW.metadata -> 'tool_calls'
        OR OLD.metadata -> 'is_hidden' IS DISTINCT FROM NEW.metadata -> 'is_hidden'
    ) EXECUTE FUNCTION coaching_recall_message_changed();
CREATE TRIGGER coaching_recall_message_dated AFTER UPDATE OF created_at ON sessions_app_message
    FOR EACH ROW WHEN (OLD.created_at <> NEW.created_at) EXECUTE FUNCTION coaching_recall_message_dated();
CREATE TRIGGER coaching_recall_message_gone AFTER DELETE ON sessions_app_message
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION coaching_recall_messages_gone();
CREATE TRIGGER coaching_recall_turn_moved AFTER UPDATE OF status, is_withdrawn ON sessions_app_turn
    FOR EACH ROW WHEN (
        OLD.status = 'running' AND NEW.status <> 'running' OR OLD.is_withdrawn <> NEW.is_withdrawn
    ) EXECUTE FUNCTION coaching_recall_turn_moved();
"""

SUMMARIES = """
CREATE TRIGGER coaching_recall_summary_made AFTER INSERT ON sessions_app_session
    FOR EACH ROW WHEN (NEW.summary <> '') EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_summary_changed AFTER UPDATE OF summary ON sessions_app_session
    FOR EACH ROW WHEN (OLD.summary <> NEW.summary) EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_summary_gone AFTER DELETE ON sessions_app_session
    FOR EACH ROW WHEN (OLD.summary <> '') EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_arcs_made AFTER INSERT ON sessions_app_session
    FOR EACH ROW WHEN (NEW.summary = '' AND NEW.metadata ? 'arcs')
    EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_arcs_changed AFTER UPDATE OF metadata ON sessions_app_session
    FOR EACH ROW WHEN (
        jsonb_path_query_array(OLD.metadata, '$.arcs[*].summary')
        <> jsonb_path_query_array(NEW.metadata, '$.arcs[*].summary')
    ) EXECUTE FUNCTION coaching_recall_summary_changed();
CREATE TRIGGER coaching_recall_arcs_gone AFTER DELETE ON sessions_app_session
    FOR EACH ROW WHEN (OLD.summary = '' AND OLD.metadata ? 'arcs')
    EXECUTE FUNCTION coaching_recall_summary_changed();
"""

BRIEFS = """
CREATE TRIGGER coaching_recall_brief_made AFTER INSERT OR DELETE ON sessions_app_sessionbrief
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_brief_changed();
CREATE TRIGGER coaching_recall_brief_changed AFTER UPDATE OF text, is_withdrawn ON sessions_app_sessionbrief
    FOR EACH ROW WHEN (OLD.text <> NEW.text OR OLD.is_withdrawn <> NEW.is_withdrawn)
    EXECUTE FUNCTION coaching_recall_brief_changed();
CREATE TRIGGER coaching_recall_brief_rewritten AFTER UPDATE OF corrected_text, corrected_at ON sessions_app_sessionbrief
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_brief_changed();
CREATE TRIGGER coaching_recall_brief_corrected AFTER INSERT OR UPDATE OR DELETE ON sessions_app_briefcorrection
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_brief_changed();
"""

FILES = """
CREATE TRIGGER coaching_recall_version_made AFTER INSERT ON coaching_userfileversion
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_version_made();
CREATE TRIGGER coaching_recall_file_deleted AFTER UPDATE OF deleted_at ON coaching_userfile
    FOR EACH ROW WHEN (OLD.deleted_at IS NULL <> (NEW.deleted_at IS NULL))
    EXECUTE FUNCTION coaching_recall_file_deleted();
CREATE TRIGGER coaching_recall_file_gone AFTER DELETE ON coaching_userfile
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_file_gone();
"""

DOCUMENTS = """
CREATE TRIGGER coaching_recall_document_made AFTER INSERT ON coaching_document
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_document_changed();
CREATE TRIGGER coaching_recall_document_changed
    AFTER UPDATE OF name, summary, key_facts, tags, file_type, state ON coaching_document
    FOR EACH ROW WHEN (
        OLD.name <> NEW.name OR OLD.summary <> NEW.summary OR OLD.key_facts <> NEW.key_facts OR OLD.tags <> NEW.tags
        OR OLD.file_type <> NEW.file_type OR (OLD.state = 'duplicate') <> (NEW.state = 'duplicate')
    ) EXECUTE FUNCTION coaching_recall_document_changed();
CREATE TRIGGER coaching_recall_document_withheld AFTER UPDATE OF is_withheld ON coaching_document
    FOR EACH ROW WHEN (OLD.is_withheld <> NEW.is_withheld) EXECUTE FUNCTION coaching_recall_document_withheld();
CREATE TRIGGER coaching_recall_document_gone AFTER DELETE ON coaching_document
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_document_gone();
CREATE TRIGGER coaching_recall_text_made AFTER INSERT OR DELETE ON coaching_documenttext
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_text_changed();
CREATE TRIGGER coaching_recall_text_changed AFTER UPDATE OF text, pages_read ON coaching_documenttext
    FOR EACH ROW WHEN (OLD.text <> NEW.text OR OLD.pages_read <> NEW.pages_read)
    EXECUTE FUNCTION coaching_recall_text_changed();
"""

KNOWLEDGE = """
CREATE TRIGGER coaching_recall_entry_changed AFTER INSERT OR UPDATE OR DELETE ON coaching_knowledgeentry
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_entry_changed();
"""

STEPS = """
CREATE TRIGGER coaching_recall_step_made AFTER INSERT OR DELETE ON coaching_actionitem
    FOR EACH ROW EXECUTE FUNCTION coaching_recall_step_changed();
CREATE TRIGGER coaching_recall_step_changed
    AFTER UPDATE OF title, description, quote, outcome, state, document_id ON coaching_actionitem
    FOR EACH ROW WHEN (
        OLD.title <> NEW.title OR OLD.description <> NEW.description OR OLD.quote <> NEW.quote
        OR OLD.outcome <> NEW.outcome OR OLD.state <> NEW.state OR OLD.document_id IS DISTINCT FROM NEW.document_id
    ) EXECUTE FUNCTION coaching_recall_step_changed();
"""

TRIGGERS = "\n".join([MESSAGES, SUMMARIES, BRIEFS, FILES, DOCUMENTS, KNOWLEDGE, STEPS])
