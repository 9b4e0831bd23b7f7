"""Moods and energies in the user's own words, as levels from 1 (low) to 5 (high) for a chart. Pure.

The words stay what the user said; a level only places them. Words that aren't in the lists have none.
"""

import re
from collections.abc import Mapping

HIGHEST = 5

_OUT_OF = re.compile(r"\b(\d{1,2})(?:[.,](\d))?\s*(?:/|of|out of|von|de)\s*(\d{1,3})\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# fmt: off
_STRONGER = frozenset({
    "very", "really", "so", "extremely", "totally", "sehr", "total", "richtig", "muy", "super",
})
_NOT = frozenset({
    "not", "no", "never", "nicht", "kein", "keine", "sin", "poco", "wenig", "hardly", "barely", "kaum",
})
_ALONE = frozenset({
    "plenty", "some", "keine", "viel", "etwas", "ninguna", "algo", "mucha", "gusto", "calma", "tranquilidad",
})
"""Words that say a level only if they are all that was said: “viel”, but not “zu viel Stress”."""
_BEFORE = frozenset({"a", "en", "con", "gar"})
"""May stand before such a word: “a gusto”."""
# fmt: on


def _table(rows: Mapping[int, str]) -> Mapping[str, int]:
    return {word: level for level, words in rows.items() for word in words.split()}


_MOODS = _table(
    {
        1: "awful terrible hopeless desperate miserable devastated horrible grim depressed panicked "
        "furchtbar schrecklich hoffnungslos verzweifelt elend fatal desesperado desesperada",
        2: "low down sad anxious worried stressed tense angry irritated irritable frustrated lonely bad "
        "upset overwhelmed grumpy nervous restless guilty gloomy unhappy afraid scared tired drained flat "
        "heavy schlecht traurig ängstlich besorgt gestresst angespannt wütend gereizt einsam müde bedrückt "
        "unruhig nervös mal triste ansioso ansiosa preocupado preocupada estresado estresada cansado cansada "
        "tensión bajón",
        3: "ok okay mixed neutral fine so-so even steady subdued quiet thoughtful pensive meh average medium "
        "gemischt neutral mittel nachdenklich ruhig regular normal altibajos",
        4: "good calm content hopeful light relaxed peaceful grateful relieved settled positive warm better "
        "satisfied proud cheerful confident optimistic clear focused bright "
        "gut zufrieden hoffnungsvoll entspannt dankbar erleichtert gelassen leicht "
        "bien bueno buena tranquilo tranquila contento contenta agradecido agradecida "
        "gusto calma tranquilidad",
        5: "great happy joyful excited elated wonderful fantastic amazing thrilled excellent delighted "
        "super glücklich fröhlich begeistert wunderbar toll großartig "
        "feliz alegre genial excelente encantado encantada",
    }
)
_ENERGIES = _table(
    {
        1: "exhausted empty none drained depleted wiped spent burnt-out "
        "erschöpft leer kaputt keine agotado agotada ninguna",
        2: "low tired weary sleepy sluggish flat slow weak little bad poor "
        "niedrig müde schlapp träge wenig schlecht schwach baja bajo cansado cansada poca poco",
        3: "some medium middling moderate ok okay steady even average fine mixed so-so normal enough "
        "mittel mäßig gemischt ruhig etwas media medio regular algo",
        4: "plenty good high rested fresh strong lively awake solid better "
        "gut hoch viel ausgeruht frisch wach stark alta alto buena bueno descansado descansada mucha",
        5: "great full energetic energised energized excellent buzzing vibrant peak "
        "voll super energiegeladen toll excelente llena lleno",
    }
)


def mood_level(words: str) -> int | None:
    """Return the level of a mood; None where its words aren't known."""
    return _level(words, _MOODS)


def energy_level(words: str) -> int | None:
    """Return the level of an energy; None where its words aren't known."""
    return _level(words, _ENERGIES)


def _level(words: str, table: Mapping[str, int]) -> int | None:
    if found := _OUT_OF.search(words.casefold()):
        value, most = float(f"{found[1]}.{found[2] or 0}"), int(found[3])
        return round(1 + (HIGHEST - 1) * value / most) if most > 0 and value <= most else None
    levels: list[int] = []
    before = ""
    said = _WORD.findall(words.casefold())
    is_one = len(set(said) - _BEFORE) == 1
    for word in said:
        if (level := table.get(word)) is not None and (is_one or word not in _ALONE):
            levels.append(_shifted(level, before))
        before = word
    return round(sum(levels) / len(levels)) if levels else None


def _shifted(level: int, before: str) -> int:
    """Return the level of a word after another: “very low” is lower, “not good” is low."""
    if before in _NOT:
        return 2 if level > 2 else 3
    if before in _STRONGER:
        return min(HIGHEST, level + 1) if level > 3 else max(1, level - 1) if level < 3 else level
    return level
