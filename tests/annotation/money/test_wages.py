import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Assignment, Payment, Rejection
from annotation.money.budget import CeilingError, set_ceiling
from annotation.money.payments import owe_bonus
from annotation.money.payroll import mark_wages, write_wages
from annotation.money.wages import (
    PILOT_SIZE,
    TOP_UP,
    check_wage,
    fair_reward,
    pay_shortfall,
    pilot_of,
    shortfall_of,
    timing_of,
)
from annotation.people.erasure import forget_worker
from annotation.people.workers import mark_simulated
from core.errors import CounterpartError
from core.models import Event
from crowd.calls.outbox import deliver_due
from crowd.posting.publication import publish_round
from hits.models import Round
from tests.annotation.money.moneyed import accepted, flagged, pooled, posted
from tests.factories import make_assignment, make_collection, make_round, put_on_platform


@pytest.fixture
def collection(db):
    return make_collection(images=42, pictures=True)


def worked(made: Round, minutes: list[float], *, elapsed: float = 20) -> Round:
    """Have the round's first seats answered, each in these active minutes."""
    for hit, active in zip(made.hits.all(), minutes, strict=False):
        done = make_assignment(hit.seats.get())
        now = timezone.now()
        Assignment.objects.filter(pk=done.pk).update(
            state="accepted",
            leased_at=now - timedelta(minutes=elapsed),
            submitted_at=now,
            active_seconds=int(active * 60),
        )
    return made


def pilot(collection, minutes, name="pilot", **options) -> Round:
    return worked(make_round(collection, name, hits=len(minutes), **options), minutes)


def large(collection, **options) -> Round:
    """A draft of one HIT that is wanted once more often than a pilot may ask for."""
    return make_round(collection, "large", replication=PILOT_SIZE + 1, published=False, **options)


@pytest.mark.parametrize(
    ("minutes", "reward"), [("4", "1.00"), ("8", "2.00"), ("5.6", "1.40"), ("9.5", "2.38"), ("13.8", "3.45")]
)
def test_the_papers_times_are_worth_this_much_at_fifteen_dollars_an_hour(minutes, reward):
    assert fair_reward(float(minutes) * 60, Decimal("15")) == Decimal(reward)


def test_active_and_elapsed_time_are_both_measured(collection):
    timing = timing_of(pilot(collection, [1, 2, 3, 4, 50]), elapsed=True)
    assert (timing.n, timing.active, timing.low, timing.high, timing.elapsed) == (5, 180, 120, 240, 1200)
    assert str(timing) == (
        "median active 3.0 min (half of them 2.0 to 4.0), elapsed 20.0 min, of 5 accepted assignments"
    )


def test_rejected_work_says_nothing_about_the_time(collection, person):
    made = pilot(collection, [1, 5, 5, 5, 5, 5])
    hasty = Assignment.objects.get(active_seconds=60)
    words = {"grounds": "too_fast", "reason": "too fast", "evidence": "60 s"}
    Rejection.objects.create(assignment=hasty, by=person, **words)
    assert timing_of(made).n == 5
    Rejection.objects.update(dropped_at=timezone.now())
    assert timing_of(made).n == 6


def test_work_that_is_not_accepted_says_nothing_about_the_time(collection):
    made = pilot(collection, [5] * 5 + [4320] * 5)
    for state in ("submitted", "flagged", "excluded"):
        Assignment.objects.filter(active_seconds=4320 * 60).update(state=state)
        assert (timing_of(made).n, timing_of(made).active) == (5, 300)


@pytest.mark.parametrize("channel", ["browser", "mturk"])
def test_a_reward_below_the_floor_is_not_published_and_one_at_the_floor_is(collection, platform, channel):
    pilot(collection, [4] * 5)
    made = large(collection, reward="0.65")
    with pytest.raises(CounterpartError, match="--reward 1.00"):
        publish_round(made, channel=channel, actor="robin")
    assert Round.objects.get(name="large").state == "draft"
    Round.objects.filter(pk=made.pk).update(reward="1.00")
    assert publish_round(made, channel=channel, actor="robin").expected_seconds == 240
    assert "pilot pilot" in Event.objects.get(verb="published", subject=f"hits.round:{made.pk}").data["source"]


def test_the_floor_is_the_rounds_own(collection, platform):
    pilot(collection, [4] * 5)
    made = large(collection, reward="0.65")
    Round.objects.filter(pk=made.pk).update(wage_floor="9.75")
    assert publish_round(made, channel="mturk", actor="robin").state == "open"


