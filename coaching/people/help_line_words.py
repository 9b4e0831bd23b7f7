"""Marks words of the shipped help lines for translation: countries, and texts of international lines."""

from django.utils.translation import gettext_noop as _

MARKED_COUNTRIES = (
    _("Argentina"), _("Australia"), _("Austria"), _("Belgium"), _("Brazil"), _("Canada"), _("Chile"),
    _("China"), _("Colombia"), _("Czechia"), _("Denmark"), _("Finland"), _("France"), _("Germany"),
    _("Greece"), _("Hong Kong"), _("Hungary"), _("Iceland"), _("India"), _("Ireland"), _("Israel"),
    _("Italy"), _("Japan"), _("Kenya"), _("Latvia"), _("Malaysia"), _("Mexico"), _("Netherlands"),
    _("New Zealand"), _("Norway"), _("Peru"), _("Philippines"), _("Poland"), _("Portugal"), _("Romania"),
    _("Russia"), _("Singapore"), _("Slovenia"), _("South Africa"), _("South Korea"), _("Spain"),
    _("Sweden"), _("Switzerland"), _("Taiwan"), _("Türkiye"), _("Ukraine"), _("United Kingdom"),
    _("United States"),
)  # fmt: skip
MARKED_TEXTS = (
    _(
        "112 works in most of Europe and from most mobile phones in the world; 911 in North America,"
        " 999 in the UK, 000 in Australia"
    ),
    _("Free lines for talking, texting or chatting in more than 130 countries"),
    _("Emotional support centres around the world"),
)
