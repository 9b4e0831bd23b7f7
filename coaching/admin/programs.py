"""Programs that people have connected: theirs alone, so allauth's pages about them go."""

import allauth.idp.oidc.admin  # noqa: F401 - registers the pages before they are removed
from allauth.idp.oidc.models import Client, Token
from django.contrib import admin

admin.site.unregister(Client)
admin.site.unregister(Token)
