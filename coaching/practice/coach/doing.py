"""Does what is plainly requested of a tool, and says what came of it; or says where the person does it."""

from collections.abc import Mapping

from coaching.practice.coach import texts
from coaching.practice.coach.asides import say_put, say_written
from coaching.practice.coach.conversation import Call, Conversation
from coaching.practice.coach.days import say_today
from coaching.practice.coach.file_names import clip, reason_in_words
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.library import search_documents
from coaching.practice.coach.requested import requested, step_in
from coaching.practice.coach.steps import CREATE, RESOLVE, requested_steps, say_step
from coaching.practice.coach.walking import ask, say, with_lead
from coaching.practice.script import Reply, ToolUse

SAVE = "save_file"
_CAPTURE = "capture"


def do_requested(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to a request for a tool, or to a question about documents; None to other words."""
    if search := search_documents(conversation, words):
        return search
    if calls := requested_steps(conversation, words):
        return Reply.of(*calls)
    if is_about("did_put", words):
        return say(say_put(conversation))
    if step_in(words)[0]:
        return say(texts.said("step_impossible"))
    if note := requested("note", words):
        return _note(conversation, note)
    if requested("steps", words):
        return say(texts.questions()["list"][0])
    if requested("files", words):
        return say(texts.said("files_are"), say_written(conversation))
    if requested("how", words):
        return say(texts.said("how_to_ask"))
    if requested("able", words):
        menu = ask(conversation, texts.said("menu"), texts.choices("menu"))
        return with_lead(menu, texts.questions()["able"][0])
    return None


def _note(conversation: Conversation, words: str) -> Reply:
    if SAVE not in conversation.tools:
        return say(texts.said("note_impossible"))
    return Reply.of(ToolUse(SAVE, {"file_type": _CAPTURE, "content": words}))


def say_done(conversation: Conversation, done: Mapping[str, Call]) -> Reply | None:
    """Say what became of a step or a note, as the result tells; None if neither was requested."""
    steps = [call for call in conversation.part_calls if call.is_fresh and call.name in {CREATE, RESOLVE}]
    if steps:
        return say(*(say_step(conversation, step) for step in steps), say_today(conversation))
    saved = done.get(SAVE)
    if saved is None or saved.input.get("file_type") != _CAPTURE:
        return None
    if not saved.path:
        because = reason_in_words(str(saved.values.get("error") or saved.text))
        return say(texts.said("note_failed", because=because).rstrip())
    return say(texts.said("note_kept", words=clip(str(saved.input.get("content")), 240)))
