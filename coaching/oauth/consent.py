"""The page on which a person lets a program use their Sage, or doesn't.

It is shown for each request, to somebody who has just confirmed who they are, as for a personal token.
What it shows is signed into its form. Its answer redirects to the program,
which Chromium allows only if the page's own policy names the origin: this page's does, and no other's.
"""

from collections.abc import Collection
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from allauth.idp.oidc.forms import AuthorizationForm
from allauth.idp.oidc.models import Client
from allauth.idp.oidc.views import AuthorizationView
from csp.decorators import csp_update
from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from coaching.oauth import codes
from coaching.oauth.addresses import origin_of, resource_of
from coaching.oauth.checks import WrongRequest, check_authorization
from coaching.people.allauth_internals import needs_confirmation, require_confirmation
from coaching.programs.clients import SCOPES
from coaching.programs.grants import MAX_GRANTS, has_room
from coaching.programs.redirects import Redirect
from coaching.views.program_tokens import send_notice


class ConsentForm(AuthorizationForm):  # type: ignore[misc]  # allauth has no types
    """The scopes that a program asks for, to choose from, in the words of the page of programs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asked = self.fields["scopes"].initial
        self.fields["scopes"] = forms.MultipleChoiceField(
            choices=[(scope.value, words) for scope, words in SCOPES.items() if scope.value in asked],
            label=_("What it may do"),
            widget=forms.CheckboxSelectMultiple,
            initial=asked,
        )


class ConsentView(AuthorizationView):  # type: ignore[misc]  # allauth has no types
    """allauth's page with Sage's rules: nothing is granted without an answer to this page."""

    form_class = ConsentForm
    template_name = "coaching/pages/consent.html"
    http_method_names = ["get", "post"]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            check_authorization(request.GET, resource=resource_of(request))
        except WrongRequest as wrong:
            return refused(request, str(wrong))
        if request.user.is_authenticated:
            require_confirmation(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        if "Location" in response and not isinstance(response, HttpResponseRedirect):
            # An error for the program. Anybody may register an address, so a link to here would lead there
            # without a question.
            answer = parse_qs(urlsplit(response["Location"]).query)
            return refused(request, answer.get("error", [""])[0])
        return _with_status(response)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # allauth reads the address, too: with `prompt=none` in it, it requires no sign-in.
        if request.GET or not request.POST.get("request"):
            return refused(request, "This isn’t an answer to a page of Sage.")
        try:
            return self._with_issuer(_with_status(super().post(request, *args, **kwargs)))
        except Client.DoesNotExist:
            return refused(request, "This program isn’t registered any more.")

    def form_valid(self, form: ConsentForm) -> HttpResponse:
        """Grant what was chosen, unless the person has connected as many programs as they may.

        A page that was open for long is shown again, after they have confirmed who they are.
        """
        if needs_confirmation(self.request):
            return HttpResponseRedirect(f"{self.request.path}?{urlencode(self._asked(), doseq=True)}")
        if not self._has_room():
            return self.render_to_response(self.get_context_data(form=form))
        response: HttpResponse = super().form_valid(form)
        for code in parse_qs(urlsplit(response.get("Location", "")).query).get("code", ()):
            codes.keep(code, user=self.request.user)
            self._send_notice(form.cleaned_data["scopes"])
        return response

    def _send_notice(self, chosen: Collection[str]) -> None:
        client = Client.objects.get(id=self._request_info["client_id"])
        in_words = [str(words) for scope, words in SCOPES.items() if scope.value in chosen]
        send_notice(self.request, self.request.user, name=client.name, scopes=in_words)

    def _asked(self) -> dict[str, Any]:
        """Return the parameters of the program's request, as its page has signed them."""
        names = (
            "client_id",
            "redirect_uri",
            "response_type",
            "state",
            "code_challenge",
            "code_challenge_method",
        )
        asked = {name: self._request_info[name] for name in names if self._request_info.get(name)}
        return {**asked, "scope": " ".join(self._scopes), "resource": self._request_info["resources"]}

    def _skip_consent(self) -> HttpResponse:
        # Whatever an operator may have set: the person is asked.
        return self.render_to_response(self.get_context_data())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        redirect = Redirect(self._request_info["redirect_uri"])
        return {**context, "redirect": redirect, "is_full": not self._has_room(), "most": MAX_GRANTS}

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().render_to_response(context, **kwargs)
        with_origin: Any = csp_update({"form-action": [context["redirect"].origin]})
        answered: HttpResponse = with_origin(lambda _request: response)(self.request)
        return answered

    def _has_room(self) -> bool:
        client_id = self._request_info["client_id"]
        return has_room(self.request.user.pk, client_id=client_id, now=timezone.now())

    def _with_issuer(self, response: HttpResponse) -> HttpResponse:
        """Name Sage in an answer to the program (RFC 9207), which may have asked several servers."""
        address = response.get("Location", "")
        if hasattr(self, "_request_info") and address.startswith(self._request_info["redirect_uri"]):
            separator = "&" if "?" in address else "?"
            response["Location"] = f"{address}{separator}{urlencode({'iss': origin_of(self.request)})}"
        return response


def _with_status(response: HttpResponse) -> HttpResponse:
    """Correct the status of allauth's error page, which says 200."""
    if type(response) is HttpResponse and response.status_code == HTTPStatus.OK:
        response.status_code = HTTPStatus.BAD_REQUEST
    return response


def refused(request: HttpRequest, why: str) -> HttpResponse:
    """Return a page that says what is wrong with a program's request."""
    return render(request, "idp/oidc/error.html", {"why": why}, status=HTTPStatus.BAD_REQUEST)
