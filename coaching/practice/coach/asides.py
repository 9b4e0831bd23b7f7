"""What the tour says to words that are no answer, before it asks again; and to questions about itself."""

from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip, files_in_words, join_words
from coaching.practice.coach.hearing import Heard, is_about
from coaching.practice.coach.replay import State, changeable
from coaching.practice.coach.sense import sense
from coaching.practice.coach.tables import Slot


def fresh(sentences: Sequence[str], conversation: Conversation) -> str:
    """Return the first of the sentences that wasn't said in this conversation; nothing if all were."""
    return next((each for each in sentences if each not in conversation.spoken), "")


def pick(sentences: Sequence[str], conversation: Conversation) -> str:
    """Return one of the sentences: a new one if there is any, else another than the last."""
    said = fresh(sentences, conversation)
    return said or sentences[len(conversation.exchanges) % len(sentences)]


def about_tour(words: str) -> str:
    """Return the name of the question about the tour that words ask, or nothing."""
    topic = sense(words).topic
    return topic if topic in texts.questions() else ""


def answer_question(conversation: Conversation, question: str, slot: Slot | None = None) -> str:
    """Answer a question; of those about a slot only what the slot's own text says."""
    plain = question
    if is_about("wrote", plain):
        names = files_in_words(call.path for call in conversation.calls if call.path)
        return texts.said("wrote", files=join_words(names)) if names else texts.said("wrote_nothing")
    if is_about("in_play", plain) and (slot is None or "skill" in plain.lower()):
        names = [name.replace("-", " ") for name in conversation.skills]
        return texts.said("in_play", skills=join_words(names)) if names else texts.said("not_in_play")
    if about := about_tour(plain):
        return pick(texts.questions()[about], conversation)
    if is_about("advice", plain):
        return pick(texts.reactions("advice"), conversation)
    if slot is None:
        return pick(texts.reactions("unanswerable"), conversation)
    is_about_slot = is_about("about_slot", plain)
    own = texts.said("own_question", why=slot.why)
    return slot.why if is_about_slot else f"{texts.reactions('unanswerable')[0]} {own}"


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
        case "choice" if newest and texts.stands_in("change", newest.question):
            return pick(texts.reactions("again"), conversation)
        case "continue" if newest and texts.stands_in("safe", newest.question):
            return texts.said("safe_now")
        case "hello":
            return "" if not state.was_asked else texts.reactions("hello")[0]
        case "answer" | "choice" | "pulse" | "no" | "leave" | "pause" | "menu" | "recall" | "danger":
            return ""
        case _:
            return pick(texts.reactions(heard.kind) or [""], conversation)


def in_both_languages(heard: Heard) -> str:
    """Say in the tour's language, and in the person's if it is one of a handful, what the tour reads."""
    own = texts.FOREIGN.get(heard.language)
    return "\n\n".join([*([own] if own else []), texts.said("english_only")])


def _check_slot(state: State) -> Slot:
    changed = changeable(state)
    example = changed[-1].name if changed else "it"
    return Slot(name="", label="", question="", why=texts.said("check_why", example=example))


def _confirm(state: State, heard: Heard) -> str:
    if state.which is not None:
        return ""
    if not heard.words or not heard.about:
        return texts.reactions("lost" if heard.words else "again")[0]
    return texts.said("corrected", label=state.walk.slot(heard.about).label, words=clip(heard.words, 200))
