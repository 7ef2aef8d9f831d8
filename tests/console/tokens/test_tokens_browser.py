"""A token is made, used and revoked in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser import barriers, barriers_in_light_and_dark, faults_of
from tests.console.browsing import log_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_token_is_made_used_and_revoked(page, live_server):
    faults = faults_of(log_in(page, live_server.url))
    page.goto("/")
    page.get_by_role("link", name="API").click()
    page.get_by_label("What is it for?").fill("notebook")
    page.get_by_role("group", name="Jobs").get_by_label("jobs:read").check()
    assert barriers_in_light_and_dark(page) == []
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("heading", name="Token notebook")).to_be_visible()
    assert barriers(page) == []
    text = page.locator(".command code").first.inner_text()
    me = f"{live_server.url}/api/v1/me"
    assert page.request.get(me, headers={"Authorization": f"Bearer {text}"}).json()["scopes"] == ["jobs:read"]
    page.get_by_role("link", name="Back to the tokens").click()
    page.get_by_role("link", name="Revoke notebook").click()
    assert barriers(page) == []
    page.get_by_role("button", name="Revoke the token").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    assert page.request.get(me, headers={"Authorization": f"Bearer {text}"}).status == 401
    assert faults == []
