"""What a document's page says about the readings of its whole text, and what the model's replies cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from coaching.library.documents.findings import FACTS_KEY, TRANSCRIPT_KEY
from coaching.library.documents.readings import Reading, readings_of
from coaching.library.documents.reasons import shown_reason
from coaching.library.pipeline.facts import has_room
from coaching.library.rows.costs import DocumentCost, costs_of_documents
from coaching.library.rows.reading_notes import BEGINNING_SEARCHED
from coaching.models import Document, EffectKind, KnowledgeEntry, LibraryEffect
from sessions_app.money import small_dollars

POLL_SECONDS, WAITING_POLL_SECONDS = 3, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReading:
    """How far a reading is, in words. `act` asks for it with the button `label`; empty while it runs."""

    words: str
    act: str
    label: str
    is_under_way: bool
    is_waiting: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The readings of a document; `cost` is empty where it isn't known."""

    shown: Sequence[ShownReading]
    cost: str

    @property
    def are_under_way(self) -> bool:
        return any(each.is_under_way for each in self.shown)

    @property
    def poll_seconds(self) -> int:
        """After how many seconds the page asks again how far they are."""
        are_running = any(each.is_under_way and not each.is_waiting for each in self.shown)
        return POLL_SECONDS if are_running else WAITING_POLL_SECONDS


def shown_readings(document: Document) -> Readings:
    """Return how far the readings of a document are, and what they have cost. Sync ORM code."""
    say = {FACTS_KEY: _of_facts, TRANSCRIPT_KEY: _of_transcript}
    costs = costs_of_documents(user_ids=[document.user_id], document_ids=[document.pk])
    return Readings(
        shown=[say[reading.kind](document, reading) for reading in readings_of(document)],
        cost=_cost_in_words(costs.get(document.pk)),
    )


def _of_facts(document: Document, reading: Reading) -> ShownReading:
    is_done = document.facts_found_at is not None
    if reading.is_waiting:
        words = gettext("The search for facts in the whole text is waiting. Sage will continue by itself.")
    elif reading.is_under_way:
        words = gettext("Sage is reading the whole text for its facts.")
    elif reading.reason:
        words = gettext("Sage couldn’t look for facts in the whole text.")
    elif is_done and _are_undone(document):
        words = gettext("The facts that Sage found in the whole text were undone.")
    elif is_done and BEGINNING_SEARCHED in document.reading_note:
        words = gettext("The key facts are from the beginning of the text.")
    elif is_done:
        words = gettext("The key facts are from the whole text.")
    else:
        words = gettext("Sage hasn’t looked for facts in the whole text yet.")
    if not reading.is_under_way and not has_room(document.file_type):
        tells = gettext("The AI model can’t read enough at once to look for facts in whole texts.")
        return _shown(reading, tells if not is_done else f"{words} {tells}", act="", label="")
    label = gettext("Find facts again") if is_done else gettext("Find facts")
    return _shown(reading, words, act="facts", label=label)


def _are_undone(document: Document) -> bool:
    """Return whether what the newest search has found was undone after it."""
    found = LibraryEffect.of(document.user_id).filter(document=document, kind=EffectKind.FACTS_FOUND)
    undone_at = found.order_by("-id").values_list("undone_at", flat=True).first()
    return bool(undone_at and document.facts_found_at and undone_at > document.facts_found_at)


def _of_transcript(document: Document, reading: Reading) -> ShownReading:
    entries = KnowledgeEntry.of(document.user_id).filter(document=document, origin_key=TRANSCRIPT_KEY)
    is_done = entries.exists()
    if reading.is_waiting:
        words = gettext("The analysis of what was said is waiting. Sage will continue by itself.")
    elif reading.is_under_way:
        words = gettext("Sage is analysing what was said.")
    elif reading.reason:
        words = gettext("Sage couldn’t analyse what was said.")
    elif is_done:
        words = gettext("Sage has analysed what was said.")
    elif reading.has_run:
        words = gettext("Sage has found nothing that was agreed or left open.")
    else:
        words = gettext("Sage hasn’t analysed what was said yet.")
    label = gettext("Analyse again") if is_done or reading.has_run else gettext("Analyse")
    return _shown(reading, words, act="analyse", label=label)


def _shown(reading: Reading, words: str, *, act: str, label: str) -> ShownReading:
    return ShownReading(
        words=" ".join(filter(None, [words, shown_reason(reading.reason)])),
        act="" if reading.is_under_way else act,
        label=label,
        is_under_way=reading.is_under_way,
        is_waiting=reading.is_waiting,
    )


def _cost_in_words(cost: DocumentCost | None) -> str:
    if cost is None or not cost.micro_usd:
        return ""
    counted = ngettext(
        "Reading it took %(count)s request to the AI model with about %(tokens)s tokens. Cost: %(cost)s.",
        "Reading it took %(count)s requests to the AI model with about %(tokens)s tokens. Cost: %(cost)s.",
        cost.replies,
    )
    return counted % {
        "count": number_format(cost.replies, force_grouping=True),
        "tokens": number_format(round(cost.tokens, -2) or round(cost.tokens), force_grouping=True),
        "cost": small_dollars(cost.micro_usd),
    }
