"""Does what a message asks for in words of its own (`asked_for`), or says where the person does it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.asked_for import (
    AskedFor,
    asked_for,
    asks_beside,
    fact_words,
    is_plain_fact,
    names_list,
    query_in,
)
from coaching.practice.coach.asking import has_just_asked, is_asking
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.direct import answer_to
from coaching.practice.coach.file_names import join_words
from coaching.practice.coach.hearing import is_about, wish_in
from coaching.practice.coach.library import recall
from coaching.practice.coach.noted import RESOLVE, open_steps_here, resolve, say_with_day, steps_noted
from coaching.practice.coach.own_words import found_here
from coaching.practice.coach.plans import CREATE, Plan, owed, promised, said_bare
from coaching.practice.coach.plans_requested import asked_plans, on_other_days
from coaching.practice.coach.sense import features_of, sense
from coaching.practice.coach.steps import note, open_steps, shared_words
from coaching.practice.coach.thread import go_on, thread
from coaching.practice.coach.walking import say
from coaching.practice.script import Reply, ToolUse

ARCS: Mapping[str, str] = {
    "day": "open_day", "close": "close_day", "life": "life_mapping", "checkin": "weekly_checkin",
    "decide": "decision",
}  # fmt: skip
"""What is asked for, and the walk that does it."""
_TO_TOUR = re.compile(
    r"\b(?:you|u|let['’]?s|we|us|help|me|someone|somebody|please|du|dich|dir|sie|ihnen|hilf\w*|uns|wir|mir|mich"
    r"|jemand\w*|bitte|te|tú|usted|me|ayud\w*|conmigo|contigo|nos|vamos|hacemos|cerramos|alguien"
    r"|hag\w+|por favor)\b"
    r"|\A\W*(?:plan|close|map|do|weekly|schließ|mach|plan\w*|zeichne|cierra|cerr\w+|planea\w*|dibuja)\b",
    re.IGNORECASE,
)
"""Who asks for an arc speaks to the tour; others only tell what is before them."""
_ASKS_QUESTIONS = re.compile(
    r"(?<!sin )(?<!ohne )(?<!no )(?<!without )"
    r"\b(?:ask\w*|questions?|interview|quiz|frage?|fragst|stell\w*|(?:gute|paar|deine|ihre)\w* fragen"
    r"|ausfragt?|pregunt\w*|entrev\w*)\b",
    re.IGNORECASE,
)
SAVE = "save_file"
_NAMES_ONE = re.compile(
    r"\bthe (?!last\b|first\b|only\b|other\b)\w+(?: \w+)? (?:one|step)\b"
    r"|\blo de(?:l| la| los)? \w+|\bdas mit \w+",
    re.IGNORECASE,
)
"""How words name one step of several: "the tax one"."""
_OF_SELF = re.compile(
    r"\b(?:i|i['’]\w+|im|my|me|we|our|ich|mir|mich|mein\w*|wir|unser\w*|yo|mi|mis|me|soy|tengo|nos|nuestr\w+)\b",
    re.IGNORECASE,
)
_REMOVES = re.compile(
    r"\W*(?:(?:ok|oh|ach|ah|ay|nein|no)\W+)*(?:forget|delete|remove|drop|scrap|cross"
    r"|vergiss|vergessen sie|lösch\w*|streich\w*|olvid\w+|borr\w+"
    r"|quita\w*|quite[ns]?l\w+|elimin\w+|tach\w+)\b",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:all|both|everything|alle|beide|alles|tod[oa]s|amb[oa]s|l[oa]s dos)\b", re.IGNORECASE)


def walk_asked_for(words: str) -> str:
    """Return the name of the walk that words ask for, or nothing."""
    asked = asked_for(words)
    is_meant = bool(asked and _TO_TOUR.search(asked[-1].said)) and plain_act(words) not in {"jot", "jotask"}
    return ARCS.get(asked[-1].topic, "") if is_meant else ""


def grant(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply that does what words ask for, or says how it's done; None for other words."""
    if reply := _answer_which(conversation, words):
        return reply
    asked = asked_for(words)
    if _strikes_named(conversation, words, asked):
        return _change(conversation, words, "strike")
    if not asked or not _is_meant(conversation, words, asked[-1]):
        return None
    match asked[-1].topic:
        case "step":
            return note_asked(conversation, asked, words)
        case "fact":
            return _note_fact(conversation, asked[-1])
        case "change" | "strike" | "done" as what:
            return _change(conversation, asked[-1].said, what)
        case topic if topic in ARCS:
            return None  # the tour begins it
        case _:
            return _tell(conversation, asked[-1])


def _is_meant(conversation: Conversation, words: str, asked: AskedFor) -> bool:
    """Return whether a request is no answer to the tour's question, and nothing that a pattern knows."""
    if names_list(words) or is_plain_fact(asked):
        return True
    if asked.topic == "questions" and (
        is_about("no_questions", words) or not _ASKS_QUESTIONS.search(asked.said)
    ):
        return False
    is_asked = is_asking(words) or "<imperative>" in features_of(words)
    return not plain_act(asked.said) and (is_asked or not has_just_asked(conversation))


def _strikes_named(conversation: Conversation, words: str, asked: Sequence[AskedFor]) -> bool:
    """Return whether words that ask to remove something name a step that was noted here."""
    is_removal = asked[-1].topic in {"forget", "strike"} if asked else sense(words).topic == "remove"
    steps = open_steps_here(conversation)
    is_named = _ALL.search(words) or any(shared_words(words, str(step["title"])) for step in steps)
    days = {day.isoformat() for _, day in days_in(words, today_in(conversation))}
    is_named = is_named or any(str(step.get("due_date")) in days for step in steps)
    return bool(steps and is_named and (is_removal or _REMOVES.match(words)))


