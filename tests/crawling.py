"""Follows every link of the site's pages."""

from collections import Counter
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

from django.test import Client
from django.urls import resolve

LEADING_ATTRIBUTES = {"a": "href", "img": "src", "link": "href", "script": "src", "iframe": "src"}


class Links(HTMLParser):
    """Collects where a page leads: its links, pictures, styles and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(LEADING_ATTRIBUTES.get(tag, ""))
        if address:
            self.found.append(address)


def broken_links(client: Client, start: str, *, at_most: int = 10) -> dict[str, int]:
    """Get ``start`` and all pages of the site that can be reached from it, ``at_most`` of each view. Return the
    addresses that answer with an error, and the status of each."""
    broken, seen = {}, set()
    waiting, views = [start], Counter[str]()
    while waiting:
        address = waiting.pop(0)
        if address in seen or not _wanted(address, views, at_most):
            continue
        seen.add(address)
        response = client.get(address)
        if response.status_code >= 400:
            broken[address] = response.status_code
        waiting += [_on_site(address, link) for link in _links_of(response)]
    return broken


def _wanted(address: str, views: Counter[str], at_most: int) -> bool:
    if not address or address.startswith("/static/"):
        return False
    name = resolve(urlsplit(address).path).view_name
    views[name] += 1
    return views[name] <= at_most


def _links_of(response) -> list[str]:
    if location := response.headers.get("Location"):
        return [location]
    if not response.headers.get("Content-Type", "").startswith("text/html"):
        return []
    links = Links()
    links.feed(response.content.decode())
    return links.found


def _on_site(page: str, link: str) -> str:
    """Return the address that ``link`` on ``page`` leads to; "" outside the site."""
    address = urldefrag(urljoin(page, link)).url
    return address if address.startswith("/") and not address.startswith("//") else ""
