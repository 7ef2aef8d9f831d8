"""The judging page in a frame of another site, in a browser that blocks every third-party cookie."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import sleep
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from annotation.judging import views
from annotation.models import Assignment
from crowd import views as crowd_views
from crowd.models import Posting, Visit
from tests.browser import PATIENCE, Underway, barriers_in_light_and_dark, go_offline
from tests.browser import press as press_keys
from tests.crowd.framing import claims, frame_of, post_hit, serve_mturk
from tests.factories import make_round

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class PlatformSite:
    """Serves on 127.0.0.1, which to a browser is another site than the ``localhost`` of the test's own server.

    ``frame`` is the address in its frame; ``taken`` are the forms it was sent: path, origin and fields.
    """

    def __init__(self) -> None:
        self.frame = ""
        self.taken: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(f'<!doctype html><title>work</title><iframe src="{escape(site.frame)}"></iframe>')

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
                fields = {name: values[0] for name, values in parse_qs(sent, strict_parsing=True).items()}
                site.taken.append((urlsplit(self.path).path, fields))
                self._answer("<!doctype html><title>taken</title><h1>The platform has it</h1>")

            def _answer(self, page: str) -> None:
                body = page.replace("<iframe", '<iframe name="work" width="900" height="900"').encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator["PlatformSite"]:
        thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield self
        self._server.shutdown()
        thread.join()
        self._server.server_close()


@pytest.fixture
def strict(browsers, in_time):
    """A browser that keeps no cookie of one site in another site's frame; Chromium without windows keeps all."""
    return browsers.get("chromium", "--test-third-party-cookie-phaseout")


@pytest.fixture
def site(monkeypatch):
    with PlatformSite().running() as running:
        serve_mturk(monkeypatch, running.origin)
        yield running


@pytest.fixture
def open_frame(strict, live_server, site):
    """Open a posting in the platform's frame, in a profile of its own; returns the page around the frame."""
    underway = Underway()
    contexts = []

    def open_one(posting: Posting, *, preview: bool = False, context=None, **options: object) -> Page:
        fields = claims(posting, to=site.origin) | ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"} if preview else {})
        site.frame = live_server.url + frame_of(fields)
        if context is None:
            size = {"viewport": {"width": 1000, "height": 1000}} | options
            contexts.append(context := strict.new_context(reduced_motion="reduce", **size))
            context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(site.origin)
        return page

    yield open_one
    for context in contexts:
        context.close()
    underway.settle()


@pytest.fixture
def posting() -> Posting:
    return post_hit(make_round().hits.get())


@pytest.fixture
def asking() -> Posting:
    """The same in a round that asks for reasons."""
    return post_hit(make_round(reasons=True).hits.get())


