"""The description of the interface: as OpenAPI for programs, and as a page without any script."""

import re
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from coaching.api.errors import COMMON
from coaching.api.routes import ROUTES, api
from coaching.api.values import Failure

_CONVERTER = re.compile(r"\{[a-z]+:")


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """Send the OpenAPI description."""
    return JsonResponse(described() | {"servers": [{"url": request.build_absolute_uri("/").rstrip("/")}]})


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Show the routes with their scopes, parameters and schemas."""
    schema = described()
    routes = [
        {"method": route.method, "path": path, "scope": route.scope, **_operation(schema, route.method, path)}
        for route in ROUTES
        for path in [f"/api{_CONVERTER.sub('{', route.path)}"]
    ]
    context = {
        "routes": routes,
        "schemas": _schemas(schema),
        "failures": {status: _parts(words) for status, words in COMMON.items()},
        "description": _parts(api.description),
        "base": request.build_absolute_uri("/api"),
        "schema_address": reverse("api_schema"),
    }
    return render(request, "coaching/pages/api_docs.html", context)


@cache
def described() -> dict[str, Any]:
    """Return the OpenAPI description without servers. `COMMON` describes what any route may answer."""
    schema = dict(api.get_openapi_schema(path_prefix="api"))
    schema["components"]["schemas"]["Failure"] = Failure.model_json_schema()
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
    failures = {status: {"description": words, "content": content} for status, words in COMMON.items()}
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation["responses"] |= failures
    return schema


def _operation(schema: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    operation = schema["paths"][path][method.lower()]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    successes = [
        (status, _name(answer["content"]["application/json"]["schema"]))
        for status, answer in operation["responses"].items()
        if status < 300
    ]
    parameters = [_field(each["name"], each["schema"], each) for each in operation.get("parameters", ())]
    return {
        "words": _parts(operation.get("description", "")),
        "parameters": parameters,
        "body": _name(body) if body else "",
        "successes": successes,
    }


def _schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "words": _parts(described.get("description", "")),
            "fields": [
                _field(field, value, value) | {"is_required": field in described.get("required", ())}
                for field, value in described.get("properties", {}).items()
            ],
        }
        for name, described in sorted(schema["components"]["schemas"].items())
        if "properties" in described
    ]


def _field(name: str, value: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Return a field or parameter as the page shows it; `about` has what is said of it."""
    words = about.get("description", "")
    said = {"words": _parts(words), "has_words": bool(words)}
    return {"name": name, "type": _name(value), "where": about.get("in", ""), **said}


def _parts(words: str) -> list[str]:
    """Split words at the marks of code: every second part is code."""
    return words.split("`")


def _name(value: dict[str, Any]) -> str:
    """Return a schema in a few words: its name, its type, or the values it may have."""
    if "$ref" in value:
        return str(value["$ref"].rpartition("/")[2])
    if "enum" in value:
        return " | ".join(map(str, value["enum"]))
    if parts := value.get("anyOf") or value.get("allOf"):
        return " | ".join(map(_name, parts))
    if value.get("type") == "array":
        return f"list of {_name(value.get('items', {}))}"
    named = value.get("format") or value.get("const") or value.get("type") or "any"
    limits = [f"{word} {value[key]}" for key, word in _LIMITS.items() if value.get(key) not in (None, "")]
    return ", ".join([str(named), *limits])


_LIMITS = {
    "minLength": "at least",
    "maxLength": "at most",
    "minimum": "from",
    "maximum": "to",
    "default": "by default",
}
