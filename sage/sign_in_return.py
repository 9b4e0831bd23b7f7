"""Where the sign-in leads after a form was sent without being signed in: to the form's page.

`login_required` names the form's address, which often takes no GET request. The page that sent the form is in
the header Referer; without one of this site the form's address is kept if it is a page, too, and else the
sign-in leads to the home page.
"""

from http import HTTPStatus
from inspect import getclosurevars, isfunction
from urllib.parse import unquote, urlsplit

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme

from sage.middleware import Steps, middleware


@middleware
def sign_in_leads_to_page(request: HttpRequest) -> Steps:
    """Have a form's redirect to the sign-in name the page that the form was on."""
    response = yield
    return _leading_back(request, response)


def _leading_back(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.method != "POST" or response.status_code != HTTPStatus.FOUND:
        return response
    target = urlsplit(response["Location"])
    query = QueryDict(target.query, mutable=True)
    if target.path != reverse("account_login") or query.get(REDIRECT_FIELD_NAME) != request.get_full_path():
        return response
    if page := _page_of(request):
        query[REDIRECT_FIELD_NAME] = page
    elif not _is_page(request.path_info):
        query.pop(REDIRECT_FIELD_NAME)
    response["Location"] = target._replace(query=query.urlencode(safe="/")).geturl()
    return response


def _page_of(request: HttpRequest) -> str:
    """Return the path and query of the page that sent the form; empty if it isn't one of this site."""
    referer = request.headers.get("Referer", "")
    page = urlsplit(referer) if url_has_allowed_host_and_scheme(referer, {request.get_host()}) else None
    if page is None or not page.netloc or page.path.startswith(("//", "/\\")):
        return ""
    if not _is_page(unquote(page.path)):
        return ""
    return page._replace(scheme="", netloc="", fragment="").geturl()


def _is_page(path: str) -> bool:
    """Return whether an address takes GET: a view that doesn't has Django's decorator for its methods."""
    try:
        view: object = resolve(path).func
    except Resolver404:
        return False
    while isfunction(view):
        methods = getclosurevars(view).nonlocals.get("request_method_list")
        if methods is not None:
            return "GET" in methods
        view = getattr(view, "__wrapped__", None)
    return True
