"""An arc whose questions were skipped ends without saying that all is done, or that it was stopped."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.file_names import missing_in_words
from coaching.practice.coach.texts import Language
from tests.practice.conftest import Http
from tests.practice.test_beside import begun

SKIP = {"en": "skip", "de": "überspringen", "es": "saltar"}


@pytest.mark.parametrize("language", ["en", "de", "es"])
async def test_the_words_at_the_end_say_what_was_left_open(http: Http, language: Language) -> None:
    walk = await begun(http, "life_mapping", language)
    for _ in range(8):
        await walk.tap("good")
    for _ in range(5):
        check = await walk.say(SKIP[language])
    told = await walk.tap("yes")
    with texts.speaking(language):
        assert ". ." not in check
        assert texts.said("all_asked") in told
        assert texts.said("left") not in told
        assert texts.names()["current"] in told
    stopped = await begun(http, "life_mapping", language)
    await stopped.tap("good")
    told = await stopped.say({"en": "stop", "de": "stopp", "es": "para"}[language])
    with texts.speaking(language):
        assert texts.said("left") in told
        assert texts.said("all_asked") not in told


@pytest.mark.parametrize(
    ("language", "item", "said"),
    [
        ("de", "intention of the day-plan", "dein Vorsatz (der Plan deines Tages)"),
        ("es", "intention of the day-plan", "tu intención (el plan de tu día)"),
        ("en", "intention of the day-plan", "your intention (the plan of your day)"),
        ("de", "themes of the check-in", "deine Themen (dein Wochenrückblick)"),
        ("de", "day-plan with intention, priorities", "der Plan deines Tages"),
        ("de", "overview", "der Überblick deiner Karte"),
    ],
)
def test_what_was_left_open_is_named_in_the_persons_language(
    language: Language, item: str, said: str
) -> None:
    with texts.speaking(language):
        assert missing_in_words(item) == said
