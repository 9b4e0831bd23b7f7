"""What the tour says in an arc to words that are no answer to its question; and what it finds again."""

from coaching.practice.coach import texts
from coaching.practice.coach.acts import about_tour, plain_act
from coaching.practice.coach.asides import pick
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.hearing import Heard, hear, is_about, search
from coaching.practice.coach.own_words import found_here, say_named, say_so_far
from coaching.practice.coach.scenes import names_situation
from coaching.practice.coach.steps import step_reply
from coaching.practice.coach.talk import talk
from coaching.practice.coach.walking import Walking, say
from coaching.practice.coach.wordings import without_question
from coaching.practice.script import Reply, ToolUse

_REST_EVERY = 3
"""In one of so many answers the tour says how an arc that rests goes on."""


def recall_in_walk(conversation: Conversation, walking: Walking, heard: Heard) -> Reply:
    """Return what was said of what they ask to remember in an arc."""
    told = say_named(conversation) or say_so_far(conversation)
    here = told or found_here(conversation, heard.words)
    if not here:
        return recall(conversation, heard.words)
    return say(here) if walking.state.rests else walking.go_on(here)


def answer_beside(conversation: Conversation, walking: Walking, heard: Heard) -> Reply:
    """Answer words that are no answer to an arc's question; ask it again only if the arc doesn't rest."""
    newest = conversation.exchanges[-1]
    if heard.about != "ratings" and heard.kind == "heavy" and (written := walking.keep()):
        return written
    is_step = heard.kind != "heavy" and not is_about("takes_leave", newest.answer)
    if is_step and (reply := step_reply(conversation, newest.answer)):
        return reply
    if heard.about == "ratings":
        declined = pick(texts.reactions("declines_one"), conversation)
        is_told = names_situation(newest.answer)
        return say(declined, talk(conversation, newest, hear(newest.answer)) if is_told else "")
    told = talk(conversation, newest, hear(newest.answer))
    told = without_question(told) or told
    if not walking.state.rests:
        return walking.go_on(told)
    recent = [each.question for each in conversation.exchanges[-_REST_EVERY:]]
    is_said = any(texts.stands_in(name, each) for name in ("rests", "rests_kept") for each in recent)
    is_early = any(file.is_early and heard.about in file.slots for file in walking.files)
    later = texts.said("kept_for_end") if heard.about and not (is_said or is_early) else ""
    return say(told, "" if is_said else texts.said("rests_kept" if heard.about else "rests"), later)


def recall(conversation: Conversation, query: str) -> Reply:
    """Search what was said in other conversations, where that is possible."""
    if "recall_context" not in conversation.tools:
        return say(texts.said("recall_impossible"))
    return Reply.of(ToolUse("recall_context", {"query": query[:500] or "the newest"}))


def remembered(conversation: Conversation, newest: Exchange, heard: Heard) -> Reply | None:
    """Return what was said of what they ask to remember: in this conversation, else by a search."""
    if texts.stands_in("recall_ask", newest.question) and heard.kind in {"answer", "recall"}:
        return recall(conversation, heard.words or newest.answer)
    if plain_act(newest.answer) == "remember":
        return None
    if heard.kind == "recall" and (told := say_named(conversation) or say_so_far(conversation)):
        return say(told)
    if heard.kind == "recall" and is_about("asks_fact", newest.answer):
        is_named = is_about("asks_name", newest.answer)
        here = "" if is_named else found_here(conversation, _fact_asked_for(newest.answer), has_all=True)
        return say(here or texts.said("not_told"))
    is_of_tour = about_tour(newest.answer) == "remember" and not is_about("of_words", newest.answer)
    is_asked = heard.kind == "recall" and heard.words
    is_more = any(mark in heard.words for mark in "?,")  # than a search could be for
    if not is_asked or is_more or is_about("my_name", newest.answer):
        return None
    if here := found_here(conversation, heard.words):
        return say(here)
    return None if is_of_tour else recall(conversation, heard.words)


def _fact_asked_for(words: str) -> str:
    """Return the part of a question that says what it is about: without "do you remember how long"."""
    found = search("asks_fact", words)
    return words[found.end() :] if found else words
