"""JSON schemas of structured answers: objects without other properties, lists of them, and words."""

from typing import Any

STRING = {"type": "string"}


def object_of(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(**properties: Any) -> dict[str, Any]:
    """Return the schema of a list of such objects."""
    return {"type": "array", "items": object_of(**properties)}
