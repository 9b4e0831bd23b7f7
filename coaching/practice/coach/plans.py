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
from coaching.practice.coach.requested import SENTENCE, does_harm
from coaching.practice.script import ToolUse
from coaching.safety.readable import plain_letters

CREATE = "create_action_item"
_CLAUSE = re.compile(r",\s+(?:and|but|then|und|aber|dann|y|pero|luego)\b|:\s", re.IGNORECASE)
_REASON = re.compile(
    r",\s+(?:i|i['’]\w+|we|it['’]?s|that['’]?s|because|since|which|so|but|ich|wir|bin|mir|das|weil|denn|sonst|aber"
    r"|hoffentlich|que|lo|la|es|así|pero|porque|estoy|soy|tengo|no|jol[ií]n|ojal[áa])\b.*"
    r"|(?<![,\s])[,\s]+(?:i promise|promised?|versprochen|(?:te )?lo prometo|prometido)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What is said of a promise after it, and so isn't in the step's title."""
_JOINS = re.compile(r"\s(?:and|und|y)\s", re.IGNORECASE)
_INVERTED = re.compile(r"\A(\w+) ich\b", re.IGNORECASE)
"""How German words go on after a day: "räume ich auf"."""
_LEAD = re.compile(
    r"\A\W*(?:(?:na gut|gut|ok|okay|also|well|right|vale|bueno|bien|dann|entonces|pues|so|noch|auch|mal"
    r"|and|und|y)\b\W*)+",
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
TO_DO = re.compile(
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
_OF_HOUR = re.compile(
    r"\A\s*(?:o['’]?clock|uhr|[ap]m\b|[ap]\.m\.|horas\b|sharp\b"
    r"|(?:in the|at) (?:morning|afternoon|evening|night)\b"
    r"|(?:de|por) la (?:mañana|tarde|noche)\b|(?:morgens|abends|früh|vormittags|nachmittags)\b)",
    re.IGNORECASE,
)
"""What belongs to an hour that stands before it."""
MAX_TITLE, _FEW, _MOST = 90, 6, 4
_MAX_OWED_WORDS = 14
_MIN_BARE_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A step that words name. Without a day of the person's, `day` is None.

    `is_requested`: the words ask for it, rather than promise it.
    """

    title: str
    quote: str
    day: date | None = None
    at: time | None = None
    is_requested: bool = False

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
    own = _LEAD.sub("", without_days(words)).strip()
    is_other = is_about("no_promise", words) or says("laughs", words) or says("states", own)
    if own == words.strip() or is_other or not says("bare", own):
        return None
    title = title_of(_REASON.sub("", TO_DO.sub("", own)))
    is_whole = len(title.split()) >= _MIN_BARE_WORDS
    return on_day(conversation, Plan(title=title, quote=words.strip()), words) if is_whole else None


def promised(conversation: Conversation, words: str) -> Plan | None:
    """Return the first promise in words that has a day."""
    return next(iter(promises(conversation, words)), None)


def promises(conversation: Conversation, words: str) -> Sequence[Plan]:
    """Return the promises in words that have a day, in their order."""
    found: list[Plan] = []
    sentences = SENTENCE.findall(words)
    for at, sentence in enumerate(sentences):
        if is_about("no_promise", sentence) or says("laughs", sentence) or says("laughs", words):
            continue
        parts = [each for clause in _CLAUSE.split(sentence) for each in _day_by_day(clause)]
        plans = [_promised_in(conversation, part.strip(" .,;:-")) for part in parts]
        own = list(filter(None, plans))
        found += own[:-1]
        found += [_mended(conversation, each, sentences[at + 1 :]) for each in own[-1:]]
    return found[:_MOST]


def bare_words(words: str) -> str:
    """Return words without those for a day or a time."""
    while (bare := without_days(words)) != words:
        words = " ".join(bare.split())
    return _without_time(words) if time_in(words) else words


def _day_by_day(clause: str) -> Sequence[str]:
    """Return a clause cut where another day begins it anew: "on Monday I … and on Tuesday I …"."""
    days = {clause.find(word) for word, _ in days_in(clause, None)}
    joins = [found for found in _JOINS.finditer(clause) if found.end() in days]
    starts, ends = [0, *(each.end() for each in joins)], [*(each.start() for each in joins), len(clause)]
    return [clause[start:end] for start, end in zip(starts, ends, strict=True)] if len(days) > 1 else [clause]


def _mended(conversation: Conversation, plan: Plan, after: Sequence[str]) -> Plan:
    """Return a plan with the day that the sentences right after it put in place of its own."""
    mended = [
        each for each in after[:1] if len(each.split()) <= _FEW and is_about("takes_back", each.strip())
    ]
    return on_day(conversation, plan, mended[0]) if mended and any(days_in(mended[0], None)) else plan


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
    if _ONLY_REFERS.match(without_days(own)):
        own = _could_before(conversation)
    elif _only_goes_there(without_days(own)):
        own = _BEGINS_EVENT.sub("", without_days(",".join(kept[:first])).strip())
    bare = without_days(own).strip()
    bare = _without_time(bare) if time_in(bare) else bare
    title = title_of(_REASON.sub("", _INVERTED.sub(r"ich \1", bare)))
    return on_day(conversation, Plan(title=title, quote=quote), ",".join(kept)) if title else None


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


def without_days(words: str) -> str:
    """Return words without the first that name a day, and without a space before the mark that followed."""
    day = next(days_in(words, None), None)
    return _BEFORE_MARK.sub("", words.replace(day[0], " ", 1)) if day else words


def title_of(words: str) -> str:
    """Return the title of a step: one line without what is left over where a day was taken out."""
    bare = _DANGLES.sub("", words.strip(" !\n\t"))
    return one_line(_DANGLES.sub("", bare), MAX_TITLE)


def on_day(conversation: Conversation, plan: Plan, words: str) -> Plan:
    """Return a plan with the day and the time that words name."""
    today = today_in(conversation)
    day = next((day for _, day in days_in(words, today)), None) if today else None
    at = time_in(words) if day else None
    return replace(plan, day=day, at=at, title=title_of(_without_time(plan.title)) if at else plan.title)


def _without_time(title: str) -> str:
    """Return a title without its time of day, which has a field of its own."""
    found = says("hour", title)
    if not found or len(plain_letters(title)) != len(title):
        return title
    rest = _OF_HOUR.sub("", title[found.end() :], count=1)
    return f"{title[: found.start()].rstrip()} {rest.lstrip()}".strip(" ,") or title


def owed(conversation: Conversation, words: str, *, needs_day: bool = True) -> Plan | None:
    """Return what somebody has to do on a day, if they say it in few words and nothing hard with it."""
    found = search("owes", words) if len(words.split()) <= _MAX_OWED_WORDS and "?" not in words else None
    said = next(filter(None, found.groups()), "") if found else ""
    if not said or has_grieved(conversation) or is_heavy(words) or does_harm(said):
        return None
    if needs_day and not any(days_in(words, None)):
        return None
    title = title_of(_REASON.sub("", _LEAD.sub("", TO_DO.sub("", without_days(said).strip()))))
    is_open = any(says(name, words) for name in ("denies", "unsure", "afraid"))
    return on_day(conversation, Plan(title=title, quote=words), words) if title and not is_open else None
