"""The boards of estimates in a real browser."""

import pytest

from tests.browser import barriers_in_light_and_dark, width_on_a_phone
from tests.console.browsing import log_in
from tests.evaluation.registering import register_in_order
from tests.evaluation.worlds import half_judged, known_pool

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_boards_of_estimates_have_no_barriers_and_fit_a_phone(page, live_server, tmp_path):
    pool = known_pool(names=("clip-vit-large", "vsrn-recurrent"))
    run = register_in_order(pool.collection, tmp_path, "vsrn-finetuned-on-everything")
    half_judged(pool)
    log_in(page, live_server.url)
    for path in ("/collections/zoo/leaderboard/?round=audit", f"/runs/{run.pk}/"):
        page.goto(path)
        assert page.locator("table.board").count() == 2
        assert barriers_in_light_and_dark(page) == []
        assert width_on_a_phone(page) <= 390
        page.set_viewport_size({"width": 1280, "height": 900})
