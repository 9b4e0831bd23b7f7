"""Marks the names of the countries with shipped help lines for translation; `countries.tsv` has all names."""

from django.utils.translation import gettext_noop as _

MARKED = (
    _("Argentina"), _("Australia"), _("Austria"), _("Belgium"), _("Brazil"), _("Canada"), _("Chile"),
    _("Czechia"), _("Denmark"), _("Finland"), _("France"), _("Germany"), _("Greece"), _("Hong Kong"),
    _("Hungary"), _("Iceland"), _("India"), _("Ireland"), _("Israel"), _("Italy"), _("Japan"), _("Kenya"),
    _("Latvia"), _("Malaysia"), _("Mexico"), _("Netherlands"), _("New Zealand"), _("Norway"),
    _("Philippines"), _("Poland"), _("Portugal"), _("Singapore"), _("Slovenia"), _("South Africa"),
    _("South Korea"), _("Spain"), _("Sweden"), _("Switzerland"), _("Taiwan"), _("Ukraine"),
    _("United Kingdom"), _("United States"),
)  # fmt: skip