def test_a_reward_below_the_floor_for_slow_workers_is_published_once_a_person_says_so(collection):
    """Pairs take 5 to 10 minutes a HIT: at $15 an hour slow workers must earn $2.50."""
    made = large(collection, reward="2.49")
    with pytest.raises(CounterpartError, match=r"\$2.50, .* of \$2.49"):
        publish_round(made, actor="robin")
    assert not Event.objects.filter(verb="published").exists()
    assert publish_round(made, below_floor=True, actor="robin").state == "open"


def test_a_known_time_is_never_paid_below_the_floor(collection):
    pilot(collection, [4] * 5)
    made = large(collection, reward="0.65")
    for stated, reward in ((None, "1.00"), (Decimal(5), "1.25")):
        with pytest.raises(CounterpartError, match=f"--reward {reward}"):
            publish_round(made, expected_minutes=stated, below_floor=True, actor="robin")


def test_a_large_round_needs_a_pilot_which_a_small_one_may_be(collection, platform):
    with pytest.raises(CounterpartError, match="asks for 31 assignments"):
        publish_round(large(collection), channel="mturk", actor="robin")
    made = make_round(collection, "small", replication=PILOT_SIZE, published=False)
    assert publish_round(made, channel="mturk", actor="robin").expected_seconds is None


def test_a_person_may_state_the_time_and_is_named(collection, platform):
    made = publish_round(
        large(collection, reward="0.65"), channel="mturk", expected_minutes=Decimal("2.6"), actor="robin"
    )
    assert made.expected_seconds == 156
    event = Event.objects.get(verb="published")
    assert (event.actor, event.data["source"], event.data["seconds"]) == ("robin", "as stated", 156)


def test_a_time_that_is_none_is_refused(collection):
    made = large(collection)
    for minutes in ("0", "-3", "NaN", "Infinity", "1441"):
        with pytest.raises(CounterpartError, match="expected minutes"):
            check_wage(made, expected_minutes=Decimal(minutes))


def test_the_latest_round_that_asked_the_same_is_the_pilot(collection):
    pilot(collection, [9] * 5, "early")
    late = pilot(collection, [4] * 5, "late")
    pilot(collection, [1] * 5, "with-reasons", reasons=True)
    pilot(collection, [1] * 5, "longer", candidates=3)
    pilot(collection, [1] * 4, "hardly-answered")
    found, timing = pilot_of(large(collection))
    assert (found, timing.active) == (late, 240)


def test_a_pilot_may_be_named(collection, platform):
    early = pilot(collection, [2] * 5, "early")
    pilot(collection, [4] * 5, "late")
    made = publish_round(large(collection, reward="0.65"), channel="mturk", pilot=early, actor="robin")
    assert made.expected_seconds == 120


@pytest.mark.parametrize(
    ("options", "minutes", "message"),
    [({"candidates": 3}, [4] * 5, "other work"), ({}, [4] * 4, "fewer than 5")],
)
def test_a_pilot_that_says_nothing_is_refused(collection, options, minutes, message):
    named = pilot(collection, minutes, "named", **options)
    with pytest.raises(CounterpartError, match=message):
        check_wage(large(collection), pilot=named)


def test_a_pilot_and_a_statement_together_are_refused(collection):
    with pytest.raises(CounterpartError, match="not both"):
        check_wage(large(collection), pilot=pilot(collection, [4] * 5), expected_minutes=Decimal("3"))


def test_what_was_only_rehearsed_or_simulated_is_a_pilot_for_rehearsals_alone(collection):
    rehearsed, simulated = pilot(collection, [0] * 5, "rehearsed"), pilot(collection, [0] * 5, "simulated")
    put_on_platform(rehearsed)
    played = Assignment.objects.filter(hit__round=simulated).first()
    mark_simulated(played.worker)
    assert pilot_of(large(collection)) is None
    assert pilot_of(Round.objects.get(name="large"), rehearsed=True)[0] == simulated


def test_a_rehearsal_cannot_be_named_as_the_pilot_of_people(collection):
    named = pilot(collection, [0] * 5)
    put_on_platform(named)
    made = large(collection)
    with pytest.raises(CounterpartError, match="rehearsed"):
        check_wage(put_on_platform(made, "production"), pilot=named)
    made.settles = False
    assert check_wage(made, below_floor=True).seconds is None
    assert check_wage(put_on_platform(made), pilot=named).seconds == 0


def simulated(made: Round, work: int) -> Round:
    """The workers of the round's first ``work`` answers were programs."""
    for done in Assignment.objects.filter(hit__round=made).order_by("pk")[:work]:
        mark_simulated(done.worker)
    return made


