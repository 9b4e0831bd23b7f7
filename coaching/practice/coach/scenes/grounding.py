"""Grounding when it is all too much: no plan, no file, only the next hour; then a choice to continue."""

from coaching.practice.coach.arc_hearing import is_skip
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.day_wording import GROUND, GROUND_AFTER, GROUND_NEXT, GROUND_RETURN
from coaching.practice.coach.listening import reflect
from coaching.practice.coach.scenes.skills import load_quietly
from coaching.practice.coach.wording import pick
from coaching.practice.script import Reply


def ground(arc: ArcTalk, lead: str = "") -> Reply | None:
    """Slow down step by step; None once the user has chosen how to continue."""
    answer = arc.answer_to(GROUND)
    if answer is None:
        newest = arc.newest
        heard = reflect(newest.answer) if newest and not newest.is_tapped else ""
        return load_quietly(arc, "crisis-support") or arc.ask(GROUND, lead, heard)
    wish = answer.value if answer.value in GROUND_NEXT else "heard"
    following = GROUND_NEXT[wish]
    said_it_already = not answer.is_tapped and not is_skip(answer.answer)
    if not said_it_already and not arc.is_settled(following):
        return arc.ask(following)
    if not arc.is_settled(GROUND_RETURN):
        newest = arc.newest
        heard = reflect(newest.answer) if newest and not newest.is_tapped else ""
        return arc.ask(GROUND_RETURN, heard, pick(GROUND_AFTER, arc.conversation))
    return None
