"""The page of designs in a real browser: the figures follow the sliders, by keyboard and without scripts."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from console.rounds.design_bases import design, source_of, start_design
from tests.browser import barriers_in_light_and_dark, faults_of, width_on_a_phone
from tests.console.browsing import log_in
from tests.evaluation.worlds import known_pool

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/design/?source=pool/pool"


@pytest.fixture
def planned(page: Page, live_server) -> Page:
    """The page of a pool of 70 images whose figures a job has made."""
    known_pool(images=70)
    log_in(page, live_server.url)
    job = start_design(source_of("pool/pool/0.2/0.5"), by=User.objects.get(username="admin"))
    design(str(job.pk))
    page.goto(PAGE)
    return page


def test_the_figures_follow_a_slider_that_the_keyboard_moves(planned):
    faults = faults_of(planned)
    expect(planned.get_by_role("heading", name="An audit of 30% of the queries")).to_be_visible()
    slider = planned.get_by_label("Judgments")
    slider.focus()
    planned.keyboard.press("ArrowRight")
    expect(planned.get_by_role("heading", name="An audit of 35% of the queries")).to_be_visible()
    expect(planned.locator("output[for=id_share]")).to_have_text("35%")
    expect(slider).to_be_focused()
    assert "share=0.35" in planned.url
    assert barriers_in_light_and_dark(planned) == []
    assert width_on_a_phone(planned) <= 390
    assert faults == []
