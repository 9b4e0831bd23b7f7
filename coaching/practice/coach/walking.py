"""The next step of a walk: react, ask, write, check, finish. Each follows from the request alone.

A step claims only what a result confirms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coaching.practice.coach import texts
from coaching.practice.coach.asides import react
from coaching.practice.coach.conversation import Call, Conversation
from coaching.practice.coach.day_plan import good_night, lead_to
from coaching.practice.coach.days import named_day_in_words, today_in
from coaching.practice.coach.file_names import (
    clip,
    files_in_words,
    join_words,
    missing_in_words,
    reason_in_words,
)
from coaching.practice.coach.files import as_call, changed_at, is_to_write
from coaching.practice.coach.hearing import Heard, hear
from coaching.practice.coach.state import State, changeable
from coaching.practice.coach.steps import LOOK_BACK, look_back
from coaching.practice.coach.tables import DOMAINS, File, Slot, Walk, name_to_change
from coaching.practice.coach.texts import Choice
from coaching.practice.script import Note, Reply, Text, ToolUse

_MAX_COMPLETIONS = 3


@dataclass(frozen=True)
class Walking:
    """A walk that began at a position of the conversation."""

    conversation: Conversation
    walk: Walk
    state: State
    begins: int

    @cached_property
    def calls(self) -> Sequence[Call]:
        return [call for call in self.conversation.calls if call.position > self.begins]

    @cached_property
    def files(self) -> Sequence[File]:
        """The walk's files; the path of one of a day has its date, if it is known."""
        day = today_in(self.conversation)
        dated = [file.path.format(day=day) if day or "{" not in file.path else "" for file in self.walk.files]
        return [replace(file, path=path) for file, path in zip(self.walk.files, dated, strict=True)]

    def go_on(self, *lead: str) -> Reply:
        heard = self.state.heard if self.conversation.newest is not None else None
        if self.conversation.is_last_round:
            return say(texts.said("out_of_steps"))
        if self.state.heard is not None and self.state.heard.kind == "leave":
            dropped = texts.said("left" if self._saved else "dropped")
            return self._complete() if self.walk.is_arc else say(dropped, texts.said("after_arc"))
        if heard and heard.kind == "pause" and not self._is_confirmed:
            return say(texts.said("paused"))
        if failed := self._failed():
            return self._say_failed(failed)
        reaction = react(self.conversation, self.state, heard) if heard else ""
        return with_lead(self._step(), *lead, reaction)

    def _step(self) -> Reply:
        if "save_file" not in self.conversation.tools and not self.walk.is_arc:
            return say(texts.said("cannot_save"))
        if self.state.which is not None:
            return self._ask_which(self.state.which)
        is_late = self.state.open_slot is None and not self.state.is_picking
        if written := self._write([file for file in self.files if file.is_early or is_late]):
            return written
        if self.state.is_picking:
            return self._ask_change()
        if slot := self.state.open_slot:
            return self._load(slot.skill) or self._ask(slot)
        if self._saved and not self._is_confirmed and not self.walk.asks_before_writing:
            return self._check()
        return self._look_back() or self._finish()

    def _look_back(self) -> Reply | None:
        """Ask what became of a step that is due, where the arc looks back, and note the answer."""
        if self.walk.name not in LOOK_BACK:
            return None
        found = look_back(self.conversation, self.begins)
        if found is None or found.call is not None:
            return Reply.of(found.call) if found and found.call else None
        if found.question:
            return ask(self.conversation, found.question, texts.choices("step"))
        return with_lead(self._finish(), found.said)

    @property
    def _is_confirmed(self) -> bool:
        return self.state.confirmed_at > self.state.changed_at

    def _load(self, skill: str) -> Reply | None:
        is_tried = any(call.name == "load_skill" for call in self.conversation.part_calls)
        if not skill or is_tried or skill in self.conversation.skills:
            return None
        is_offered = "load_skill" in self.conversation.tools
        return Reply.of(ToolUse("load_skill", {"name": skill})) if is_offered else None

    def _ask(self, slot: Slot) -> Reply:
        if slot.kind == "pulse" and "show_pulse_check" in self.conversation.tools:
            values = {"context": slot.question, "domains": list(DOMAINS)}
            return Reply.of(ToolUse("show_pulse_check", values))
        is_plain = self.state.is_unrated and slot.name in DOMAINS
        lead = lead_to(self.conversation, self.walk.name, slot.name)
        question = f"{lead} {slot.question}".lstrip()
        return ask(self.conversation, question, () if is_plain else slot.choices)

    def _ask_which(self, which: Heard) -> Reply:
        items = self.state.given[which.about].items
        choices = [*((item[:100], item[:100]) for item in items), (texts.said("all_of_them"), "all")]
        return ask(self.conversation, texts.said("which", words=which.words[:100]), choices)

    def _ask_change(self) -> Reply:
        slots = changeable(self.state)
        if len(slots) in range(2, 7):
            choices = [(_capital(slot.label), slot.name) for slot in slots]
            return ask(self.conversation, texts.said("change"), choices)
        names = ", ".join(map(name_to_change, slots))
        example = name_to_change(slots[-1]) if slots else ""
        return say(f"{texts.said('change')} {texts.said('change_typed', example=example, labels=names)}")

    def _check(self) -> Reply:
        names = join_words([file.name for file in self.files if self._saved_at(file)])
        if len(self.files) > 6:
            names = self._pages()
        said = [
            f"{slot.label}: {texts.said('quoted', words=clip(given.text, 70))}"
            for slot in self.walk.slots
            if (given := self.state.given.get(slot.name)) and given.text and slot.name not in DOMAINS
        ]
        given_so = f" {clip(_capital('; '.join(said)), 380)}." if said else ""
        prompt = f"{texts.said('check_saved', files=names)}{given_so} {texts.said('check')}"
        return ask(self.conversation, prompt, texts.choices("check"))

    def _pages(self) -> str:
        """Return what of the life map was saved, in few words."""
        pages = [
            f"life-map/{file.file_name}.md" for file in self.files if file.is_early and self._saved_at(file)
        ]
        others = [file.name for file in self.files if not file.is_early and self._saved_at(file)]
        return join_words([*files_in_words(pages), *others])

    def keep(self) -> Reply | None:
        """Write the pages that are written with each answer; None when that is done, or can't be."""
        if self.conversation.is_last_round:
            return None
        if failed := self._failed():
            return self._say_failed(failed)
        return self._write([file for file in self.files if file.is_early])

    @property
    def _saved(self) -> bool:
        return any(call.path for call in self.calls)

    def _saved_at(self, file: File) -> int:
        key = (file.file_type, file.file_name)
        return max((call.position for call in self.calls if call.path and _key_of(call) == key), default=0)

    def _write(self, files: Sequence[File]) -> Reply | None:
        """Read, then save, the files whose answers changed since they were saved; None when all are done."""
        waiting = [
            file for file in files
            if is_to_write(file, self.state) and self._saved_at(file) < changed_at(file, self.state)
            and self.state.given_up_at < changed_at(file, self.state)
        ]  # fmt: skip
        if not waiting or "save_file" not in self.conversation.tools:
            return None
        if "read_file" in self.conversation.tools:
            unread = [file.path for file in waiting if file.path and file.path not in self._read]
            if unread:
                return Reply.of(*(ToolUse("read_file", {"path": path}) for path in unread))
        saved = {file.name for file in waiting if self._saved_at(file)}
        calls = [as_call(f, self.state, self._stored(f), is_again=f.name in saved) for f in waiting]
        note = texts.said("writing", files=join_words([file.name for file in waiting]))
        return Reply.of(Note(note), *calls)

    @cached_property
    def _read(self) -> Mapping[str, str]:
        return {
            str(call.input.get("path")): "" if call.is_error else call.text
            for call in self.conversation.part_calls if call.name == "read_file"
        }  # fmt: skip

    def _stored(self, file: File) -> str:
        """Return the stored file; for one that is appended to, as it was before this walk."""
        if not file.appends:
            return self._read.get(file.path, "")
        reads = [c for c in self.calls if c.name == "read_file" and c.input.get("path") == file.path]
        return "" if not reads or reads[0].is_error else reads[0].text

    def _failed(self) -> Sequence[Call]:
        fresh = [call for call in self.conversation.part_calls if call.is_fresh and call.name == "save_file"]
        return [call for call in fresh if not call.path]

    def _say_failed(self, failed: Sequence[Call]) -> Reply:
        keys = [_key_of(call) for call in failed]
        names = [file.name for file in self.files if (file.file_type, file.file_name) in keys]
        because = reason_in_words(str(failed[-1].values.get("error") or failed[-1].text))
        told = f"{texts.said('not_saved', files=join_words(names))} {because}".rstrip()
        return say(told, texts.said("retry"))

    def _finish(self) -> Reply:
        if self.walk.is_arc:
            return self._complete()
        is_claimed = any(file.is_plan for file in self.files)
        is_through = self._saved or (self.walk.asks_before_writing and not is_claimed)
        return say(self.walk.farewell if is_through else texts.said("dropped"), texts.said("after_arc"))

    def _complete(self) -> Reply:
        told = [call for call in self.conversation.part_calls if call.name == "complete_session"]
        if "complete_session" not in self.conversation.tools:
            return say(texts.said("left"))
        refused = told and (told[-1].is_error or told[-1].values.get("reason") != "incomplete")
        if refused or len(told) >= _MAX_COMPLETIONS:
            because = reason_in_words(str(told[-1].values.get("message") or told[-1].text))
            return say(texts.said("not_completed", because=because))
        return Reply.of(ToolUse("complete_session", {"type": "arc"}))


