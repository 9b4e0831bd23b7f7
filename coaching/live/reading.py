"""That a model reads, and how much longer: who comes later is told what is left."""

from dataclasses import dataclass

from coaching.events import ModelReads


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was told of a model that reads, at a moment of a monotonic clock, in seconds."""

    told: ModelReads
    at: float

    def left(self, now: float) -> ModelReads:
        """Return what is true now; where the estimate is over, nobody knows."""
        if self.told.seconds is None:
            return self.told
        seconds = round(self.told.seconds - (now - self.at))
        return ModelReads(seconds=seconds if seconds > 0 else None)
