"""The page of an open audit's estimates in a real browser."""

import pytest

from evaluation.auditing.live_estimates import LiveParameters
from hits.models import Round
from tests.browser import barriers_in_light_and_dark, faults_of, width_on_a_phone
from tests.console.browsing import log_in
from tests.evaluation.worlds import SMALL, judge, known_pool, published
from tests.hits.pools import pack

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAMES = ("clip-vit-large", "vilt", "pvse-words", "vsrn-recurrent")


@pytest.fixture
def half(transactional_db, monkeypatch) -> Round:
    """An open audit of which the first three quarters of the HITs are judged."""
    monkeypatch.setattr("console.trust.estimate_figures.LOOKS", LiveParameters(looks=4))
    pool = known_pool(images=24, names=NAMES)
    made = published(pack("audit-of-flickr", pool, design=SMALL, judge="audit", audit_share=0.6, seed=2))
    for minutes, hit in enumerate(made.hits.order_by("number")[: 3 * made.hits.count() // 4]):
        judge(hit, minutes=minutes)
    return made


def test_the_looks_of_an_open_audit_have_no_barriers_and_fit_a_phone(half, page, live_server):
    faults = faults_of(page)
    log_in(page, live_server.url)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"/rounds/{half}/estimates/")
    page.goto(f"/rounds/{half}/estimates/")  # counted now
    assert page.get_by_role("heading", name="Stop here").is_visible()
    assert page.get_by_role("img", name="Lines: each model").is_visible()
    answer = page.get_by_role("heading", name="May I publish that a model is better than the next one?")
    assert answer.first.is_visible()
    assert page.get_by_text("for these queries").first.is_visible()
    assert barriers_in_light_and_dark(page) == []
    assert width_on_a_phone(page) <= 390
    page.get_by_role("link", name="queries drawn like these").click()
    page.goto(page.url)  # counted now
    assert page.get_by_text("for queries drawn like these").first.is_visible()
    assert faults == []
