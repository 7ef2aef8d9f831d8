"""What staff typed into a form survives the end of their session."""

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import Page, expect

from hits.models import Round
from tests.console.browsing import log_in
from tests.factories import make_round, put_on_platform

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WORDS = "Thank you for judging <b>birds</b>."
PASSWORD = "a long passphrase"


@pytest.fixture
def form(page: Page, live_server, site) -> Page:
    """A page with a form in which something was typed."""
    put_on_platform(make_round(site.collection, "there"))
    log_in(page, live_server.url).goto(f"{live_server.url}/rounds/draft/consent/")
    page.locator("textarea").first.fill(WORDS)
    return page


def send(page: Page) -> None:
    page.locator("main form button:not([name])").first.click()


def enter(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def test_a_form_is_filled_in_again_after_the_login_and_not_sent(form):
    Session.objects.all().delete()
    send(form)
    expect(form.get_by_role("heading", name="Log in")).to_be_visible()
    assert WORDS not in form.content()
    enter(form, "admin")
    expect(form.locator("textarea").first).to_have_value(WORDS)
    expect(form.get_by_text("Your session had ended, and nothing was saved")).to_be_visible()
    form.reload()
    expect(form.locator("textarea").first).not_to_have_value(WORDS)


def test_another_person_sees_nothing_of_it(form):
    other = User.objects.create_user("robin", password=PASSWORD)
    other.groups.add(Group.objects.get(name="admin"))
    Session.objects.all().delete()
    send(form)
    enter(form, "robin")
    expect(form.locator("textarea").first).not_to_have_value(WORDS)
    assert form.evaluate("sessionStorage.length") == 0


def test_a_form_that_was_open_while_its_owner_logged_in_again_is_not_lost(form, live_server):
    session = Client()
    session.force_login(User.objects.get(username="admin"))
    cookies = {settings.SESSION_COOKIE_NAME: session.session.session_key, settings.CSRF_COOKIE_NAME: "x" * 32}
    form.context.add_cookies([{"name": name, "value": text, "url": live_server.url} for name, text in cookies.items()])
    send(form)
    expect(form.get_by_role("heading", name="This form has expired")).to_be_visible()
    form.get_by_role("link", name="Back to the form, with what you typed").click()
    expect(form.locator("textarea").first).to_have_value(WORDS)


def test_a_form_that_was_sent_is_not_filled_in_again(form, live_server):
    send(form)
    form.goto(f"{live_server.url}/")
    assert form.evaluate("sessionStorage.length") == 0
    assert Round.objects.filter(name="draft").exists()
