"""Whether a word of a situation is only mentioned: read or heard of, long past, denied, somebody's work.

A situation is told where it says who, what happened, and that it is so now. What speaks against that stands
in the same sentence or clause as the word. In plain letters (`plain_letters`), all languages at once.
"""

import re

_SENTENCE_END = re.compile(r"[.!?;\n]")
_CLAUSE_END = re.compile(r"[.!?;,\n]|\s(?:und|aber|weil|y|pero|porque|and|but|because|so)\s")
_READ = re.compile(
    r"\b(?:books?|novels?|films?|movies?|series|documentary|articles?|podcast|stories|songs?|programme"
    r"|buch|roman|krimi|doku|film|serie|artikel|lied|sendung|libro|novela|pelicula|documental|articulo"
    r"|cancion|pelis?)"
    r"\b(?: \w+){0,4} (?:about|on|of|uber|von|sobre|de|acerca)\b[^.!?;]{0,60}\Z"
    r"|\b(?:in the (?:news|papers?|newspaper)|on (?:the radio|tv|television)|in der zeitung|im (?:radio"
    r"|fernsehen)"
    r"|en (?:el periodico|las noticias|la (?:radio|tele)))\b[^.!?;]{0,60}\Z"
)
"""Before the word: something that is read, watched or in the news."""
_OF_READ = re.compile(
    r"\b(?:books?|novel|film|movie|series|documentary|article|podcast|buch|roman|doku|serie|artikel"
    r"|libro|novela"
    r"|pelis?|pelicula|documental|articulo) (?:about|on|uber|sobre)\b"
)
_TALKED_OF = re.compile(
    r"\b(?:talk(?:s|ed|ing)? (?:only )?about|(?:read|heard) (?:about|of)|gossip\w* about"
    r"|(?:reden?|redet|sprechen|spricht)(?: \w+){0,2} (?:uber|von)|(?:hablan?|habla"
    r"|cuentan?) (?:\w+ )?de(?:l)?)"
    r"\b(?! me\b| us\b| mich\b| uns\b| mi\b)[^.!?;]{0,30}\Z"
)
"""Before the word: what others talk of."""
_LONG_AGO = re.compile(
    r"\b(?:(?:years|decades|ages) ago|back in (?:the )?\d|in (?:19|200)\d{1,2}|when i was (?:a |young"
    r"|little|small)"
    r"|as a (?:child|kid|boy|girl)|i used to|vor (?:\w+ )?(?:jahren|jahrzehnten)|fruher|damals|als kind"
    r"|19\d\d"
    r"|als ich (?:jung|klein)|hace (?:\w+ )?(?:anos|decadas)|antes (?:tenia|era|iba)|de (?:joven|nin[oa])"
    r"|cuando era)\b"
)
_STILL = re.compile(
    r"\bi(?:'m| am)? (?:\w+ )?still|still (?:hurts?|haunts?|makes? me|keeps? me|think)"
    r"|\b(?:ich|mich|mir) (?:\w+ ){0,3}noch|\b(?:todavia|aun) (?:me|no|lo)|\bsigo\b"
)
"""What is long past and not over."""
_DENIED = re.compile(
    r"(?:\b(?:not|isn't|wasn't|aren't|no longer)(?: (?:a|an|the|really|even|about|my))?"
    r"|\b(?:ist|bin|war|geht|sind) (?:\w+ )?nicht(?: (?:um|mein\w*|der|die|das|so|eine?))?"
    r"|\b(?:ya )?no(?: (?:es|estoy|se trata de|fue|era))?(?: (?:un|una|el|la|mi|por|de))?) \Z"
)
_SOUGHT = frozenset({"jobhunt"})
_DENIED_WITHIN = re.compile(r"\b(?:kein|keine|keinen|keiner)\b")
_OTHERS = re.compile(
    r"\b(?:every(?:one|body)|people|the (?:neighbou?rs?|director)"
    r"|leute|die nachbarn?|nachbarn|gente|los vecinos|(?:el|la) vecin[oa])\b"
)
_STRANGERS = re.compile(r"\b(?:lady|man|woman|couple|people|family) next door\b(?:(?! died| is dead).)*+\Z")
"""Others whose news are told by the way; a death is met all the same."""
_SELF = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|we|we're|us|our|ich|mich|mir|mein\w*|wir|uns|unser\w*"
    r"|yo|me|mi|mis|nos|nuestr\w+|conmigo)\b"
)
_WORK_OF_OWN = re.compile(
    r"\b(?:i (?:work (?:in|at|as|for)|teach|photograph|film|cater)|for a living|ich (?:arbeite (?:in|als|bei)"
    r"|unterrichte|fotografiere)|trabajo (?:en|de|como)|doy clases?|hago fotos)\b"
)
"""Somebody's work, which may be with what happens to others."""
_WORKED_WITH = frozenset(
    {"care", "exam", "wedding", "death", "ill", "birth", "drinks", "baby_wish", "newborn", "birthday"}
)
_AS_NAME = re.compile(
    r"\A'?s? ?(?:lawyer|parlou?r|practice|board|hall|papers?|kitchen|industry|museum"
    r"|planner|season|photographer|statistics)\b"
)
"""After the word: it only says what kind of thing another is."""
_ANIMAL = re.compile(
    r"\b(?:(?:my|the|our) (?:cats?|dogs?|kitten|puppy|parrot)|(?:mein|unser|die|der)\w* (?:katzen?"
    r"|kater|hunde?)"
    r"|(?:mi|mis|el|la|nuestr[oa]) (?:gat[oa]s?|perr[oa]s?))\b"
)
_STATE = re.compile(
    r"\b(?:(?:i am|i'm|we're|we are|as|an?) (?:\w+ )?retired|rentner\w*|pensionist\w*|pensionierte\w*"
    r"|pensioniert"
    r"|jubilad[oa]s?)\Z"
)
"""What somebody has been for a while, unless it is new, hard or asked about."""
_IS_NEW = re.compile(
    r"\?|\b(?:since|just|recently|last (?:week|month|year|monday|friday)|soon|next|about to|weeks? ago"
    r"|months? ago"
    r"|seit|gerade erst|frisch|bald|vor \w+ (?:wochen|monaten)|desde|recien|hace (?:\w+ )?(?:semanas"
    r"|meses)|pronto"
    r"|bored|empty|lost|lonely|don't know|miss|nothing to do|langweil\w*|leer\w*|fehlt|wei(?:ss|ß) nicht|wozu"
    r"|no se que|aburr\w*|vaci[oa]|extran\w*|sol[oa])\b"
)
_BETWEEN_PEOPLE = frozenset(
    {"bullied", "quarrel", "betrayed", "apart", "unfaithful", "insulted", "love", "letdown", "embarrassed"}
)


