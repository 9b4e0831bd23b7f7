"""Forms that edit a row and carry the values that they were shown with, so that two tabs lose nothing.

A save changes only what its author changed. Where both changed the same field, the form comes back with the
author's value in the field and the other below it (docs/decisions/concurrent-edits.md).
"""

from collections.abc import Collection, Mapping
from datetime import date, time
from typing import Any, ClassVar, Self

from django import forms
from django.http import QueryDict
from django.utils.formats import date_format, time_format
from django.utils.translation import gettext as _


class EditForm(forms.Form):
    """A form of a row. The values that it was shown with are in hidden fields, if `carry` was called.

    `made_with` are the arguments that make another form of the same row, besides its data. `theirs` is what
    fields say now that both have changed, in words. The fields of a tuple in `UNITS` are one value: whoever
    changes one of them has changed all.
    """

    UNITS: ClassVar[Collection[tuple[str, ...]]] = ()

    def __init__(self, data: Any = None, *, made_with: Mapping[str, Any], **options: Any) -> None:
        super().__init__(data, **options)
        self._made_with = made_with
        self.theirs: Mapping[str, str] = {}

    def carry(self) -> None:
        """Carry the values that are shown. A bound form whose data says none carries none.

        Django would take the posted values for those that were shown, and the next save would leave them out.
        """
        says = not self.is_bound or self._says_what_was_shown()
        for field in self.fields.values():
            field.show_hidden_initial = says

    def anew(self, data: QueryDict | None = None) -> Self:
        """Return another form of the same row, unbound or with `data`."""
        return type(self)(data, **self._made_with)

    def values(self) -> dict[str, Any]:
        """Return a valid form's values for the services."""
        return self.cleaned_data

    def in_words(self, name: str) -> str:
        """Return what an unbound form's field says."""
        value = self[name].value()
        choices = getattr(self.fields[name], "choices", ())
        for choice, label in choices:
            if str(choice) == str(value):
                return str(label)
        if isinstance(value, date):
            return date_format(value, "WEEKDAY_DATE_FORMAT")
        if isinstance(value, time):
            return time_format(value, "TIME_FORMAT")
        return str(value or _("none"))

    def seen(self) -> dict[str, Any] | None:
        """Return the values that the form was shown with; None if it doesn't say."""
        shown = self._shown()
        return shown.values() if shown else None

    def renewed(self, present: Self, *, both: Collection[str] = ()) -> Self:
        """Return the valid form with the row's present values in all fields that its author left alone.

        `present` is an unbound form of the row as it is now; `both` are the fields that both changed.
        """
        own = self._own()
        data = QueryDict(mutable=True)
        for name in present.fields:
            now = _texts(present[name].value())
            data.setlist(name, _sent(self.data, name) if name in own else now)
            data.setlist(present[name].html_initial_name, now)
        form = present.anew(data)
        form.full_clean()
        form.theirs = {name: present.in_words(name) for name in both}
        if both:
            form.add_error(
                None,
                _(
                    "While you were writing, this was changed elsewhere. Where both changed the same part, "
                    "yours is in the field, and the other text is below it. Nothing is saved yet."
                ),
            )
        return form

    def _own(self) -> Collection[str]:
        """Return the fields that the valid form's author changed; all if it doesn't say what was shown."""
        shown = self._shown()
        if shown is None:
            return set(self.fields)
        own = {name for name in self.fields if shown.cleaned_data[name] != self.cleaned_data[name]}
        return own.union(*(unit for unit in self.UNITS if own.intersection(unit)))

    def _says_what_was_shown(self) -> bool:
        return any(self[name].html_initial_name in self.data for name in self.fields)

    def _shown(self) -> Self | None:
        """Return the form as it was shown, bound and valid; None if it doesn't say."""
        if not self._says_what_was_shown():
            return None
        data = QueryDict(mutable=True)
        for name in self.fields:
            data.setlist(name, _sent(self.data, self[name].html_initial_name))
        form = self.anew(data)
        return form if form.is_valid() else None


def _sent(data: Any, name: str) -> list[str]:
    return data.getlist(name) if isinstance(data, QueryDict) else [data[name]] if name in data else []


def _texts(value: Any) -> list[str]:
    """Return a field's value as a form sends it."""
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return [] if value is None else [str(value)]
