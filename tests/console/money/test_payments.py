"""Paying the browser pool on the console, checking codes, and saying who may work when publishing."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Assignment, Payment, WorkerIdentity
from annotation.people.qualification_tests import QualificationPlan, make_test
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from core.models import Event
from hits.models import Round
from tests.annotation.answering import right_answers
from tests.factories import make_round, make_worker, put_on_platform


@pytest.fixture
def owing(db, commit) -> Round:
    """A round that owes one worker a reward."""
    made = make_round(hits=2)
    assignment = lease_seat(made, worker=make_worker())
    with commit(execute=True):
        submit_answers(assignment, answers=right_answers(assignment), active_seconds=60)
    assert Payment.objects.get().state == "owed"
    return made


def money(made: Round) -> str:
    return reverse("round_money", args=[made.name])


def listed(client, made: Round) -> bytes:
    return client.get(reverse("payments_csv", args=[made.name])).content


def give_back(client, made: Round, content: bytes, **follow: bool):
    return client.post(
        reverse("payments_mark", args=[made.name]), {"list": SimpleUploadedFile("paid.csv", content)}, **follow
    )


def test_the_page_says_who_is_owed_how_much(releaser, owing):
    page = releaser.get(money(owing)).text
    assert "1 worker are owed" not in page
    assert "1 worker is owed $0.65" in page
    assert Assignment.objects.get().worker.pseudonym in page


def test_the_download_is_a_csv_that_no_cache_keeps_and_the_journal_knows_of(releaser, owing):
    WorkerIdentity.objects.create(
        worker=Assignment.objects.get().worker, channel="mturk", environment="emulator", external_id="=A1"
    )
    answer = releaser.get(reverse("payments_csv", args=[owing.name]))
    assert answer["Content-Type"].startswith("text/csv")
    assert answer["Content-Disposition"] == 'attachment; filename="round-1-payments.csv"'
    assert "no-store" in answer["Cache-Control"]
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["amount"], row["platform_id"]) == ("0.65", "'=A1")
    event = Event.objects.get(verb="payments listed")
    assert (event.actor, event.data) == ("admin", {})


def test_the_list_given_back_marks_its_payments_once(releaser, owing):
    content = listed(releaser, owing)
    assert "$0.65 in total." in give_back(releaser, owing, content, follow=True).text
    assert "$0.00 in total." in give_back(releaser, owing, content, follow=True).text
    assert Payment.objects.get().state == "paid"
    assert Event.objects.get(verb="paid").actor == "admin"


def test_another_file_is_refused_in_one_line(releaser, owing):
    for content, said in ((b"nonsense", "no column"), (b"worker\n\xe9", "UTF-8")):
        assert said in give_back(releaser, owing, content, follow=True).text
    assert Payment.objects.get().state == "owed"


def test_a_round_that_a_platform_pays_offers_no_marking(releaser, owing):
    content = listed(releaser, owing)
    put_on_platform(owing)
    page = releaser.get(money(owing)).text
    assert "paid through mturk" in page
    assert 'type="file"' not in page
    assert "nothing to pay by hand" in give_back(releaser, owing, content, follow=True).text
    assert Payment.objects.get().state == "owed"


# Publishing


@pytest.fixture
def draft(db) -> Round:
    return make_round(hits=2, name="draft", published=False, reward="5.00")


def test_publishing_says_who_may_work(researcher, draft):
    test = make_test("first", collection=draft.pool.collection, plan=QualificationPlan(1, 1, 2), actor="x")
    fields = {"capacity": 5, "per_worker": 2, "test": test.name}
    page = researcher.post(reverse("round_publish", args=["draft"]), fields, follow=True).text
    draft.refresh_from_db()
    assert draft.state == "open"
    assert (draft.admission.capacity, draft.admission.per_worker, draft.admission.test) == (5, 2, test)
    assert "at most 5 people" in page
