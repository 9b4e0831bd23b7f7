"""What files and folders are called on a page. Reads nothing; a path stays what identifies a file."""

from datetime import date

FOLDER_NAMES = {
    "": "Loose pages",
    "captures": "Captures",
    "check-ins": "Weekly check-ins",
    "daily-logs": "Daily logs",
    "day-plans": "Day plans",
    "life-map": "Life map",
    "life-plan": "Life plan",
    "reflections": "Reflections",
    "sage": "What Sage keeps in mind",
}
_FILE_NAMES = {
    "life-map/_overview.md": "Overview",
    "life-plan/current.md": "Life plan",
    "life-plan/weekly.md": "Weekly plan",
    "sage/context.md": "Context",
    "sage/patterns.md": "Patterns",
}
_ISO_DATE_CHARACTERS = 10


def folder_name(path: str) -> str:
    """Return what the folder of a file is called on a page."""
    folder = path.rpartition("/")[0]
    return FOLDER_NAMES.get(folder, folder)


def shown_name(path: str) -> str:
    """Return what a file is called on a page: a date in words, else its name in words."""
    if path in _FILE_NAMES:
        return _FILE_NAMES[path]
    stem = path.rpartition("/")[2].removesuffix(".md")
    try:
        day = date.fromisoformat(stem[:_ISO_DATE_CHARACTERS])
    except ValueError:
        return in_words(stem)
    rest = stem[_ISO_DATE_CHARACTERS:].strip("-")
    words = f"{day:%A}, {day.day} {day:%B %Y}"
    if not rest:
        return words
    if len(rest) >= 6 and rest[:6].isdigit():
        return f"{words}, {rest[:2]}:{rest[2:4]}"
    return f"{in_words(rest)} ({day.day} {day:%B %Y})"


def in_words(name: str) -> str:
    """Return a name made for programs in words."""
    return name.replace("-", " ").replace("_", " ").strip().capitalize() or name
