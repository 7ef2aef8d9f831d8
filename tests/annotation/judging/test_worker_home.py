"""A worker's own page: what they earn, how they keep its address, and what it is when it is installed."""

from datetime import timedelta
from decimal import Decimal

from annotation.judging.history import CHECKED, SubmittedHit, earnings_of
from core import clock
from tests.annotation.answering import agreement, home_of

PAY = Decimal("0.65")


def test_what_is_checked_counts_in_the_week_and_what_is_paid_does_not_wait():
    now = clock.now()
    paid = SubmittedHit("b", "r", now - timedelta(days=8), "accepted", PAY, paid=True, paid_at=now)
    works = [SubmittedHit("a", "r", now, CHECKED, None, paid=False, promised=PAY), paid]
    earned = earnings_of([*works, SubmittedHit("c", "r", now, "not paid", None, paid=False)])
    assert (earned.week, earned.hits) == (PAY, 2)
    assert (earned.unpaid, earned.promised, earned.paid, earned.paid_at) == (PAY, PAY, PAY, now)


def test_its_address_can_be_sent_by_mail_and_read_by_a_camera(stranger, made, assignment, settings):
    home = home_of(assignment.worker, made)
    page = stranger.get(home).text
    assert f'data-copies="{settings.SITE_URL}{home}"' in page
    assert 'href="mailto:?subject=' in page
    assert '<svg viewBox="0 0 ' in page


def test_the_installed_pages_open_on_the_page_of_the_worker_whom_the_browser_knows(client, made):
    assert client.get("/judge/").status_code == 404
    joined = client.post(f"/judge/join/{made.join_key}/", agreement()).url
    assert client.get("/judge/").url == joined


def test_the_script_that_keeps_shared_files_serves_no_page_but_one(stranger, db):
    script = stranger.get("/judge/shell.js")
    assert (script.headers["Content-Type"], b"/judge/offline/" in b"".join(script)) == ("text/javascript", True)
    assert "No connection" in stranger.get("/judge/offline/").text
