"""The judging pages in a browser: open a HIT, press keys, and wait for what the page has saved."""

import re

from django.test import Client
from playwright.sync_api import Page, expect

from annotation.models import Judgment
from corpus.models import Image
from corpus.pictures.stored_pictures import store_picture
from hits.models import Round
from tests.annotation.answering import agreement, levels_by_place
from tests.browser import wait_for_pictures

SEND = """(key) => (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", {bubbles: true, cancelable: true, ...key}))"""


def take(page: Page, made: Round) -> None:
    """Open a HIT of the round as a new worker; ``join`` goes through the pages before."""
    page.clock.install()
    visitor = Client()
    home = visitor.post(f"/judge/join/{made.join_key}/", agreement()).url
    page.goto(visitor.post(f"{home}take/", {"no-script": ""}).url)
    wait_for_pictures(page)


def join(page: Page, made: Round) -> None:
    """Join the round and open a HIT."""
    page.goto(f"/judge/join/{made.join_key}/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Agree and join").click()
    page.get_by_role("button", name="Judge a HIT").click()
    page.wait_for_url(re.compile("/(task|take)/"))  # without scripts it stays where it was asked for
    wait_for_pictures(page)


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit 4 answers").click()
    page.wait_for_url("**/receipt/")


def stored() -> dict[int, int]:
    return levels_by_place(Judgment.objects.all())


def at(page: Page, text: str) -> None:
    expect(page.locator("#place")).to_have_text(text)


def look_away(page: Page) -> None:
    """Have the page save what waits, as when another program is shown."""
    page.evaluate("dispatchEvent(new Event('pagehide'))")


def saved(page: Page) -> None:
    look_away(page)
    expect(page.locator("#saved")).to_have_text("saved")


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with this text or label has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).textContent")
        if name in focused:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def send(page: Page, key: str, code: str, **more: object) -> None:
    wait_for_pictures(page)
    page.evaluate(SEND, {"key": key, "code": code, **more})


def show(content: bytes, image: Image) -> None:
    """Let an image have this picture."""
    stored = store_picture("zoo", image.key, image.file_name, content)
    size = {"width": stored.width, "height": stored.height}
    Image.objects.filter(pk=image.pk).update(file=stored.file, sha256=stored.sha256, **size)
