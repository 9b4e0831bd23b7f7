"""Answers questions about the person's documents: by a search, with the passage and a link."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Call, Conversation
from coaching.practice.coach.file_names import clip
from coaching.practice.script import Reply, ToolUse

SEARCH = "search_knowledge_bank"

_ASKS = re.compile(
    r"\A\W*(?:(?:and|so|sage|please)\W+)*"
    r"(?:when|what|how (?:much|many|long|high)|who|where|until when|does|is|do i)\b.*"
    r"\b(?:my|our|the) (?:\w+ ){0,3}"
    r"(?:lease|tenancy|rent|contract|agreement|policy|insurance|payslip|invoice|bank statement|mortgage|loan"
    r"|letter|tax return|certificate|valuation|survey|documents?|deposit|notice period)\b",
    re.IGNORECASE | re.DOTALL,
)
_SENTENCE = re.compile(r"[^.!?\n…]+(?:[.!?](?!\s|$)[^.!?\n…]*)*[.!?]?")
_WORD = re.compile(r"\w{3,}")
_EVERYDAY = frozenset(
    {"when", "what", "how", "much", "many", "does", "the", "and", "who", "where", "our", "until", "long"}
)
_STEM = 5
"""Words that begin with as many equal letters count as one word."""
_QUOTED = 300


def asks_of_documents(words: str) -> bool:
    """Return whether a question is one that a document answers."""
    return len(words) <= 300 and bool(_ASKS.search(words))


def search_documents(conversation: Conversation, words: str) -> Reply | None:
    """Search for the answer to a question about documents; None for any other words."""
    if SEARCH not in conversation.tools or not asks_of_documents(words):
        return None
    return Reply.of(ToolUse(SEARCH, {"query": words}))


def say_what_was_found(call: Call) -> str:
    """Name the document that the search found first, with the sentence that answers best and its page."""
    hits: Sequence[Mapping[str, Any]] = call.values.get("hits") or []
    if call.is_error or not hits:
        return texts.said("library_nothing")
    of_first = [hit for hit in hits if _document_of(hit) == _document_of(hits[0])]
    pages = [hit for hit in of_first if hit.get("page")] or of_first
    best, quote = _best_sentence(pages, str(call.input.get("query", "")))
    page = texts.said("library_page", page=str(best["page"])) if best.get("page") else ""
    title = str(best.get("title", "")).replace("[", "(").replace("]", ")")
    return texts.said(
        "library_found",
        where=f"[{title}]({best.get('link', '/library/')}){page}",
        quote=clip(quote, _QUOTED),
    )


def _document_of(hit: Mapping[str, Any]) -> str:
    """Return a hit's link without the page."""
    return str(hit.get("link", "")).partition("#")[0]


def _best_sentence(pages: Sequence[Mapping[str, Any]], question: str) -> tuple[Mapping[str, Any], str]:
    """Return the sentence with most words of the question, and its hit: of equals one with a number.

    A word counts less the more sentences have it: that a lease says "lease" means little.
    """
    wanted = set(_WORD.findall(question.lower())) - _EVERYDAY
    found = [(page, sentence) for page in pages for sentence in _sentences_of(str(page.get("text", "")))]
    shared = {sentence: {word for word in wanted if _has(sentence, word)} for _, sentence in found}
    common = Counter(word for words in shared.values() for word in words)

    def score(place: tuple[Mapping[str, Any], str]) -> tuple[float, bool, bool]:
        hit, sentence = place
        words = sum(1 / common[word] for word in shared[sentence])
        return words, any(map(str.isdigit, sentence)), bool(hit.get("page"))

    return max(found, key=score, default=(pages[0], ""))


def _sentences_of(text: str) -> Sequence[str]:
    sentences = (" ".join(found.split()) for found in _SENTENCE.findall(text))
    return [sentence for sentence in sentences if sentence]


def _has(sentence: str, word: str) -> bool:
    return any(_is_same(word, other) for other in _WORD.findall(sentence.lower()))


def _is_same(one: str, other: str) -> bool:
    """Return whether words differ only in how they end: "end" and "ending", "insured" and "insurance"."""
    shorter, longer = sorted((one.removesuffix("s"), other.removesuffix("s")), key=len)
    return longer.startswith(shorter) or (len(shorter) >= _STEM and one[:_STEM] == other[:_STEM])


def say_what_was_said(call: Call) -> str:
    """Say what a search of earlier conversations has found."""
    if call.is_error:
        return texts.said("recall_failed")
    wanted = re.findall(r"\b(?!the\b|and\b)\w{3,}", str(call.input.get("query")).lower())
    hits = [hit for hit in call.values.get("hits") or [] if hit.get("said_by") == "user"]
    said = [(hit.get("date", ""), " ".join(str(hit.get("text")).split())[:300]) for hit in hits]
    near = [(day, text) for day, text in said if any(word in text.lower() for word in wanted)]
    lines = [texts.said("recall_line", day=day, text=text) for day, text in near[:3]]
    found = "\n\n".join([texts.said("recall_found"), "\n".join(lines)])
    return found if lines else texts.said("recall_nothing")
