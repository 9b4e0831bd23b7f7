"""Writing down what was said, and reporting the result honestly."""

from collections.abc import Sequence

from coaching.practice.coach.conversation import CallOutcome, Conversation
from coaching.practice.coach.file_names import files_in_words, reason_in_words
from coaching.practice.coach.listening import hear_intent
from coaching.practice.coach.wording import (
    CANNOT_SAVE,
    DECLINED_REPLIES,
    NOTHING_TO_SAVE,
    OPEN_QUESTIONS,
    RETRY_OFFER,
    has_offered,
    join_words,
    pick,
)
from coaching.practice.coach.writing import Draft, draft_files
from coaching.practice.script import Note, Reply, Text, ToolUse

_REASON_CHARACTERS = 200
_SILENT_TOOLS = frozenset({"read_file", "load_skill"})


def report_results(conversation: Conversation) -> Reply | None:
    """Report the latest calls, claiming only what their results say."""
    outcomes = conversation.fresh_outcomes
    if not outcomes or all(outcome.name in _SILENT_TOOLS for outcome in outcomes):
        return None
    saved = [outcome for outcome in outcomes if outcome.path]
    failed = [outcome for outcome in outcomes if _is_failed_save(outcome)]
    sentences: list[str] = []
    if saved:
        sentences.append(_say_saved(saved))
    if failed:
        sentences.append(_say_failed(failed, has_saved=bool(saved)))
    if not failed:
        sentences.append(pick(OPEN_QUESTIONS, conversation))
    return Reply.of(Text("\n\n".join(sentences)))


def save_words(conversation: Conversation) -> Reply | None:
    """Write down what was said, when the user asks for it or accepts the offer."""
    intent = hear_intent(conversation.newest, was_offered=has_offered(conversation))
    if intent not in {"save", "yes"}:
        return None
    tool = conversation.tools.get("save_file")
    if tool is None:
        return Reply.of(Text(pick(CANNOT_SAVE, conversation)))
    drafts = draft_files(conversation, conversation.newest, tool)
    if not drafts:
        return Reply.of(Text(pick(NOTHING_TO_SAVE, conversation)))
    return _look_first(conversation, drafts) or _write(conversation, drafts)


def _look_first(conversation: Conversation, drafts: Sequence[Draft]) -> Reply | None:
    """Read the files to be replaced, if there is a tool for it; None when all are read."""
    if "read_file" not in conversation.tools:
        return None
    paths = [draft.path for draft in drafts if draft.path and draft.path not in conversation.read_files]
    if not paths:
        return None
    calls = [ToolUse("read_file", {"path": path}) for path in paths]
    return Reply.of(Note("First a look at what is there already."), *calls[: _calls_at_once(conversation)])


def _write(conversation: Conversation, drafts: Sequence[Draft]) -> Reply:
    stored = conversation.read_files
    drafts = drafts[: _calls_at_once(conversation)]
    merged = [draft.merged_with(stored[draft.path]) if stored.get(draft.path) else draft for draft in drafts]
    return Reply.of(Note(_announce(drafts)), *(draft.as_call(conversation) for draft in merged))


def _calls_at_once(conversation: Conversation) -> int | None:
    return 1 if conversation.is_single_call else None


def accept_refusal(conversation: Conversation) -> Reply | None:
    """Accept a no to the offer and continue."""
    intent = hear_intent(conversation.newest, was_offered=has_offered(conversation))
    if intent != "no":
        return None
    question = pick(OPEN_QUESTIONS, conversation)
    return Reply.of(Text(f"{pick(DECLINED_REPLIES, conversation)} {question}"))


def _is_failed_save(outcome: CallOutcome) -> bool:
    """Return whether a save failed, or returned no path: then nothing may be claimed."""
    return outcome.name == "save_file" and not outcome.path


def _announce(drafts: Sequence[Draft]) -> str:
    labels = [draft.label for draft in drafts]
    if len(labels) == 1:
        return f"Writing it down: {labels[0]}."
    return f"Writing it down, one file each: {join_words(labels)}."


def _say_saved(outcomes: Sequence[CallOutcome]) -> str:
    names = files_in_words(outcome.path for outcome in outcomes)
    version = outcomes[0].values.get("version")
    if len(names) > 1:
        listed = "\n".join(f"- {name}" for name in names)
        return f"Done. I've written {len(names)} files, in your own words:\n\n{listed}"
    if isinstance(version, int) and version > 1:
        return (
            f"Done. It's in {names[0]}, now in version {version}; the earlier ones are kept. "
            "You can read and change it under Files."
        )
    return f"Done. It's in {names[0]}, in your own words. You can read and change it under Files."


def _say_failed(outcomes: Sequence[CallOutcome], *, has_saved: bool) -> str:
    reasons = list(dict.fromkeys(_reason(outcome) for outcome in outcomes))
    what = "One more file" if has_saved else "That"
    if has_saved and len(outcomes) > 1:
        what = f"{len(outcomes)} other files"
    because = f" The message was: “{reasons[0]}”" if reasons[0] else ""
    return (
        f"{what} did not get saved, and I don't want to pretend otherwise.{because}\n\n"
        f"Your words are still here in our conversation. {RETRY_OFFER}"
    )


def _reason(outcome: CallOutcome) -> str:
    text = str(outcome.values.get("error") or outcome.text)
    return reason_in_words(text)[:_REASON_CHARACTERS]
