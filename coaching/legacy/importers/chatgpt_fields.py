"""The fields of a ChatGPT export that Sage knows; an import lists the others as left behind."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from coaching.legacy.importers.chatgpt_left import PICTURE, SHOWN, SOUNDS, key_of
from coaching.legacy.importers.chatgpt_words import kind_of
from coaching.legacy.importers.left import LeftBehind
from coaching.legacy.importers.things import list_of, mapping_of, unknown_in, words

_OF_CONVERSATIONS = words(
    """
    async_status atlas_mode_enabled blocked_urls context_scopes conversation_id conversation_origin
    conversation_template_id create_time current_node default_model_slug disabled_tool_ids gizmo_id
    gizmo_type id is_archived is_do_not_remember is_read_only is_starred is_study_mode mapping
    memory_scope model_slug moderation_results owner pinned_time plugin_ids safe_urls sugar_item_id
    sugar_item_visible title update_time voice
    """
)
_OF_MESSAGES = words(
    """
    author channel content create_time end_turn id metadata recipient status update_time weight
    """
)
_OF_METADATA = words(
    """
    async_completion_id async_source async_task_conversation_id async_task_created_at async_task_id
    async_task_original_message_id async_task_type attachments can_save chime_version citations
    classifier_response client_reported_search_source content_references contextual_answers_message_type
    debug_sonic_thread_id deep_research_version default_model_slug developer_mode_connector_ids dictation
    disable_turn_actions exclusive_key filter_out_for_training finish_details finished_duration_sec
    generation_index gizmo_id hide_inline_actions image_gen_async image_gen_group_id
    image_gen_multi_stream image_gen_title is_async_task_result_message is_complete
    is_contextual_answers_supported is_contextual_answers_system_message is_error is_loading_message
    is_temporal_turn is_thinking_preamble_message is_user_system_message
    is_visually_hidden_from_conversation is_visually_hidden_reasoning_group lpe_delta_threshold
    lpe_keep_patch_ijhw message_locale message_source message_type model_slug model_switcher_deny
    n7jupd_message paragen_variant_choice paragen_variants_info parent_id permissions
    poll_freshness_max_mins poll_interval_ms poll_on_websocket_inactivity_ms pro_skipped
    real_time_audio_has_video reasoning_end_time reasoning_group_id reasoning_start_time
    reasoning_status rebase_developer_message rebase_system_message request_id requested_model_slug
    resolved_model_slug response_message_id retrieval_turn_number safe_urls search_result_groups
    search_source search_turns_count selected_sources serialization_metadata skip_reasoning_title
    sonic_classification_result source status stop_reason stream_topic_id suggested_connector_ids
    system_hints targeted_reply_source_message_id thinking_effort timestamp_ token_count
    triggered_by_system_hint_suggestion turn_exchange_id user_context_message_data voice_mode_message
    voice_session_id weight
    """
)
"""Of messages that are imported: what is read, and what says nothing to a person, such as ids, times and how
an answer was made. `safe_urls` are those of `content_references` once more."""
_NOT_SHOWN = words(
    """
    app_pairing_content code execution_output model_editable_context reasoning_recap sonic_webpage
    system_error tether_browsing_code tether_browsing_display tether_quote thoughts
    user_editable_context
    """
)
_KNOWN_PARTS = {PICTURE, "audio_transcription", *SOUNDS}
_MESSAGE = "[].mapping[].message"


def unknown_fields(conversation: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of fields and kinds that aren't known, but for those of metadata."""
    unknown = set(unknown_in(conversation, _OF_CONVERSATIONS, "[]"))
    for node in nodes:
        message = node["message"]
        unknown.update(unknown_in(message, _OF_MESSAGES, _MESSAGE), _unknown_kinds(message))
    return frozenset(unknown)


def unknown_metadata(nodes: Sequence[Mapping[str, Any]], taken: Collection[str]) -> Iterator[LeftBehind]:
    """Yield fields of the metadata of `taken` messages that aren't known, with their numbers of messages."""
    counts = Counter[str]()
    for node in nodes:
        if key_of(node) in taken:
            given = mapping_of(node["message"].get("metadata"))
            counts.update(key for key, value in given.items() if value and key not in _OF_METADATA)
    for name, count in counts.items():
        yield LeftBehind(kind="metadata", name=name, count=count)


def _unknown_kinds(message: Mapping[str, Any]) -> frozenset[str]:
    content = mapping_of(message.get("content"))
    where = f"{_MESSAGE}.content"
    if content and kind_of(content) not in SHOWN | _NOT_SHOWN:
        return frozenset({f"{where} of type {kind_of(content)[:40]}"})
    kinds = {kind_of(part) for part in list_of(content.get("parts")) if isinstance(part, Mapping)}
    return frozenset(f"{where}.parts of type {kind[:40]}" for kind in kinds - _KNOWN_PARTS)
