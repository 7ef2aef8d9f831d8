"""Joining a round, and a worker's own page."""

import json
import re

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.judging.links import form_token
from annotation.models import Assignment, Participant, Worker
from annotation.people.receipts import completion_code, verify_code
from annotation.work.grading import accept
from annotation.work.leases import lease_seat, return_assignment
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from hits.models import Round
from tests.annotation.answering import address, agreement, consent, home_of, join_page, leased, submit
from tests.factories import make_round, make_worker


def test_consent_makes_one_worker_and_opens_their_page(stranger, made):
    response = consent(stranger, made)
    worker = Worker.objects.get()
    assert worker.consented_at
    assert worker.identities.get().channel == "browser"
    assert stranger.get(response.url).context["home"].worker == worker


def test_without_the_tick_or_with_a_forged_visit_no_worker_is_made(stranger, made):
    response = stranger.post(join_page(made), {"form": form_token()})
    assert (response.status_code, Worker.objects.count()) == (422, 0)
    response = stranger.post(join_page(made), agreement("id-of-another"))
    assert (response.status_code, Worker.objects.count()) == (410, 0)


def test_the_consent_form_sent_twice_makes_one_worker(stranger, made):
    form = agreement()
    urls = [stranger.post(join_page(made), form).url.split(":")[0] for _ in range(2)]
    assert (len(set(urls)), Worker.objects.count()) == (1, 1)


