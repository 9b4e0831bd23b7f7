"""Next steps that words name: promised, requested, or owed ("I have to …"), with title, day and time.

A title keeps the person's words, without those for its day and what is only said of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, time

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.fitting import is_heavy
from coaching.practice.coach.grieving import has_grieved
from coaching.practice.coach.hearing import is_about, one_line, search
from coaching.practice.coach.on_list import says, time_in
from coaching.practice.coach.requested import does_harm, requested, step_in
from coaching.practice.script import ToolUse
from coaching.safety.readable import plain_letters

CREATE = "create_action_item"
SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_CLAUSE = re.compile(r",\s+(?:and|but|then|und|aber|dann|y|pero|luego)\b|:\s", re.IGNORECASE)
_REASON = re.compile(
    r",\s+(?:i|i['’]\w+|we|it['’]?s|that['’]?s|because|since|which|so|but|ich|wir|bin|mir|das|weil|denn|sonst|aber"
    r"|hoffentlich|que|lo|la|es|así|pero|porque|estoy|soy|tengo|no|jol[ií]n|ojal[áa])\b.*"
    r"|(?<![,\s])[,\s]+(?:i promise|promised?|versprochen|(?:te )?lo prometo|prometido)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What is said of a promise after it, and so isn't in the step's title."""
_INVERTED = re.compile(r"\A(\w+) ich\b", re.IGNORECASE)
"""How German words go on after a day: "räume ich auf"."""
_LEAD = re.compile(
    r"\A\W*(?:(?:na gut|gut|ok|okay|also|well|right|vale|bueno|bien|dann|entonces|pues|so|noch|auch|mal"
    r"|and|but|und|aber|y|pero|también|tambien|además|ademas)\b(?!-)\W*)+",
    re.IGNORECASE,
)
"""How a promise begins with words that say nothing of it."""
_ONLY_REFERS = re.compile(
    r"(?:do|try|start|give) (?:that|it|this)(?: a (?:go|try))?(?: from| then)?\W*\Z", re.IGNORECASE
)
"""How a promise refers to what was said before."""
_THERE = frozenset({"da", "dort", "dahin", "dorthin", "there", "ahi", "alli", "alla"})
_GOES_THERE = _THERE | {
    "ich", "i", "mal", "einfach", "auch", "hin", "mit", "vorbei", "geh", "gehe", "gehen", "fahr", "fahre",
    "komm", "komme", "schau", "schaue", "werde", "hingehen", "i'll", "go", "just", "a", "ir", "voy", "ire",
}  # fmt: skip
"""Words that say only that somebody goes where was named before."""
_BEGINS_EVENT = re.compile(
    r"\A\W*(?:ist|gibt(?: es|'s)?|findet|läuft|there(?:'s| is)(?: an?)?|es|hay|tienen)\s(?:un[oa]?\s)?",
    re.IGNORECASE,
)
"""How words begin that name an event: "am Donnerstag ist …", without the day."""
_COULD = re.compile(
    r"\bi (?:could|can|might|want to) (?!try (?:it|that)|do (?:it|that))([\w' -]{3,60}?)\s*(?:[.,;!?]|\Z)",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"\A\W*(?:to|that i (?:have to|need to|must)|dass ich|zu|lo de|que (?:tengo que|debo)|de)\s++"
    r"|(?<!\s)\s++(?:muss|soll(?:te)?|will)\W*+\Z",
    re.IGNORECASE,
)
"""What a requested step is said with, and what isn't in its title."""
_BEFORE_MARK = re.compile(r"(?<!\s),?\s++(?=[,;:.])")
_DANGLES = re.compile(
    r"(?<![\s,;:–-])[\s,;:–-]++(?:just|and|then|so|for|by|also|too|please|until|since|before|mid|für|am|ab|seit|bis|und|dann|bitte|halt|para|el|y|con"
    r"|por favor|porfa)\W*+\Z",
    re.IGNORECASE,
)
"""What is left at the end of words whose day was taken out."""
_EVERYDAY = re.compile(
    r"\b(?:hit the (?:gym|shops|road|books|pool|beach|hay|sack|trails?|slopes|shower|weights)"
    r"|beat (?:the |\d )?(?:eggs|traffic|rush|carpets?)"
    r"|shoot (?:hoops|(?:a |the )?(?:film|video|photos|wedding))|poison ivy"
    r"|schlag(?:zeug|sahne)\w*|sahne (?:zu )?schlagen|acostar\w*"
    r"|pegar (?:el |la |los |las )?(?:fotos?|carteles|cromos|papel|pegatinas|azulejos))\b",
    re.IGNORECASE,
)
"""What only sounds like harm in a step: the gym that is hit, the drums, going to bed."""
_AND = re.compile(r",\s+(?:and|und|y)\s+(?:then |dann |luego )?", re.IGNORECASE)
_LISTED = re.compile(r",\s*(?:(?:and|und|y)\s+)?|(?<!\s)\s+(?:and|und|y)\s+", re.IGNORECASE)
_COMMA = re.compile(r",\s*(?:(?:and|und|y)\s+)?", re.IGNORECASE)
_OF_LIST = re.compile(
    r"\b(?:your list|next step|deine[rn]? Liste|nächste[rn]? Schritt|tu lista|próximo paso)\b"
)
"""How the tour says what it does with a step that is said with a day."""
_THAT_I = re.compile(r"\bdass i(?:ch)?\b[^\n]{0,160}e\W*\Z", re.IGNORECASE)
"""A request that ends in a German verb of the person's: "dass ich sie anrufe"."""
_MAX_TITLE, _FEW = 90, 6
_MAX_OWED_WORDS = 14
_MIN_BARE_WORDS = 2
_TOLD_HOW = 8
"""For so many messages they know it then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A step that words name. Without a day of the person's, `day` is None."""

    title: str
    quote: str
    day: date | None = None
    at: time | None = None

    @property
    def call(self) -> ToolUse:
        """The call that notes it."""
        due = {"due_date": self.day.isoformat()} if self.day else {}
        hour = {"due_time": self.at.isoformat("minutes")} if self.day and self.at else {}
        return ToolUse(CREATE, {"title": self.title, "quote": self.quote[:500], **due, **hour})


