"""The steps of every arc: ask, read, write, complete. Each is derived from the request.

A step claims only what a result confirms, retries a failed save once in a simpler form, then reports the
failure and continues as the user wishes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coaching.practice.coach.arc_files import ArcFile
from coaching.practice.coach.arc_hearing import is_hurrying, is_skip, wants_to_pause
from coaching.practice.coach.arc_wording import (
    GOING_ON,
    LOOKING,
    NOT_COMPLETED,
    NOT_SAVED,
    OUT_OF_ROUNDS,
    UNABLE_TO_COMPLETE,
    WRITING,
    Choice,
    Question,
)
from coaching.practice.coach.conversation import CallOutcome, Conversation
from coaching.practice.coach.file_names import files_in_words, reason_in_words
from coaching.practice.coach.listening import hear_intent
from coaching.practice.coach.story import INTERACTIVE_WORDS, ArcSpan, Call, Exchange, Story
from coaching.practice.coach.wording import CANNOT_SAVE, RETRY_OFFER, is_said, join_words, pick
from coaching.practice.script import Block, Note, Reply, Text, ToolUse

_MAX_ASKED = 2
_MAX_COMPLETIONS = 3
_REASON_CHARACTERS = 200
_SILENT_TOOLS = frozenset({"load_skill", "enter_structured_arc"})


@dataclass(frozen=True)
class ArcTalk:
    """The conversation inside an arc; also used for a span without an arc."""

    conversation: Conversation
    story: Story
    span: ArcSpan

    @cached_property
    def exchanges(self) -> Sequence[Exchange]:
        """Return the exchanges since the arc began, oldest first."""
        return [exchange for exchange in self.story.exchanges if exchange.position > self.span.begins]

    @cached_property
    def calls(self) -> Sequence[Call]:
        """Return the calls since the arc began."""
        return [call for call in self.story.calls if call.position > self.span.begins]

    @cached_property
    def turn_calls(self) -> Sequence[Call]:
        """Return the arc's calls of the open turn."""
        return [call for call in self.calls if call.turn == self.story.turn]

    @property
    def newest(self) -> Exchange | None:
        """Return what the user has just said or tapped, None if only results have come back."""
        if not self.exchanges:
            return None
        last = self.exchanges[-1]
        return None if any(call.position > last.position for call in self._loud_calls) else last

    @property
    def _loud_calls(self) -> Sequence[Call]:
        """Return the arc's calls that change something for the user."""
        return [
            call for call in self.calls if call.outcome.name not in _SILENT_TOOLS and not _is_answered(call)
        ]

    @property
    def is_beginning(self) -> bool:
        """Whether the arc hasn't been introduced yet."""
        if self.span.is_whole_session:
            return not self.conversation.coach_texts and not self._loud_calls
        return not self.exchanges and not self._loud_calls

    @cached_property
    def is_hurried(self) -> bool:
        """Whether the user has asked to skip the rest."""
        typed = [exchange.answer for exchange in self.exchanges if not exchange.is_tapped]
        is_late = self.span.name == "close_day"
        return any(is_hurrying(words) or (is_late and wants_to_pause(words)) for words in typed)

    def answer_to(self, question: Question, *, word: str = "") -> Exchange | None:
        """Return the last answer to a question, None without one."""
        return next(
            (e for e in reversed(self.exchanges) if self._is_answer(e) and question.is_in(e.question, word)),
            None,
        )

    def words_for(self, *questions: Question) -> str:
        """Return the words that answered questions, without skips."""
        found = [answer for q in questions if (answer := self.answer_to(q)) is not None]
        return "\n".join(answer.answer for answer in found if answer.is_tapped or not is_skip(answer.answer))

    def is_settled(self, question: Question) -> bool:
        """Return whether a question needn't be asked: answered, asked in vain, or the user is in a hurry."""
        return (
            self.answer_to(question) is not None
            or self.is_hurried
            or self.times_asked(question) >= _MAX_ASKED
        )

    def times_asked(self, question: Question) -> int:
        """Count how often a question was asked in this arc."""
        asked = [e.question for e in self.exchanges] + [self.story.open_question]
        return sum(question.is_in(text) for text in asked)

    def ask(self, question: Question, *lead: str, word: str = "", choices: Sequence[Choice] = ()) -> Reply:
        """Ask, with the question's choices if it has any. `lead` is said before it."""
        asked = pick(question.wordings, self.conversation).format(word=word)
        options = choices or question.choices
        said = [part for part in lead if part]
        if not options:
            return say(*said, asked)
        if "show_options" not in self.conversation.tools:
            return say(*said, f"{asked} For example: {join_words([label for label, _ in options])}.")
        values = {
            "prompt": asked[:500],
            "options": [{"label": label, "value": value} for label, value in options],
        }
        blocks: list[Block] = [Text("\n\n".join(said))] if said else []
        return Reply.of(*blocks, ToolUse("show_options", values))

    def saves_of(self, key: tuple[str, str], *, newer_than: int = 0) -> Sequence[Call]:
        """Return the successful saves of one file in this arc."""
        return [
            call
            for call in self.calls
            if call.outcome.path and _key_of(call.outcome) == key and call.position > newer_than
        ]

    @property
    def saved_now(self) -> Sequence[str]:
        """Return the paths that the newest results report as saved."""
        return [outcome.path for outcome in self.conversation.fresh_outcomes if outcome.path]

    def write(self, *files: ArcFile) -> Reply | None:
        """Write files that aren't written yet: read first, then save; None when all are done."""
        waiting = [file for file in files if not self._is_done_with(file)]
        if not waiting:
            return None
        if self.conversation.is_last_round:
            return say(pick(OUT_OF_ROUNDS, self.conversation))
        if "save_file" not in self.conversation.tools:
            return say(pick(CANNOT_SAVE, self.conversation)) if not self._was_told_cannot() else None
        if failed := [file for file in waiting if self._failures(file) > 1]:
            return self._say_failed(failed)
        return self._look(waiting) or self._save(waiting)

    def complete(self, *, is_leaving: bool = False) -> Reply:
        """Complete the arc; mention what a result reports as missing and can't be written."""
        told = [call for call in self.turn_calls if call.outcome.name == "complete_session"]
        if self.conversation.is_last_round:
            return say(pick(OUT_OF_ROUNDS, self.conversation))
        if "complete_session" not in self.conversation.tools:
            return say(pick(UNABLE_TO_COMPLETE, self.conversation))
        if told and (told[-1].outcome.is_error or told[-1].outcome.values.get("reason") != "incomplete"):
            message = told[-1].outcome.values.get("message") or told[-1].outcome.text
            return say(pick(NOT_COMPLETED, self.conversation).format(word=_short(str(message))))
        if len(told) >= _MAX_COMPLETIONS:
            return say(pick(UNABLE_TO_COMPLETE, self.conversation))
        note = [] if told or is_leaving else [Note(pick(GOING_ON, self.conversation))]
        # A session of the arc's own kind ends with it. If the call that entered the arc is no longer in the
        # window, only this keeps the surrounding conversation open.
        return Reply.of(*note, ToolUse("complete_session", {"type": "arc"}))

    @cached_property
    def missing(self) -> Mapping[str, int]:
        """Return what the last refused completion reported, with its position."""
        for call in reversed(self.calls):
            items = call.outcome.values.get("missing")
            if call.outcome.name == "complete_session" and isinstance(items, list):
                return {str(item): call.position for item in items}
        return {}

    def _is_done_with(self, file: ArcFile) -> bool:
        newer_than = max(file.newer_than, self._missed_at(file))
        if self.saves_of(file.key, newer_than=newer_than) or self._is_given_up(file):
            return True
        there = self.conversation.read_files.get(file.path, "") if file.path else ""
        return file.is_kept_if_there and bool(there)

    def _is_answer(self, exchange: Exchange) -> bool:
        """Return whether an exchange answers the question, rather than asking back, nodding or pausing."""
        if exchange.is_tapped:
            return True
        no_answers = {"about", "continue", "hello"} | (
            set() if self.span.name == "close_day" else {"goodbye"}
        )
        return hear_intent(exchange.answer, was_offered=False) not in no_answers

    def _missed_at(self, file: ArcFile) -> int:
        """Return the position where a completion reported this file as missing; 0 if only unsaid content is
        missing.
        """
        label = f"domain {file.file_name}" if file.file_type == "domain" else file.file_type
        named = [at for item, at in self.missing.items() if item == label or item.startswith(f"{label} with")]
        lacking = [
            at
            for item, at in self.missing.items()
            if item.endswith(f" of the {file.file_type}")
            and file.attributes.get(item.partition(" of the ")[0])
        ]
        return max([*named, *lacking], default=0)

    def _failures(self, file: ArcFile) -> int:
        """Count the failed saves of a file in this turn; a refused type can't be retried."""
        failed = [
            call
            for call in self.turn_calls
            if call.outcome.name == "save_file"
            and not call.outcome.path
            and _key_of(call.outcome) == file.key
            and call.position > file.newer_than
        ]
        return len(failed) + any("can't be written" in call.outcome.text for call in failed)

    def _is_given_up(self, file: ArcFile) -> bool:
        """Return whether the user knows that the file failed and chose to continue without it."""
        for exchange in reversed(self.exchanges):
            if RETRY_OFFER in exchange.question and file.name in exchange.question:
                return hear_intent(exchange.answer, was_offered=True) != "yes" and not is_hurrying(
                    exchange.answer
                )
        return False

    def _say_failed(self, files: Sequence[ArcFile]) -> Reply:
        failed = [call.outcome for call in self.turn_calls if call.outcome.is_error or not call.outcome.path]
        reason = next((o.text for o in reversed(failed) if o.name == "save_file"), "")
        names = join_words([file.name for file in files])
        lead = f"Written: {join_words(files_in_words(self.saved_now))}." if self.saved_now else ""
        failure = pick(NOT_SAVED, self.conversation).format(word=names)
        because = f" The message was: “{_short(reason)}”" if reason_in_words(reason) else ""
        return say(lead, f"{failure}{because}", RETRY_OFFER)

    def _was_told_cannot(self) -> bool:
        return any(is_said(option, self.conversation.spoken) for option in CANNOT_SAVE)

    def _look(self, files: Sequence[ArcFile]) -> Reply | None:
        if "read_file" not in self.conversation.tools:
            return None
        paths = [file.path for file in files if file.path and file.path not in self.conversation.read_files]
        if not paths:
            return None
        calls = [ToolUse("read_file", {"path": path}) for path in paths]
        return Reply.of(Note(pick(LOOKING, self.conversation)), *calls[: self._at_once])

    def _save(self, files: Sequence[ArcFile]) -> Reply:
        stored = self.conversation.read_files
        merged = [file.merged_with(stored[file.path]) if stored.get(file.path) else file for file in files]
        calls = [file.as_call(is_simple=self._failures(file) > 0) for file in merged][: self._at_once]
        names = join_words([file.name for file in files[: self._at_once]])
        return Reply.of(Note(pick(WRITING, self.conversation).format(word=names)), *calls)

    @property
    def _at_once(self) -> int | None:
        return 1 if self.conversation.is_single_call else None


def say(*parts: str) -> Reply:
    """Return a reply of paragraphs, skipping empty ones."""
    return Reply.of(Text("\n\n".join(part for part in parts if part)))


def _is_answered(call: Call) -> bool:
    """Return whether a call is a question: its answer is a separate exchange."""
    return call.outcome.name in INTERACTIVE_WORDS


def _key_of(outcome: CallOutcome) -> tuple[str, str]:
    values: Mapping[str, Any] = outcome.input
    return (str(values.get("file_type", "")), str(values.get("file_name") or ""))


def _short(text: str) -> str:
    return " ".join(text.split())[:_REASON_CHARACTERS]
