"""Two approaches in an open conversation: weighing a choice, and noticing a pattern.

Each is a few questions, recognised by their wording; any other message leaves it. The approach's skill is
loaded silently if possible.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach.arc_files import ArcFile, preview, quotes
from coaching.practice.coach.arc_hearing import is_skip
from coaching.practice.coach.arc_talk import ArcTalk, say
from coaching.practice.coach.arc_wording import NODS, Question
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.file_names import file_in_words
from coaching.practice.coach.listening import domains_in, hear_intent, is_heavy, reflect, sentences_of
from coaching.practice.coach.offer_wording import (
    DECIDE_COST,
    DECIDE_FEAR,
    DECIDE_GUT,
    DECIDE_STEP,
    DECIDE_WHAT,
    DECIDED,
    LEFT_AS_IT_IS,
    NAMED_OPENINGS,
    PATTERN_KEEP,
    PATTERN_LOOKING,
    PATTERN_PROTECTS,
    PATTERN_SIGN,
    PATTERN_WHEN,
    PLAN_CONFIRM,
    PLAN_NEW,
    PLAN_TABLE,
    WRITTEN_BACK,
)
from coaching.practice.coach.scenes.skills import load_quietly
from coaching.practice.coach.story import Exchange, open_span, read_story
from coaching.practice.coach.wording import INTRODUCTION, OFFERS, is_said, pick
from coaching.practice.script import Note, Reply, ToolUse

_PLAN_PATH = "life-plan/current.md"
_DECIDING = re.compile(
    r"\bshould (?:i|we)\b[^.!]{0,300}\?|\b(?:can'?t|cannot|don'?t know how to) decide\b|\btorn between\b|"
    r"\b(?:whether|if) (?:i|we) should\b[^.!]{0,300}\?|\bhelp me (?:to )?decide\b",
    re.IGNORECASE,
)
_REPEATING = re.compile(
    r"\b(?:again and again|every (?:single )?time|keeps? happening|always (?:end|ends|ending) up|"
    r"same (?:thing|story) again|"
    r"(?:a|the|my) (?:old )?patterns?|third time|why (?:do|does|is) (?:i|it|this) always|"
    r"i always (?:do|say|give|fall|let))\b",
    re.IGNORECASE,
)
_DECISION = (DECIDE_WHAT, DECIDE_COST, DECIDE_FEAR, DECIDE_GUT, DECIDE_STEP)
_PATTERN = (PATTERN_WHEN, PATTERN_PROTECTS, PLAN_TABLE, PLAN_NEW, PLAN_CONFIRM, PATTERN_SIGN, PATTERN_KEEP)
_LEAVING_INTENTS = frozenset({"goodbye", "save", "about", "crisis"})
_MARKUP = re.compile(r"^[\s#>*“”-]+|[\s*“”]+$")


def weigh_choice(conversation: Conversation) -> Reply | None:
    """Help with a choice, question by question; the answer stays the user's."""
    talk = _open_talk(conversation)
    if not _is_going_on(talk, _DECISION, _DECIDING, "decision-helper"):
        return None
    if quiet := load_quietly(talk, "decision-helper"):
        return quiet
    open_questions = [q for q in _DECISION if not _is_asked(talk, q)]
    if not open_questions:
        last = talk.exchanges[-1]
        if not DECIDE_STEP.is_in(last.question):
            return None
        offer = pick(OFFERS, conversation) if "save_file" in conversation.tools else ""
        return say(reflect(last.answer), pick(DECIDED, conversation), offer)
    return talk.ask(open_questions[0], _introduce(conversation), _react(talk))


def look_at_pattern(conversation: Conversation) -> Reply | None:
    """Discuss a recurring pattern; if it contradicts the life plan, show both."""
    talk = _open_talk(conversation)
    if not _is_going_on(talk, _PATTERN, _REPEATING, "pattern-review"):
        return None
    if quiet := load_quietly(talk, "pattern-review"):
        return quiet
    for question in (PATTERN_WHEN, PATTERN_PROTECTS):
        if not _is_asked(talk, question):
            return talk.ask(question, _introduce(conversation), _react(talk))
    return _revise_plan(talk) or _keep_pattern(talk)


def _open_talk(conversation: Conversation) -> ArcTalk:
    story = read_story(conversation)
    return ArcTalk(conversation, story, open_span(story))


def _is_going_on(talk: ArcTalk, questions: Sequence[Question], cue: re.Pattern[str], name: str) -> bool:
    """Return whether the user's last words start an approach or answer its question.

    `name`: if the user has asked for it by name, their answer to that starts it.
    """
    if not talk.exchanges or talk.conversation.is_last_round:
        return False
    last = talk.exchanges[-1]
    calls = [call.outcome.name for call in talk.calls if call.position > last.position]
    if not set(calls) <= {"load_skill", "read_file", "save_file"} or is_heavy(last.answer):
        return False
    was_named = any(is_said(opening, last.question) for opening in NAMED_OPENINGS[name])
    if was_named or any(question.is_in(last.question) for question in questions):
        return last.is_tapped or hear_intent(last.answer, was_offered=False) not in _LEAVING_INTENTS
    was_walked = any(_is_asked(talk, question) for question in questions)
    return not was_walked and not last.is_tapped and bool(cue.search(last.answer.replace("’", "'")))


