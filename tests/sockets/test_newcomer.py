"""A newcomer's sixty messages to the guided tour, through the whole application.

`--newcomer-transcript FILE` writes down what was said; `tests/practice/newcomer.md` says how to mark it.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.files.selectors import read_file
from coaching.models import UserFile, UserFileVersion
from coaching.practice.coach.files import FOOT
from coaching.practice.coach.tables import WALKS
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import SessionKind
from tests.live_sage import Frame, LiveSage, SocketClient, open_socket
from tests.practice.newcomer import MAY_LAND, SESSIONS, Rate, Say, Step, Tap

pytestmark = pytest.mark.django_db(transaction=True)

WORD = re.compile(r"[^\W\d_]{3,}")
PAGES = ("career", "relationships", "health", "learning", "creativity", "meaning")


@dataclass
class Newcomer:
    """The person at the socket of one conversation, and what was said so far."""

    client: SocketClient
    said: list[str]
    numbers: list[int]
    frames: list[Frame] = field(default_factory=list)

    async def do(self, step: Step) -> None:
        """Type, tap or rate, and wait for all that comes back."""
        match step:
            case Say(text):
                self.numbers.append(len(self.numbers) + 1)
                self.said.append(
                    f"\n**{self.numbers[-1]}. Person:** {text if len(text) < 300 else text[:200] + ' […]'}\n"
                )
                await self.client.send(type="message", text=text)
            case Tap(option):
                shown = self._shown("showOptions")
                value = next(o["value"] for o in shown["options"] if option in {o["label"], o["value"]})
                self.said.append(f"\n*Person taps “{option}”.*\n")
                await self.client.send(type="answer", toolUseId=shown["toolUseId"], value=value)
            case Rate(ratings):
                shown = self._shown("showPulseCheck")
                self.said.append(f"\n*Person rates: {', '.join(f'{k} {v}' for k, v in ratings.items())}.*\n")
                answer = {"ratings": dict(ratings)}
                await self.client.send(type="answer", toolUseId=shown["toolUseId"], value=answer)
        self.frames = await self.client.until("done")
        self.said += [line for frame in self.frames if (line := _line(frame))]

    def _shown(self, name: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = [frame[name] for frame in self.frames if name in frame]
        assert found, f"no {name} in {self.frames}"
        return found[-1]


def _line(frame: Frame) -> str:
    """Return a frame as the transcript shows it."""
    match frame:
        case {"text": str(text)}:
            return text
        case {"note": str(note)}:
            return f"\n*{note}*\n"
        case {"showOptions": shown}:
            labels = " · ".join(f"[{option['label']}]" for option in shown["options"])
            return f"\n\n{shown['prompt']}\n{labels}\n"
        case {"showPulseCheck": shown}:
            return f"\n\n{shown['context']} [ratings from 1 to 5 for: {', '.join(shown['domains'])}]\n"
        case {"safety": card}:
            names = ", ".join(line["name"] for line in card["lines"])
            return f"\n*(The page shows a card with help lines: {names}.)*\n\n"
        case {"roundBoundary": True}:
            return "\n\n"
        case {"sessionCompleted": True}:
            return "\n\n*(The page: this conversation is complete.)*\n\n"
        case {"arcCompleted": str(arc)}:
            return f"\n*(The page: {arc} is complete.)*\n\n"
        case _:
            return ""


async def test_no_word_that_was_no_answer_lands_in_a_file_and_every_arc_is_completed(
    live_sage: LiveSage, practice: PracticeServer, user: User, cookie: str, pytestconfig: pytest.Config
) -> None:
    said: list[str] = []
    numbers: list[int] = []
    completed: list[str] = []
    for name, (kind, steps) in SESSIONS.items():
        said.append(f"\n\n## {name}\n")
        session = await in_database(session_services.open_session, user_id=user.pk, kind=SessionKind(kind))
        async with open_socket(live_sage, session.id, cookie) as client:
            await client.until("sync")
            newcomer = Newcomer(client=client, said=said, numbers=numbers)
            for step in steps:
                await newcomer.do(step)
                completed += [frame["arcCompleted"] for frame in newcomer.frames if "arcCompleted" in frame]
                completed += [kind for frame in newcomer.frames if "sessionCompleted" in frame]
    if path := pytestconfig.getoption("newcomer_transcript"):
        files = await in_database(_files, user)
        shown = [f"\n\n### {name}\n\n```\n{text}\n```" for name, text in files.items()]
        _write_transcript(Path(path), "".join([*said, "\n\n## The files in the end", *shown]))
    assert len(numbers) == 60
    assert sorted(completed) == ["close_day", "life_mapping", "open_day", "weekly_checkin"]
    written = " ".join(await in_database(_all_versions, user))
    assert set(WORD.findall(written.lower())) & words_that_are_no_answer() == set()
    await in_database(_assert_that_the_answers_are_there, user)


def _write_transcript(path: Path, text: str) -> None:
    path.write_text(re.sub(r"\n{3,}", "\n\n", text), encoding="utf-8")


def words_that_are_no_answer() -> set[str]:
    """Return the words of the messages that are no answers, without those that answers have, too."""
    messages = [step for _, steps in SESSIONS.values() for step in steps if isinstance(step, Say)]
    answers = {word for said in messages if said.kind in MAY_LAND for word in WORD.findall(said.text.lower())}
    others = {
        word for said in messages if said.kind not in MAY_LAND for word in WORD.findall(said.text.lower())
    }
    return others - answers - _words_of_the_tours_own()


def _words_of_the_tours_own() -> set[str]:
    """Return the words of headings, choices, frontmatter and the foot."""
    own = [FOOT, "left for later", "plan"]
    for walk in WALKS.values():
        own += [label for slot in walk.slots for label, _ in slot.choices]
        for file in walk.files:
            own += [file.title, file.file_type, *file.sections, *file.attributes]
    return set(WORD.findall(" ".join(own).lower()))


def _all_versions(user: User) -> list[str]:
    files = UserFile.unscoped.filter(user=user)
    return list(UserFileVersion.unscoped.filter(file__in=files).values_list("content", flat=True))


def _files(user: User) -> dict[str, str]:
    paths = UserFile.unscoped.filter(user=user).order_by("path").values_list("path", flat=True)
    return {path: read_file(user_id=user.pk, path=path).text for path in paths}


def _assert_that_the_answers_are_there(user: User) -> None:
    files = _files(user)
    plan = next(text for path, text in files.items() if path.startswith("day-plans/"))
    assert "Petra" in plan
    assert "Priya" not in plan
    assert "intention: Unhurried and kind" in plan
    assert {f"life-map/{name}.md" for name in PAGES} < files.keys()
    assert "brother" in files["life-map/relationships.md"]
    assert "sister" not in files["life-map/relationships.md"]
    assert "I wake at four" in files["life-map/health.md"]
    assert "updated_rating" not in files["life-map/health.md"], (
        "the rating went with the words that it was in"
    )
    assert not {"life-map/finances.md", "life-map/play.md"} & files.keys(), "“later” writes no page"
    assert "two kids" in files["sage/context.md"]
    log = next(text for path, text in files.items() if path.startswith("daily-logs/"))
    assert "mood_signal: content" in log
    assert "Calm-ish" not in log
    assert "Leave at five" in files["life-plan/weekly.md"]
