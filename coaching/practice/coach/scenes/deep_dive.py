"""Staying with one domain: a scene, what still works, its status, one small step."""

from coaching.practice.coach.arc_files import ArcFile, preview, quotes
from coaching.practice.coach.arc_hearing import hear_status
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.scenes.skills import load_quietly
from coaching.practice.coach.week_wording import HOLDS, SCENE, STATUS, STEP
from coaching.practice.script import Reply


def stay_with(arc: ArcTalk, domain: str, lead: str = "") -> Reply | None:
    """Ask the next question about a domain in trouble; None when done."""
    if quiet := load_quietly(arc, "domain-deep-dive"):
        return quiet
    for question in (SCENE, HOLDS, STATUS, STEP):
        if not arc.is_settled(question):
            return arc.ask(question, lead, word=domain)
    return None


def step_of(arc: ArcTalk, domain: str) -> str:
    """Return the step that the user chose for the domain, or nothing."""
    return arc.words_for(STEP) if domain else ""


def build_page(arc: ArcTalk, domain: str) -> ArcFile | None:
    """Build the domain's page from what was said; None if nothing was."""
    scene, holds, step, status = (
        arc.words_for(SCENE),
        arc.words_for(HOLDS),
        arc.words_for(STEP),
        arc.answer_to(STATUS),
    )
    if not domain or not (scene or holds or step):
        return None
    value = (status.value or hear_status([status.answer])) if status is not None else ""
    return ArcFile(
        file_type="domain",
        file_name=domain,
        title=domain.title(),
        sections=[
            ("Where it stands, as you told it", quotes(scene)),
            ("What still works", quotes(holds)),
            ("Next small step", quotes(step)),
        ],
        attributes={"status": value, "preview_line": preview(scene or holds)},
        quotes_under="Where it stands, as you told it",
    )
