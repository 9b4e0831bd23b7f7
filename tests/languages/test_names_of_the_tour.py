"""The guided tour has the names that the pages have, and its language's quotation marks."""

import pytest
from django.utils.translation import override

from coaching.models import LifeDomain
from coaching.models.life import DomainStatus
from coaching.practice.coach import texts
from coaching.practice.coach.files import as_call
from coaching.practice.coach.state import State
from coaching.practice.coach.tables import BY_LANGUAGE, Given
from coaching.practice.coach.texts import Language

LANGUAGES = ["en", "de", "es"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_part_of_life_has_one_name_on_pages_and_in_the_tour(code: Language) -> None:
    slots = BY_LANGUAGE[code]["life_mapping"].slots
    touched = BY_LANGUAGE[code]["close_day"].slot("touched")
    with override(code):
        labels = {str(part): str(LifeDomain(part).label) for part in LifeDomain}
    assert {slot.name: slot.title for slot in slots if slot.title} == labels
    files = [file for file in BY_LANGUAGE[code]["life_mapping"].files if file.is_early]
    assert {file.file_name: file.title for file in files} == labels
    tapped = {value: label for label, value in touched.choices if " " not in value}
    assert tapped == {part: labels[part] for part in tapped}
    assert len(tapped) == 5


@pytest.mark.parametrize("code", LANGUAGES)
def test_how_a_part_is_has_one_name_on_pages_and_in_the_tour(code: Language) -> None:
    slot = BY_LANGUAGE[code]["life_mapping"].slot("health")
    with override(code):
        labels = {str(status): str(DomainStatus(status).label) for status in DomainStatus}
    assert {value: label for label, value in slot.choices if value != "later"} == labels


@pytest.mark.parametrize(
    ("code", "line"), [("en", "- “Much rain.”"), ("de", "- „Viel Regen.“"), ("es", "- «Mucha lluvia.»")]
)
def test_a_file_quotes_in_its_language_and_keeps_quotes_of_before(code: Language, line: str) -> None:
    walk = BY_LANGUAGE[code]["close_day"]
    (file,) = walk.files
    words = line.strip("- “”„«»")
    state = State(walk=walk, given={"story": Given(words=words, at=1)})
    with texts.speaking(code):
        before = as_call(file, state, "", is_again=False).input["content"]
        older = before.replace(line, "- “Older.”")
        merged = as_call(file, state, f'<file path="a">\n{older}</file>', is_again=False).input["content"]
    assert line in before
    assert f"- “Older.”\n{line}" in merged
    assert texts.said("kept") not in merged