def is_read(letters: str) -> bool:
    """Return whether words, in plain letters, tell of something read or watched, and nothing of oneself."""
    return bool(_OF_READ.search(letters)) and not _SELF.search(letters)


def is_only_mentioned(name: str, letters: str, found: re.Match[str], *, is_grave: bool) -> bool:
    """Return whether words, in plain letters, only mention the situation whose word was found in them.

    What is grave may be long past, and is met if it is denied.
    """
    start, end = found.span()
    before = _SENTENCE_END.split(letters[:start])[-1]
    after = _SENTENCE_END.split(letters[end:])[0]
    sentence = f"{before}{found[0]}{after}"
    if _READ.search(before) or _TALKED_OF.search(before) or _AS_NAME.match(after):
        return True
    if name in _WORKED_WITH and _WORK_OF_OWN.search(sentence):
        return True
    if name == "retire" and _STATE.search(letters[:end]) and not _IS_NEW.search(letters):
        return True
    clause = f"{_CLAUSE_END.split(before)[-1]}{found[0]}{_CLAUSE_END.split(after)[0]}"
    if name in _BETWEEN_PEOPLE and _ANIMAL.search(_CLAUSE_END.split(before)[-1] + found[0]):
        return True
    if _STRANGERS.search(clause) and not _SELF.search(clause):
        return True
    if is_grave:
        return False
    if _LONG_AGO.search(sentence) and not _STILL.search(letters):
        return True
    subject = _CLAUSE_END.split(before)[-1]
    others = list(_OTHERS.finditer(subject))
    if others and not _SELF.search(subject[others[-1].end() :] + found[0]):
        return True
    is_denied = _DENIED.search(subject)
    return bool(is_denied) or (name in _SOUGHT and bool(_DENIED_WITHIN.search(found[0])))
