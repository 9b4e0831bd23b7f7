"""What the coach recognises in the user's words: intents, life domains, salient words, a reflection.

Plain tables and patterns in English, extended line by line.
"""

import re
from collections.abc import Sequence
from typing import Literal

DOMAINS = (
    "career",
    "relationships",
    "health",
    "finances",
    "learning",
    "creativity",
    "play",
    "meaning",
)
Intent = Literal[
    "crisis", "goodbye", "save", "yes", "no", "hello", "thanks", "about", "continue", "unsure", "tell"
]

_DOMAIN_WORDS: dict[str, str] = {
    "career": r"career|job|work|working|boss|colleagues?|office|promotion|salary|manager|company|"
    r"business|profession|interview|burn(?:ed|t)? ?out|unemployed|quit",
    "relationships": r"relationships?|partner|wife|husband|girlfriend|boyfriend|marriage|friends?|"
    r"family|mother|father|mum|mom|dad|sister|brother|kids?|children|son|daughter|lonely|dating|"
    r"divorce|parents?",
    "health": r"health\w*|sleep|sleeping|tired|exercise|gym|run|running|weight|eating|diet|doctor|"
    r"body|stress(?:ed)?|anxious|anxiety|pain|energy|ill|sick|drinking|smoking|therapy",
    "finances": r"financ\w+|money|debts?|savings?|saving up|rent|mortgage|budget|bills?|invest\w*|"
    r"loan|pension|taxes",
    "learning": r"learn\w*|study|studying|course|degree|school|university|exam|language|reading|"
    r"skills?|spanish|french|german",
    "creativity": r"creativ\w+|writing|novel|paint\w*|draw\w*|music|guitar|piano|sing\w*|"
    r"photography|poems?|poetry|craft\w*|making things",
    "play": r"play|fun|hobb(?:y|ies)|games?|gaming|travel\w*|holidays?|vacation|hiking|dancing|"
    r"weekends?|sports?|football|tennis|climbing",
    "meaning": r"meaning\w*|purpose|values|faith|spiritual\w*|god|legacy|volunteer\w*|direction|"
    r"what matters",
}
_DOMAINS = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _DOMAIN_WORDS.items()}

