"""The pages of webhooks: their owner adds, tests, switches, renews and removes them there; other accounts cannot."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from core.models import Event
from integrations.models import Delivery, Webhook
from integrations.notifications import notify
from integrations.webhooks import MOST, may_have_webhooks, secret_of
from tests.conftest import client_of

pytestmark = pytest.mark.django_db

URL = "https://example.org/hook?key=opensesame"


@pytest.fixture
def webhook(researcher) -> Webhook:
    owner = User.objects.get(username="researcher")
    return Webhook.objects.create(owner=owner, url=URL, types=["round.closed"])


@pytest.fixture
def delivery(webhook) -> Delivery:
    transaction.atomic(notify)("round.closed", "/rounds/zebra", id="zebra")
    Delivery.objects.update(state="failed", attempts=8, due_at=None, status=503, error="The answer was 503.")
    return Delivery.objects.get()


def add(client: Client, **fields: object):
    return client.post("/webhooks/add/", {"url": URL, "types": ["round.closed", "run.scored"], **fields})


def text_of_page(answer) -> str:
    """The text of a page on one line."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", answer.text)).split())


def act(client: Client, webhook: Webhook, name: str, **fields: object):
    return client.post(f"/webhooks/{webhook.pk}/{name}/", fields, follow=True)


def test_a_webhook_is_added_and_its_secret_shown_once(researcher):
    answer = add(researcher)
    made = Webhook.objects.get()
    assert (made.url, made.types, made.owner.username) == (URL, ["round.closed", "run.scored"], "researcher")
    assert secret_of(made) in answer.text
    assert answer["Cache-Control"] == "private, no-store"
    for page in ("/tokens/", f"/webhooks/{made.pk}/"):
        assert "whsec_" not in researcher.get(page).text


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.org/hook", "write it as https://example.org/counterpart"),
        ("https://example.org:99999/", "write it as https://example.org/counterpart"),
        ('https://x"><script>.example/', "write it as https://example.org/counterpart"),
        ("https://example.org:0/", "write it as https://example.org/counterpart"),
        ("https://robin:secret@example.org/", "Leave it out"),
    ],
)
def test_an_address_that_nothing_is_sent_to_is_refused_with_the_reason(researcher, url, reason):
    answer = add(researcher, url=url)
    assert answer.status_code == 422
    assert reason in text_of_page(answer)
    assert not Webhook.objects.exists()


def test_no_type_and_one_webhook_too_many_are_refused(researcher, webhook):
    assert "Choose at least one." in text_of_page(add(researcher, types=[]))
    Webhook.objects.bulk_create(Webhook(owner=webhook.owner, url=URL, types=[]) for _ in range(MOST - 1))
    assert f"You have {MOST} webhooks" in text_of_page(add(researcher))
    assert Webhook.objects.count() == MOST


def test_events_show_the_host_and_not_the_rest_of_the_address(researcher):
    add(researcher)
    made = Webhook.objects.get()
    act(researcher, made, "secret", generation=1)
    act(researcher, made, "off")
    act(researcher, made, "on")
    act(researcher, made, "remove")
    page = text_of_page(researcher.get("/activity/"))
    assert "round.closed, run.scored" in page
    assert "the webhook to example.org" in page
    assert "opensesame" not in page
    assert Event.objects.filter(verb__startswith="webhook").count() == 5


def test_the_page_of_a_webhook_lists_its_deliveries_with_their_outcome(researcher, webhook, delivery):
    page = text_of_page(researcher.get(f"/webhooks/{webhook.pk}/"))
    assert URL in page
    assert "failed 8 The answer was 503." in page


def test_a_new_secret_is_shown_once_for_one_press(researcher, webhook):
    old = secret_of(webhook)
    answer = act(researcher, webhook, "secret", generation=1)
    new = secret_of(Webhook.objects.get())
    assert new in answer.text
    assert old != new
    again = text_of_page(act(researcher, webhook, "secret", generation=1))
    assert "secret was changed" in again
    assert Webhook.objects.get().generation == 2


def test_a_webhook_that_is_off_says_why_and_is_switched_on(researcher, webhook):
    Webhook.objects.update(off_since=timezone.now(), reason="It has failed for five days.")
    page = researcher.get(f"/webhooks/{webhook.pk}/").text
    assert "It has failed for five days." in page
    assert ">Test<" not in page
    assert "The webhook is on." in text_of_page(act(researcher, webhook, "on"))
    assert Webhook.objects.get().state == "on"
    act(researcher, webhook, "off")
    assert Webhook.objects.get().state == "off"


def test_a_webhook_that_the_site_switched_off_waits_for_its_owner_on_the_home_page(researcher, reviewer, webhook):
    assert "example.org" not in text_of_page(researcher.get("/"))
    Webhook.objects.update(off_since=timezone.now(), reason="It answered that it is gone (410).")
    assert "gone (410)" in text_of_page(researcher.get("/"))
    assert "example.org" not in text_of_page(reviewer.get("/"))
    Webhook.objects.update(reason="")  # by its owner
    assert "example.org" not in text_of_page(researcher.get("/"))


def test_a_webhook_is_removed_with_its_deliveries(researcher, webhook, delivery):
    act(researcher, webhook, "remove")
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()


@pytest.mark.parametrize("path", ["", "test/", "secret/", "other/", "on/", "off/", "remove/", "deliveries/1/send/"])
def test_other_accounts_cannot_reach_a_webhook(releaser, webhook, delivery, path):
    """An admin neither."""
    before = Webhook.objects.values().get()
    for method in (releaser.get, releaser.post):
        assert method(f"/webhooks/{webhook.pk}/{path}", {"generation": 1}).status_code in (404, 405)
    assert Webhook.objects.values().get() == before
    assert Delivery.objects.get().state == "failed"
    assert str(webhook.pk) not in releaser.get("/tokens/").text


@pytest.mark.parametrize("role", [None, "researcher", "reviewer", "admin"])
def test_who_may_open_the_pages_may_have_webhooks(role):
    client = client_of(role)
    user = User.objects.get()
    assert may_have_webhooks(user) is (client.get("/webhooks/add/").status_code == 200)
    assert may_have_webhooks(user) is ('href="/webhooks/add/"' in client.get("/tokens/").text)