def _is_asked(talk: ArcTalk, question: Question) -> bool:
    return talk.times_asked(question) > 0


def _introduce(conversation: Conversation) -> str:
    return INTRODUCTION if conversation.position == 0 else ""


def _react(talk: ArcTalk) -> str:
    newest = talk.newest
    if newest is None or newest.is_tapped:
        return ""
    return reflect(newest.answer) or pick(NODS, talk.conversation)


def _revise_plan(talk: ArcTalk) -> Reply | None:
    """Discuss a plan that contradicts the pattern; None if there is none, or it is settled."""
    if not _is_asked(talk, PLAN_TABLE):
        return _lay_on_table(talk)
    answer, new = talk.answer_to(PLAN_TABLE), talk.words_for(PLAN_NEW)
    if answer is None or not _is_against_plan(answer):
        return None
    if not _is_asked(talk, PLAN_NEW):
        return talk.ask(PLAN_NEW)
    if not new:
        return say(pick(LEFT_AS_IT_IS, talk.conversation))
    if not _is_asked(talk, PLAN_CONFIRM):
        return talk.ask(PLAN_CONFIRM, word=preview(new))
    confirmed = talk.answer_to(PLAN_CONFIRM)
    if confirmed is None or not _is_yes(confirmed):
        return say(pick(LEFT_AS_IT_IS, talk.conversation))
    plan = ArcFile(
        file_type="life-plan",
        title="Where I want to go",
        sections=[
            ("Direction", quotes(new)),
            ("What made me change it", quotes(talk.words_for(PATTERN_PROTECTS))),
        ],
        attributes={"preview_line": preview(new)},
    )
    return talk.write(plan) or _say_written(talk)


def _lay_on_table(talk: ArcTalk) -> Reply | None:
    read = [
        c.outcome
        for c in talk.calls
        if c.outcome.name == "read_file" and c.outcome.input.get("path") == _PLAN_PATH
    ]
    if _is_asked(talk, PATTERN_SIGN) or _is_asked(talk, PATTERN_KEEP):
        return None
    if not read:
        if "read_file" not in talk.conversation.tools:
            return None
        return Reply.of(
            Note(pick(PATTERN_LOOKING, talk.conversation)), ToolUse("read_file", {"path": _PLAN_PATH})
        )
    line = "" if read[-1].is_error else _line_against(talk, read[-1].text)
    if not line:
        return None
    return load_quietly(talk, "life-plan-revision") or talk.ask(PLAN_TABLE, word=line)


def _line_against(talk: ArcTalk, plan: str) -> str:
    """Return the plan's line about the same domain as the pattern."""
    told = "\n".join(exchange.answer for exchange in talk.exchanges)
    names = set(domains_in(told))
    body = re.sub(r"\A\s*<file [^>]*>\s*(?:---\n.*?\n---\n)?", "", plan, flags=re.DOTALL).replace(
        "</file>", ""
    )
    lines = [
        _MARKUP.sub("", line)
        for line in body.splitlines()
        if line.strip() and not line.startswith(("#", "*"))
    ]
    sentences = [sentence for line in lines for sentence in sentences_of(line)]
    return next((preview(s) for s in sentences if names & set(domains_in(s))), "")


def _is_against_plan(answer: Exchange) -> bool:
    return answer.value == "plan" or (not answer.is_tapped and "no longer" in answer.answer.lower())


def _is_yes(answer: Exchange) -> bool:
    return (answer.value or hear_intent(answer.answer, was_offered=True)) == "yes"


def _keep_pattern(talk: ArcTalk) -> Reply | None:
    if not _is_asked(talk, PATTERN_SIGN):
        return talk.ask(PATTERN_SIGN, _react(talk))
    if "save_file" not in talk.conversation.tools and not _is_asked(talk, PATTERN_KEEP):
        return None
    if not _is_asked(talk, PATTERN_KEEP):
        return talk.ask(PATTERN_KEEP, _react(talk))
    keep = talk.answer_to(PATTERN_KEEP)
    if keep is None or not _is_yes(keep):
        return say(pick(LEFT_AS_IT_IS, talk.conversation))
    begun = next((e.answer for e in talk.exchanges if _REPEATING.search(e.answer)), "")
    told = talk.words_for(PATTERN_WHEN)
    page = ArcFile(
        file_type="sage-patterns",
        title="What comes back",
        sections=[
            ("What we saw", quotes(begun, told)),
            ("What it is for", quotes(talk.words_for(PATTERN_PROTECTS))),
            ("Its first sign, and when it stays away", quotes(talk.words_for(PATTERN_SIGN))),
        ],
        attributes={
            "domains_touched": list(domains_in(f"{begun}\n{told}")),
            "preview_line": preview(begun or told),
        },
        quotes_under="What we saw",
    )
    return talk.write(page) or _say_written(talk)


def _say_written(talk: ArcTalk) -> Reply:
    if not talk.saved_now or is_skip(talk.exchanges[-1].answer):
        return say(pick(LEFT_AS_IT_IS, talk.conversation))
    return say(pick(WRITTEN_BACK, talk.conversation).format(word=file_in_words(talk.saved_now[-1])))
