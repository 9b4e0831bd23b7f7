"""The URL map: accounts, admin, health and metrics; everything else is in `coaching.urls`."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from coaching.admin.start import TEMPLATE, with_figures
from sage import health, metrics

# Operators use the ordinary sign-in page with its rate limits.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth asks for
admin.site.index = with_figures(  # type: ignore[method-assign]  # like the line above
    admin.site.index, health.read_health_here
)
admin.site.index_template = TEMPLATE
admin.site.site_header = admin.site.site_title = "Sage"
admin.site.index_title = "Today"
admin.site.enable_nav_sidebar = False  # the start page has all lists, and the lists need the room

handler400 = "sage.error_pages.bad_request"
handler403 = "sage.error_pages.permission_denied"
handler404 = "sage.error_pages.page_not_found"
handler500 = "sage.error_pages.server_error"

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("admin/", admin.site.urls),
    path("", include("coaching.urls")),
]
