"""The tour's walks: what each asks for, and the files that it writes.

`walks.en.toml` has them whole, `walks.de.toml` and `walks.es.toml` their words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from coaching.practice.coach.texts import LANGUAGES, Choice, Language, language, read_table, said, speaking

DOMAINS = ("career", "relationships", "health", "finances", "learning", "creativity", "play", "meaning")
LATER = "later"

SlotKind = Literal["choice", "words", "line", "items", "pulse"]
"""`choice`: one of the choices. `words`: some sentences. `line`: a short line. `items`: up to three."""
_WISH = (
    r"\b(?:let'?s|let us|can we|could we|shall we|i(?:'d| would) like|i want|i need|i'?m ready|ready|please|"
    r"time|start|begin|do|use|try|help me|can you|could you|show me|ok(?:ay)?|yes)\b[^.!?]{0,60}?\b(?:WORDS)|"
    r"\A\W*(?:WORDS)\W*\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What was given for a slot: words, a choice's value, items or ratings. `at` is its position."""

    words: str
    value: str = ""
    items: tuple[str, ...] = ()
    ratings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    at: int = 0

    @property
    def is_later(self) -> bool:
        return self.value == LATER

    @property
    def text(self) -> str:
        rated = [f"{name} {values.get('new')}" for name, values in self.ratings.items()]
        return ", ".join(rated or self.items) or self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Something to ask for, recognised in the history by its question, word for word.

    `asked` is the question in each of the languages. `title` heads a part of the life map.
    """

    name: str
    label: str
    question: str
    why: str
    kind: SlotKind = "words"
    choices: Sequence[Choice] = ()
    aliases: Sequence[str] = ()
    when: str = ""
    skill: str = ""
    is_fixed: bool = False
    title: str = ""
    asked: Sequence[str] = ()

    def asked_at(self, text: str) -> int:
        """Return where a text asks for this slot last, -1 if it doesn't."""
        return max(text.rfind(question) for question in self.asked)

    def is_wanted(self, given: Mapping[str, Given]) -> bool:
        """Return whether earlier answers leave this slot to be asked for."""
        name, is_equal, value = re.split(r"(!?=)", self.when) if self.when else ("", "!=", " ")
        return (name in given and given[name].value == value) == (is_equal == "=")

    @property
    def names(self) -> Sequence[str]:
        return (self.name, *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of a walk. `is_early`: written as soon as it is answered. `appends`: earlier quotes stay.

    `is_plan`: the safety plan, which has its own form.
    """

    file_type: str
    title: str
    name: str
    sections: Mapping[str, Sequence[str]]
    attributes: Mapping[str, str]
    file_name: str = ""
    path: str = ""
    is_early: bool = False
    appends: bool = False
    is_plan: bool = False

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(
            [*(name for names in self.sections.values() for name in names), *self.attributes.values()]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """An arc, or something else that the tour shows. `skill` is an approach to load for it."""

    name: str
    opening: str
    farewell: str
    asked_for: re.Pattern[str]
    slots: Sequence[Slot]
    files: Sequence[File]
    skill: str = ""
    is_arc: bool = False

    def slot(self, name: str) -> Slot:
        return next(slot for slot in self.slots if slot.name == name)

    @property
    def asks_before_writing(self) -> bool:
        """Whether its last question is if it may write at all."""
        return any(slot.name == "yes" for slot in self.slots)


def _read(code: Language) -> dict[str, Walk]:
    if code == "en":
        walks = {table["name"]: _walk(**table) for table in read_table("walks.en")["walks"]}
    else:
        words = read_table(f"walks.{code}")
        walks = {name: _translated(walk, words[name], words) for name, walk in _read("en").items()}
    titles = {slot.name: slot.title for slot in walks["life_mapping"].slots if slot.title}
    with speaking(code):
        return {name: _with_parts(walk, titles) for name, walk in walks.items()}


def _walk(asked_for: str, slots: Any, files: Any, parts: Any = (), **values: Any) -> Walk:
    why, choices = values.pop("part_why", ""), values.pop("part_choices", {})
    asked, pages = [], []
    for number, (name, question, meant, *aliases) in enumerate(parts, 1):
        slot = [name, "words", f"your page on {name}", *aliases]
        asks = [f"{question} ({number} of {len(parts)})", f"{meant} {why}"]
        asked.append({"slot": slot, "asks": asks, "choices": choices, "title": name.title()})
        file = ["domain", name.title(), f"your page on {name}", f"life-map/{name}.md"]
        attributes = {"status": name, "updated_rating": name}
        page = {"file": file, "file_name": name, "sections": {"How it is": [name]}, "is_early": True}
        pages.append({**page, "attributes": attributes})
    return Walk(
        asked_for=re.compile(_WISH.replace("WORDS", asked_for), re.IGNORECASE),
        slots=[_slot(**slot) for slot in [*asked, *slots]],
        files=[_file(**file) for file in [*pages, *files]],
        **values,
    )


def _with_parts(walk: Walk, titles: Mapping[str, str]) -> Walk:
    """Return a walk in which each choice of parts of life has their names as the map has them."""
    return replace(walk, slots=[_with_part_labels(slot, titles) for slot in walk.slots])


def _with_part_labels(slot: Slot, titles: Mapping[str, str]) -> Slot:
    values = [value for _, value in slot.choices]
    if not values or not all(titles.keys() >= set(value.split()) for value in values):
        return slot
    labels = [_joined([titles[name] for name in value.split()]) for value in values]
    return replace(slot, choices=list(zip(labels, values, strict=True)))


def _joined(titles: Sequence[str]) -> str:
    return f" {said('and')} ".join([titles[0], *(_within_sentence(title) for title in titles[1:])])


def _within_sentence(title: str) -> str:
    return title if language() == "de" else title.lower()


def _slot(slot: Any, asks: Any, choices: Any = None, parts: Sequence[str] = (), **values: Any) -> Slot:
    (name, kind, label, *aliases), (question, why) = slot, asks
    labels = [(label, value) for value, label in (choices or {}).items()] or [(each, each) for each in parts]
    named = {"name": name, "kind": kind, "label": label, "aliases": aliases}
    return Slot(**named, question=question, why=why, choices=labels, **values)


def _file(file: Any, sections: Any, attributes: Any = None, **values: Any) -> File:
    (file_type, title, name, path), previewed = file, next(iter(sections.values()))[0]
    attributes = {**(attributes or {}), **({} if values.get("is_plan") else {"preview_line": previewed})}
    named = {"file_type": file_type, "title": title, "name": name, "path": path}
    return File(**named, sections=sections, attributes=attributes, **values)


def _translated(walk: Walk, words: Mapping[str, Any], common: Mapping[str, Any]) -> Walk:
    """Return a walk in another language. Each part of the life map has a page, and these come first."""
    parts = common["parts"] if walk.name == "life_mapping" else {}
    slots = [
        _part(slot, number, len(parts), common)
        if (number := 1 + list(parts).index(slot.name) if slot.name in parts else 0)
        else _in_words(slot, words)
        for slot in walk.slots
    ]
    labels = {slot.name: (slot.title, slot.label) for slot in slots}
    named = iter(words["files"])
    return replace(
        walk,
        opening=words["opening"],
        farewell=words["farewell"],
        asked_for=re.compile(common["wish"].replace("WORDS", words["asked_for"]), re.IGNORECASE),
        slots=slots,
        files=[
            _named(file, [*labels[file.file_name], common["part_heading"]])
            if file.is_early
            else _named(file, next(named)["words"])
            for file in walk.files
        ],
    )


def _part(slot: Slot, number: int, count: int, common: Mapping[str, Any]) -> Slot:
    title, question, meant, *aliases = common["parts"][slot.name]
    return replace(
        slot,
        label=common["part_label"].format(title=title),
        question=f"{question} ({number}/{count})",
        why=f"{meant} {common['part_why']}",
        choices=[(label, value) for value, label in common["part_choices"].items()],
        aliases=[title.lower(), *aliases],
        title=title,
    )


def _in_words(slot: Slot, words: Mapping[str, Any]) -> Slot:
    label, question, why, *aliases = words["slots"][slot.name]
    labels = words.get("choices", {}).get(slot.name, {})
    choices = [(labels.get(value, label), value) for label, value in slot.choices]
    return replace(slot, label=label, question=question, why=why, aliases=aliases, choices=choices)


def _named(file: File, words: Sequence[str]) -> File:
    """Return a file with other words; the safety plan's headings are the form's."""
    title, name, *headings = words
    sections = dict(zip(headings, file.sections.values(), strict=True)) if headings else file.sections
    return replace(file, title=title, name=name, sections=sections)


def _asked_in_all(walks: Mapping[Language, Mapping[str, Walk]], walk: Walk) -> Walk:
    asked = [[each[walk.name].slot(slot.name).question for each in walks.values()] for slot in walk.slots]
    return replace(
        walk, slots=[replace(slot, asked=each) for slot, each in zip(walk.slots, asked, strict=True)]
    )


_WALKS = {code: _read(code) for code in LANGUAGES}
BY_LANGUAGE: Mapping[Language, Mapping[str, Walk]] = {
    code: {name: _asked_in_all(_WALKS, walk) for name, walk in walks.items()}
    for code, walks in _WALKS.items()
}
WALKS: Mapping[str, Walk] = BY_LANGUAGE["en"]
ARCS: Mapping[str, Walk] = {name: walk for name, walk in WALKS.items() if walk.is_arc}
STATIONS: Mapping[str, Walk] = {name: walk for name, walk in WALKS.items() if not walk.is_arc}


def part_title(name: str) -> str:
    """Return the title of a part of the life map in the language that is spoken."""
    return walk_called("life_mapping").slot(name).title


def name_to_change(slot: Slot) -> str:
    """Return a slot's short name, as people say it to change what it holds, in German with a capital."""
    name = (slot.aliases or [slot.label])[0]
    return f"{name[:1].upper()}{name[1:]}" if slot.aliases and language() == "de" else name


def part_within_sentence(name: str) -> str:
    """Return a part's title as it stands within a sentence: only German has a capital there."""
    return _within_sentence(part_title(name))


def walk_called(name: str) -> Walk:
    """Return a walk in the language that is spoken."""
    return BY_LANGUAGE[language()][name]
