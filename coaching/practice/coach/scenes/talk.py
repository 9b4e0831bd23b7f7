"""The open conversation: greeting, listening, reflecting, asking, and offering to write it down."""

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import files_in_words
from coaching.practice.coach.listening import (
    Intent,
    domains_in,
    hear_intent,
    is_foreign,
    reflect,
    salient_words,
)
from coaching.practice.coach.quoting import count_fresh_words, has_words_to_save
from coaching.practice.coach.wording import (
    ACKNOWLEDGEMENTS,
    DOMAIN_QUESTIONS,
    FIRST_GREETINGS,
    FIRST_QUESTION,
    FOREIGN_REPLIES,
    GOODBYE_REPLIES,
    INTRODUCTION,
    OFFERS,
    OPEN_QUESTIONS,
    QUESTION_REPLIES,
    REFLECTION_OPENINGS,
    SHORT_ANSWER_REPLIES,
    THANKS_REPLIES,
    WORD_QUESTIONS,
    has_offered,
    join_words,
    offered_within,
    pick,
)
from coaching.practice.script import Reply, Text

_WORDS_BEFORE_OFFER = 2
_REPLIES_BETWEEN_OFFERS = 3


def say_goodbye(conversation: Conversation) -> Reply | None:
    """Say goodbye, and mention what was written."""
    if _intent(conversation) != "goodbye":
        return None
    parts = [pick(GOODBYE_REPLIES, conversation)]
    names = files_in_words(conversation.saved_paths)
    if names:
        parts.append(f"What we wrote is waiting for you in {join_words(names)}.")
    elif has_words_to_save(conversation) and "save_file" in conversation.tools:
        parts.append("Should you want today's words in a file, just say “write it down”.")
    return _say(*parts)


def greet(conversation: Conversation) -> Reply | None:
    """Open the first conversation: what the coach is, and a first question."""
    if conversation.position > 0:
        return None
    greeting = pick(FIRST_GREETINGS, conversation)
    if _intent(conversation) in {"hello", "unsure", "about", "continue", "thanks"}:
        return _say(greeting, INTRODUCTION, FIRST_QUESTION)
    if is_foreign(conversation.newest):
        return _say(greeting, INTRODUCTION, FOREIGN_REPLIES[0])
    heard = reflect(conversation.newest) or _name_topics(conversation.newest)
    return _say(greeting, INTRODUCTION, heard, _next_question(conversation))


def answer_small_talk(conversation: Conversation) -> Reply | None:
    """Answer small talk: greetings, thanks, questions about the coach, a single word."""
    match _intent(conversation):
        case "hello":
            return _say("Hello again.", pick(OPEN_QUESTIONS, conversation))
        case "thanks":
            return _say(pick(THANKS_REPLIES, conversation))
        case "about":
            return _say(describe_coach(conversation), pick(OPEN_QUESTIONS, conversation))
        case "continue":
            return _say("Gladly.", _next_question(conversation))
        case "unsure":
            return _say(pick(SHORT_ANSWER_REPLIES, conversation))
        case _:
            return None


def listen(conversation: Conversation) -> Reply:
    """Reflect what was heard, then ask one thing, or offer to write it down."""
    text = conversation.newest
    if is_foreign(text):
        return _say(pick(FOREIGN_REPLIES, conversation))
    if text.rstrip().endswith("?") and not reflect(text):
        return _say(pick(QUESTION_REPLIES, conversation))
    acknowledgement = pick(ACKNOWLEDGEMENTS, conversation)
    heard = reflect(text)
    if heard:
        opening = pick(REFLECTION_OPENINGS, conversation)
        said_back = f"{opening} {heard[:1].lower()}{heard[1:]}"
    else:
        said_back = _name_topics(text)
    if _is_time_to_offer(conversation):
        return _say(acknowledgement, said_back, pick(OFFERS, conversation))
    return _say(f"{acknowledgement} {said_back}".strip(), _next_question(conversation))


def _intent(conversation: Conversation) -> Intent:
    return hear_intent(conversation.newest, was_offered=has_offered(conversation))


def _say(*parts: str) -> Reply:
    return Reply.of(Text("\n\n".join(part for part in parts if part)))


def _is_time_to_offer(conversation: Conversation) -> bool:
    return (
        "save_file" in conversation.tools
        and count_fresh_words(conversation) >= _WORDS_BEFORE_OFFER
        and not offered_within(conversation, _REPLIES_BETWEEN_OFFERS)
    )


def _next_question(conversation: Conversation) -> str:
    """Ask about the current life domain, otherwise about a salient word, otherwise an open question."""
    text = conversation.newest
    said = "\n".join(conversation.coach_texts)
    for name in domains_in(text):
        fresh = [question for question in DOMAIN_QUESTIONS[name] if question not in said]
        if fresh:
            return fresh[0]
    words = [word for word in salient_words(text, 3) if f"“{word}”" not in said]
    if words:
        return pick(WORD_QUESTIONS, conversation).format(word=words[0])
    return pick(OPEN_QUESTIONS, conversation)


def _name_topics(text: str) -> str:
    """Name the salient words if no sentence can be reflected."""
    words = [f"“{word}”" for word in salient_words(text, 2)]
    return f"I hear {join_words(words)} in that." if words else ""


def describe_coach(conversation: Conversation) -> str:
    """Describe the coach and what it can do here."""
    can_save = "save_file" in conversation.tools
    deed = " and write what you say into files that belong to you" if can_save else ""
    return (
        "I'm Sage's practice coach: an AI product's stand-in that follows a script, not a person "
        f"and not a real model. I can listen, ask{deed}. With an API key in the settings, a real "
        "model answers in my place."
    )
