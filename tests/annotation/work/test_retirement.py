"""Controls that are retired, by rule or by a person, and what becomes of the work that they judged."""

import pytest

from annotation import platforms
from annotation.models import Assignment, ControlRuling, Decision, Payment, Worker
from annotation.review.decisions import decide, reject
from annotation.work import retirement
from annotation.work.leases import lease_seat
from annotation.work.repair import repair
from annotation.work.retirement import reinstate, reinstate_controls_of, repair_controls, retire, retire_controls_of
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from core.models import Event
from hits.models import Control, Round, Seat
from tests.annotation.answering import right_answers
from tests.annotation.controlling import judge, make_elsewhere, seasoned, settle
from tests.at_once import at_once
from tests.factories import make_collection, make_round

State, Controls = Assignment.State, Control.State


@pytest.fixture
def made(db) -> Round:
    """One HIT with 12 seats; its positive control is the one that is doubted."""
    return make_round(replication=12)


@pytest.fixture
def elsewhere(db) -> Round:
    return make_elsewhere()


def positive(made: Round) -> Control:
    return made.controls.get(polarity="positive")


def states() -> list[str]:
    return list(Assignment.objects.filter(hit__round__name="round-1").order_by("pk").values_list("state", flat=True))


def test_four_reliable_workers_retire_a_control_and_are_all_accepted(made, elsewhere):
    for number in range(1, 5):
        judge(made, seasoned(elsewhere, right=3), fails="positive")
        assert (positive(made).state == Controls.RETIRED) == (number == 4)
    assert states() == [State.ACCEPTED] * 4
    assert Payment.objects.filter(state="owed").count() == Decision.objects.count() == 4
    assert set(Assignment.objects.filter(hit__round=made).values_list("control_failures", flat=True)) == {0}
    assert made.hits.get().seats.filter(state=Seat.State.FILLED).count() == 4
    ruling = ControlRuling.objects.get()
    assert (ruling.retired, ruling.by) == (True, "")
    assert "4 of 4 answers are wrong; with probability 0.92" in ruling.reason
    events = Event.objects.filter(subject=f"hits.control:{positive(made).pk}").order_by("pk")
    assert [(one.verb, one.actor) for one in events] == [("suspected", "control rule"), ("retired", "control rule")]


def test_work_without_an_answer_to_another_control_stays_flagged(made):
    flagged = judge(made, fails="positive")
    flagged.judgments.filter(item__control__polarity="negative").delete()
    assert retire(positive(made), reason="It is wrong.", actor="robin") == 0
    assert states() == [State.FLAGGED]


def test_workers_who_guess_retire_nothing(made, elsewhere):
    for _ in range(5):
        judge(made, seasoned(elsewhere, right=2, wrong=3), fails="positive")
    assert positive(made).state == Controls.ACTIVE
    assert states() == [State.FLAGGED] * 5


def test_a_suspected_control_that_others_answer_right_is_cleared(made, elsewhere):
    for fails in ("positive", "positive", ""):
        judge(made, seasoned(elsewhere, right=8), fails=fails)
    assert positive(made).state == Controls.ACTIVE
    assert Event.objects.filter(verb="cleared").count() == 1


def test_who_failed_another_control_too_stays_flagged_with_fewer_failures(made):
    careless = judge(made, fails="positive negative")
    assert careless.control_failures == 2
    assert retire(positive(made), reason="The caption is about another picture.", actor="robin") == 0
    careless.refresh_from_db()
    assert (careless.state, careless.control_failures) == (State.FLAGGED, 1)
    assert not Payment.objects.exists()


def test_what_a_person_excluded_stays_excluded(made, person):
    excluded = judge(made, fails="positive")
    decide(excluded, votes_count=False, paid=True, reason="It looks careless.", by=person)
    retire(positive(made), reason="The caption is about another picture.", actor="robin")
    excluded.refresh_from_db()
    assert (excluded.state, excluded.control_failures) == (State.EXCLUDED, 0)
    assert (Decision.objects.count(), Payment.objects.count()) == (1, 1)


def test_work_that_a_person_proposed_to_reject_waits_for_the_second_one(made, person):
    work = judge(made, fails="positive")
    words = {"grounds": "random", "reason": "All answers are the same.", "evidence": "18 times 100% NO in 20 seconds."}
    rejection = reject(work, by=person, **words)
    type(rejection).objects.update(needs_second=True)
    Assignment.objects.update(state=State.FLAGGED)
    assert retire(positive(made), reason="The caption is about another picture.", actor="robin") == 0
    assert states() == [State.FLAGGED]


def test_work_flagged_for_an_answer_that_is_missing_is_accepted(made):
    work = judge(made, fails="positive")
    work.judgments.filter(item__control=positive(made)).delete()
    assert retire(positive(made), reason="The caption is about another picture.", actor="robin") == 1


@pytest.mark.parametrize("odd", ["has a problem", "is rejected on its platform"])
def test_work_that_waits_for_another_reason_stays_flagged(made, odd, monkeypatch):
    judge(made, fails="positive")
    if odd == "has a problem":
        Assignment.objects.update(problem="Check it.")
    else:
        monkeypatch.setattr(platforms.postings, "is_undecided", lambda work: False)
    assert retire(positive(made), reason="The caption is about another picture.", actor="robin") == 0
    assert states() == [State.FLAGGED]


def test_the_ceiling_holds_and_once_raised_the_work_is_accepted(made):
    for _ in range(3):
        judge(made, fails="positive")
    Round.objects.update(ceiling=2 * made.reward)
    assert retire(positive(made), reason="The caption is about another picture.", actor="robin") == 0
    Round.objects.update(ceiling=3 * made.reward)
    assert repair()["regraded assignments"] == 3
    assert Payment.objects.count() == 3