def harms(plan: Plan) -> bool:
    """Return whether a step would harm somebody: it goes on no list."""
    said = (_EVERYDAY.sub(" ", each) for each in (plan.title, plan.quote))
    return any(does_harm(each) or is_about("means_harm", each) for each in said)


def said_bare(conversation: Conversation, words: str) -> Plan | None:
    """Return a step that is said with its day and a verb alone: "call her on Friday"."""
    own = _LEAD.sub("", _without_days(words)).strip()
    is_other = is_about("no_promise", words) or says("laughs", words) or says("states", own)
    if own == words.strip() or is_other or not says("bare", own):
        return None
    title = title_of(_REASON.sub("", _TO_DO.sub("", own)))
    is_whole = len(title.split()) >= _MIN_BARE_WORDS
    return _on_day(conversation, Plan(title=title, quote=words.strip()), words) if is_whole else None


def promised(conversation: Conversation, words: str) -> Plan | None:
    """Return the first promise in words that has a day."""
    sentences = SENTENCE.findall(words)
    for at, sentence in enumerate(sentences):
        if is_about("no_promise", sentence) or says("laughs", sentence) or says("laughs", words):
            continue
        plans = (_promised_in(conversation, part.strip(" .,;:-")) for part in _CLAUSE.split(sentence))
        if plan := next(filter(None, plans), None):
            return _mended(conversation, plan, sentences[at + 1 :])
    return None


def _mended(conversation: Conversation, plan: Plan, after: Sequence[str]) -> Plan:
    """Return a plan with the day that the sentences right after it put in place of its own."""
    mended = [
        each for each in after[:1] if len(each.split()) <= _FEW and is_about("takes_back", each.strip())
    ]
    return _on_day(conversation, plan, mended[0]) if mended and any(days_in(mended[0], None)) else plan


def _promised_in(conversation: Conversation, part: str) -> Plan | None:
    """Return the promise in a part of a sentence, without a goodbye before or after it."""
    pieces = part.split(",")
    kept = [each for each in pieces if not _is_goodbye(conversation, each)]
    first = next((at for at, each in enumerate(kept) if _promise_in(each.strip())), 0)
    quote = ",".join(kept[first:]).strip(" .,;:-")
    found = _promise_in(quote)
    day = next(days_in(quote, None), None) or next(days_in(",".join(kept), None), None)
    if not found or not day:
        return None
    own = _LEAD.sub("", next(filter(None, found.groups()), "") or quote).strip()
    if _ONLY_REFERS.match(_without_days(own)):
        own = _could_before(conversation)
    elif _only_goes_there(_without_days(own)):
        own = _BEGINS_EVENT.sub("", _without_days(",".join(kept[:first])).strip())
    title = title_of(_REASON.sub("", _INVERTED.sub(r"ich \1", _without_days(own).strip())))
    return _on_day(conversation, Plan(title=title, quote=quote), ",".join(kept)) if title else None


