"""FormattedContent made safe to show: the tags that MTurk documents, and no others."""

from html import escape
from html.parser import HTMLParser

from markupsafe import Markup

TAGS = {
    *("a", "b", "big", "blockquote", "br", "center", "cite", "code", "dd", "del", "dl", "dt", "em", "font"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "li", "ol", "p", "pre", "q", "small", "strong"),
    *("sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul"),
}
ATTRIBUTES = {"alt", "colspan", "height", "href", "rowspan", "src", "title", "width"}
LINKS = {"href", "src"}
EMPTY = {"br", "hr", "img"}
SWALLOWED = {"script", "style"}


def formatted(text: str) -> Markup:
    """Return the text with every other tag, attribute and scheme left out."""
    keeper = _Keeper(convert_charrefs=True)
    keeper.feed(text)
    keeper.close()
    return Markup("".join(keeper.kept))  # noqa: S704  every piece in it was escaped or is on a list above


class _Keeper(HTMLParser):
    def __init__(self, *, convert_charrefs: bool) -> None:
        super().__init__(convert_charrefs=convert_charrefs)
        self.kept: list[str] = []
        self._swallowing = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SWALLOWED:
            self._swallowing = tag
        if tag in TAGS:
            self.kept.append(f"<{tag}{''.join(_attribute(name, value or '') for name, value in attrs)}>")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._swallowing:
            self._swallowing = ""
        if tag in TAGS - EMPTY:
            self.kept.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._swallowing:
            self.kept.append(escape(data))


def _attribute(name: str, value: str) -> str:
    if name not in ATTRIBUTES or (name in LINKS and not value.startswith(("http://", "https://"))):
        return ""
    return f' {name}="{escape(value)}"'