def say_goodbye(conversation: Conversation, walk: Walk | None, done: Call) -> Reply:
    """Say what a completed arc left, and what it didn't."""
    begins = conversation.ended_arc.begins if conversation.ended_arc else 0
    has_saved = any(call.path and call.position > begins for call in conversation.calls)
    missing = done.values.get("still_missing")
    items = [missing_in_words(str(item)) for item in missing] if isinstance(missing, list) else []
    is_left = not has_saved or hear(conversation.exchanges[-1].answer).kind == "leave"
    ended = texts.said("left" if is_left else "all_asked")
    parts = [walk.farewell if walk and has_saved and not items else ended]
    if walk and walk.name == "close_day" and (night := good_night(conversation)):
        parts[0] = f"{parts[0]} {night}"
    if items:
        parts.append(texts.said("still_missing", missing=join_words(items)))
    if walk and walk.name == "weekly_checkin" and done.values.get("next_checkin"):
        parts.append(texts.said("next_checkin", day=named_day_in_words(str(done.values["next_checkin"]))))
    if done.values.get("completed") == "arc":
        parts.append(texts.said("after_arc"))
    return say(*parts)


def ask(conversation: Conversation, question: str, choices: Sequence[Choice] = ()) -> Reply:
    """Ask, with answers to tap where they can be shown."""
    if not choices:
        return say(question)
    if "show_options" not in conversation.tools:
        return say(
            f"{question} {texts.said('for_example', labels=join_words([label for label, _ in choices]))}"
        )
    options = [{"label": label, "value": value} for label, value in choices]
    return Reply.of(ToolUse("show_options", {"prompt": question[-500:], "options": options}))