_CRISIS = re.compile(
    r"\b(?:suicid\w*|kill(?:ing)? myself|end(?:ing)? (?:my (?:own )?life|it all)|want(?:ed)? to die|"
    r"wish i (?:was|were) dead|better off dead|better off without me|no reason to live|"
    r"don'?t want to (?:live|be alive|be here any ?more|wake up)|"
    r"can'?t go on(?: like this| living| any ?more|\W*$)|"
    r"hurt(?:ing)? myself|harm(?:ing)? myself|self[- ]?harm\w*|cut(?:ting)? myself|overdose|"
    r"(?:he|she|husband|wife|partner|boyfriend|girlfriend|dad|father|mum|mom|mother|brother|son) "
    r"(?:\w+ )?(?:hits?|beats?|hurts?|threatens|threatened) me|not safe at home)",
    re.IGNORECASE,
)
_HEAVY = re.compile(
    r"\b(?:hopeless|worthless|overwhelm\w*|panic\w*|desperate|despair\w*|depress\w*|"
    r"falling apart|breaking down|can'?t cope|grie(?:f|ving)|passed away|(?:he|she|they|mother|"
    r"father|mum|mom|dad|sister|brother|friend|dog|cat) died|so alone|crying|numb)\b",
    re.IGNORECASE,
)
_SAVE = re.compile(
    r"\b(?:(?:write|jot|note) (?:\w+ ){0,3}down\b|"
    r"save (?:it|that|this|them|all|everything|what|these|both)\b|"
    r"save (?:my |the )?(?:career|relationships?|health|finances|learning|creativity|play|meaning|"
    r"notes?|words|overview)\b|save\W*\Z|(?:please|can you|could you) save\b|"
    r"make (?:me )?an? (?:note|file|overview)|"
    r"keep (?:a note|a record|track) of (?:it|that|this|what)|note (?:this|that|it)\b|"
    r"capture (?:this|that|it)\b|remember (?:this|that) for me)",
    re.IGNORECASE,
)
_OWN_HABIT = re.compile(
    r"\bi (?:(?!want|need|would|like|wish)\w+ ){0,2}(?:write|wrote|save|saved|jot|note)\b", re.IGNORECASE
)
_NOT_SAVE = re.compile(
    r"\b(?:don'?t|do not|no need to|rather not|please not|never) (?:\w+ ){0,2}"
    r"(?:write|save|note|capture|keep)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"(?:oh |ok |well |hm+ )?(?:yes|yeah|yep|yup|sure|ok(?:ay)?|please do|go ahead|do it|of course|"
    r"absolutely|definitely|why not|sounds good|that would be (?:good|great|nice|lovely)|"
    r"i'?d like that|let'?s do (?:it|that)|good idea|gladly|please)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"(?:no|nope|nah|not (?:now|yet|really|today)|rather not|maybe later|later|i'?d rather not|"
    r"don'?t|skip (?:it|that))\b",
    re.IGNORECASE,
)
_HELLO = re.compile(
    r"(?:hi|hiya|hello|hey|heya|good (?:morning|afternoon|evening|day)|greetings|howdy|test|"
    r"testing|yo)(?: (?:there|sage|you|again|everyone|coach))*(?:[\s,.!]+i['’]?m back(?: again)?)?\W*\Z",
    re.IGNORECASE,
)
_THANKS = re.compile(r"\b(?:thanks?|thank you|thx|cheers|appreciate (?:it|that|this))\b", re.IGNORECASE)
_GOODBYE = re.compile(
    r".{0,60}?\b(?:(?:good ?bye|bye|see you(?: (?:later|soon|tomorrow))?|good night|"
    r"talk (?:later|soon|tomorrow)|that'?s (?:all|it|enough) for (?:now|today)|"
    r"let'?s stop here)\b.{0,40}|"
    r"(?:i (?:have|need) to go|i'?ve got to go|gotta go|i'?m off)(?: now| then)?\W*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT = re.compile(
    r"\b(?:who are you|what are you|are you (?:an? )?(?:real|human|person|bot|robot|ai|machine|"
    r"model|sage)|what can you do|how does this work|how do you work|is this (?:real|an ai|a bot)|"
    r"what is this|what'?s this)\b[^.!]*\?|\A\W*help\W*\Z|\bwhat can you do\b|\bwho are you\b",
    re.IGNORECASE,
)
_CONTINUE = re.compile(
    r"(?:please )?(?:continue|go on|carry on|keep going)(?: from where you stopped)?\W*\Z", re.IGNORECASE
)
_UNSURE = re.compile(
    r"(?:i (?:really )?(?:don'?t|do not) know|dunno|idk|not sure|no idea|hard to say|hm+|maybe|"
    r"it depends|nothing|nothing really|i guess|whatever|fine|good|ok(?:ay)?|alright)\W*\Z",
    re.IGNORECASE,
)

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_COMMON_WORD_LIST = """
    a about above actually after again all almost also although always am an and another any
    anything are aren't around as at back be because been before being both but by can can't cannot
    come could day days did didn't do does doesn't doing don't down each else enough even ever every
    everything feel feeling feels few find first for from get gets getting give go goes going good
    got had has have having he her here him his how i i'd i'll i'm i've if in into is isn't it it's
    its just keep kind know last later least less let like little long look lot lots made make makes
    making many may maybe me mean might more most much must my myself need never new next no not
    nothing now of off often on once one only or other our out over own people perhaps please quite
    rather really right said same say see seem seems she should so some someone something sometimes
    soon still such sure take tell than thank thanks that that's the their them then there there's
    these they thing things think this those though time to today together told too seeing since
    gone badly knows listens helps tried try trying until up us use used very want wanted wants was
    wasn't way we week well went were what when where which while who why will with without won't
    would year years yes yet you you're your
"""
_COMMON_WORDS = frozenset(_COMMON_WORD_LIST.split())
_SWAPS = {
    "i": "you",
    "i'm": "you're",
    "i've": "you've",
    "i'd": "you'd",
    "i'll": "you'll",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "we": "you",
    "we're": "you're",
    "we've": "you've",
    "our": "your",
    "ours": "yours",
    "us": "you",
    "am": "are",
    "ourselves": "yourselves",
}
_LEAD_IN = re.compile(
    r"(?:(?:well|so|and|but|ok(?:ay)?|yes|yeah|no|hi|hello|hey|honestly|actually|basically|hm+|um+|"
    r"oh|please|sure|also|because)\b[\s,.!:;-]*)+",
    re.IGNORECASE,
)
_REFLECTED_WORDS = 22


def hear_intent(text: str, *, was_offered: bool) -> Intent:
    """Return a message's main intent. `was_offered`: the coach has just offered to write things down.

    Danger is checked first.
    """
    stripped = text.strip()
    words = len(_WORD.findall(stripped))
    answer = _hear_answer(stripped) if was_offered else None
    rules: Sequence[tuple[Intent, bool]] = (
        ("crisis", is_crisis(stripped)),
        ("no", bool(_NOT_SAVE.search(stripped))),
        ("save", bool(_SAVE.search(stripped)) and not _OWN_HABIT.search(stripped)),
        (answer or "tell", answer is not None),
        ("goodbye", words <= 14 and bool(_GOODBYE.match(stripped))),
        ("hello", bool(_HELLO.match(stripped))),
        ("about", words <= 16 and bool(_ABOUT.search(stripped))),
        ("continue", bool(_CONTINUE.match(stripped))),
        ("thanks", words <= 8 and bool(_THANKS.search(stripped))),
        ("unsure", words == 0 or bool(_UNSURE.match(stripped)) or (words <= 2 and _is_bare(stripped))),
    )
    return next((intent for intent, is_heard in rules if is_heard), "tell")


def _hear_answer(text: str) -> Intent | None:
    """Recognise a yes or no to the coach's offer."""
    if _YES.match(text):
        return "yes"
    return "no" if _NO.match(text) else None


def is_crisis(text: str) -> bool:
    """Return whether words mention self-harm or danger."""
    return bool(_CRISIS.search(text.replace("’", "'")))


def is_heavy(text: str) -> bool:
    """Return whether words need a gentle answer."""
    return bool(_HEAVY.search(text.replace("’", "'")))


def domains_in(text: str) -> Sequence[str]:
    """Return the life domains that a text mentions, in the fixed order."""
    return [name for name, pattern in _DOMAINS.items() if pattern.search(text)]


def sentences_of(text: str) -> Sequence[str]:
    """Split text into sentences, trimmed, without empty ones."""
    return [part.strip() for part in _SENTENCE.findall(text) if _WORD.search(part)]


def is_substance(text: str) -> bool:
    """Return whether a message is worth writing down."""
    return len(_WORD.findall(text)) >= 3 and hear_intent(text, was_offered=False) == "tell"


def salient_words(text: str, limit: int) -> Sequence[str]:
    """Return salient words, each once: those of a life domain, then the longest."""
    found: dict[str, str] = {}
    for sentence in sentences_of(text):
        for position, word in enumerate(_WORD.findall(sentence)):
            plain = word.lower().replace("’", "'")
            is_topic = bool(domains_in(plain))
            if len(plain) < 4 or plain in _COMMON_WORDS or (plain.endswith("ing") and not is_topic):
                continue
            is_opening = position == 0 and not word.isupper()
            found.setdefault(plain, plain if is_opening and is_topic else word)
    ranked = sorted(found, key=lambda word: (not domains_in(word), -len(word), word))[:limit]
    return [found[word] for word in ranked]


def is_foreign(text: str) -> bool:
    """Return whether a text seems to be in a language other than English."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    known = sum(word in _COMMON_WORDS or bool(domains_in(word)) for word in words)
    return len(words) >= 4 and known / len(words) < 0.2


def reflect(text: str) -> str:
    """Return the most important sentence in the second person, or nothing if that fails.

    "I can't sleep since we moved." becomes "You can't sleep since you moved."
    """
    candidates = [_LEAD_IN.sub("", s, count=1) if _LEAD_IN.match(s) else s for s in sentences_of(text)]
    statements = [s for s in candidates if not s.endswith("?") and _is_reflectable(s)]
    if not statements:
        return ""
    weightiest = max(statements, key=lambda s: (len(salient_words(s, 8)), len(s)))
    turned = _WORD.sub(_swap, weightiest.replace("’", "'")).strip(" ,.;:-!")
    turned = re.sub(r"\byou was\b", "you were", turned)
    turned = re.sub(r"\byou wasn't\b", "you weren't", turned)
    return turned[:1].upper() + turned[1:] + "." if turned else ""


def _is_reflectable(sentence: str) -> bool:
    words = [word.lower() for word in _WORD.findall(sentence.replace("’", "'"))]
    speaks_of_self = any(word in _SWAPS for word in words)
    speaks_to_coach = any(word in {"you", "your", "you're", "yours"} for word in words)
    return 3 <= len(words) <= _REFLECTED_WORDS and speaks_of_self and not speaks_to_coach


def _swap(match: re.Match[str]) -> str:
    word = match.group()
    return _SWAPS.get(word.lower(), word)


def _is_bare(text: str) -> bool:
    return not salient_words(text, 1) and not domains_in(text)