def test_retiring_twice_is_an_error_and_pays_once(made):
    judge(made, fails="positive")
    control = positive(made)
    assert retire(control, reason="The caption is about another picture.", actor="robin") == 1
    with pytest.raises(CounterpartError, match="is retired already"):
        retire(control, reason="Again.", actor="robin")
    assert [repair_controls(), repair_controls()] == [0, 0]
    assert (Payment.objects.count(), ControlRuling.objects.count()) == (1, 1)


def test_a_ruling_needs_a_reason(made):
    with pytest.raises(CounterpartError, match="The reason is empty"):
        retire(positive(made), reason=" ", actor="robin")
    assert positive(made).state == Controls.ACTIVE


def test_a_reinstated_control_takes_nothing_back(made):
    work = judge(made, fails="positive")
    retire(positive(made), reason="The caption is about another picture.", actor="robin")
    reinstate(positive(made), reason="It was the right picture after all.", actor="kim")
    repair_controls()
    work.refresh_from_db()
    assert (work.state, work.control_failures) == (State.ACCEPTED, 1)
    assert Payment.objects.get().state == "owed"
    assert judge(made, fails="positive").state == State.FLAGGED


def test_what_a_person_ruled_on_the_rule_leaves_alone(made, elsewhere):
    for _ in range(2):
        judge(made, seasoned(elsewhere, right=8), fails="positive")
    assert positive(made).state == Controls.SUSPECTED
    reinstate(positive(made), reason="The caption fits.", actor="robin")
    for _ in range(4):
        judge(made, seasoned(elsewhere, right=8), fails="positive")
    assert positive(made).state == Controls.ACTIVE
    with pytest.raises(CounterpartError, match="is active already"):
        reinstate(positive(made), reason="The caption fits.", actor="robin")


def test_a_crash_after_the_ruling_is_repaired(made, monkeypatch):
    judge(made, fails="positive")
    with monkeypatch.context() as patched:
        patched.setattr(retirement, "_regrade", lambda controls: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            retire(positive(made), reason="The caption is about another picture.", actor="robin")
    assert (positive(made).state, states()) == (Controls.RETIRED, [State.FLAGGED])
    assert repair()["regraded assignments"] == 1
    assert states() == [State.ACCEPTED]


def test_the_reconciler_retires_what_later_records_doubt(made, elsewhere):
    work = [judge(made, seasoned(elsewhere, right=1), fails="positive") for _ in range(4)]
    assert positive(made).state == Controls.SUSPECTED
    more = make_round(make_collection("more", images=20), "more", hits=4, replication=4)
    for one in work * 4:
        judge_next(more, one.worker)
    assert positive(made).state == Controls.SUSPECTED
    assert repair()["regraded assignments"] == 4
    assert positive(made).state == Controls.RETIRED


def judge_next(made: Round, worker: Worker) -> None:
    lease = lease_seat(made, worker=worker)
    submit_answers(lease, answers=right_answers(lease), active_seconds=60)
    settle(lease)


def test_the_controls_of_an_unusable_caption_or_picture_are_retired_in_every_round(made):
    collection, control = made.pool.collection, positive(made)
    other = make_round(collection, "round-2")
    for one in (made, other):
        judge(one, fails="positive")
    words = {"reason": "There is no image here to provide a caption for.", "actor": "robin"}
    assert retire_controls_of(collection, captions=[control.caption_id], **words) == 2
    assert retire_controls_of(collection, captions=[control.caption_id], **words) == 0
    assert retire_controls_of(collection, images=[made.controls.get(polarity="negative").image_id], **words) == 2
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.ACCEPTED}
    assert set(ControlRuling.objects.values_list("by", "retired")) == {("robin", True)}


def test_a_control_that_comes_back_counts_again_takes_nothing_back_and_is_left_to_the_rule(made, elsewhere):
    control = positive(made)
    work = judge(made, fails="positive")
    shown = {"captions": [control.caption_id], "actor": "robin"}
    retire_controls_of(made.pool.collection, **shown, reason="It shows kites.")
    assert (Assignment.objects.get(pk=work.pk).control_failures, states()) == (0, [State.ACCEPTED])
    assert reinstate_controls_of(made.pool.collection, **shown) == 1
    assert reinstate_controls_of(made.pool.collection, **shown) == 0
    assert (Assignment.objects.get(pk=work.pk).control_failures, states()) == (1, [State.ACCEPTED])
    for _ in range(3):
        judge(made, seasoned(elsewhere, right=8), fails="positive")
    assert positive(made).state == Control.State.RETIRED
    assert reinstate_controls_of(made.pool.collection, **shown) == 0


def test_the_controls_of_other_collections_stay(made, elsewhere):
    control = positive(made)
    words = {"reason": "Broken.", "actor": "robin"}
    assert retire_controls_of(elsewhere.pool.collection, captions=[control.caption_id], **words) == 0


@pytest.mark.slow
def test_graders_at_once_retire_once_and_pay_each_worker_once(transactional_db):
    elsewhere, made = make_elsewhere(), make_round(replication=8)
    work = [judge(made, seasoned(elsewhere, right=8), fails="positive", graded=False) for _ in range(6)]
    at_once(*(lambda one=one: settle(one) for one in work), *[repair_controls] * 2)
    repair()
    assert ControlRuling.objects.count() == 1
    assert states() == [State.ACCEPTED] * 6
    assert Payment.objects.count() == Decision.objects.count() == 6
