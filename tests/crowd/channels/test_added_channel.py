"""A new platform needs nothing but its entry in CHANNELS: a whole round goes through it, from posting to payment."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from annotation import platforms
from annotation.models import Assignment, Judgment, Payment
from annotation.money.ledger import balance_of
from crowd import channels
from crowd.models import Posting
from crowd.sync import rounds_to_sync, sync_round
from tests.annotation.answering import as_form, right_answers
from tests.crowd.fakes import FakePlatform
from tests.factories import make_round


@pytest.fixture
def elsewhere(monkeypatch) -> FakePlatform:
    """A platform called ``elsewhere``, registered and no more."""
    fake = FakePlatform()
    monkeypatch.setitem(channels.CHANNELS, "elsewhere", fake)
    return fake


@pytest.fixture
def posted_there(db, elsewhere, settings, commit):
    """A round of one HIT, published there."""
    settings.SYNC_LAG_SECONDS = 0
    made = make_round(published=False)
    with commit(execute=True):
        call_command("publish", made.name, channel="elsewhere", environment="emulator")
    made.refresh_from_db()
    return made


def work(made, elsewhere, client) -> None:
    """A worker comes from the platform, judges on our pages, and submits there."""
    posting = Posting.objects.get(hit__round=made)
    came = {"posting": posting.external_id, "assignment": "S1", "worker": "P1"}
    sheet = client.get("/judge/at/elsewhere/emulator/", came).url
    assignment = Assignment.objects.get()
    assert elsewhere.origin in client.post(sheet, as_form(assignment, right_answers(assignment))).text
    elsewhere.submit(posting.external_id, "S1", "P1")


def test_a_round_is_posted_judged_collected_and_paid(posted_there, elsewhere, client, commit):
    assert (posted_there.settles, posted_there.rehearsal, rounds_to_sync()) == (True, True, [posted_there])
    work(posted_there, elsewhere, client)
    with commit(execute=True):
        synced = sync_round(posted_there)
    assert (synced.submitted, synced.taken_in, synced.failures) == (1, 1, [])
    assert Assignment.objects.get().state == "accepted"
    assert Judgment.objects.count() == posted_there.hits.get().items.count()
    assert [call for call, _ in elsewhere.calls] == ["publish", "pay"]
    assert Payment.objects.get().state == "paid"
    commitment = balance_of(posted_there).commitment
    assert (commitment.held, commitment.paid, commitment.fees) == (0, Decimal("0.65"), Decimal("0.13"))


def test_its_rejections_are_reversible_as_long_as_it_says(posted_there, elsewhere, client):
    elsewhere.reversible = timedelta(days=7)
    work(posted_there, elsewhere, client)
    sync_round(posted_there)
    submitted = Assignment.objects.get()
    assert platforms.postings.reversible_until(submitted) == submitted.submitted_at + timedelta(days=7)


def test_answers_are_never_sent_to_another_site(posted_there, elsewhere, client, monkeypatch):
    posting = Posting.objects.get(hit__round=posted_there)
    monkeypatch.setattr(elsewhere, "origins", lambda environment: ("https://other.example",))
    came = {"posting": posting.external_id, "assignment": "S1", "worker": "P1"}
    assert client.get("/judge/at/elsewhere/emulator/", came).status_code == 400
    assert not Assignment.objects.exists()


def test_its_workers_are_not_simulated_without_a_site(posted_there):
    with pytest.raises(CommandError, match="elsewhere"):
        call_command("simulate", posted_there.name)
