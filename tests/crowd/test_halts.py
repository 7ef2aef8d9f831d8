"""No new worker comes from the platform: a sync says who brought that about and what to do, and so do page and API."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Assignment
from annotation.review.decisions import decide, reject
from counterpart_emulators.prolific.lifecycle import set_study_status
from crowd.models import AccountBalance, Outbox, Posting
from crowd.posting.halts import halts_of, holds_there, pauses_of
from crowd.posting.publication import close_round
from hits.models import Round, Seat
from integrations.models import Notification
from tests.crowd.fakes import robin
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import published, rehearsing
from tests.factories import make_collection, make_round, put_on_platform

ITSELF = "Prolific paused it by itself: it was full, and submitted work was rejected or returned."
PLATFORM = rehearsing


def begin(there, commit) -> None:
    published(hits=1, commit=commit)


@pytest.fixture
def full(begun_round, resumed, commit) -> Round:
    """The same whose study is full: its only work failed a control and waits for a person."""
    with commit(execute=True):
        resumed.work(wrong=True)
    sync(begun_round, commit)
    return begun_round


def texts(made: Round) -> list[str]:
    return [one.text for one in halts_of([Round.objects.get(pk=made.pk)])[made.pk]]


def notified() -> list[tuple[str, str, str]]:
    data = Notification.objects.filter(type="round.halted").order_by("pk").values_list("data", flat=True)
    return [(one["there"], one["by"], one["act"]) for one in data]


def move(resumed, action: str) -> None:
    resumed.world.act("move_study", study_id=resumed.study().id, action=action, publish_at=None)


def rename(resumed, status: str) -> None:
    """Have the study in a state that no act here leads to."""
    study_id = resumed.study().id
    with resumed.world.looking() as state:
        set_study_status(state, state.studies[study_id], status)


def lose(made, resumed, commit, how: str) -> None:
    work = Assignment.objects.get()
    if how == "rejected":
        with commit(execute=True):
            reject(work, grounds="random", reason="All answers are the same. " * 5, evidence="Ones.", by=robin())
    else:
        with resumed.world.looking() as state:
            person = state.submissions[work.outside_key].participant_id
        resumed.give_back(work.outside_key, person)
        sync(made, commit)
        with commit(execute=True):
            decide(Assignment.objects.get(), votes_count=False, paid=True, reason="Returned.", by=robin())


@pytest.mark.parametrize("how", ["rejected", "returned"])
def test_a_pause_of_prolific_itself_is_notified_once_and_ends_with_resume(full, resumed, commit, how):
    lose(full, resumed, commit, how)
    sync(full, commit)
    sync(full, commit)
    assert resumed.study().status == "PAUSED"
    assert texts(full) == [f"{ITSELF} No new worker comes until it is resumed."]
    assert (pauses_of([full])[full.pk], notified()) == ("the platform", [("paused", "the platform", "resume")])
    assert "(pause round-1 --resume)" in call_command("sync", full.name)
    assert call_command("pause", full.name, resume=True) == "Round round-1 gives out HITs again."
    assert (resumed.study().status, texts(full), pauses_of([full])[full.pk]) == ("ACTIVE", [], "")
    with commit(execute=True):
        resumed.work()
    sync(full, commit)
    assert resumed.study().status == "COMPLETED"


def test_a_pause_on_prolifics_site_differs_from_one_of_prolific_itself(begun_round, resumed, commit):
    move(resumed, "PAUSE")
    sync(begun_round, commit)
    assert texts(begun_round) == [
        "It was paused on the platform, not from here. No new worker comes until it is resumed."
    ]
    assert notified() == [("paused", "on the platform, not from here", "resume")]
    move(resumed, "START")
    sync(begun_round, commit)
    assert (texts(begun_round), len(notified())) == ([], 1)


def test_our_own_pauses_are_named_as_ours_and_to_no_other_program(begun_round, resumed, commit):
    Seat.objects.update(state="filled")
    sync(begun_round, commit)
    assert texts(begun_round) == ["It is paused, as no HIT is left for visitors, and goes on by itself."]
    assert pauses_of([begun_round])[begun_round.pk] == ""
    call_command("pause", begun_round.name)
    sync(begun_round, commit)
    paused = Round.objects.get()
    assert (texts(begun_round), pauses_of([paused])[begun_round.pk]) == (
        ["A person paused the round here."],
        "a person here",
    )
    assert notified() == []


def test_a_study_that_was_stopped_there_cannot_be_resumed_and_resume_says_so(begun_round, resumed, commit):
    move(resumed, "STOP")
    sync(begun_round, commit)
    assert texts(begun_round)[0].startswith("It was stopped on Prolific, not from here.")
    assert notified() == [("stopped", "on the platform, not from here", "look at the platform")]
    assert "was stopped on Prolific" in call_command("pause", begun_round.name, resume=True)
    with commit(execute=True):
        close_round(begun_round, actor="robin")
    assert texts(begun_round) == []


OTHER_STATES = {
    "SCHEDULED": ("Prolific publishes it later, at a time that was not set from here.", True),
    "PUBLISHING": ("Prolific is publishing it.", True),
    "UNPUBLISHED": ("Prolific lists it as not published; that was not done from here.", False),
    "WAITING FOR A CHECK OF CONTENTS": ('Prolific lists it as "WAITING FOR A CHECK ", which Counterpart', False),
}


def test_every_other_state_is_named_also_one_that_is_new(begun_round, resumed, commit):
    held_up = 0
    for status, (text, goes_on) in OTHER_STATES.items():
        rename(resumed, status)
        sync(begun_round, commit)
        (hold,) = halts_of([begun_round])[begun_round.pk]
        held_up += not goes_on
        assert (hold.text.startswith(text), hold.goes_on, len(notified())) == (True, goes_on, held_up)


@pytest.fixture
def on_mturk(db):
    made = put_on_platform(make_round(make_collection("other", images=14, pictures=True), "on-mturk", hits=3))
    where = {"channel": made.channel, "environment": made.environment, "max_assignments": 1, "state": "live"}
    for hit in made.hits.all():
        Posting.objects.create(round=made, hit=hit, external_id=f"H{hit.pk}", seen_at=timezone.now(), **where)
    return made


def test_hits_of_mturk_that_ended_or_cannot_be_read_are_counted(on_mturk):
    assert texts(on_mturk) == []
    Posting.objects.filter(hit__number=1).update(there="over")
    lost = Posting.objects.filter(hit__number__gt=1)
    lost.update(seen_at=timezone.now() - timedelta(hours=1), tried_at=timezone.now())
    first, second = texts(on_mturk)
    assert first == "1 HIT: It ended on MTurk; what is missing is posted again."
    assert second.startswith("2 HITs: MTurk has not listed it since")
    lost.update(tried_at=timezone.now() - timedelta(minutes=59))  # no sync has tried since
    assert len(texts(on_mturk)) == 1


def test_refused_calls_and_an_account_that_is_short_are_named(on_mturk):
    where = {"channel": on_mturk.channel, "environment": on_mturk.environment}
    AccountBalance.objects.create(**where, amount="0.01", changed_at=timezone.now())
    Posting.objects.all().delete()
    Outbox.objects.create(round=on_mturk, call="publish", subject="x:1", state="failed", error="Refused.", **where)
    Outbox.objects.create(round=on_mturk, call="pay", subject="x:2", state="failed", error="No such work.", **where)
    calls, funds = holds_there(on_mturk)
    assert str(calls).startswith("1 call of its postings failed: Refused. (publish on-mturk --channel mturk")
    assert "$0.01" in funds.text
    close_round(on_mturk, actor="robin")
    on_mturk.refresh_from_db()
    assert holds_there(on_mturk) == []
