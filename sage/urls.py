"""The URL map: accounts, admin and health here, everything else in `coaching.urls`."""

from django.contrib import admin
from django.urls import include, path

from sage import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
    path("", include("coaching.urls")),
]
