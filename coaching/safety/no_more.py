"""Whether somebody asks not to be asked any more how they are: "I'm all right, don't ask again". Pure.

It is heard only while Sage remembers words of danger, and only as a plain request: a question, a quotation
and a request about something else aren't one. What isn't heard can be pressed.
"""

import re

from coaching.safety.danger import find_danger
from coaching.safety.readable import readable

MAX_CHARACTERS = 300

_IT = (
    r"(?: (?:about )?(?:it|this|that|me|how (?:i am|i'm)(?: doing)?|if i'm (?:ok(?:ay)?|all right|alright)))?"
)
_ME = r"(?: (?:me|(?:up |in )?on me))*"
_NOT_MORE = r"(?:nicht (?:mehr|wieder|noch ?mal|weiter|dauernd|standig)|nie wieder)"
_REQUESTS = (
    # English
    rf"\b(?:don't|never)(?: you)?(?: ever)? (?:keep )?ask(?:ing)?(?: me)?{_IT} (?:any ?more|again|every day)",
    r"\b(?:don't|never) (?:bring|mention) (?:it|this|that)(?: up)? (?:any ?more|again)",
    rf"\bstop (?:asking|checking){_ME}{_IT}(?= ?(?:$|[.,!;]))",
    rf"\b(?:don't (?:have|need)|no need) to (?:keep )?(?:ask|check)(?:ing)?{_ME}{_IT} (?:any ?more|again)",
    # German
    rf"\bfrag(?:e|en sie)?(?: mich)?(?: bitte)?(?: (?:das|danach|da))?(?: bitte)? {_NOT_MORE}",
    r"\bhor(?:e|en sie)?(?: bitte)? auf,?(?: damit,?)?(?: mich(?: das| danach)?)? zu fragen",
    rf"\bdu (?:musst|brauchst)(?: mich)?(?: das| danach)? {_NOT_MORE} (?:zu )?fragen",
    # Spanish
    r"\bno (?:me )?(?:lo )?preguntes? (?:mas|otra vez|de nuevo)",
    r"\bno (?:me )?(?:lo )?vuelvas? a preguntar",
    r"\bdej[ae] de preguntar",
    # French
    r"\bne (?:me )?(?:le |la )?(?:redemande|demande)[sz]? plus",
    r"\barrete[sz]? de (?:me )?(?:le )?demander",
    # Italian
    r"\bnon (?:me lo |mi )?(?:chieder|domandar)(?:e|lo|melo|mi)? (?:piu|ancora|di nuovo)",
    r"\bsmetti(?:la)? di chieder",
    # Portuguese
    r"\bnao (?:me )?pergunt(?:e|es)(?: isso| isto)? (?:mais|de novo|outra vez)",
    r"\bpar[ae] de (?:me )?perguntar",
    # Dutch
    r"\bvraag(?: (?:het|er|me|mij|dat|alsjeblieft))* (?:niet (?:meer|weer|nog eens)|nooit meer)",
    r"\bhou (?:alsjeblieft )?op (?:met|te) (?:het )?vragen",
)
_NOT_OF_ELSE = r"(?! (?:to|for|why|when|where|what|nach|warum|wann|wie viel)\b)"
_REQUEST = re.compile(rf"(?:{'|'.join(_REQUESTS)}){_NOT_OF_ELSE}")
_TOLD = re.compile(r'"|(?<!\bi )\b(?:said|told|says|sagte?|dijo|dice)\b')


def wants_no_more_questions(text: str) -> bool:
    """Return whether a text asks not to be asked again, and holds no danger itself."""
    if len(text) > MAX_CHARACTERS:
        return False
    plain = readable(text)
    if "?" in plain or _TOLD.search(plain) or not _REQUEST.search(plain):
        return False
    return find_danger(text) is None
