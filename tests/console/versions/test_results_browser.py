"""The public page of a version in a real browser: accessibility, a phone, no scripts needed."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from dataset.publications import publish
from tests.browser import barriers_in_light_and_dark, faults_of, width_on_a_phone

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def address(transactional_db, site) -> str:
    publish(site.version, picture_terms="CC BY 4.0", by=User.objects.create_user("ada"))
    return f"/results/{site.version}/"


def test_the_page_has_no_barriers_fits_a_phone_and_keeps_to_the_content_policy(page, live_server, address):
    faults = faults_of(page)
    page.goto(address)
    assert barriers_in_light_and_dark(page) == []
    assert width_on_a_phone(page) <= 390
    assert faults == []


def test_the_page_needs_no_scripts(open_page, live_server, address):
    page = open_page(java_script_enabled=False)
    page.goto(address)
    expect(page.get_by_role("heading", name="How to cite")).to_be_visible()
    page.get_by_text("Checksums of the files").click()
    expect(page.get_by_text("pairs.csv")).to_be_visible()
