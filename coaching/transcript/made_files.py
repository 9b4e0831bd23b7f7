"""The files that a turn wrote, as a page shows them below the answer. No I/O.

What was written after texts of others has their names and *Undo*.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coaching.tools import presentation_of
from coaching.tools.tainted import Ruling
from coaching.transcript.names import MadeFile, made_file, source_names
from coaching.transcript.old_replies import ORIGINAL_KEY
from sessions_app.models import Message, ToolCallRecord
from sessions_app.pending_calls import UNDONE


def files_written(records: Iterable[ToolCallRecord]) -> list[MadeFile]:
    """Return the files that calls wrote, without duplicates, in order of their first write."""
    records = list(records)
    return _with_undo(_files_of((record.name, record.result, record.is_error) for record in records), records)


def files_written_by(answer: Message, records: Iterable[ToolCallRecord] = ()) -> list[MadeFile]:
    """Return the files that the calls of a stored answer wrote; an old reply shows its own in place.

    `records` are the turn's calls, as far as they were read.
    """
    calls = answer.metadata.get("tool_calls", []) if ORIGINAL_KEY not in answer.metadata else []
    made = _files_of((call["name"], call.get("result"), call["is_error"]) for call in calls)
    return _with_undo(made, records)


def written_paths(calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths of the files in an old reply's calls."""
    return [made.path for made in _files_of((call["name"], call["result"], False) for call in calls)]


def values_in(result: object) -> Mapping[str, Any]:
    """Return the values of a call's result; none for what isn't a JSON object."""
    try:
        values = json.loads(result) if isinstance(result, str) else None
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _files_of(calls: Iterable[tuple[str, object, bool]]) -> list[MadeFile]:
    paths = [path for name, result, is_error in calls if (path := _path_in(name, result, is_error))]
    return [made_file(path) for path in dict.fromkeys(paths)]


def _path_in(name: str, result: object, is_error: bool) -> str:
    if is_error or not presentation_of(name).writes_file:
        return ""
    path = values_in(result).get("path")
    return path if isinstance(path, str) else ""


def _with_undo(made: Sequence[MadeFile], records: Iterable[ToolCallRecord]) -> list[MadeFile]:
    """Return the files, those that others' texts may have asked for with the call that can be undone."""
    writers = {
        path: (record, ruling)
        for record in records
        if (ruling := Ruling.of(record.metadata))
        and not ruling.is_held
        and (path := _path_in(record.name, record.result, record.is_error))
    }
    return [_undoable(file, *writers[file.path]) if file.path in writers else file for file in made]


def _undoable(file: MadeFile, record: ToolCallRecord, ruling: Ruling) -> MadeFile:
    return replace(
        file,
        tool_use_id=record.tool_use_id,
        sources=source_names(ruling.sources),
        is_undone=bool(record.metadata.get(UNDONE)),
    )
