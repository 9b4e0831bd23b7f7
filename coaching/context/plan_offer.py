"""Whether Sage may offer a safety plan: some day after the person's own danger, once, where there is none."""

from coaching.context.life import Life, Unknown
from coaching.files.safety_plans import has_plan
from sessions_app.models import Turn

SAFETY_PLAN = "safety-plan"


def fits_plan(life: Life, *, arc: str) -> bool:
    """Return whether the skill fits now: outside arcs, and not on top of Sage's question after danger."""
    care, user_id = life.care, life.profile.user_id
    if arc or isinstance(care, Unknown) or care.own is None:
        return False
    is_later = care.own.topic == "life" and care.own.day < care.today
    if not is_later or care.to_ask() is not None or has_plan(user_id=user_id):
        return False
    since = Turn.of(user_id).filter(started_at__gte=care.own.at).exclude(session_id=life.session_id)
    return not since.filter(metadata__skills__said__contains=[SAFETY_PLAN]).exists()
