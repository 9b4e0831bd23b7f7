"""What the tour says to words that are no answer, before it asks again; and to questions about itself."""

from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip, files_in_words, join_words
from coaching.practice.coach.hearing import Heard, is_about
from coaching.practice.coach.replay import State, changeable
from coaching.practice.coach.tables import Slot


def pick(sentences: Sequence[str], conversation: Conversation) -> str:
    """Return one of the sentences, in turn: never the same twice running."""
    return sentences[len(conversation.exchanges) % len(sentences)]


def answer_question(conversation: Conversation, question: str, slot: Slot | None = None) -> str:
    """Answer a question; of those about a slot only what the slot's own text says."""
    plain = question.replace("’", "'")
    if is_about("wrote", plain):
        names = files_in_words(call.path for call in conversation.calls if call.path)
        return texts.said("wrote", files=join_words(names)) if names else texts.said("wrote_nothing")
    if is_about("in_play", plain) and (slot is None or "skill" in plain.lower()):
        names = [name.replace("-", " ") for name in conversation.skills]
        return texts.said("in_play", skills=join_words(names)) if names else texts.said("not_in_play")
    if found := next((text for asked, text in texts.QUESTIONS.values() if asked.search(plain)), ""):
        return found
    if is_about("advice", plain):
        return texts.said("advice")
    if slot is None:
        return texts.said("unanswerable")
    is_about_slot = is_about("about_slot", plain)
    return slot.why if is_about_slot else f"{texts.said('unanswerable')} As to my own question: {slot.why}"


def react(conversation: Conversation, state: State, heard: Heard) -> str:
    """Return what to say to the newest words in a walk, before its next step."""
    slot = state.open_slot
    newest = conversation.newest
    said = newest.answer if newest else ""
    match heard.kind:
        case "question":
            return answer_question(conversation, said, slot or _check_slot(state))
        case "foreign":
            return in_both_languages(heard)
        case "answer" if state.last:
            return texts.said("noted", words=clip(state.given[state.last].words.rstrip("."), 160))
        case "correction":
            return _confirm(state, heard)
        case "choice" if texts.said("change") in (newest.question if newest else ""):
            return pick(texts.REACTIONS["again"], conversation)
        case "continue" if newest and texts.said("safe") in newest.question:
            return texts.said("safe_now")
        case "hello":
            return "" if not state.was_asked else texts.REACTIONS["hello"][0]
        case "answer" | "choice" | "pulse" | "no" | "leave" | "pause" | "menu" | "recall" | "danger":
            return ""
        case _:
            return pick(texts.REACTIONS.get(heard.kind, [""]), conversation)


def in_both_languages(heard: Heard) -> str:
    """Say in English, and in the person's language if it is one of a handful, that only English is read."""
    own = texts.LANGUAGES.get(heard.language)
    return "\n\n".join([*([own] if own else []), texts.said("english_only")])


def _check_slot(state: State) -> Slot:
    changed = changeable(state)
    example = changed[-1].name if changed else "it"
    return Slot(name="", label="", question="", why=texts.said("check_why", example=example))


def _confirm(state: State, heard: Heard) -> str:
    if state.which is not None:
        return ""
    if not heard.words or not heard.about:
        return texts.REACTIONS["lost" if heard.words else "again"][0]
    return texts.said("corrected", label=state.walk.slot(heard.about).label, words=clip(heard.words, 200))