def test_times_of_programs_do_not_count_where_people_did_enough(collection):
    timing = timing_of(simulated(pilot(collection, [1, 1, 4, 4, 4, 4, 4]), 2))
    assert (timing.n, timing.active, timing.simulated) == (5, 240, 0)


def test_times_of_programs_are_named_as_such(collection):
    timing = timing_of(simulated(pilot(collection, [2] * 7), 3))
    assert (timing.n, timing.simulated) == (7, 3)
    assert str(timing).endswith("of 7 accepted assignments, 3 of them simulated")


def test_every_time_of_a_rehearsal_is_simulated(collection):
    made = pilot(collection, [2] * 5)
    put_on_platform(made)
    assert timing_of(made).simulated == 5


# A bonus makes up the rest of a fair wage


def slow(made, seconds=240, hits=5):
    """A round whose accepted work took so long: at $15 an hour four minutes are worth a dollar."""
    for _ in range(hits):
        accepted(made)
    Assignment.objects.update(active_seconds=seconds)
    return made


def bonuses():
    return Payment.objects.filter(kind="bonus")


def test_everybody_who_is_paid_gets_what_is_missing(db, platform):
    made = slow(posted(hits=6))
    flagged(made)
    short = pay_shortfall(made, actor="robin")
    assert (short.fair, short.bonus, short.assignments, short.total) == (1, Decimal("0.35"), 5, Decimal("2.10"))
    assert set(bonuses().values_list("amount", "fee", "reason")) == {(Decimal("0.35"), Decimal("0.07"), TOP_UP)}


def test_a_forgotten_worker_is_not_owed_what_no_platform_could_bring_them(db, platform):
    made = slow(posted(hits=5))
    deliver_due(made)
    gone = Assignment.objects.first()
    forget_worker(gone.worker.pseudonym, actor="robin")
    assert pay_shortfall(made, actor="robin").assignments == 4
    with pytest.raises(CounterpartError, match="forgotten"):
        owe_bonus(gone, amount=Decimal("0.10"), reason="Thanks.", actor="robin")


def test_in_the_house_pool_a_forgotten_worker_still_shows_their_code(db, tmp_path):
    made = slow(pooled(hits=5))
    paid = tmp_path / "paid.csv"
    paid.write_text(write_wages(made))
    mark_wages(made, paid, actor="robin")
    forget_worker(Assignment.objects.first().worker.pseudonym, actor="robin")
    assert pay_shortfall(made, actor="robin").assignments == 5


def test_a_top_up_is_given_once_and_work_that_came_later_gets_its_own(db):
    made = slow(pooled(hits=6))
    pay_shortfall(made, actor="robin")
    assert (pay_shortfall(made, actor="robin").assignments, bonuses().count()) == (0, 5)
    accepted(made)
    assert (pay_shortfall(made, actor="robin").assignments, bonuses().count()) == (1, 6)


def test_work_that_is_worth_its_reward_gets_nothing(db):
    made = slow(pooled(hits=5), seconds=156)
    assert (pay_shortfall(made, actor="robin").bonus, bonuses().count()) == (0, 0)


def test_past_the_ceiling_no_worker_gets_anything(db):
    made = slow(pooled(hits=5))
    set_ceiling(made, Decimal("4.99"), actor="robin")
    with pytest.raises(CeilingError, match=r"\$1.74 left .* \$1.75"):
        pay_shortfall(made, actor="robin")
    assert not bonuses().exists()


def test_throw_away_workers_do_not_raise_what_the_others_are_owed(db):
    made = slow(pooled(hits=10))
    for _ in range(5):
        flagged(made)
    Assignment.objects.filter(state="flagged").update(active_seconds=4320 * 60)
    assert (shortfall_of(made).fair, shortfall_of(made).timing.n) == (1, 5)


def test_the_command_tops_up_and_its_dry_run_says_what_that_would_take(db, capsys):
    slow(pooled(hits=5))
    call_command("pay", "floor", "round-1", "--dry-run", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["bonus"], printed["would_owe"], printed["total"]) == ("0.35", 5, "1.75")
    assert "4.0 min" in printed["time"]
    assert not bonuses().exists()
    call_command("pay", "floor", "round-1")
    assert "owed: 5" in capsys.readouterr().out


def test_times_of_programs_raise_nobodys_pay(db):
    made = slow(pooled(hits=5))
    mark_simulated(Assignment.objects.first().worker)
    with pytest.raises(CounterpartError, match="fewer than 5"):
        pay_shortfall(made, actor="robin")


def test_a_program_gets_no_top_up(db):
    made = slow(pooled(hits=6), hits=6)
    mark_simulated(Assignment.objects.first().worker)
    assert pay_shortfall(made, actor="robin").assignments == 5
