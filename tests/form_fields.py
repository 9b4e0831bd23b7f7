"""The fields of a page's form as a browser sends them."""

from html.parser import HTMLParser

from django.http import QueryDict


class _Fields(HTMLParser):
    """Collects the fields of each form of a page, with the names of its buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[QueryDict] = []
        self.names: list[set[str]] = []
        self._area: str | None = None
        self._text = ""
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.forms.append(QueryDict(mutable=True))
            self.names.append(set())
        if not self.forms:
            return
        name, value = given.get("name") or "", given.get("value") or ""
        if name:
            self.names[-1].add(name)
        is_off = given.get("type") in ("checkbox", "radio") and "checked" not in given
        if tag == "input" and name and not is_off:
            self.forms[-1].appendlist(name, value)
        elif tag == "textarea":
            self._area, self._text = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and "selected" in given:
            self.forms[-1].appendlist(self._select, value)

    def handle_data(self, data: str) -> None:
        self._text += data if self._area is not None else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area is not None:
            # A parser drops the first line break, and a browser sends the others so.
            text = self._text.removeprefix("\r\n").removeprefix("\n")
            self.forms[-1].appendlist(self._area, text.replace("\r\n", "\n").replace("\n", "\r\n"))
            self._area = None
        elif tag == "select":
            self._select = ""


def form_with(page: str, name: str, *, number: int = 0) -> dict[str, list[str]]:
    """Return what the form with that field or button sends, by its fields; `number` counts such forms."""
    parser = _Fields()
    parser.feed(page)
    found = [form for form, names in zip(parser.forms, parser.names, strict=True) if name in names]
    return {key: [str(value) for value in values] for key, values in found[number].lists()}