def note_fact(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply that keeps what somebody plainly wants to have noted of themselves; None else."""
    asked = [] if wish_in(words) else asked_for(words)
    return _note_fact(conversation, asked[-1]) if asked and is_plain_fact(asked[-1]) else None


def _tell(conversation: Conversation, asked: AskedFor) -> Reply:
    """Answer a request that changes nothing."""
    match asked.topic:
        case "list":
            steps = join_words(steps_noted(conversation))
            return say(texts.said("wrote_steps", steps=steps) if steps else texts.said("list_empty"))
        case "search":
            query = query_in(asked.said)
            here = found_here(conversation, query) if query else ""
            return say(here or texts.said("recall_ask")) if here or not query else recall(conversation, query)
        case "questions":
            told = go_on(conversation, texts.said("asks_gladly"))
            mind = str(thread(texts.language())["mind"]["asks"][0])
            return say(told if told.endswith("?") else f"{told} {mind}")
        case "forget":
            return say(answer_to("remove", conversation))
        case _:
            return say(texts.said("left_alone"))


def _answer_which(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to who names the step that they meant, after the tour asked which; None else."""
    if not texts.stands_in("which_step", conversation.exchanges[-1].question):
        return None
    known = dict(_known_steps(conversation))
    wanted = asked_for(conversation.exchanges[-2].answer) if len(conversation.exchanges) > 1 else []
    what = wanted[-1].topic if wanted else "strike"
    return _change(conversation, words, what) if list(_named(conversation, words, known)) else None


def note_wanted(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply that notes the steps that words ask for; None for other words."""
    return note_asked(conversation, asked_for(words), words) if asks_beside(words) == "step" else None


def note_asked(conversation: Conversation, asked: Sequence[AskedFor], words: str) -> Reply | None:
    """Note the steps that sentences ask for; without words for one, say how one is named if it's plain."""
    plans = [plan for each in asked for plan in _plans(conversation, each)]
    plans += on_other_days(conversation, words) if plans else []
    is_plain = any(names_list(each.said) for each in asked)
    if not (plans or is_plain):
        return None
    if CREATE not in conversation.tools:
        return say(texts.said("step_impossible"))
    return note(conversation, plans) if plans else say(texts.said("step_example"))


def _plans(conversation: Conversation, asked: AskedFor) -> Sequence[Plan]:
    """Return the steps that a sentence asks for: by its own words, else the one in those before it."""
    if plans := asked_plans(conversation, asked):
        return plans
    earlier = [each.answer for each in conversation.exchanges[-2:-1] if not each.value]
    for words in filter(None, (asked.before, *earlier)):
        plan = promised(conversation, words) or owed(conversation, words, needs_day=False)
        if plan := plan or said_bare(conversation, words):
            return [plan]
    return []


def _note_fact(conversation: Conversation, asked: AskedFor) -> Reply | None:
    """Keep what somebody says of themselves; None for what is about nobody."""
    if not (is_plain_fact(asked) or _OF_SELF.search(asked.said)):
        return None
    if SAVE not in conversation.tools:
        return say(texts.said("note_impossible"))
    return Reply.of(ToolUse(SAVE, {"file_type": "capture", "content": fact_words(asked.said)}))


def _change(conversation: Conversation, said: str, what: str) -> Reply | None:
    """Move, drop or tick off the steps that words name; else say which there are, or where that is done."""
    known = dict(_known_steps(conversation))
    found = list(_named(conversation, said, known))
    if what == "change" and not (known or names_list(said)):
        return None  # it may be something else that they want to change
    if not found:
        return _say_which(conversation, known, what)
    if RESOLVE not in conversation.tools:
        return say(texts.questions()["list"][0])
    if what == "change":
        return _move(conversation, said, known[found[-1]])
    state = "done" if what == "done" else "dropped"
    calls = [resolve(each, state, said) for each in found]
    if state == "done":
        return Reply.of(*calls)
    title = join_words([str(known[each]["title"]) for each in found])
    return Reply.of(texts.said("step_drop_asks", title=title), *calls)


def _known_steps(conversation: Conversation) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the open steps by their ids: those that the request tells of, then those noted here."""
    for number, title in open_steps(conversation).items():
        yield int(number), {"id": int(number), "title": title}
    for step in open_steps_here(conversation):
        yield int(step["id"]), step


def _named(conversation: Conversation, said: str, known: Mapping[int, Mapping[str, Any]]) -> Iterator[int]:
    """Yield the steps that words name: by most of their words, by their day, as all, or the only one."""
    shared = {number: shared_words(said, str(step["title"])) for number, step in known.items()}
    most = max(shared.values(), default=0)
    if _ALL.search(said) or (len(known) == 1 and (most or not _NAMES_ONE.search(said))):
        yield from known
        return
    days = {day.isoformat() for _, day in days_in(said, today_in(conversation))}
    dated = [number for number, step in known.items() if str(step.get("due_date")) in days]
    yield from [number for number, count in shared.items() if count == most] if most else dated


def _say_which(conversation: Conversation, known: Mapping[int, Mapping[str, Any]], what: str) -> Reply:
    if not known:
        return say(texts.said("list_remove") if what == "strike" else texts.questions()["list"][0])
    steps = [say_with_day(conversation, "wrote_step", each) for each in known.values()]
    return say(texts.said("which_step", steps=join_words(steps)))


def _move(conversation: Conversation, said: str, step: Mapping[str, Any]) -> Reply:
    day = next((day.isoformat() for _, day in days_in(said, today_in(conversation))), "")
    if day and day != step.get("due_date"):
        return Reply.of(resolve(step["id"], "open", said, due_date=day))
    return say(say_with_day(conversation, "step_only_day", step))
