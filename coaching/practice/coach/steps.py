"""Next steps: the tour keeps what somebody promises, moves it, notes what was done, asks what became of it.

The server decides by the person's words whether a call writes at once or asks first, so what is said of a
step follows from its result.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.practice.coach import texts
from coaching.practice.coach.acts import asks_to_be_reminded
from coaching.practice.coach.conversation import Call, Conversation
from coaching.practice.coach.days import day_in_words, days_in, today_in
from coaching.practice.coach.hearing import is_about, one_line, search
from coaching.practice.coach.requested import requested, step_in
from coaching.practice.script import ToolUse

CREATE, RESOLVE = "create_action_item", "resolve_action_item"
LOOK_BACK = frozenset({"close_day", "weekly_checkin"})
"""The arcs that ask about a step that is due."""
_STEP = re.compile(r'<step id="(\d{1,12})"([^>\n]{0,240})>\n([^\n<]+)')
_DUE = re.compile(r"not asked about yet: ([\d, ]+)")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_CLAUSE = re.compile(r",\s+(?:and|but|then|und|aber|dann|y|pero|luego)\b|:\s", re.IGNORECASE)
_REASON = re.compile(
    r",\s+(?:i|i['’]\w+|we|it['’]?s|that['’]?s|because|since|which|so|ich|wir|das|weil|sonst|que|lo|la|es|así)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What is said of a promise after it, and so isn't in the step's title."""
