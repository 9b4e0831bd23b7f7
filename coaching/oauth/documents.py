"""The two documents by which a program finds out how to ask for access: RFC 9728 and RFC 8414."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from coaching.oauth.addresses import RESOURCE_DOCUMENT, address_of, origin_of, resource_of
from coaching.programs.clients import SCOPES

_SCOPES = [scope.value for scope in SCOPES]


@require_safe
def protected_resource(request: HttpRequest) -> JsonResponse:
    """Say which server grants access to `/mcp` (RFC 9728)."""
    return JsonResponse(
        {
            "resource": resource_of(request),
            "resource_name": "Sage",
            "authorization_servers": [origin_of(request)],
            "scopes_supported": _SCOPES,
            "bearer_methods_supported": ["header"],
        }
    )


@require_safe
def authorization_server(request: HttpRequest) -> JsonResponse:
    """Say how to register, to ask for consent, and to get tokens (RFC 8414)."""
    return JsonResponse(
        {
            "issuer": origin_of(request),
            "authorization_endpoint": address_of(request, "oauth_authorize"),
            "token_endpoint": address_of(request, "oauth_token"),
            "registration_endpoint": address_of(request, "oauth_register"),
            "revocation_endpoint": address_of(request, "oauth_revoke"),
            "scopes_supported": _SCOPES,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
    )


def challenge(request: HttpRequest, *, error: str = "") -> str:
    """Return the header `WWW-Authenticate` for a request without a token that holds."""
    parts = [f'error="{error}"'] if error else []
    parts.append(f'resource_metadata="{request.build_absolute_uri(RESOURCE_DOCUMENT)}"')
    parts.append(f'scope="{" ".join(_SCOPES)}"')
    return f"Bearer {', '.join(parts)}"
