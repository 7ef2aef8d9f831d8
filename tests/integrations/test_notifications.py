"""Notifications: once for each change, in its transaction, with ids, names and counts only."""

from collections.abc import Callable
from decimal import Decimal
from json import dumps
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.urls import resolve
from django.utils import timezone

from annotation.models import Assignment
from annotation.money.budget import set_ceiling
from annotation.work.grading import flag
from annotation.work.leases import lease_seat
from annotation.work.repair import notify_milestones
from annotation.work.submissions import mark_submitted
from core.work.jobs import cancel, open_job
from crowd.channels.base import Listing
from crowd.models import Posting
from crowd.posting.halts import note_state
from crowd.posting.publication import close_round, publish_round
from crowd.study_states import There
from dataset.verdicts import aggregate_round
from evaluation.scores.runs import register_file
from evaluation.scores.scoring import score_all_runs
from hits.models import Round, Seat
from integrations.models import Delivery, Notification, Webhook
from integrations.notifications import TYPES, number_new
from tests.annotation.cast import answer
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_round, make_sample, make_worker, put_on_platform
from tests.transactions import taken_back

pytestmark = pytest.mark.django_db

SITE = "http://127.0.0.1:8000/api/v1"


def data_of(kind: str) -> list[dict[str, object]]:
    """The data of the notifications of a type."""
    return [one.data for one in Notification.objects.filter(type=kind).order_by("at")]


def fill(made: Round, seats: int) -> None:
    wanted = Seat.objects.filter(round=made).exclude(state="filled").values("pk")[:seats]
    Seat.objects.filter(pk__in=wanted).update(state="filled")


def finish_job(tmp_path) -> Callable[[], object]:
    job = open_job("Sleep", "console.tasks.sync", {})
    return lambda: cancel(job, actor="robin")


def publish(tmp_path) -> Callable[[], object]:
    draft = make_round(published=False, reward="3.00")
    return lambda: publish_round(draft, channel="browser", actor="robin")


def fill_tenth(tmp_path) -> Callable[[], object]:
    fill(make_round(hits=10), 2)
    return notify_milestones


def fill_all(tmp_path) -> Callable[[], object]:
    fill(make_round(hits=2), 2)
    return notify_milestones


def close(tmp_path) -> Callable[[], object]:
    made = make_round()
    return lambda: close_round(made, actor="robin")


def flag_work(tmp_path) -> Callable[[], object]:
    assignment = lease_seat(make_round(), worker=make_worker())
    mark_submitted(assignment, active_seconds=240)
    return lambda: flag(assignment, control_failures=1)


def aggregate(tmp_path) -> Callable[[], object]:
    made = make_round()
    answer(made.hits.get(), 1, 4)
    return lambda: aggregate_round(made)


def release(tmp_path) -> Callable[[], object]:
    zoo = make_collection(images=3)
    sample = make_sample(zoo)
    return lambda: release_version("v1", collection=zoo, sample=sample, merge="original")


def score(tmp_path) -> Callable[[], object]:
    zoo = make_collection(images=3)
    version = release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    path = tmp_path / "model-a.json"
    path.write_text(dumps({"i2t": {str(image): [0, 1, 2] for image in range(3)}}))
    register_file(zoo, path)
    return lambda: score_all_runs(version)


def reach_ceiling(tmp_path) -> Callable[[], object]:
    made = make_round(hits=2)
    Round.objects.filter(pk=made.pk).update(ceiling=Decimal("0.50"))
    return notify_milestones


def halt(tmp_path) -> Callable[[], object]:
    made = put_on_platform(make_round())
    where = {"channel": made.channel, "environment": made.environment}
    posting = Posting.objects.create(round=made, max_assignments=1, state="live", **where)
    listing = Listing("PAUSED", 1, 0, False, None, [], there=There.PAUSED)
    return lambda: transaction.atomic(note_state)(posting, listing)


ACTS = {
    "job.finished": finish_job,
    "round.published": publish,
    "round.progress": fill_tenth,
    "round.filled": fill_all,
    "round.closed": close,
    "round.halted": halt,
    "assignment.flagged": flag_work,
    "aggregation.made": aggregate,
    "version.released": release,
    "run.scored": score,
    "ceiling.reached": reach_ceiling,
}


def test_every_type_has_its_act():
    assert list(ACTS) == list(TYPES)