def work(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def press(page: Page, keys: str) -> None:
    """Press keys inside the frame, once a click has given it the focus."""
    work(page).locator("#place").click()
    press_keys(page, keys, sheet=work(page))


def submit(page: Page) -> None:
    work(page).get_by_role("button", name="Submit 4 answers").click()


def taken(page: Page) -> None:
    expect(work(page).get_by_role("heading", name="The platform has it")).to_be_visible()


def test_a_whole_hit_is_previewed_judged_by_key_saved_and_sent_without_a_cookie_or_an_error(open_frame, site, asking):
    page, troubles = open_frame(asking, preview=True), []
    for event in ("console", "pageerror"):
        page.on(event, lambda message: troubles.append(str(getattr(message, "text", message))))
    site.frame = site.frame.replace("ASSIGNMENT_ID_NOT_AVAILABLE", "ASSIGNED")
    page.goto(site.origin)
    kept = page.frame("work").evaluate("document.cookie = 'a=b; SameSite=None; Secure'; document.cookie")
    assert kept == ""  # the browser really blocks our cookies
    press(page, "1" + "2a" + "3ce" + "4")
    submit(page)
    taken(page)
    claim = Assignment.objects.get()
    fields = {"assignmentId": "ASSIGNED", "answers": "1.2a.3ce.4", "receipt": claim.receipt}
    assert site.taken == [("/mturk/externalSubmit", fields)]
    assert claim.visit.state == ""
    assert (page.context.cookies(), troubles) == ([], [])


def test_a_double_click_sends_once_and_who_comes_back_may_send_the_same_again(open_frame, site, posting):
    page = open_frame(posting)
    press(page, "1111")
    work(page).get_by_role("button", name="Submit 4 answers").dblclick()
    taken(page)
    page.reload()
    work(page).get_by_role("button", name="Send again").click()
    taken(page)
    assert {fields["receipt"] for _, fields in site.taken} == {Assignment.objects.get().receipt}
    assert {fields["answers"] for _, fields in site.taken} == {"1.1.1.1"}


def test_what_is_submitted_offline_stays_on_the_page_where_a_frame_may_store_nothing(open_frame, site, posting):
    page = open_frame(posting)
    go_offline(page, work(page))
    press(page, "1234")
    expect(work(page).locator("#saved")).to_have_text("offline: 4 answers kept while this page is open")
    submit(page)
    expect(work(page).get_by_text("Not submitted yet: the server cannot be reached.")).to_be_visible()
    page.context.set_offline(False)
    taken(page)
    assert [fields["answers"] for _, fields in site.taken] == ["1.2.3.4"]


def test_a_draft_that_the_server_reads_after_the_answers_is_not_reported_as_an_error(
    open_frame, site, posting, monkeypatch
):
    """As on a loaded machine: the last draft is refused while the page with the platform's form is being made."""
    troubles, is_saved, is_refused = [], Event(), Event()
    keep, finish = views.save_drafts, crowd_views.finish

    def keep_late(*given):
        is_saved.wait(10)
        try:
            return keep(*given)
        finally:
            is_refused.set()

    def finish_late(*given, **more):
        is_saved.set()
        is_refused.wait(10)
        sleep(0.5)
        return finish(*given, **more)

    monkeypatch.setattr(views, "save_drafts", keep_late)
    monkeypatch.setattr(crowd_views, "finish", finish_late)
    page = open_frame(posting)
    for event in ("console", "pageerror"):
        page.on(event, lambda message: troubles.append(str(getattr(message, "text", message))))
    press(page, "1111")
    page.frame("work").evaluate("dispatchEvent(new Event('pagehide'))")
    submit(page)
    taken(page)
    assert (troubles, site.taken[0][1]["answers"]) == ([], "1.1.1.1")


def test_the_frame_fits_its_900_pixels(open_frame, asking):
    page = open_frame(asking)
    press(page, "2")
    frame = page.frame("work")
    assert frame.evaluate("innerHeight") == 900
    assert not frame.evaluate("document.documentElement.scrollWidth > innerWidth")
    for button in ("#next", "#previous", "#overview"):
        box = work(page).locator(button).bounding_box()
        assert box["y"] + box["height"] <= page.locator("iframe").bounding_box()["y"] + 900


def test_axe_finds_nothing_on_any_page_of_the_frame(strict, live_server, monkeypatch, asking):
    serve_mturk(monkeypatch, "https://workers.example")
    context = strict.new_context(reduced_motion="reduce")
    page = context.new_page()

    page.goto(live_server.url + frame_of(claims(asking) | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}))
    assert barriers_in_light_and_dark(page) == []
    page.goto(live_server.url + frame_of(claims(asking)))
    press_keys(page, "2")
    assert barriers_in_light_and_dark(page) == []
    page.route("**/externalSubmit", lambda route: route.fulfill(body="Not noted."))
    press_keys(page, "a1111")
    page.get_by_role("button", name="Submit 4 answers").click()
    page.wait_for_url("**/externalSubmit")
    page.goto(live_server.url + frame_of(claims(asking)))
    expect(page.get_by_role("button", name="Send again")).to_be_visible()
    assert barriers_in_light_and_dark(page) == []
    Visit.objects.update(state="approved")
    page.reload()
    assert barriers_in_light_and_dark(page) == []
    context.close()
