"""The words of a page, as somebody reads them."""

from html.parser import HTMLParser


class _Page(HTMLParser):
    def __init__(self, *, with_code: bool) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._with_code = with_code
        self._in_code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_code += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag == "pre"

    def handle_data(self, data: str) -> None:
        if self._with_code or not self._in_code:
            self.texts.append(data)


def words_of_page(markup: str, *, with_code: bool = True) -> str:
    """Return the texts between the tags of HTML, with or without those in blocks of code."""
    page = _Page(with_code=with_code)
    page.feed(markup)
    page.close()
    return "\0".join(page.texts)
