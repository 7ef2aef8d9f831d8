import pytest

from annotation.models import Worker
from annotation.people import workers
from annotation.people.consent import give_consent
from annotation.people.workers import actor_of, worker_for
from core.models import Event
from tests.factories import make_worker


def test_the_same_platform_id_is_the_same_worker(db):
    first = worker_for(channel="mturk", environment="sandbox", external_id="A1")
    assert worker_for(channel="mturk", environment="sandbox", external_id="A1") == first
    assert Worker.objects.count() == 1


def test_another_environment_is_another_worker(db):
    first = worker_for(channel="mturk", environment="sandbox", external_id="A1")
    assert worker_for(channel="mturk", environment="production", external_id="A1") != first


def test_a_platform_id_stands_in_the_identity_alone(db):
    worker = worker_for(channel="mturk", external_id="SECRET1")
    assert "SECRET1" not in str(worker.pseudonym)
    assert not any("SECRET1" in str(vars(event)) for event in Event.objects.all())


def test_two_first_visits_at_once_make_one_worker(db, monkeypatch):
    known = worker_for(channel="browser", external_id="x")
    monkeypatch.setattr(workers, "_known", lambda platform_id: None)
    assert worker_for(channel="browser", external_id="x") == known
    assert Worker.objects.count() == 1


def test_consent_is_noted_once(db):
    worker = make_worker(consented=False)
    assert give_consent(worker)
    agreed_at = worker.consented_at
    assert not give_consent(worker)
    worker.refresh_from_db()
    assert worker.consented_at == agreed_at


@pytest.mark.parametrize("verb", ["arrived", "consented"])
def test_each_step_is_written_into_the_journal_under_the_pseudonym(db, verb):
    worker = worker_for(channel="browser", external_id="x")
    give_consent(worker)
    assert Event.objects.get(verb=verb).actor == actor_of(worker) == f"worker:{worker.pseudonym}"
