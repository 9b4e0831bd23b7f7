"""Labels as a model reads them."""

from django.utils.translation import gettext_lazy, override

from sessions_app.english import in_english


def test_a_label_is_in_english_whatever_language_is_active() -> None:
    label = gettext_lazy("Enter a valid value.")
    with override("de"):
        assert str(label) == "Bitte einen gültigen Wert eingeben."
        assert in_english(label) == "Enter a valid value."
        assert str(label) == "Bitte einen gültigen Wert eingeben."