def _only_goes_there(words: str) -> bool:
    """Return whether words only say that somebody goes to what was named before: "da gehe ich mal hin"."""
    said = plain_letters(words).strip(" .,;:!-").split()
    return bool(_THERE & set(said)) and _GOES_THERE.issuperset(said)


def _promise_in(words: str) -> re.Match[str] | None:
    return search("promise", words) or search("present", words)


def _is_goodbye(conversation: Conversation, words: str) -> bool:
    """Return whether words take leave: who goes to bed earlier, or on another day, plans that."""
    if not (says("leaves", words) or is_about("takes_leave", words)):
        return False
    today = today_in(conversation)
    is_later = any(day != today for _, day in days_in(words, today))
    return not (is_later or time_in(words) or says("early", words)) or not says("leaves", words)


def _could_before(conversation: Conversation) -> str:
    """Return what the person said before that they could do, for "I'll do that"; or nothing."""
    said = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    could = (_COULD.search(words) for words in reversed(said[-2:]))
    return next((found[1].strip() for found in could if found), "")


def _without_days(words: str) -> str:
    """Return words without the first that name a day, and without a space before the mark that followed."""
    day = next(days_in(words, None), None)
    return _BEFORE_MARK.sub("", words.replace(day[0], " ", 1)) if day else words


def title_of(words: str) -> str:
    """Return the title of a step: one line without what is left over where a day was taken out."""
    bare = _DANGLES.sub("", words.strip(" !\n\t"))
    return one_line(_DANGLES.sub("", bare), _MAX_TITLE)


def _on_day(conversation: Conversation, plan: Plan, words: str) -> Plan:
    """Return a plan with the day and the time that words name."""
    today = today_in(conversation)
    day = next((day for _, day in days_in(words, today)), None) if today else None
    return replace(plan, day=day, at=time_in(words) if day else None)


def owed(conversation: Conversation, words: str, *, needs_day: bool = True) -> Plan | None:
    """Return what somebody has to do on a day, if they say it in few words and nothing hard with it."""
    found = search("owes", words) if len(words.split()) <= _MAX_OWED_WORDS and "?" not in words else None
    said = next(filter(None, found.groups()), "") if found else ""
    if not said or has_grieved(conversation) or is_heavy(words) or does_harm(said):
        return None
    if needs_day and not any(days_in(words, None)):
        return None
    title = title_of(_REASON.sub("", _LEAD.sub("", _TO_DO.sub("", _without_days(said).strip()))))
    is_open = any(says(name, words) for name in ("denies", "unsure", "afraid"))
    return _on_day(conversation, Plan(title=title, quote=words), words) if title and not is_open else None


def requested_plans(conversation: Conversation, words: str, *, is_more: bool = False) -> Sequence[Plan]:
    """Return the steps that words plainly request, each on a day if they name one.

    "First one is …" and "next: …" request one, too, once the tour has said how a step is noted; `is_more`:
    so does "and milk, too".
    """
    wanted, said = step_in(words)
    if wanted:
        first = next(iter(SENTENCE.findall(wanted)), wanted)
        parts = _parts(first, said)
        return [_as_requested(conversation, each, each if len(parts) > 1 else said) for each in parts]
    if is_more and not ("?" in words or says("asks_first", words)) and (more := requested("too", words)):
        return [_as_requested(conversation, more, words)]
    is_told_how = any(_OF_LIST.search(each.question) for each in conversation.exchanges[-_TOLD_HOW:])
    listed = requested("item", words) if is_told_how else ""
    first, *others = _AND.split(next(iter(SENTENCE.findall(listed)), ""))
    parts = [first, *others] if all(len(each.split()) > 1 for each in others) else [listed]
    return [_as_requested(conversation, each, each) for each in parts if each.strip()]


def _parts(wanted: str, said: str) -> Sequence[str]:
    """Return the steps that are requested together: as many are counted, or each has its day."""
    pattern = _LISTED if says("several", said) else _COMMA
    parts = [each for each in pattern.split(wanted) if each.strip()]
    is_each = pattern is _LISTED or all(any(days_in(each, None)) for each in parts)
    return parts if is_each else [wanted]


def _as_requested(conversation: Conversation, wanted: str, said: str) -> Plan:
    title = title_of(_TO_DO.sub("", _without_days(wanted).strip())) or one_line(wanted, _MAX_TITLE)
    title += "n" if _THAT_I.search(said) and title.endswith("e") else ""
    return _on_day(conversation, Plan(title=title, quote=wanted.strip()), said)