_INVERTED = re.compile(r"\A(\w+) ich\b")
"""How German words go on after a day: "räume ich auf"."""
_LEAD = re.compile(
    r"\A\W*(?:(?:na gut|gut|ok|okay|also|well|right|vale|bueno|bien|dann|entonces)\b\W*)+", re.IGNORECASE
)
"""How a promise begins with words that say nothing of it."""
_ONLY_REFERS = re.compile(
    r"(?:do|try|start|give) (?:that|it|this)(?: a (?:go|try))?(?: from| then)?\W*\Z", re.IGNORECASE
)
"""How a promise refers to what was said before."""
_COULD = re.compile(
    r"\bi (?:could|can|might|want to) (?!try (?:it|that)|do (?:it|that))([\w' -]{3,60}?)\s*(?:[.,;!?]|\Z)",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\A\W*(?:to|that i (?:have to|need to|must)|dass ich|zu|que (?:tengo que|debo)|de)\s++"
    r"|(?<!\s)\s++(?:muss|soll(?:te)?|will)\W*+\Z",
    re.IGNORECASE,
)
"""What a requested step is said with, and what isn't in its title."""
_BEFORE_MARK = re.compile(r"(?<!\s),?\s++(?=[,;:.])")
_AND = re.compile(r",\s+(?:and|und|y)\s+(?:then |dann |luego )?", re.IGNORECASE)
_OF_LIST = re.compile(
    r"\b(?:your list|next step|deine[rn]? Liste|nächste[rn]? Schritt|tu lista|próximo paso)\b"
)
"""How the tour says what it does with a step that is said with a day."""
_WORD = re.compile(r"\w{3,}")
_MAX_WORDS = 300
_MAX_MOVING_WORDS = 12
_TOLD_HOW = 8
"""For so many messages they know it then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBack:
    """What a walk does about a step that is due: a question, a call, or what is said of it in the end."""

    question: str = ""
    call: ToolUse | None = None
    said: str = ""


def step_call(conversation: Conversation, words: str) -> ToolUse | None:
    """Return the call that notes what words say of a next step; None if they say nothing of one."""
    if len(words) > _MAX_WORDS:
        return None
    ways = (_done, _requested, _promised, _dropped, _moved)
    return next(filter(None, (way(conversation, words) for way in ways)), None)


def steps_noted(conversation: Conversation) -> Mapping[int, str]:
    """Return the open steps that were noted in this conversation, with their days, in words, by their ids."""
    noted: dict[int, str] = {}
    for call in conversation.calls:
        step = call.values.get("id")
        if call.name not in {CREATE, RESOLVE} or not isinstance(step, int) or not call.values.get("written"):
            continue
        noted.pop(step, None)
        if call.values.get("state") == "open":
            day = day_in_words(conversation, str(call.values.get("due_date", "")))
            title = str(call.values.get("title", ""))
            noted[step] = texts.said(
                "wrote_step", title=title, day=texts.said("step_day", day=day) if day else ""
            )
    return noted


def say_step(conversation: Conversation, call: Call) -> str:
    """Say what became of a step, as its result tells."""
    values = call.values
    if call.is_error or not values.get("written"):
        return texts.said("step_failed" if call.is_error else "step_not_kept")
    title, day = str(values.get("title", "")), day_in_words(conversation, str(values.get("due_date", "")))
    match values.get("state"):
        case "done" | "dropped" as state:
            return texts.said(f"step_{state}", title=title)
        case _ if call.name == RESOLVE and day:
            return texts.said("step_moved", title=title, day=day)
        case _:
            kept = texts.said("step_kept", title=title, day=texts.said("step_day", day=day) if day else "")
            is_asked = asks_to_be_reminded(conversation.exchanges[-1].answer)
            return f"{kept} {texts.said(_reminder(values))}" if is_asked else kept


def _reminder(values: Mapping[str, object]) -> str:
    """Return the name of what is said to who asks to be reminded of a step that was noted."""
    if not values.get("due_date"):
        return "step_no_day"
    return "step_reminded" if values.get("reminder") else "step_no_ring"


def look_back(conversation: Conversation, begins: int) -> LookBack | None:
    """Return what to do about the step that is due; None without one."""
    due = _DUE.search(conversation.section("steps_due"))
    steps = _open_steps(conversation)
    step = next((each for each in due[1].split(", ") if each in steps), "") if due else ""
    if not step or RESOLVE not in conversation.tools:
        return None
    answered = [each for each in conversation.exchanges if texts.stands_in("step_due", each.question)]
    if not answered or answered[-1].position <= begins:
        return LookBack(question=texts.said("step_due", title=steps[step][:100]))
    told = [
        each for each in conversation.calls if each.position > answered[-1].position and each.name == RESOLVE
    ]
    if told:
        return LookBack(said=say_step(conversation, told[-1]))
    answer, value = answered[-1].answer, answered[-1].value
    if value in ("done", "dropped") or (not value and is_about("done_step", answer)):
        return LookBack(call=_resolve(step, value or "done", answer))
    day = next(days_in(answer, today_in(conversation)), None) if not value else None
    if day:
        return LookBack(call=_resolve(step, "open", answer, due_date=day[1].isoformat()))
    return LookBack(said=texts.said("step_stays"))


def _resolve(step: str, state: str, quote: str, **more: str) -> ToolUse:
    return ToolUse(RESOLVE, {"id": int(step), "state": state, "quote": quote[:500], **more})


def _done(conversation: Conversation, words: str) -> ToolUse | None:
    if RESOLVE not in conversation.tools:
        return None
    for sentence in _SENTENCE.findall(words):
        if "?" in sentence or not is_about("done_step", sentence):
            continue
        for step, title in _open_steps(conversation).items():
            if _names(sentence, title):
                return _resolve(step, "done", sentence.strip())
    return None


def _promised(conversation: Conversation, words: str) -> ToolUse | None:
    """Return the call that keeps a promise which has a day."""
    today = today_in(conversation)
    said = _SENTENCE.findall(words) if CREATE in conversation.tools else []
    for sentence, clause in [(each, part) for each in said for part in _CLAUSE.split(each)]:
        quote = clause.strip(" .,;:-")
        found = search("promise", quote) or search("present", quote)
        day = next(days_in(quote, today), None)
        if not found or not day or is_about("no_promise", sentence):
            continue
        own = _without(next(filter(None, found.groups()), "") or quote, day[0])
        own = _meant(conversation, _LEAD.sub("", own).strip())
        if not own:
            continue
        title = one_line(_REASON.sub("", _INVERTED.sub(r"ich \1", own)), 90)
        due = {"due_date": day[1].isoformat()} if today else {}
        return ToolUse(CREATE, {"title": title, "quote": quote, **due})
    return None


def _without(words: str, day: str) -> str:
    """Return words without those for a day, and without a space before the mark that followed them."""
    return _BEFORE_MARK.sub("", words.replace(day, " "))


def _meant(conversation: Conversation, own: str) -> str:
    """Return what is promised; for "do that", what the person said before that they could do, or nothing."""
    if not _ONLY_REFERS.match(own):
        return own
    said = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    could = (_COULD.search(words) for words in reversed(said[-2:]))
    return next((found[1].strip() for found in could if found), "")


def requested_steps(conversation: Conversation, words: str) -> Sequence[ToolUse]:
    """Return the calls that note steps which words plainly request, each on a day if they name one.

    "First one is …" and "next: …" request one, too, once the tour has said how a step is noted.
    """
    if CREATE not in conversation.tools:
        return []
    wanted, said = step_in(words)
    if wanted:
        return [_as_requested(conversation, next(iter(_SENTENCE.findall(wanted)), wanted), said)]
    is_told_how = any(_OF_LIST.search(each.question) for each in conversation.exchanges[-_TOLD_HOW:])
    listed = requested("item", words) if is_told_how else ""
    first, *others = _AND.split(next(iter(_SENTENCE.findall(listed)), ""))
    parts = [first, *others] if all(len(each.split()) > 1 for each in others) else [listed]
    return [_as_requested(conversation, each, each) for each in parts if each.strip()]


def _as_requested(conversation: Conversation, wanted: str, said: str) -> ToolUse:
    today = today_in(conversation)
    day = next(days_in(said, today), None)
    title = one_line(_TO_DO.sub("", _without(wanted, day[0]) if day else wanted).strip(), 90)
    due = {"due_date": day[1].isoformat()} if day and today else {}
    return ToolUse(CREATE, {"title": title or one_line(wanted, 90), "quote": wanted.strip()[:500], **due})


def _requested(conversation: Conversation, words: str) -> ToolUse | None:
    return next(iter(requested_steps(conversation, words)), None)


def _dropped(conversation: Conversation, words: str) -> ToolUse | None:
    """Return the call that drops the step that was noted a moment ago."""
    last = next((call for call in reversed(conversation.calls) if call.name in {CREATE, RESOLVE}), None)
    is_noted = last is not None and has_just_noted(conversation, ago=2) and last.values.get("state") == "open"
    if last is None or not (is_noted and RESOLVE in conversation.tools and is_about("drops_step", words)):
        return None
    return _resolve(str(last.values["id"]), "dropped", words)


def has_just_noted(conversation: Conversation, *, ago: int = 1) -> bool:
    """Return whether a step was noted or proposed in one of the last `ago` answers."""
    earlier = conversation.exchanges[:-ago]
    before = earlier[-1].position if earlier else 0
    return any(call.name in {CREATE, RESOLVE} and call.position > before for call in conversation.calls)


def _moved(conversation: Conversation, words: str) -> ToolUse | None:
    """Return the call that moves the step that was noted or proposed last to another day."""
    last = next((call for call in reversed(conversation.calls) if call.name in {CREATE, RESOLVE}), None)
    today = today_in(conversation)
    if not last or not today:
        return None
    said = _moving(words, is_just_noted=has_just_noted(conversation, ago=2))
    named = [(each, *found) for each in said for found in days_in(each, today)]
    days = [day.isoformat() for each, word, day in named if not is_about("not_day", each[: each.find(word)])]
    due = last.values.get("due_date") or last.input.get("due_date")
    if not (day := next((each for each in days if each != due), "".join(days[:1]))):
        return None
    if last.values.get("state") == "open" and RESOLVE in conversation.tools:
        return _resolve(str(last.values["id"]), "open", words, due_date=day)
    is_proposed = last.name == CREATE and not last.values.get("written") and has_just_noted(conversation)
    return ToolUse(CREATE, {**last.input, "due_date": day}) if is_proposed else None


def _moving(words: str, *, is_just_noted: bool) -> Sequence[str]:
    """Return the sentences that may move a step; a question does only if it asks for that."""
    said = [each for each in _SENTENCE.findall(words) if "?" not in each or is_about("moves_step", each)]
    if len(words.split()) <= _MAX_MOVING_WORDS and (
        is_about("moves_step", words) or (is_just_noted and is_about("takes_back", words))
    ):
        return said
    short = [each for each in said if len(each.split()) <= _MAX_MOVING_WORDS]
    return [each for each in short if is_just_noted and is_about("corrects_day", each)]


def _open_steps(conversation: Conversation) -> Mapping[str, str]:
    """Return the titles of the open steps by their ids."""
    found: dict[str, str] = {}
    for text in conversation.context_texts:
        section = text[text.find("<next_steps") :] if "<next_steps" in text else ""
        for step, attributes, said in _STEP.findall(section):
            if ' state="' in attributes:
                found.pop(step, None)
            else:
                found[step] = said.partition("; they said on ")[0].partition("; noted ")[0]
    return found


def _names(sentence: str, title: str) -> bool:
    """Return whether a sentence has most of a title's words, however they end."""
    said = _WORD.findall(sentence.lower())
    own = _WORD.findall(title.lower())
    found = [word for word in own if any(one.startswith(word) or word.startswith(one) for one in said)]
    return bool(own) and 3 * len(found) >= 2 * len(own)
