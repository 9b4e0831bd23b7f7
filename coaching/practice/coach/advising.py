"""What the tour passes on to who asks what to do: common advice for the situation that was told."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.known_scenes import scenes
from coaching.practice.coach.onward import is_of_harm
from coaching.practice.coach.scenes import LASTS, scene_in, told_before
from coaching.safety.readable import plain_letters

_REFERS = re.compile(
    r"\b(?:he|she|they|him|her|them|er|sie|ihn|ihm|ihr|ihnen|el|ella|ellos|ellas|le|les|[a-z]+[aei]rl[ae]s?)\b"
)
"""How a question refers to who was told of."""
_ASKS_ALL = re.compile(
    r"\b(?:(?:should|can|could|shall|do) i (?:\w+ ){0,2}(?:do|start|begin|go on|cope|deal|handle|manage)"
    r"|what (?:would|do|did|could|can|might) (?:you|u|others?|(?:other |most )?people|one) (?:\w+ )?"
    r"(?:do|suggest|recommend|advise)"
    r"|suggestions?|recommend\w*|what (?:works|helps)|any thoughts|advice|tips?|ideas?|what now"
    r"|how (?:do|does|would|can) (?:i|one|people)|(?:soll|kann|muss) ich (?:\w+ ){0,3}(?:tun|machen|anfangen)"
    r"|was wurdest du|rat|tipps?|was jetzt|wie (?:soll|kann|geht)|consejo\w*|y ahora que|por donde"
    r"|und sonst|sonst noch|noch (?:was|etwas|einen|tipps?|ideen)|mehr tipps?|nicht mehr weiter|was macht man"
    r"|(?:hast du|eine|ne|irgendeine) idee|wo (?:lernt|findet|kann) man|anything else|what else"
    r"|algo mas|que mas|otr[oa] (?:consejo|idea)|alguna idea|idea de|mas (?:ideas|consejos)|en mi lugar"
    r"|no se (?:ya )?que hacer"
    r"|(?:que|como) (?:hago|puedo|debo|deberia|harias|hacen)|que (?:tengo que|voy a) hacer)\b"
)
"""How somebody asks for advice in general; other questions ask something of their own."""
_ADVICE = ("advice", "howtell", "tip_sleep", "tip_start", "tip_talk")
"""Wordings that pass on advice without a situation."""
_DECIDES = re.compile(r"\W*(?:(?:so|and|but|ok|well|hm+)\W+){0,2}(?:should|shall) (?:i|we)\b")
"""How somebody asks whether to do something."""


def asks_for(conversation: Conversation, *, is_quiet: bool) -> Sequence[str]:
    """Return what there is to say to who asks what to do in their situation; `is_quiet`: only in grief."""
    words = conversation.exchanges[-1].answer
    if is_of_harm(words):
        return ()
    new = scene_in(words)
    is_referring = bool(_REFERS.search(plain_letters(standard(words))))
    is_general = bool(_ASKS_ALL.search(plain_letters(standard(words))))
    before = told_before(conversation, lasts=len(conversation.exchanges) if is_general else LASTS)
    told = [scene for scene in before if is_general or is_referring or not scene.is_background]
    is_told = any(scene.asks and not (scene.is_glad or scene.is_background) for scene in told)
    if (new is None or new.is_background) and _DECIDES.match(plain_letters(standard(words))):
        if is_told:
            is_general = True
        else:
            new = next(scene for scene in scenes(texts.language()) if scene.name == "decide")
    found = [*([new] if new else []), *(scene for scene in told if not scene.is_glad)]
    known = [scene for scene in found if scene.asks and (scene.is_quiet or not is_quiet)]
    is_own = new is not None and not new.is_background and new in known
    best = new if is_own else max(known, key=lambda scene: scene.weight, default=None)
    is_fit = best is not None and (best is new or best.is_quiet or is_general)
    return best.asks if best and is_fit else ()


def has_advised(conversation: Conversation) -> bool:
    """Return whether the last answer passed on common advice."""
    last = conversation.exchanges[-1].question
    pools = [texts.answers(name) for name in _ADVICE]
    known = [*(scene.asks for scene in scenes(texts.language())), *pools]
    return any(each in last for one in known for each in one)
