"""What a server says about a failure, for the log: its own words, without those of people.

Servers quote requests in their errors ("messages.3: invalid text '…'"), and some quote the key.
"""

import re
from typing import Any

import orjson

from coaching.engine.messages import ModelRequest

MAX_CHARACTERS = 300
MAX_READ = 4_000
HIDDEN = "…"
ECHOED_WORDS = 4
"""As many words in the same order are an echo of the request, however common each is."""
SHORT_WORD = 4

_WORD = re.compile(r"[^\W_]++")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SECRET = re.compile(r"(?<![\w*-])(?:sk-\S++|(?=[\w*-]*\d)[\w*-]{16,})")
_RUN = re.compile(rf"{HIDDEN}(?:[\W_]*{HIDDEN})+")
_OWN = """
a above access after all allowed already an and api are array as assistant at authentication available
bad be because been before below between block blocks body busy but by bytes cache can cannot character
characters closed code connection content context could count credit current data day decode delta did
disabled do does each empty encode end error errors exceed exceeded exceeds expected expired fail failed
failure field file first following for format found from full function gateway got had has have headers
high host hour http id if image images in incorrect index input insufficient internal invalid is it its
json key large last least length less limit list load loaded loading long longer low malformed many max
maximum media memory message messages method minute missing model more most must name network no not
null number object of off offset on one only or organization out output over overloaded parameter parse
parsing pending per permission please policy position processing prompt provided queue quota rate
reached read ready reason received refused rejected request requests required requires resource response
result results retry role roles running schema second seconds server service set should size slot slots
small some start stop stopped stream string supported system template text than that the their then
there these thinking this time timed timeout to token tokens too tool tools try type unable unauthorized
unavailable unexpected unknown unsupported up upstream usage use used user using valid value values
version was when while will window with within without your
"""
_OWN_WORDS = frozenset(_OWN.split())
"""Words of errors that may be logged although people use them too."""


def server_words(text: object, request: ModelRequest) -> str:
    """Return a server's error text for the log, shortened, without words that may be from the request."""
    if not isinstance(text, str) or not text.strip():
        return ""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text[:MAX_READ])
    plain = _SECRET.sub(HIDDEN, " ".join(plain.split()))
    hidden = _without(plain, _people_words(request))
    words = "".join(letter for letter in _RUN.sub(HIDDEN, hidden) if letter.isprintable())
    return words if len(words) <= MAX_CHARACTERS else f"{words[: MAX_CHARACTERS - 1]}{HIDDEN}"


def error_text(body: Any) -> object:
    """Return the text in an error's body, as Anthropic, OpenAI, llama.cpp, Ollama or FastAPI send it."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return error
    said = error.get("message") or error.get("detail")
    if isinstance(said, list):  # a line for each field at fault
        return "; ".join(str(each["msg"]) for each in said if isinstance(each, dict) and "msg" in each)
    if isinstance(said, dict):
        inner = said.get("error", said)
        return inner.get("message") if isinstance(inner, dict) else inner
    return said


def _without(text: str, said: str) -> str:
    """Replace words that are in `said`, and whole runs of words that are there in the same order."""
    places = [found.span() for found in _WORD.finditer(text)]
    is_hidden = [_is_of_people(text[begin:end].lower(), said) for begin, end in places]
    for first in range(len(places) - ECHOED_WORDS + 1):
        last = first + ECHOED_WORDS
        if text[places[first][0] : places[last - 1][1]].lower() in said:
            is_hidden[first:last] = [True] * ECHOED_WORDS
    parts, at = [], 0
    for (begin, end), hides in zip(places, is_hidden, strict=True):
        parts += [text[at:begin], HIDDEN if hides else text[begin:end]]
        at = end
    return "".join([*parts, text[at:]])


def _is_of_people(word: str, said: str) -> bool:
    """Return whether a word is in `said`: a longer one anywhere, as servers cut what they quote."""
    if word in _OWN_WORDS or (word.isdigit() and len(word) < SHORT_WORD):
        return False
    at = said.find(word)
    while at >= 0 and len(word) < SHORT_WORD and said[max(at - 1, 0) : at + len(word) + 1].strip().isalnum():
        at = said.find(word, at + 1)
    return at >= 0


def _people_words(request: ModelRequest) -> str:
    """Return everything that a request holds of people, in small letters."""
    try:
        held = orjson.dumps([request.system, request.messages]).decode()
    except orjson.JSONEncodeError:
        held = repr([request.system, request.messages])
    return held.lower()
