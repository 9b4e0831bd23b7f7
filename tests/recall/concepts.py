"""An encoder that tests know the answers of: a direction for each concept, whatever its words."""

from collections.abc import Sequence
from concurrent.futures import Future

from coaching.recall.encoder import Vector

CONCEPTS = (
    {"kids", "children", "daughter", "offspring"},
    {"money", "owe", "debt", "borrowed"},
    {"sleep", "awake", "insomnia", "nights"},
    {"dog", "puppy", "spaniel"},
)


class ConceptEncoder:
    """Encodes by the concepts in a text; one that has none points elsewhere."""

    def __init__(self, *, key: int = 7, size: int = 8, batches: int = 10**6) -> None:
        self.key = key
        self.asked: list[Sequence[str]] = []
        self._size = size
        self._batches = batches

    def begin(self, texts: Sequence[str]) -> "Future[Sequence[Vector]] | None":
        """Encode at once; None after as many requests as it was made for."""
        if len(self.asked) >= self._batches:
            return None
        self.asked.append(texts)
        answer: Future[Sequence[Vector]] = Future()
        answer.set_result([self._vector(text) for text in texts])
        return answer

    def _vector(self, text: str) -> Vector:
        words = set(text.lower().replace("?", " ").replace(".", " ").split())
        found = [float(bool(words & concept)) for concept in CONCEPTS]
        found += [0.0] * (self._size - len(found) - 1) + [0.1 + len(text) % 7 / 100]
        length = sum(value * value for value in found) ** 0.5
        return [value / length for value in found]


class SilentEncoder:
    """Takes texts and never answers, like one whose machine is too busy."""

    key = 7

    def begin(self, texts: Sequence[str]) -> "Future[Sequence[Vector]]":
        """Return what stays open."""
        return Future()
