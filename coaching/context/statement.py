"""The context that goes with the newest user message: the sections that changed since they were last sent.

And the sections of an opening. Both keep to a number of tokens: the oldest and the longest texts are
shortened, with a mark. A section that doesn't fit at all isn't sent, and so goes with a later message.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coaching.context.budget import count_tokens, fair_caps
from coaching.context.entries import Section, wrap
from coaching.context.opening import GONE, Statement
from coaching.context.pipeline import Context
from coaching.context.sections import CONTINUITY, ORDER, STANDING

CLOCK_INTERVAL = timedelta(minutes=30)
CONTINUITY_TOKENS, CONTINUITY_SHARE = 700, 0.6
"""The most of an opening's sections that those of `CONTINUITY` take, in tokens and as a share."""
LATER_SHARE = 0.6
"""The share of the remaining tokens that one message may take, so that later ones get some too."""
SKILL_KEY = "skill:"
"""The prefix of a skill's key, before its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementPart:
    """One rendered section: its key (`overview`, `skill:open-day`), a digest of its content, and its text.

    One that `must_go` is sent in any case.
    """

    key: str
    digest: str
    text: str
    must_go: bool = False

    @property
    def tokens(self) -> int:
        return count_tokens(self.text) + 1


def skill_part(name: str, text: str, *, caller: str) -> StatementPart:
    """Return a skill's whole text in its tags; `caller` is stored as its digest."""
    return StatementPart(
        key=f"{SKILL_KEY}{name}", digest=caller, text=f'<skill name="{name}">\n{text}</skill>'
    )


def offer_part(arc: str, *, because: str, takes: str, day: str) -> StatementPart:
    """Return the text that lets the model offer an arc; `takes` is how long it takes."""
    text = (
        f"{because}. You may offer {arc}, once and in one sentence, in an answer that asks nothing else, "
        f"and not while they are low. Say that it takes {takes}. A yes begins it; a no settles it."
    )
    return StatementPart(key="offer", digest=f"{arc} {day}", text=f'<offer arc="{arc}">\n{text}\n</offer>')


def state(parts: Iterable[StatementPart], *, clock: datetime | None = None) -> tuple[str, Statement]:
    """Return the text of all parts, and the statement that describes it."""
    parts = list(parts)
    statement = Statement(
        sections={part.key: part.digest for part in parts},
        sizes={part.key: part.tokens for part in parts},
        clock=clock,
    )
    return "\n".join(part.text for part in parts), statement


def standing_parts(context: Context, *, tokens: int) -> Sequence[StatementPart]:
    """Return the standing sections in order, in at most `tokens`; those of `CONTINUITY` have a limit, too."""
    standing = [context.sections[name] for name in STANDING if name in context.sections]
    most = min(int(tokens * CONTINUITY_SHARE), CONTINUITY_TOKENS)
    shared = fit([each for each in standing if each.name in CONTINUITY], most)
    left = tokens - sum(part.tokens for part in shared)
    others = fit([each for each in standing if each.name not in CONTINUITY], left)
    parts = {part.key: part for part in (*shared, *others)}
    return [parts[name] for name in STANDING if name in parts]


def changed_parts(
    context: Context,
    *,
    said: Statement,
    now: datetime,
    more: Sequence[StatementPart],
    tokens: int,
    gone_words: Mapping[str, str] | None = None,
) -> tuple[Sequence[StatementPart], datetime | None]:
    """Return the parts for the newest message, and the time of its clock if it has one.

    `said` is what was sent last inside the window, `more` the skills and offers that follow the sections and
    are never shortened. All of it gets at most `tokens`, except what must go and the header, for which the
    caller reserves `header_tokens`. `gone_words` say more of a section that is gone.
    """
    head = _header_part(context, said=said, now=now)
    fixed: list[StatementPart] = []
    for part in more:
        if part.must_go or part.tokens <= tokens:
            fixed.append(part)
            tokens -= part.tokens
    gone = [
        StatementPart(
            key=name, digest=GONE, text=wrap(name, (gone_words or {}).get(name, "[there is none any more]"))
        )
        for name in ORDER
        if said.sections.get(name, GONE) != GONE
        and name not in context.sections
        and name not in context.unknown
    ]
    changed = [
        new
        for name, section in context.sections.items()
        if (new := section.since(_digest_said(said, name))) is not None
    ]
    tokens -= sum(part.tokens for part in gone)
    parts = {part.key: part for part in (*gone, *fit(changed, int(tokens * LATER_SHARE)))}
    ordered = [parts[name] for name in ORDER if name in parts]
    return [*([head] if head else []), *ordered, *fixed], now if head else None


def header_tokens(context: Context) -> int:
    """Return how many tokens the header takes each time that it is sent."""
    return _rendered_header(context, context.header).tokens if context.header else 0


def _digest_said(said: Statement, name: str) -> str:
    digest = said.sections.get(name, GONE)
    return "" if digest == GONE else digest


def fit(sections: Sequence[Section], tokens: int) -> Sequence[StatementPart]:
    """Render sections in at most `tokens`: whole, shortened, or as a mark that they are left out."""
    sizes = [section.sizes for section in sections]
    tags = sum(count_tokens(wrap(section.name, "", section.attributes)) + 2 for section in sections)
    flat = [size for group in sizes for size in group]
    if not flat:
        return []
    weights = [entry.weight for section in sections for entry in section.entries]
    caps = iter(fair_caps(flat, weights, max(0, tokens - tags - len(flat))))
    parts: dict[str, StatementPart] = {}
    for section, group in zip(sections, sizes, strict=True):
        own = [next(caps) for _ in group]
        text = section.render(None if own == group else own)
        parts[section.name] = StatementPart(key=section.name, digest=section.digest, text=text)
    return list(_within(parts, {section.name: section for section in sections}, tokens).values())


def _within(
    parts: dict[str, StatementPart], sections: Mapping[str, Section], tokens: int
) -> dict[str, StatementPart]:
    """Replace the longest sections by marks, then leave out the last ones, until all fits."""
    marks = {
        name: StatementPart(key=name, digest=section.digest, text=section.render_mark())
        for name, section in sections.items()
    }
    for name in sorted(parts, key=lambda name: parts[name].tokens, reverse=True):
        if sum(part.tokens for part in parts.values()) <= tokens:
            return parts
        if marks[name].tokens < parts[name].tokens:
            parts[name] = marks[name]
    for name in reversed(list(parts)):
        if sum(part.tokens for part in parts.values()) <= tokens:
            return parts
        del parts[name]
    return parts


def _header_part(context: Context, *, said: Statement, now: datetime) -> StatementPart | None:
    """Return the header if it changed or its clock is old, else None."""
    if context.header is None:
        return None
    is_same = said.sections.get(context.header.name) == context.header_digest
    if is_same and said.clock is not None and now - said.clock < CLOCK_INTERVAL:
        return None
    return _rendered_header(context, context.header)


def _rendered_header(context: Context, section: Section) -> StatementPart:
    return StatementPart(key=section.name, digest=context.header_digest, text=section.render())
