import pytest

from annotation.models import Exclusion, WorkerIdentity
from annotation.people.workers import exclude, readmit
from core.errors import CounterpartError
from core.models import Event
from crowd.messages import write_to
from crowd.models import Message, Outbox
from tests.factories import make_worker


def known(channel="mturk", environment="sandbox"):
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel=channel, environment=environment, external_id=f"A{worker.pk}")
    return worker


def test_an_exclusion_is_told_to_the_platforms_that_know_the_worker(db, platform, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        exclude(known(), reason="Scripted answers.", by="robin")
    assert [call for call, _ in platform.calls] == ["exclude"]


def test_a_worker_of_the_pool_is_excluded_without_any_call(db):
    exclude(known("browser", ""), reason="Scripted answers.", by="robin")
    assert (Exclusion.objects.count(), Outbox.objects.count()) == (1, 0)


def test_an_exclusion_needs_a_reason(db):
    with pytest.raises(CounterpartError, match="The reason is empty"):
        exclude(make_worker(), reason=" ", by="robin")
    assert not Exclusion.objects.exists()


def test_nobody_is_excluded_twice_at_once(db):
    worker = make_worker()
    exclude(worker, reason="Scripted answers.", by="robin")
    with pytest.raises(CounterpartError, match="is excluded already"):
        exclude(worker, reason="Again.", by="sam")
    assert Exclusion.objects.get().by == "robin"


def test_a_lifted_exclusion_stays_on_record(db, platform, django_capture_on_commit_callbacks):
    worker = known()
    with django_capture_on_commit_callbacks(execute=True):
        exclude(worker, reason="Scripted answers.", by="robin")
    with django_capture_on_commit_callbacks(execute=True):
        readmit(worker, by="sam")
    assert Exclusion.objects.get().lifted_at is not None
    assert [call for call, _ in platform.calls] == ["exclude", "readmit"]
    assert Event.objects.get(verb="readmitted").actor == "sam"


def test_who_is_not_excluded_cannot_be_readmitted(db):
    with pytest.raises(CounterpartError, match="is not excluded"):
        readmit(make_worker(), by="sam")


def test_workers_on_one_platform_are_written_to_with_one_call(db, platform, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        write_to([known(), known()], subject="Thank you", text="The round is done.", by="robin")
    assert [call for call, _ in platform.calls] == ["message"]


def test_nobody_is_written_to_where_one_cannot_be_reached(db, platform):
    with pytest.raises(CounterpartError, match="1 worker has no platform to be written to"):
        write_to([known(), known("browser", "")], subject="Thank you", text="The round is done.", by="robin")
    assert not Message.objects.exists()
