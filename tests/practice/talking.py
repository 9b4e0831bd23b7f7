"""Plays conversations with the guided tour in this process, with the tour's own server and no database.

A next step is written or waits for a yes as on a real server: its rule weighs what the person said here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import orjson
from django.utils.formats import date_format
from django.utils.translation import override

from coaching.library.promises import Claim, weigh
from coaching.library.quote_context import Said
from coaching.practice import PracticeServer
from coaching.tools.confirmed import DECLINED
from coaching.tools.create_action_item import CREATE_ACTION_ITEM, CreateActionItemInput, claim_of
from coaching.tools.evidence import question_in
from coaching.tools.presentation import CardField, Question
from coaching.tools.resolve_action_item import RESOLVE_ACTION_ITEM, ResolveActionItemInput, claim_on
from coaching.tools.show_options import ShowOptionsInput
from tests.practice.conftest import Http
from tests.practice.walking import Walk

NAMES = {"en": "English", "de": "German", "es": "Spanish"}
DAY = date(2026, 11, 24)
CARDS = {each.name: each.presentation.question for each in (CREATE_ACTION_ITEM, RESOLVE_ACTION_ITEM)}
CONTEXT = (
    "<session_context>\nName: not known yet\nLanguage: {language}\n"
    "Time: Tuesday 2026-11-24, evening, 20:10 (Europe/Berlin)\n</session_context>"
)


@dataclass
class TalkWalk(Walk):
    """A walk whose tools find nothing and keep what they are given. `says_yes` to each card at once."""

    steps: dict[int, dict[str, Any]] = field(default_factory=dict)
    says_yes: bool = False

    async def tap(self, value: str) -> str:
        """Tap an option, or answer a step's card: `yes`, or anything else for a no."""
        if self.card is None:
            return await super().tap(value)
        return await self._answer({"accept": value.lower() in {"yes", self.card.yes.lower()}})

    async def _answer(self, value: dict[str, Any]) -> str:
        assert self.pending is not None
        if self.card is None:
            return await super()._answer(value)
        is_yes = value["accept"]
        result = self._write(self.pending) if is_yes else {"written": False, "message": DECLINED}
        return await super()._answer(result)

    @property
    def card(self) -> Question | None:
        """The card of a step that waits for a yes."""
        question = CARDS.get(self.pending["name"]) if self.pending else None
        return question(self.pending["input"]) if self.pending and question else None

    def _is_asked(self, call: dict[str, Any]) -> bool:
        claim = self._claim_in(call)
        return claim is not None and not self.says_yes and bool(weigh(claim, list(self._said())).why)

    def _claim_in(self, call: dict[str, Any]) -> Claim | None:
        """Return what a call says of a step; None for one that the tool refuses, and for other tools."""
        given = call["input"]
        match call["name"]:
            case "create_action_item":
                return claim_of(CreateActionItemInput.model_validate(given))
            case "resolve_action_item" if step := self.steps.get(given["id"]):
                return claim_on(str(step["title"]), ResolveActionItemInput.model_validate(given))
            case _:
                return None

    def _said(self) -> Iterator[Said]:
        """Yield what the person said, the newest first."""
        for place in range(len(self.history) - 1, -1, -1):
            said = self.history[place]
            if said.role != "user":
                continue
            before = self.history[place - 1] if place and place == len(self.history) - 1 else None
            calls = before.calls if before else ()
            asked = (
                "\n".join([before.content, *(question_in(each.input) for each in calls)]) if before else ""
            )
            yield Said(number=place, text=said.content, day=DAY, asked=asked)

    def _write(self, call: dict[str, Any]) -> dict[str, Any]:
        given: Mapping[str, Any] = call["input"]
        if call["name"] == "resolve_action_item":
            self.steps[given["id"]].update(given)
            return self.steps[given["id"]]
        step = len(self.steps) + 1
        self.steps[step] = {"written": True, "id": step, "state": "open", **given}
        return self.steps[step]

    def _result_of(self, call: dict[str, Any]) -> tuple[str, bool]:
        match call["name"]:
            case "create_action_item":
                return orjson.dumps(self._write(call)).decode(), False
            case "resolve_action_item" if call["input"]["id"] in self.steps:
                return orjson.dumps(self._write(call)).decode(), False
            case "recall_context" | "search_knowledge_bank":
                return '{"hits": []}', False
            case "show_help_lines":
                return '{"success": true, "lines": ["Find A Helpline"]}', False
            case _:
                return super()._result_of(call)


async def play_all(talks: Sequence[Sequence[str]], language: str) -> Sequence[str]:
    """Return what was said in each conversation. `> value` taps an option; other lines are messages."""
    http = Http(PracticeServer(tokens_per_second=0))
    return [await _play(http, turns, language) for turns in talks]


async def _play(http: Http, turns: Sequence[str], language: str) -> str:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    played: list[str] = []
    for words in turns:
        said = await (walk.tap(words[1:].strip()) if words.startswith(">") else walk.say(words))
        played.append("\n".join([f"YOU   {words}", f"SAGE  {said}", *_shown(walk, language), ""]))
    return "\n".join(played)


def _value_of(field: CardField) -> str:
    """Return the value of a card's field as a page shows it."""
    if field.kind == "date":
        return date_format(date.fromisoformat(field.value))
    return str(dict(field.choices).get(field.value, field.value))


def _shown(walk: TalkWalk, language: str) -> Sequence[str]:
    if walk.pending is None:
        return []
    with override(language):
        if card := walk.card:
            step = walk.steps.get(walk.pending["input"].get("id"), {}).get("title")
            filled = [f"{each.label}: {_value_of(each)}" for each in card.fields if each.value]
            shown = " / ".join([*([str(step)] if step else []), *filled])
            return [f"[card: {card.prompt} {shown}]", f"[> yes: {card.yes}] [> no]"]
    if walk.pending["name"] != "show_options":
        return [f"[shows {walk.pending['name']}]"]
    given = ShowOptionsInput.model_validate(walk.pending["input"])
    return [given.prompt or "", f"[{'] ['.join(str(option.label) for option in given.options)}]"]