def say(*parts: str) -> Reply:
    """Return a reply of paragraphs, skipping empty ones."""
    return Reply.of(Text("\n\n".join(part for part in parts if part)))


def with_lead(reply: Reply, *lead: str) -> Reply:
    """Return a reply with paragraphs before it; a note gives way to them."""
    first, *rest = reply.blocks
    words = "\n\n".join([*filter(None, lead), *([first.text] if isinstance(first, Text) else [])])
    others = rest if isinstance(first, Text | Note) else [first, *rest]
    return Reply.of(Text(words), *others) if any(lead) else reply


def with_told(reply: Reply, told: str) -> Reply:
    """Return a reply that says first what a call came to: before a question with options, in its prompt.

    Words between two calls are shown to nobody.
    """
    asked = next((each for each in reply.blocks if _shows_options(each)), None)
    if not isinstance(asked, ToolUse):
        return with_lead(reply, told)
    prompt = f"{told}\n\n{asked.input['prompt']}"[-500:]
    return Reply.of(ToolUse(asked.name, {**asked.input, "prompt": prompt}))


def _shows_options(block: object) -> bool:
    return isinstance(block, ToolUse) and block.name == "show_options"


def with_end(reply: Reply, line: str) -> Reply:
    """Return a reply of words alone with a paragraph after them, if there is one; any other as it is."""
    said = [block.text for block in reply.blocks if isinstance(block, Text)]
    return say(*said, line) if line and len(said) == len(reply.blocks) else reply


def _key_of(call: Call) -> tuple[str, str]:
    return (str(call.input.get("file_type", "")), str(call.input.get("file_name") or ""))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
