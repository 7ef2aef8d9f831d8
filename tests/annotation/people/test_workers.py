"""Who works: pseudonyms, exclusions, pauses, and words of platforms without their ids."""

import pytest

from annotation.models import Assignment, Exclusion, Pause, Worker, WorkerIdentity
from annotation.people import workers
from annotation.people.admission import NotAdmittedError
from annotation.people.consent import give_consent
from annotation.people.workers import actor_of, exclude, mask_workers, pause_worker, readmit, resume_worker, worker_for
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from core.models import Event
from crowd.models import Outbox
from tests.annotation.answering import home_of, right_answers, submit
from tests.factories import make_collection, make_round, make_worker


def test_the_same_platform_id_is_the_same_worker(db):
    first = worker_for(channel="mturk", environment="sandbox", external_id="A1")
    assert worker_for(channel="mturk", environment="sandbox", external_id="A1") == first
    assert Worker.objects.count() == 1


def test_another_environment_is_another_worker(db):
    first = worker_for(channel="mturk", environment="sandbox", external_id="A1")
    assert worker_for(channel="mturk", environment="production", external_id="A1") != first


def test_a_platform_id_is_in_the_identity_alone(db):
    worker = worker_for(channel="mturk", external_id="SECRET1")
    assert "SECRET1" not in str(worker.pseudonym)
    assert not any("SECRET1" in str(vars(event)) for event in Event.objects.all())


def test_two_first_visits_at_once_make_one_worker(db, monkeypatch):
    known = worker_for(channel="browser", external_id="x")
    monkeypatch.setattr(workers, "_known", lambda platform_id: None)
    assert worker_for(channel="browser", external_id="x") == known
    assert Worker.objects.count() == 1


@pytest.mark.parametrize("verb", ["arrived", "consented"])
def test_each_step_is_written_into_the_journal_under_the_pseudonym(db, verb):
    worker = worker_for(channel="browser", external_id="x")
    give_consent(worker)
    assert Event.objects.get(verb=verb).actor == actor_of(worker) == f"worker:{worker.pseudonym}"


def named(external_id: str) -> str:
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=external_id)
    return worker.pseudonym


def test_a_platforms_words_name_workers_by_pseudonym(db):
    one, two = named("ASECRET1"), named("ASECRET2")
    assert mask_workers(["Worker ASECRET1 is unknown (ASECRET2)."]) == [f"Worker {one} is unknown ({two})."]


def test_other_words_stay_as_they_are(db):
    named("ASECRET1")
    texts = ["HIT ASECRET12 is gone.", "", "A reason, said plainly."]
    assert mask_workers(texts) == texts


def test_many_texts_are_masked_with_one_query(db, django_assert_max_num_queries):
    named("ASECRET1")
    with django_assert_max_num_queries(1):
        mask_workers(["ASECRET1 once", "ASECRET1 twice", "a text"])


def known(channel="mturk", environment="sandbox"):
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel=channel, environment=environment, external_id=f"A{worker.pk}")
    return worker


def test_an_exclusion_is_sent_to_the_platforms_that_know_the_worker(db, platform, commit):
    with commit(execute=True):
        exclude(known(), reason="Scripted answers.", by="robin")
    assert [call for call, _ in platform.calls] == ["exclude"]


def test_a_worker_of_the_pool_is_excluded_without_any_call(db):
    exclude(known("browser", ""), reason="Scripted answers.", by="robin")
    assert (Exclusion.objects.count(), Outbox.objects.count()) == (1, 0)


def test_an_exclusion_needs_a_reason_and_holds_once(db):
    worker = make_worker()
    with pytest.raises(CounterpartError, match="reason"):
        exclude(worker, reason=" ", by="robin")
    with pytest.raises(CounterpartError, match="not excluded"):
        readmit(worker, by="sam")
    exclude(worker, reason="Scripted answers.", by="robin")
    with pytest.raises(CounterpartError, match="already"):
        exclude(worker, reason="Again.", by="sam")
    assert Exclusion.objects.get().by == "robin"


def test_a_lifted_exclusion_stays_on_record(db, platform, commit):
    worker = known()
    with commit(execute=True):
        exclude(worker, reason="Scripted answers.", by="robin")
    with commit(execute=True):
        readmit(worker, by="sam")
    assert Exclusion.objects.get().lifted_at is not None
    assert [call for call, _ in platform.calls] == ["exclude", "readmit"]
    assert Event.objects.get(verb="readmitted").actor == "sam"


def pause(worker, made) -> Pause:
    return pause_worker(worker, round=made, reason="Look at the answers first.", by="robin")


def test_a_paused_worker_gets_no_hit_of_the_round_until_resumed(made):
    worker = make_worker()
    pause(worker, made)
    with pytest.raises(NotAdmittedError, match="is paused"):
        lease_seat(made, worker=worker)
    resume_worker(worker, round=made, by="sam")
    assert lease_seat(made, worker=worker)
    assert [*Event.objects.filter(verb__endswith="in a round").values_list("verb", "actor").order_by("pk")] == [
        ("paused in a round", "robin"),
        ("resumed in a round", "sam"),
    ]


def test_other_rounds_and_other_workers_go_on(made):
    worker = make_worker()
    pause(worker, made)
    assert lease_seat(make_round(make_collection("other"), "round-2"), worker=worker)
    assert lease_seat(made, worker=make_worker())


def test_what_a_paused_worker_holds_they_may_finish(client, made):
    worker = make_worker()
    held = lease_seat(made, worker=worker)
    pause(worker, made)
    assert right_answers(held)
    assert submit(client, held).status_code == 302
    assert Assignment.objects.get().submitted_at


def test_a_pause_needs_a_reason_and_holds_once(made):
    worker = make_worker()
    with pytest.raises(CounterpartError, match="reason"):
        pause_worker(worker, round=made, reason=" ", by="robin")
    pause(worker, made)
    with pytest.raises(CounterpartError, match="already"):
        pause(worker, made)
    resume_worker(worker, round=made, by="robin")
    with pytest.raises(CounterpartError, match="not paused"):
        resume_worker(worker, round=made, by="robin")


def test_the_workers_page_says_that_they_are_paused_and_taking_a_hit_leads_back_there(client, made):
    worker = make_worker()
    pause(worker, made)
    page = home_of(worker, made)
    assert "You are paused in this round" in client.get(page).text
    answer = client.post(f"{page}take/", follow=True)
    assert "You are paused in this round" in answer.text
    assert not Assignment.objects.exists()
