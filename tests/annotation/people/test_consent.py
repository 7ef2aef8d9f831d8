"""The consent sheet: its versions, and who agreed to which."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Admission, Assignment, ConsentSheet, TestAttempt, Worker
from annotation.people.consent import NotAgreedError, current_sheet, empty_words, give_consent, has_agreed, write_words
from annotation.people.erasure import forget_worker
from annotation.people.qualification_tests import QualificationPlan, make_test
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from core.models import Event
from hits.models import Round
from simulation.doors.direct import DirectDoor
from tests.annotation.answering import address, agreement, home_of, submit
from tests.factories import make_round, make_worker


@pytest.fixture
def join(db) -> str:
    return reverse("judging:join", args=[make_round().join_key])


def change_terms(settings) -> None:
    settings.PAYMENT_TERMS = "We pay by bank transfer on Fridays."


def joined(join: str) -> Client:
    """The browser of a worker who joined."""
    client = Client()
    assert client.post(join, agreement()).status_code == 302
    return client


@pytest.mark.parametrize("setting", ["RESEARCHERS", "PAYMENT_TERMS", "CONTACT"])
def test_a_changed_setting_makes_a_new_version_and_keeps_the_old_text(db, settings, setting):
    before = current_sheet()
    setattr(settings, setting, "Ask <b>Mina</b>.")
    after = current_sheet()
    before.refresh_from_db()
    assert (after != before, "Ask &lt;b&gt;Mina" in after.text, "Mina" in before.text) == (True, True, False)


def test_a_worker_agrees_to_each_version_once(db, settings):
    worker = make_worker(consented=False)
    assert [give_consent(worker), give_consent(worker)] == [True, False]
    change_terms(settings)
    assert give_consent(worker)
    agreed = list(worker.consents.values_list("sheet", flat=True))
    assert agreed == list(ConsentSheet.objects.values_list("pk", flat=True))
    assert [event.data["sheet"] for event in Event.objects.filter(verb="consented").order_by("pk")] == agreed


def test_one_query_says_whether_a_worker_agreed_to_what_the_round_says_now(db, django_assert_num_queries):
    made, worker = make_round(), make_worker()
    assert has_agreed(worker, made)
    write_words(made, actor="robin", researchers="Mina", payment_terms="", contact="")
    with django_assert_num_queries(1):
        assert not has_agreed(worker, made)
    assert give_consent(worker, made)
    assert has_agreed(worker, made)


def test_a_form_with_an_older_version_is_shown_the_current_one(join, settings, stranger):
    form = agreement()
    change_terms(settings)
    refused = stranger.post(join, form)
    assert refused.status_code == 422
    assert refused.context["outdated"]
    assert "bank transfer" in refused.text
    assert not Worker.objects.exists()


def test_who_agreed_to_an_older_version_is_asked_again(join, settings):
    client = joined(join)
    change_terms(settings)
    assert "has changed since" in client.get(join).text
    assert client.post(join, {"again": "yes"}).status_code == 422
    assert client.post(join, {**agreement(), "again": "yes"}).status_code == 302
    assert has_agreed(Worker.objects.get())


def test_the_join_page_states_the_hourly_wage_of_the_stated_time(db, stranger):
    made = make_round()
    address = reverse("judging:join", args=[made.join_key])
    assert "$3.90–7.80 an hour" in stranger.get(address).text  # $0.65 in 10 or 5 minutes
    type(made).objects.filter(pk=made.pk).update(expected_seconds=300)
    assert "about $7.80 an hour" in stranger.get(address).text


WORDS = {"researchers": "Kim's lab, on cats.", "payment_terms": "Every Friday.", "contact": "kim@example.org"}


def test_the_words_of_a_round_take_the_place_of_the_settings_in_its_sheet_alone(db, settings):
    settings.RESEARCHERS = "The server's lab."
    made = make_round()
    other = make_round(made.pool.collection, name="other")
    write_words(made, actor="kim", **WORDS)
    assert ("Kim&#x27;s lab" in current_sheet(made).text, "mailto:kim@" in current_sheet(made).text) == (True, True)
    assert "The server&#x27;s lab." in current_sheet(other).text
    assert empty_words(made) == {}
    assert [*empty_words(other)] == ["payment_terms", "contact"]


def test_words_that_change_make_a_version_and_the_same_words_none(db):
    made = make_round()
    for terms in ("Every Friday.", "Every Friday.", "Every Monday."):
        write_words(made, actor="kim", **WORDS | {"payment_terms": terms})
    assert [one.payment_terms for one in made.consent_words.all()] == ["Every Friday.", "Every Monday."]


def test_nothing_is_written_for_a_closed_round(db):
    made = make_round()
    made.closed_at = timezone.now()
    with pytest.raises(CounterpartError, match="closed"):
        write_words(made, actor="kim", **WORDS)


# A sheet that changes while people work

OTHERWISE = WORDS | {"payment_terms": "Every Monday."}


@pytest.fixture
def begun(db) -> Round:
    """A round of three HITs with words of its own."""
    begun = make_round(hits=3)
    write_words(begun, actor="kim", **WORDS)
    return begun


@pytest.fixture
def worker(begun) -> Worker:
    """A worker who agreed to its sheet."""
    worker = make_worker(consented=False)
    give_consent(worker, begun)
    return worker


def take(client: Client, worker: Worker, made: Round, **form: object):
    return client.post(home_of(worker, made) + "take/", form, follow=True)


def agreement_to(made: Round) -> dict[str, object]:
    return {"consent": "yes", "sheet": current_sheet(made).pk}


def test_the_next_hit_after_a_change_shows_the_sheet_and_opens_once_it_is_agreed_to(begun, worker, stranger):
    write_words(begun, actor="kim", **OTHERWISE)
    page = take(stranger, worker, begun)
    assert "has changed" in page.text
    assert "Every Monday." in page.text
    assert not Assignment.objects.exists()
    assert 'id="judging"' in take(stranger, worker, begun, **agreement_to(begun)).text
    assert [one.sheet for one in worker.consents.all()][-1] == current_sheet(begun)


def test_a_hit_that_is_open_when_the_sheet_changes_is_finished_without_a_question(begun, worker, stranger):
    held = lease_seat(begun, worker=worker)
    write_words(begun, actor="kim", **OTHERWISE)
    assert lease_seat(begun, worker=worker) == held
    assert stranger.get(address("task", held)).status_code == 200
    assert submit(stranger, held).status_code == 302
    with pytest.raises(NotAgreedError):
        lease_seat(begun, worker=worker)


def test_a_form_with_the_sheet_before_agrees_to_nothing(begun, worker, stranger):
    write_words(begun, actor="kim", **OTHERWISE)
    form = agreement_to(begun)
    write_words(begun, actor="kim", **OTHERWISE | {"payment_terms": "Never."})
    assert "Never." in take(stranger, worker, begun, **form).text
    assert (Assignment.objects.count(), worker.consents.count()) == (0, 1)


def test_a_sheet_that_is_changed_back_after_another_one_was_agreed_to_is_shown_again(begun, worker):
    write_words(begun, actor="kim", **OTHERWISE)
    assert not has_agreed(worker, begun)
    give_consent(worker, begun)
    write_words(begun, actor="kim", **WORDS)
    assert not has_agreed(worker, begun)
    assert give_consent(worker, begun)
    assert has_agreed(worker, begun)


@pytest.mark.parametrize(("words", "counts"), [(WORDS, True), (OTHERWISE, False)])
def test_the_consent_of_another_round_counts_where_its_sheet_is_the_same(begun, worker, words, counts):
    other = make_round(begun.pool.collection, name="other")
    write_words(other, actor="kim", **words)
    assert has_agreed(worker, other) == counts


def test_what_was_agreed_to_before_a_worker_was_forgotten_does_not_count(begun, worker):
    forget_worker(worker.pseudonym, actor="kim")
    worker.refresh_from_db()
    assert not has_agreed(worker, begun)
    with pytest.raises(NotAgreedError):
        lease_seat(begun, worker=worker)


def test_test_and_practice_wait_for_the_agreement_and_a_try_that_was_shown_is_stored(begun, worker, stranger):
    test = make_test("easy", collection=begun.pool.collection, plan=QualificationPlan(1, 1, 2, 2), actor="kim")
    Admission.objects.create(round=begun, test=test, practice=test)
    home = home_of(worker, begun)
    assert [stranger.get(home + name).status_code for name in ("test/", "practice/")] == [200, 200]
    write_words(begun, actor="kim", **OTHERWISE)
    assert [stranger.get(home + name).status_code for name in ("test/", "practice/")] == [302, 302]
    stranger.post(home + "test/", {"level-1": "1", "level-2": "1", "number": "1"})
    assert TestAttempt.objects.count() == 1


def test_simulated_workers_agree_to_a_sheet_that_changes_under_way(begun):
    door = DirectDoor(begun, None, seed=0)
    assert door.take(0)
    write_words(begun, actor="kim", **OTHERWISE)
    assert door.take(1)
    Assignment.objects.update(state="returned")
    assert door.take(0)
