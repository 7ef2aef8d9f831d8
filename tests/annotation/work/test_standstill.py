"""Why a round does not go on: each reason once, with the command that helps."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Admission, Assignment, QualificationTest, Rejection
from annotation.money.payments import mark_paid
from annotation.people.admission import BRAKE, join_round
from annotation.people.workers import exclude, pause_worker
from annotation.review.decisions import decide
from annotation.work.leases import lease_seat
from annotation.work.standing import standing_of, standings
from annotation.work.standstill import find_holds, waits_for
from core.health.heartbeat import busy_with
from core.models import Heartbeat, Job
from crowd.posting.pauses import pause_round
from hits.models import Item, Round, Seat
from tests.annotation.controlling import judge, vote
from tests.annotation.money.moneyed import UNPAID, accepted, flagged, posted
from tests.factories import make_assignment, make_collection, make_round, make_worker, put_on_platform


@pytest.fixture
def joined(db) -> Round:
    """An open round of three HITs that a worker has joined, while the queue is served."""
    Heartbeat.objects.create(pk=Heartbeat.QUEUE, at=timezone.now())
    joined = make_round(hits=3)
    join_round(joined, make_worker())
    return joined


def holds(made: Round) -> list[tuple[str, str, bool]]:
    return [(one.kind, one.command, one.goes_on) for one in find_holds(Round.objects.get(pk=made.pk))]


def text(made: Round) -> str:
    return waits_for(Round.objects.get(pk=made.pk))


def test_a_round_where_nothing_is_wrong_waits_for_workers_and_a_paused_one_for_a_person(joined):
    assert holds(joined) == [("open", "", True)]
    assert text(joined) == "3 answer sets wait for workers."
    pause_round(joined, actor="robin")
    assert holds(joined) == [("paused", "pause round-1 --resume", False)]


def test_a_complete_round_waits_for_nothing_but_work_that_a_person_must_look_at(joined):
    Seat.objects.update(state="filled")
    assert text(joined) == "nothing"
    now = timezone.now()
    work = {"state": "flagged", "deadline": now, "submitted_at": now}
    Assignment.objects.create(hit=joined.hits.first(), worker=make_worker(), **work)
    assert text(joined) == "1 answer set waits for a review. (review decide NUMBER)"


def test_a_draft_and_a_closed_round_take_no_worker(joined):
    Round.objects.update(published_at=None)
    assert holds(joined) == [("draft", "publish round-1 --channel browser", False)]
    Round.objects.update(published_at=timezone.now(), closed_at=timezone.now())
    assert text(joined) == "It was closed with 3 answer sets missing: nothing more comes."


@pytest.mark.parametrize(
    ("ceiling", "said", "goes_on"),
    [
        ("1.94", "The ceiling of $1.94 pays for 2 of 3 answer sets to come.", True),
        ("0.64", "The ceiling of $0.64 is reached, with 3 answer sets to come.", False),
    ],
)
def test_a_ceiling_names_the_figure_that_pays_for_all_that_may_come(joined, ceiling, said, goes_on):
    Round.objects.update(ceiling=Decimal(ceiling))
    first = find_holds(Round.objects.get())[0]
    assert (first.text, first.command, first.goes_on) == (said, "set_ceiling round-1 1.95", goes_on)
    call_command("set_ceiling", "round-1", "1.95")
    assert [kind for kind, *_ in holds(joined)] == ["open"]


def test_the_figure_counts_work_that_is_paid_and_done_again(joined):
    judge(joined, fails="positive")
    Assignment.objects.update(state="flagged")
    Round.objects.update(ceiling="0.65")  # of the one that waits
    assert holds(joined)[0] == ("ceiling", "set_ceiling round-1 1.95", False)


def test_submitted_work_without_a_worker_process_waits_for_one(joined):
    judge(joined, graded=False)
    assert [kind for kind, *_ in holds(joined)] == ["open"]
    Heartbeat.objects.update(at=timezone.now() - timedelta(hours=1))
    assert text(joined).startswith("No worker process runs, so 1 answer set wait")
    Job.objects.create(title="a search", task="none", state=Job.State.RUNNING)
    assert (busy_with().title, [kind for kind, *_ in holds(joined)]) == ("a search", ["open"])


def test_a_platform_without_a_worker_process_is_not_read(joined):
    put_on_platform(joined)
    Heartbeat.objects.all().delete()
    assert ("queue", "celery -A config worker --beat", False) in holds(joined)


def test_missing_pictures_hold_a_draft_and_are_named_for_an_open_round(db):
    made = make_round(make_collection(images=6))
    assert "pictures are missing" in text(made)
    Round.objects.update(published_at=None)
    assert ("pictures", f"import_collection {made.pool.collection} … --images DIR", False) in holds(made)


def test_reviews_and_rejections_are_listed_with_what_still_comes(joined):
    for _ in range(2):
        judge(joined, fails="positive")
    assert text(joined) == "1 answer set waits for workers. 2 answer sets wait for a review. (review decide NUMBER)"
    robin = User.objects.create(username="robin")
    Rejection.objects.create(
        assignment=Assignment.objects.first(), grounds="random", reason="x", by=robin, needs_second=True
    )
    assert text(joined).endswith(
        "1 answer set waits for a review. (review decide NUMBER) 1 rejection waits for a second person, on Rejections."
    )


def test_seats_that_are_all_leased_come_back_when_the_first_lease_ends(joined):
    for _ in range(3):
        lease_seat(joined, worker=make_worker())
    first = Assignment.objects.order_by("deadline").first()
    assert (
        text(joined) == f"Every open HIT is with a worker just now; the first lease ends at {first.deadline:%H:%M} UTC."
    )


def bar(made: Round, worker, how: str) -> None:
    """Keep a worker from every open HIT."""
    if how == "excluded":
        exclude(worker, reason="x", by="robin")
    elif how == "paused here":
        pause_worker(worker, round=made, reason="x", by="robin")
    elif how == "failed in the test":
        test = QualificationTest.objects.create(
            name="first", collection=made.pool.collection, pass_mark=1, attempts=1, seed=0
        )
        Admission.objects.update_or_create(round=made, defaults={"test": test})
        test.tries.create(worker=worker, number=1, passed=False, right=0, answers={})
    elif how == "at the limit of HITs for one worker":
        Admission.objects.update_or_create(round=made, defaults={"per_worker": 1})
        vote(made.hits.get(number=1), 1, worker=worker)
    elif how == "waiting for a decision on their last HITs":
        for seat in make_round(make_collection("farm", images=20), "elsewhere", hits=BRAKE).seats.all():
            work = make_assignment(seat, worker)
            Assignment.objects.filter(pk=work.pk).update(state="flagged", submitted_at=work.leased_at)
    else:
        vote(made.hits.get(number=1), 1, worker=worker)
        seen = Item.objects.get(hit__number=1, control__polarity="positive")
        Item.objects.filter(control__polarity="positive").update(image=seen.image, caption=seen.caption)


BARS = (
    "excluded",
    "paused here",
    "failed in the test",
    "at the limit of HITs for one worker",
    "waiting for a decision on their last HITs",
    "with a pair of each seen before",
)


@pytest.mark.parametrize("how", BARS)
def test_a_round_whose_workers_may_all_take_no_hit_needs_others(joined, how):
    bar(joined, joined.participants.get().worker, how)
    said = f"No worker who joined can take an open HIT (1 {how}): more workers are needed, by the join link."
    assert text(joined).startswith(said)
    join_round(joined, make_worker())
    assert [kind for kind, *_ in holds(joined)] == ["open"]


def test_without_a_worker_the_way_in_is_named(joined):
    joined.participants.all().delete()
    assert holds(joined) == [("workers", "", False)]
    admission = Admission.objects.create(round=joined, invited=True)
    assert holds(joined) == [("workers", "invite round-1 --count 20", False)]
    Admission.objects.filter(pk=admission.pk).update(capacity=1)
    join_round(joined, make_worker())
    exclude(joined.participants.get().worker, reason="x", by="robin")
    assert "and it is full: close it" in text(joined)


def test_commands_hand_it_on(joined, capsys):
    Round.objects.update(ceiling="0.65")
    figures = call_command("simulate", "round-1", workers=2, json=True)
    assert "(set_ceiling round-1 1.95)" in figures
    with pytest.raises(CommandError, match=r"ceiling of \$0.65"):
        call_command("release", "v1", collection="zoo", queries="queries-zoo", rounds="round-1")
    assert "set_ceiling round-1 1.95" in call_command("show", "round", "round-1")


# The figures of a round that goes on


def test_a_round_on_its_way_counts_seats_work_people_and_money(person):
    made = make_round(hits=5, reward="0.65")
    lease_seat(made, worker=make_worker())
    first, _ = accepted(made), accepted(made)
    mark_paid(first.payments.get(), actor="robin")
    flagged(made)
    standing = standing_of(made)
    assert standing.seats == {"open": 1, "taken": 2, "filled": 2}
    assert (standing.work["leased"], standing.work["accepted"], standing.waiting) == (1, 2, 1)
    assert (standing.owed, standing.spent, standing.cost) == (Decimal("0.65"), Decimal("0.65"), Decimal("1.30"))
    assert (standing.workers, standing.share, standing.ceiling) == (3, 0.4, Decimal("500.00"))


def test_the_expected_cost_counts_work_that_is_paid_and_done_again(person):
    made = make_round(hits=3, reward="0.65")
    decide(flagged(made), votes_count=False, paid=True, reason="careless", by=person)
    accepted(made)
    lease_seat(made, worker=make_worker())
    assert standing_of(made).expected_cost == Decimal("0.65") * 4
    made.closed_at = made.published_at
    assert standing_of(made).expected_cost == Decimal("0.65") * 3


def test_withdrawn_pay_costs_nothing(person):
    made = make_round()
    decide(accepted(made), **UNPAID, reason="A script answered.", by=person)
    assert standing_of(made).cost == 0


def test_a_round_is_complete_when_every_seat_is_filled(db):
    made = make_round(hits=2)
    accepted(made)
    assert not standing_of(made).is_complete
    accepted(made)
    assert standing_of(made).is_complete


def test_the_platforms_fee_is_part_of_the_cost(db, platform):
    made = posted()
    accepted(made)
    assert standing_of(made).cost == Decimal("0.78")


@pytest.mark.parametrize("rounds", [1, 4])
def test_any_number_of_rounds_takes_three_queries(db, django_assert_num_queries, rounds):
    collection = make_collection(images=8, pictures=True)
    made = [make_round(collection, name=f"round-{n}") for n in range(rounds)]
    accepted(made[0])
    with django_assert_num_queries(3):
        assert [standing.filled for standing in standings(made).values()] == [1] + [0] * (rounds - 1)