@pytest.mark.parametrize("kind", ACTS)
def test_each_change_is_notified_once_with_its_address(kind, tmp_path):
    act = ACTS[kind](tmp_path)
    assert data_of(kind) == []
    act()
    (data,) = data_of(kind)
    assert data["id"]
    assert str(data["url"]).startswith(f"{SITE}/")
    assert resolve(urlsplit(data["url"]).path).url_name  # raises where no call has it


@pytest.mark.parametrize("kind", ACTS)
def test_a_change_that_is_rolled_back_is_not_notified(kind, tmp_path):
    act = ACTS[kind](tmp_path)
    with taken_back():
        act()
        assert len(data_of(kind)) == 1
    assert data_of(kind) == []


def test_a_job_is_notified_by_its_task_and_not_by_its_title():
    job = open_job("Forget worker SECRETID1", "console.tasks.sync", {})
    cancel(job, actor="robin")
    cancel(job, actor="robin")
    url = f"{SITE}/jobs/{job.pk}"
    data = {"id": str(job.pk), "task": "console.tasks.sync", "state": "cancelled", "url": url}
    assert data_of("job.finished") == [data]


def test_flagged_work_is_notified_without_the_reason():
    flag_work(None)()
    assignment = Assignment.objects.get()
    assert data_of("assignment.flagged") == [{"id": assignment.pk, "round": "round-1", "url": f"{SITE}/rounds/round-1"}]


def test_progress_is_notified_at_each_tenth_once():
    made = make_round(hits=20)
    for filled in (1, 1, 1, 4, 1, 11, 1):
        fill(made, filled)
        notify_milestones()
        notify_milestones()
    assert [one["percent"] for one in data_of("round.progress")] == [10, 30, 40, 90]
    assert [one["percent"] for one in data_of("round.filled")] == [100]


def test_of_two_clocks_that_see_a_step_at_once_one_notifies(monkeypatch):
    fill(make_round(hits=10), 5)

    def seen_by_another_too(**_: object) -> QuerySet[Round]:
        monkeypatch.undo()
        rounds = Round.objects.filter(pk__gt=0)
        list(rounds)
        notify_milestones()
        return rounds

    monkeypatch.setattr(Round.objects, "filter", seen_by_another_too)
    notify_milestones()
    assert len(data_of("round.progress")) == 1


def test_a_round_that_grows_is_notified_as_filled_again():
    made = make_round(hits=2)
    fill(made, 2)
    notify_milestones()
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)
    notify_milestones()
    fill(made, 1)
    notify_milestones()
    assert len(data_of("round.filled")) == 2
    assert data_of("round.progress") == []


def test_a_closed_round_and_a_draft_reach_nothing():
    fill(make_round(published=False, name="draft"), 1)
    ended = make_round(make_collection("other", images=6), name="ended")
    fill(ended, 1)
    Round.objects.filter(pk=ended.pk).update(closed_at=timezone.now())
    assert notify_milestones() == 0


def test_a_ceiling_is_notified_again_after_it_was_raised_and_reached_again():
    reach_ceiling(None)()
    notify_milestones()
    assert len(data_of("ceiling.reached")) == 1
    made = Round.objects.get()
    set_ceiling(made, "500", actor="robin")
    notify_milestones()
    set_ceiling(made, "0.50", actor="robin")
    notify_milestones()
    assert data_of("ceiling.reached") == [{"id": "round-1", "open_seats": 2, "url": f"{SITE}/rounds/round-1"}] * 2


def test_the_webhooks_that_listen_get_a_delivery_in_the_same_transaction(webhook):
    off = Webhook.objects.create(owner=webhook.owner, url=webhook.url, types=["round.closed"], off_since=timezone.now())
    act = close(None)
    with transaction.atomic():
        act()
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()
    act()
    notify_milestones()
    assert [one.notification.type for one in webhook.deliveries.all()] == ["round.closed"]
    assert not off.deliveries.exists()


def test_webhooks_of_a_deactivated_owner_get_none(webhook):
    webhook.owner.is_active = False
    webhook.owner.save()
    close(None)()
    assert not Delivery.objects.exists()


def test_places_go_on_in_the_order_in_which_things_were_committed():
    late = Notification(type="round.closed", data={"id": "late"})
    Notification.objects.bulk_create([Notification(type="round.closed", data={"id": "first"})])
    number_new()
    Notification.objects.bulk_create([late, Notification(type="test", data={}, pk=uuid4())])
    number_new()
    number_new()
    placed = Notification.objects.order_by("place").values_list("place", "data__id")
    assert [one for one in placed if one[0]] == [(1, "first"), (2, "late")]
