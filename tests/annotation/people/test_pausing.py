import pytest

from annotation.models import Assignment, Pause
from annotation.people.admission import NotAdmittedError
from annotation.people.workers import pause_worker, resume_worker
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from core.models import Event
from tests.annotation.answering import home_of, right_answers, submit
from tests.factories import make_collection, make_round, make_worker


@pytest.fixture
def made(db):
    return make_round(hits=2)


def pause(worker, made) -> Pause:
    return pause_worker(worker, round=made, reason="Look at the answers first.", by="robin")


def test_a_paused_worker_gets_no_hit_of_the_round_until_resumed(made):
    worker = make_worker()
    pause(worker, made)
    with pytest.raises(NotAdmittedError, match=r"is paused in round round-1\. Resume them first"):
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
    with pytest.raises(CounterpartError, match="The reason is empty"):
        pause_worker(worker, round=made, reason=" ", by="robin")
    pause(worker, made)
    with pytest.raises(CounterpartError, match="is paused in round round-1 already"):
        pause(worker, made)
    resume_worker(worker, round=made, by="robin")
    with pytest.raises(CounterpartError, match="is not paused in round round-1"):
        resume_worker(worker, round=made, by="robin")


def test_the_workers_page_says_that_they_are_paused_and_taking_a_hit_leads_back_there(client, made):
    worker = make_worker()
    pause(worker, made)
    page = home_of(worker, made)
    assert "You are paused in this round" in client.get(page).text
    answer = client.post(f"{page}take/", follow=True)
    assert "You are paused in this round" in answer.text
    assert not Assignment.objects.exists()
