"""What the tour says to words that are no answer, before it asks again; and to questions about itself."""

from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.acts import about_tour
from coaching.practice.coach.changing import steps_noted
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import clip, files_in_words, join_words
from coaching.practice.coach.hearing import Heard, is_about
from coaching.practice.coach.scenes import scene_in, wordings_for
from coaching.practice.coach.sense import sense
from coaching.practice.coach.state import State, changeable
from coaching.practice.coach.tables import Slot, name_to_change
from coaching.practice.coach.wordings import unsaid, without_question

_SILENT = frozenset(
    {
        "answer", "choice", "pulse", "no", "leave", "pause", "recall", "danger", "grief", "aside", "heavy",
        "rest",
    }
)  # fmt: skip
"""What is answered by the walk's next step, or was before (`beside.py`)."""


_OF_SLOT = frozenset({"again", "point"})
"""Questions about the tour that are about its own question, if it has just asked one."""


_FEW = 8
"""In more words than that people are mentioned by the way."""


def pick(sentences: Sequence[str], conversation: Conversation) -> str:
    """Return one of the sentences: a new one if there is any, else another than the last."""
    said = unsaid(conversation, sentences)
    return said or sentences[len(conversation.exchanges) % len(sentences)]


def answer_question(conversation: Conversation, question: str, slot: Slot | None = None) -> str:
    """Answer a question; of those about a slot only what the slot's own text says."""
    plain = question
    if is_about("wrote", plain):
        return say_written(conversation)
    if is_about("in_play", plain) and (slot is None or "skill" in plain.lower()):
        names = [name.replace("-", " ") for name in conversation.skills]
        return texts.said("in_play", skills=join_words(names)) if names else texts.said("not_in_play")
    about = about_tour(plain)
    if about and not (slot and slot.name and about in _OF_SLOT and is_about("about_slot", plain)):
        return pick(texts.questions()[about], conversation)
    if is_about("advice", plain):
        return pick(texts.reactions("advice"), conversation)
    if slot is None:
        return pick(texts.reactions("unanswerable"), conversation)
    is_about_slot = is_about("about_slot", plain)
    own = texts.said("own_question", why=slot.why)
    return slot.why if is_about_slot else f"{texts.reactions('unanswerable')[0]} {own}"


def say_able(conversation: Conversation, topic: str) -> str:
    """Say what the tour can do, if that wasn't said yet."""
    return unsaid(conversation, texts.questions().get(topic, ()))


def say_written(conversation: Conversation) -> str:
    """Say which files and steps were written in this conversation."""
    names = files_in_words(call.path for call in conversation.calls if call.path)
    steps = steps_noted(conversation)
    told = [texts.said("wrote", files=join_words(names))] if names else []
    told += [texts.said("wrote_steps", steps=join_words(steps))] if steps else []
    return " ".join(told) or texts.said("wrote_nothing")


def say_put(conversation: Conversation) -> str:
    """Say which steps were put on the list in this conversation, to who asks whether theirs was."""
    steps = steps_noted(conversation)
    return texts.said("put", steps=join_words(steps)) if steps else texts.said("put_nothing")


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
            return _acknowledge(conversation, state)
        case "declines":
            is_word = state.walk.slot(heard.about).kind == "words"
            return pick(texts.reactions("declines" if is_word else "declines_one"), conversation)
        case "correction":
            return _confirm(state, heard)
        case "choice" if newest and texts.stands_in("change", newest.question):
            return pick(texts.reactions("again"), conversation)
        case "continue" if newest and texts.stands_in("safe", newest.question):
            return texts.said("safe_now")
        case "hello":
            return "" if not state.was_asked else texts.reactions("hello")[0]
        case kind if kind in _SILENT:
            return ""
        case _:
            return _by_kind(conversation, heard)


def _by_kind(conversation: Conversation, heard: Heard) -> str:
    written = files_in_words(call.path for call in conversation.calls if call.path)
    if heard.kind == "refusal" and written:
        return texts.said("refused_late", files=join_words(written))
    name = "wish" if heard.kind == "menu" else heard.kind
    return pick(texts.reactions(name) or [""], conversation)


def in_both_languages(heard: Heard) -> str:
    """Say in the tour's language, and in the person's if it is one of a handful, what the tour reads."""
    own = texts.FOREIGN.get(heard.language)
    return "\n\n".join([*([own] if own else []), texts.said("english_only")])


def _check_slot(state: State) -> Slot:
    changed = changeable(state)
    example = name_to_change(changed[-1]) if changed else ""
    return Slot(name="", label="", question="", why=texts.said("check_why", example=example))


def _acknowledge(conversation: Conversation, state: State) -> str:
    """Say something to what an answer tells, without a question, as the walk's follows; else say it back."""
    words = state.given[state.last].words
    scene = scene_in(words)
    is_words = state.walk.slot(state.last).kind in {"words", "choice"}
    is_told = scene is not None and is_words and scene.weight >= (1 if len(words.split()) <= _FEW else 2)
    is_glad = scene.is_glad if scene else sense(words).act == "good" and sense(words).is_sure
    known = [] if scene or not is_glad else texts.answers("good")
    if is_told or (is_glad and is_words):
        known = [*known, *wordings_for(conversation, is_hard=not is_glad)]
    if told := unsaid(conversation, [each for each in map(without_question, known) if each]):
        return told
    noted = texts.reactions("noted")
    start, _, end = noted[len(conversation.exchanges) % len(noted)].partition("{words}")
    return f"{start}{clip(words.rstrip('.'), 160)}{end}"


def _confirm(state: State, heard: Heard) -> str:
    if state.which is not None:
        return ""
    if not heard.words or not heard.about:
        return texts.reactions("lost" if heard.words else "again")[0]
    return texts.said("corrected", label=state.walk.slot(heard.about).label, words=clip(heard.words, 200))
