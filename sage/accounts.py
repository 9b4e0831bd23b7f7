"""Allauth's behaviour where its settings aren't enough."""

from collections.abc import Callable
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import User
from django.contrib.sites.shortcuts import get_current_site
from django.core.mail import EmailMultiAlternatives
from django.http import HttpRequest, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from coaching.people.languages import language_of
from sage.addresses import find_sign_in_owner
from sage.mail import run_after_response
from sage.sign_in_attempts import count_attempt, remember_browser

LAYOUTS = [{kind: f"mail/{kind}.{ending}" for kind in ("action", "notice")} for ending in ("txt", "html")]
LINKS = ("activate_url", "password_reset_url", "signup_url")
"""The variables of allauth's mails that hold their link; the first one counts."""

STAGES = {"allauth.account.stages.EmailVerificationStage": "sage.sign_in.ConfirmAddressStage"}


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Decides who may sign up, which addresses may go, and when mails are sent."""

    _take_back: Callable[[], None] | None = None

    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": _("That email address and password don’t match an account."),
        "username_password_mismatch": _("That username and password don’t match an account."),
        "email_taken": _("There is already an account with this email address."),
        "duplicate_email": _("Your account already has this email address."),
        "enter_current_password": _("That isn’t your current password."),
        "incorrect_password": _("That isn’t your password."),
        "too_many_login_attempts": _("Too many attempts. Wait a few minutes, then try again."),
    }

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt by address, account and browser."""
        super().pre_authenticate(request, **credentials)
        login = credentials.get("email", credentials.get("username", "")).lower()
        owner = find_sign_in_owner(login)
        self._take_back = count_attempt(request, "password", user_id=owner.pk if owner else None, login=login)
        if self._take_back is None:
            raise self.validation_error("too_many_login_attempts")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Return whose password it is; a right one isn't counted."""
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is not None and self._take_back is not None:
            self._take_back()
        return user

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponseBase:
        """Remember the browser, which from now on has counts of its own."""
        response: HttpResponseBase = super().post_login(request, user, **kwargs)
        remember_browser(request, response, user.pk)
        return response

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.SAGE_SIGNUP == "open")

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Render a mail now, in its reader's language, and send it after the response."""
        named = {"request": self.request, "email": email, "current_site": get_current_site(self.request)}
        reader = context.get("user")
        with override((reader and language_of(reader)) or get_language()):
            message = self.render_mail(template_prefix, email, named | context)
        run_after_response(message.send)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Notify a user, naming them in the context."""
        super().send_notification_mail(template_prefix, user, {**(context or {}), "user": user}, email)

    def render_mail(
        self, template_prefix: str, email: str, context: dict[str, Any], headers: Any = None
    ) -> EmailMultiAlternatives:
        """Render a mail's text and its HTML from one template, which extends a layout of either."""
        subject = " ".join(render_to_string(f"{template_prefix}_subject.txt", context).split())
        link = next((url for name in LINKS if (url := context.get(name))), "")
        if link == context.get("signup_url") and not self.is_open_for_signup(self.request):
            link = ""
        shared = context | {"subject": subject, "link": link}
        text, html = (
            render_to_string(f"{template_prefix}_message.html", shared | {"layouts": layouts}, self.request)
            for layouts in LAYOUTS
        )
        message = EmailMultiAlternatives(
            subject, text.strip() + "\n", self.get_from_email(), [email], headers=headers
        )
        message.attach_alternative(html.strip(), "text/html")
        return message

    def set_password(self, user: User, password: str) -> None:
        """Set a password; drop a pending change of address, whose link would give the account away."""
        super().set_password(user, password)
        waiting = EmailAddress.objects.filter(user=user, verified=False, primary=False)
        waiting.exclude(email=user.email.lower()).delete()

    def can_delete_email(self, email_address: EmailAddress) -> bool:
        """Allow deleting a pending address, never the account's own."""
        is_own = email_address.primary or email_address.email == email_address.user.email.lower()
        return not is_own

    def get_login_stages(self) -> list[str]:
        """Return the stages between a correct password and being signed in."""
        return [STAGES.get(stage, stage) for stage in super().get_login_stages()]

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return the page after a password change, which signs the user out."""
        return reverse("account_login")