def test_the_cookie_is_hidden_from_scripts_and_other_sites(stranger, made):
    consent(stranger, made)
    cookie = stranger.cookies[settings.WORKER_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/judge/")


def test_a_forged_cookie_is_ignored(stranger, made):
    stranger.cookies[settings.WORKER_COOKIE_NAME] = "forged"
    assert "Welcome back" not in stranger.get(join_page(made)).text


@pytest.mark.parametrize(
    ("change", "status"),
    [({"published_at": None}, 404), ({"closed_at": timezone.now()}, 410), ({"channel": "mturk"}, 404)],
)
def test_a_round_that_is_not_open_to_browsers_takes_no_worker(stranger, made, change, status):
    Round.objects.update(**change)
    form = agreement()
    assert stranger.get(join_page(made)).status_code == status
    assert (stranger.post(join_page(made), form).status_code, Worker.objects.count()) == (status, 0)


def test_an_unknown_join_key_leads_nowhere(stranger, made):
    assert stranger.get(reverse("judging:join", args=["guess"])).status_code == 404


def test_taking_opens_a_hit_without_any_cookie(stranger, made):
    worker = make_worker()
    page = stranger.post(home_of(worker, made) + "take/").text
    assert address("task", Assignment.objects.get()) in page
    assert Assignment.objects.get().worker == worker
    assert not stranger.cookies


def test_without_scripts_taking_leads_to_the_address_of_the_hit(stranger, made):
    """Going back to a page that is the answer to a form would send it again and take another HIT."""
    answer = stranger.post(home_of(make_worker(), made) + "take/", {"no-script": "1"})
    assert (answer.status_code, answer.url) == (302, address("task", Assignment.objects.get()))


def test_nothing_left_says_so_and_offers_another_look(stranger, made, assignment):
    response = stranger.post(home_of(make_worker(), made) + "take/", follow=True)
    assert "Nothing left" in response.text


def test_a_closed_round_still_shows_the_receipts(stranger, made, assignment, commit):
    with commit(execute=True):
        submit(stranger, assignment)
    Round.objects.update(closed_at=timezone.now())
    page = stranger.get(home_of(assignment.worker, made)).text
    assert "This round is closed" in page
    assert Assignment.objects.get().receipt in page
    assert "accepted" in page
    assert "$0.65 owed" in " ".join(page.split())


def test_one_workers_page_shows_nothing_of_anothers(stranger, made, assignment):
    submit(stranger, assignment)
    assert Assignment.objects.get().receipt not in stranger.get(home_of(make_worker(), made)).text


def test_a_long_history_takes_no_more_queries(stranger, made, assignment, django_assert_max_num_queries):
    for _ in range(3):
        other = make_round(made.pool.collection, name=f"more-{Round.objects.count()}")
        done = leased(other, worker=assignment.worker)
        Assignment.objects.filter(pk=done.pk).update(state="accepted", receipt="r", submitted_at=timezone.now())
    with django_assert_max_num_queries(16):
        assert stranger.get(home_of(assignment.worker, made)).status_code == 200


# Throttles: how often one address may join a round and take HITs in an hour

HERE, ELSEWHERE = {"REMOTE_ADDR": "203.0.113.7"}, {"REMOTE_ADDR": "203.0.113.8"}


@pytest.fixture
def throttled(db, settings) -> Round:
    settings.JOINS_PER_HOUR = settings.TAKES_PER_HOUR = 2
    cache.clear()
    return make_round(hits=4)


def test_a_third_person_from_one_address_is_asked_to_wait_and_makes_no_worker(throttled):
    answers = [consent(Client(**HERE), throttled) for _ in range(3)]
    assert [one.status_code for one in answers] == [302, 302, 429]
    assert Worker.objects.count() == Participant.objects.count() == 2
    assert consent(Client(**ELSEWHERE), throttled).status_code == 302
    assert consent(Client(**HERE), make_round(throttled.pool.collection, "other")).status_code == 302


def test_a_third_hit_from_one_address_is_not_leased_and_says_what_to_do(throttled):
    workers = [make_worker() for _ in range(3)]
    answers = [Client(**HERE).post(home_of(worker, throttled) + "take/") for worker in workers]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert home_of(workers[-1], throttled) in answers[-1].text
    assert Assignment.objects.count() == 2


def test_taking_and_returning_for_ever_comes_to_an_end(throttled):
    worker, client = make_worker(), Client(**HERE)
    statuses = []
    for _ in range(3):
        statuses.append(client.post(home_of(worker, throttled) + "take/").status_code)
        for held in Assignment.objects.filter(state="leased"):
            client.post(address("give_back", held))
    assert statuses == [200, 200, 429]


def test_who_holds_a_hit_gets_back_to_it_however_often(throttled):
    worker, client = make_worker(), Client(**HERE)
    statuses = [client.post(home_of(worker, throttled) + "take/").status_code for _ in range(4)]
    assert statuses == [200, 200, 302, 302]  # beyond the limit, by another request
    assert Assignment.objects.count() == 1


# Codes that workers show as proof, and what staff learn from them


@pytest.fixture
def worker(db) -> Worker:
    return make_worker()


@pytest.fixture
def worked(worker) -> Round:
    """A round in which the worker submitted two HITs, one of them accepted."""
    worked = make_round(hits=4)
    for _ in range(2):
        mark_submitted(lease_seat(worked, worker=worker), active_seconds=60)
    accept(Assignment.objects.first())
    return worked


def test_a_completion_code_proves_all_hits_of_a_worker_however_it_is_copied_and_a_receipt_one(worked, worker):
    proof = verify_code(completion_code(worked, worker))
    assert (proof.worker, proof.round, proof.hits, str(proof.owed), str(proof.paid)) == (
        worker,
        worked,
        2,
        "0.65",
        "0.00",
    )
    assert verify_code(f" {completion_code(worked, worker).upper().replace('-', ' - ')}\n").worker == worker
    proof = verify_code(Assignment.objects.get(hit__number=2).receipt)
    assert (proof.worker, proof.of, proof.hits, str(proof.owed)) == (worker, "HIT 2", 1, "0.00")


def test_no_part_of_a_code_serves_for_another(worked, worker):
    other = make_worker()
    mark_submitted(lease_seat(worked, worker=other), active_seconds=60)
    mine, theirs = completion_code(worked, worker), completion_code(worked, other)
    forged = theirs.rpartition("-")[0] + "-" + mine.rpartition("-")[2]
    with pytest.raises(CounterpartError, match="Invalid code"):
        verify_code(forged)


def test_a_made_up_code_is_refused_in_one_line(worked):
    far = "c" + "9" * 18 + "-1-000000000000"
    for code in ("", "c1-1-000000000000", "1-0000000000", "x", "c9-9-9", "9" * 500, far):
        with pytest.raises(CounterpartError, match="Invalid code") as refused:
            verify_code(code)
        assert len(str(refused.value)) < 200


def test_a_code_depends_on_the_sites_secret(worked, worker, settings):
    before = completion_code(worked, worker)
    settings.SECRET_KEY = "another"
    assert completion_code(worked, worker) != before
    with pytest.raises(CounterpartError):
        verify_code(before)


def test_who_submitted_nothing_has_a_code_that_proves_nothing(db):
    made, worker = make_round(), make_worker()
    return_assignment(lease_seat(made, worker=worker), actor="x")
    with pytest.raises(CounterpartError, match="submitted nothing"):
        verify_code(completion_code(made, worker))


def test_a_receipt_of_work_that_was_never_submitted_proves_nothing(worked, worker):
    held = lease_seat(worked, worker=worker)
    Assignment.objects.filter(pk=held.pk).update(receipt=Assignment.objects.first().receipt)
    with pytest.raises(CounterpartError):
        verify_code(re.sub(r"^\d+", str(held.pk), Assignment.objects.first().receipt))


def test_the_command_prints_what_a_code_proves(worked, worker, capsys):
    call_command("verify_code", completion_code(worked, worker), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["genuine"], printed["worker"], printed["HITs"], printed["owed"]) == (
        "yes",
        worker.pseudonym,
        2,
        "0.65",
    )


def test_the_test_command_makes_a_test_and_says_how_to_use_it(worked, capsys):
    arguments = ["--collection", "zoo", "--positives", "2", "--negatives", "1", "--pass-mark", "3"]
    call_command("make_test", "first", *arguments)
    assert "--test first" in capsys.readouterr().out
