"""Plays conversations with the guided tour in this process, with the tour's own server and no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from coaching.practice import PracticeServer
from coaching.tools.show_options import ShowOptionsInput
from tests.practice.conftest import Http
from tests.practice.walking import Walk

NAMES = {"en": "English", "de": "German", "es": "Spanish"}
CONTEXT = (
    "<session_context>\nName: not known yet\nLanguage: {language}\n"
    "Time: Tuesday 2026-11-24, evening, 20:10 (Europe/Berlin)\n</session_context>"
)


@dataclass
class TalkWalk(Walk):
    """A walk whose tools find nothing and keep what they are given."""

    steps: dict[int, dict[str, Any]] = field(default_factory=dict)

    def _result_of(self, call: dict[str, Any]) -> tuple[str, bool]:
        given: Mapping[str, Any] = call["input"]
        match call["name"]:
            case "create_action_item":
                step = len(self.steps) + 1
                self.steps[step] = {"written": True, "id": step, "state": "open", **given}
                return orjson.dumps(self.steps[step]).decode(), False
            case "resolve_action_item" if given["id"] in self.steps:
                self.steps[given["id"]].update(given)
                return orjson.dumps(self.steps[given["id"]]).decode(), False
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
        played.append("\n".join([f"YOU   {words}", f"SAGE  {said}", *_shown(walk), ""]))
    return "\n".join(played)


def _shown(walk: Walk) -> Sequence[str]:
    if walk.pending is None:
        return []
    if walk.pending["name"] != "show_options":
        return [f"[shows {walk.pending['name']}]"]
    given = ShowOptionsInput.model_validate(walk.pending["input"])
    return [given.prompt or "", f"[{'] ['.join(str(option.label) for option in given.options)}]"]
