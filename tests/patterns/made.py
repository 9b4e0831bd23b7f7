"""The patterns that functions make: all that come from our own tables, samples of the others."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coaching.practice.coach import (
    acts,
    days,
    fitting,
    hearing,
    heeding,
    jobs,
    known_scenes,
    on_list,
    requested,
    thread,
)
from coaching.practice.coach.tables import BY_LANGUAGE, WALKS
from coaching.safety import (
    answers,
    danger,
    grief,
    harmless,
    intensity,
    joining,
    languages,
    readable,
    sentences,
    weak_cues,
)
from coaching.safety.phrases import all_phrases
from coaching.safety.tables import whole_words

Patterns = Sequence[re.Pattern[Any]]

SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "coaching/library/rows/named_clients.py": {"word": "anna"},
    "coaching/files/log_captures.py": {"path": "captures/2026-01-02-walk.md"},
    "coaching/library/extractors/mime.py": {"boundary": b"b-1"},
    "coaching/library/pipeline/checked_answers.py": {"words": r"Anna\s+Berg"},
    "coaching/practice/coach/hearing.py": {
        "name": "goal",
        "names": "goal|aim",
        "words": "Priya",
        "ends": r"(?: page)?(?:\s+(?:to|into|as|say)\b|\s*[:=])?\s+(.+)",
    },
    "coaching/practice/coach/resting.py": {"names": "health|body|sleep"},
    "coaching/recall/question.py": {"names": "Anna|Annie"},
    "coaching/skills/callers.py": {"words": r"life[\s_-]*mapping"},
    "coaching/views/devices.py": {"part": "Firefox"},
}
"""Variables of the functions that make a pattern, by module."""


def _of_lists() -> Patterns:
    constants = [
        value for module in (danger, harmless, sentences, weak_cues) for value in vars(module).values()
    ]
    phrases = all_phrases()
    return [
        *(value for value in constants if isinstance(value, re.Pattern)),
        *(phrase.pattern for phrase in phrases),
        *{pattern for phrase in phrases for pattern in (phrase.requires, phrase.unless) if pattern},
        *(whole_words([cue.line]) for cue in weak_cues.all_cues()),
    ]


MADE: Mapping[str, Callable[[], Patterns]] = {
    "coaching/practice/coach/acts.py: re.compile(text)": lambda: [
        pattern for known in acts.act_patterns().values() for pattern in known.values()
    ],
    "coaching/practice/coach/thread.py: re.compile(text)": lambda: [*thread.patterns()],
    "coaching/practice/coach/known_scenes.py: re.compile(text)": lambda: [*known_scenes.patterns()],
    "coaching/practice/coach/on_list.py: re.compile(text)": lambda: [
        pattern for known in on_list.list_patterns().values() for pattern in known.values()
    ],
    "coaching/practice/coach/heeding.py: re.compile(text)": lambda: [
        pattern for known in heeding.heeding_patterns().values() for pattern in known.values()
    ],
    "coaching/practice/coach/requested.py: re.compile(text)": lambda: [
        pattern
        for known in requested.request_patterns().values()
        for patterns in known.values()
        for pattern in patterns
    ],
    "coaching/practice/coach/hearing.py: re.compile(text)": lambda: [
        *(pattern for patterns in hearing._WHOLE.values() for pattern in patterns.values()),
        *(pattern for patterns in hearing._WITHIN.values() for pattern in patterns.values()),
    ],
    "coaching/practice/coach/fitting.py: re.compile(f'\\\\b(?:{words})')": lambda: [
        *fitting._OF_PARTS.values()
    ],
    "coaching/practice/coach/jobs.py: re.compile(f'\\\\b(?:{words})\\\\b')": lambda: [
        pattern for topics in jobs._TOPICS.values() for pattern in topics.values()
    ],
    "coaching/practice/coach/tables.py: re.compile(_WISH.replace('WORDS', asked_for))": lambda: [
        walk.asked_for for walk in WALKS.values()
    ],
    (
        "coaching/practice/coach/tables.py: re.compile(common['wish'].replace('WORDS', words['asked_for']))"
    ): lambda: [walk.asked_for for code in ("de", "es") for walk in BY_LANGUAGE[code].values()],
    ("coaching/practice/coach/days.py: re.compile(named)"): lambda: [pattern for pattern, _ in days._days()],
    (
        "coaching/safety/answers.py: re.compile(f\"(?<![\\\\w'])(?:{'|'.join(_TABLE[section])})(?!\\\\w)\")"
    ): lambda: [answers._pattern(section) for section in answers._TABLE],
    (
        "coaching/safety/answers.py: re.compile(f\"{_START}(?:{'|'.join(_TABLE[section])})(?!\\\\w)\")"
    ): lambda: [answers._start_of(section) for section in answers._TABLE],
    (
        "coaching/safety/answers.py: "
        "re.compile(f\"(?<![\\\\w'])(?:{'|'.join(_TABLE[section])})(?=\\\\W{{0,9}}$|,)\")"
    ): lambda: [answers._end_of(section) for section in answers._TABLE],
    ("coaching/safety/grief.py: re.compile(f'(?<!\\\\w)(?:{lines})(?!\\\\w)')"): lambda: [
        grief._pattern(language) for language in grief._TABLE
    ],
    "coaching/safety/intensity.py: re.compile(f'\\\\b(?:{line})\\\\b')": lambda: [
        pattern
        for lexicon in (intensity._ENGLISH, *intensity._OTHERS.values())
        for pattern, _ in lexicon.words
    ],
    "coaching/safety/joining.py: re.compile(f'(?<!\\\\w)(?:{line})(?!\\\\w)')": lambda: [
        pattern
        for language in (joining.ENGLISH, *languages.LANGUAGES)
        for pattern in joining.patterns_of(language)
    ],
    (
        "coaching/safety/joining.py: re.compile(f\"(?<!\\\\w)(?:{'|'.join(_TABLE[name])})(?!\\\\w)\")"
    ): lambda: [joining.section_of(name) for name in ("loss", "over", "home")],
    "coaching/safety/languages.py: re.compile(f'(?<!\\\\w)(?:{_lines(section)})(?!\\\\w)')": lambda: [
        languages._pattern(section) for section in languages._TABLE if not section.startswith("denied")
    ],
    (
        "coaching/safety/languages.py: re.compile(f'(?<!\\\\w)(?:{denials})(?: (?:{between})){{0,4}} ?$')"
    ): lambda: [languages._denied()],
    "coaching/safety/readable.py: re.compile(form)": lambda: [form for form, *_ in readable._FORMS],
    (
        "coaching/safety/tables.py: "
        "re.compile(f\"(?<![\\\\w-])(?:{'|'.join(map(expanded, lines))})(?![\\\\w-])\")"
    ): _of_lists,
}
"""What the tables of a module become."""

ANCHORED = frozenset({key for key in MADE if "{_START}" in key})
"""Of these, those that are only matched at a text's beginning."""
