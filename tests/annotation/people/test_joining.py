"""Joining a round, and a worker's own page."""

import re

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotation.judging import links
from annotation.models import Assignment, Worker
from hits.models import Round
from tests.annotation.answering import address, agreement, home_of, leased, submit
from tests.factories import make_round, make_worker


@pytest.fixture
def made(db) -> Round:
    return make_round()


@pytest.fixture
def assignment(made) -> Assignment:
    return leased(made)


def join_page(made):
    return reverse("judging:join", args=[made.join_key])


def consent(client, made):
    form = re.search(r'name="form" value="([^"]+)"', client.get(join_page(made)).text)[1]
    return client.post(join_page(made), agreement(form))


def test_the_join_page_tells_what_it_is_pays_and_takes(stranger, made):
    page = stranger.get(join_page(made)).text
    assert all(
        words in page for words in ("4 pairs", "$0.65", "minutes", "100% YES", "Partially YES, but …", "100% NO")
    )


def test_consent_makes_one_worker_and_opens_their_page(stranger, made):
    response = consent(stranger, made)
    worker = Worker.objects.get()
    assert worker.consented_at
    assert worker.identities.get().channel == "browser"
    assert stranger.get(response.url).context["home"].worker == worker


def test_without_the_tick_nobody_becomes_a_worker(stranger, made):
    response = stranger.post(join_page(made), {"form": links.form_token()})
    assert (response.status_code, Worker.objects.count()) == (422, 0)


def test_the_consent_form_sent_twice_makes_one_worker(stranger, made):
    form = agreement()
    urls = [stranger.post(join_page(made), form).url.split(":")[0] for _ in range(2)]
    assert (len(set(urls)), Worker.objects.count()) == (1, 1)


def test_a_forged_visit_makes_no_worker(stranger, made):
    response = stranger.post(join_page(made), agreement("somebody-elses-id"))
    assert (response.status_code, Worker.objects.count()) == (410, 0)


def test_the_join_link_knows_who_was_here_before(stranger, made):
    consent(stranger, made)
    assert f"Continue as {Worker.objects.get().pseudonym}" in stranger.get(join_page(made)).text


def test_the_cookie_is_hidden_from_scripts_and_other_sites(stranger, made):
    consent(stranger, made)
    cookie = stranger.cookies[settings.WORKER_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/judge/")


def test_the_cookie_of_before_still_tells_who_was_here(stranger, made):
    consent(stranger, made)
    before = stranger.cookies.pop(settings.WORKER_COOKIE_NAME).value
    stranger.cookies["worker"] = before
    assert f"Continue as {Worker.objects.get().pseudonym}" in stranger.get(join_page(made)).text


def test_a_forged_cookie_is_nobody(stranger, made):
    stranger.cookies[settings.WORKER_COOKIE_NAME] = "forged"
    assert "Welcome back" not in stranger.get(join_page(made)).text


@pytest.mark.parametrize(
    ("change", "status"),
    [({"published_at": None}, 404), ({"closed_at": timezone.now()}, 410), ({"channel": "mturk"}, 404)],
)
def test_a_round_that_is_not_open_to_browsers_takes_nobody(stranger, made, change, status):
    Round.objects.update(**change)
    form = agreement()
    assert stranger.get(join_page(made)).status_code == status
    assert (stranger.post(join_page(made), form).status_code, Worker.objects.count()) == (status, 0)


def test_an_unknown_join_key_leads_nowhere(stranger, made):
    assert stranger.get(reverse("judging:join", args=["guess"])).status_code == 404


# A worker's own page


def test_taking_opens_a_hit_without_any_cookie(stranger, made):
    worker = make_worker()
    page = stranger.post(home_of(worker, made) + "take/").text
    assert f'action="{address("task", Assignment.objects.get())}"' in page
    assert Assignment.objects.get().worker == worker
    assert not stranger.cookies


def test_a_hit_in_hand_is_offered_for_going_on(stranger, made, assignment):
    page = stranger.get(home_of(assignment.worker, made)).text
    assert "Continue your HIT" in page
    assert address("task", assignment).split(":")[0] in page


def test_nothing_left_says_so_and_offers_another_look(stranger, made, assignment):
    response = stranger.post(home_of(make_worker(), made) + "take/", follow=True)
    assert "Nothing left for you right now" in response.text


def test_a_worker_without_consent_gets_no_hit(stranger, made):
    response = stranger.post(home_of(make_worker(consented=False), made) + "take/", follow=True)
    assert "Read it and agree to go on" in response.text
    assert not Assignment.objects.exists()


def test_a_closed_round_still_shows_the_receipts(stranger, made, assignment, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        submit(stranger, assignment)
    Round.objects.update(closed_at=timezone.now())
    page = stranger.get(home_of(assignment.worker, made)).text
    assert "This round is closed" in page
    assert Assignment.objects.get().receipt in page
    assert "accepted" in page
    assert "$0.65 owed" in " ".join(page.split())


def test_a_flagged_hit_reads_as_being_checked(stranger, made, assignment):
    submit(stranger, assignment)
    Assignment.objects.update(state=Assignment.State.FLAGGED)
    page = stranger.get(home_of(assignment.worker, made)).text
    assert "being checked" in page
    assert "flagged" not in page


def test_work_that_is_being_checked_tells_its_reward_and_when(stranger, made, assignment):
    submit(stranger, assignment)
    page = stranger.get(home_of(assignment.worker, made)).text
    assert "$0.00 earned · $0.65 once it is checked. What came of it is told when it is paid" in page
    receipt = stranger.get(address("receipt", assignment)).text
    assert "$0.65 <small>once it is checked; what came of it is told when it is paid" in receipt
    assert "not yet decided" not in receipt


def test_one_workers_page_shows_nothing_of_anothers(stranger, made, assignment):
    submit(stranger, assignment)
    assert Assignment.objects.get().receipt not in stranger.get(home_of(make_worker(), made)).text


def test_a_long_history_takes_no_more_queries(stranger, made, assignment, django_assert_max_num_queries):
    for _ in range(3):
        other = make_round(made.pool.collection, name=f"more-{Round.objects.count()}")
        done = leased(other, worker=assignment.worker)
        Assignment.objects.filter(pk=done.pk).update(state="accepted", receipt="r", submitted_at=timezone.now())
    with django_assert_max_num_queries(14):
        assert stranger.get(home_of(assignment.worker, made)).status_code == 200
