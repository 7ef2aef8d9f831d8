"""Controls that are retired, by rule or by a person, and what becomes of the work that they judged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import platforms
from annotation.models import Assignment, ControlRuling, Decision, Judgment, Payment, Worker
from annotation.review.decisions import decide, reject
from annotation.work import retirement
from annotation.work.control_records import ControlAnswer, ControlPolicy, ControlRecord, Tally, records_of
from annotation.work.leases import lease_seat
from annotation.work.repair import repair
from annotation.work.retirement import reinstate, reinstate_controls_of, repair_controls, retire, retire_controls_of
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from core.models import Event
from hits.models import Control, Round, Seat
from hits.question import RIGHT_LEVELS
from tests.annotation.answering import right_answers
from tests.annotation.controlling import judge, make_elsewhere, seasoned, settle
from tests.at_once import at_once
from tests.factories import make_collection, make_round

State, Controls = Assignment.State, Control.State
ANOTHER = "The caption is about another picture."


@pytest.fixture
def crowded(db) -> Round:
    """One HIT with 12 seats; its positive control is the one that is doubted."""
    return make_round(replication=12)


@pytest.fixture
def elsewhere(db) -> Round:
    return make_elsewhere()


def positive(made: Round) -> Control:
    return made.controls.get(polarity="positive")


def states() -> list[str]:
    return list(Assignment.objects.filter(hit__round__name="round-1").order_by("pk").values_list("state", flat=True))


def test_four_reliable_workers_retire_a_control_and_are_all_accepted(crowded, elsewhere):
    for number in range(1, 5):
        judge(crowded, seasoned(elsewhere, right=3), fails="positive")
        assert (positive(crowded).state == Controls.RETIRED) == (number == 4)
    assert states() == [State.ACCEPTED] * 4
    assert Payment.objects.filter(state="owed").count() == Decision.objects.count() == 4
    assert set(Assignment.objects.filter(hit__round=crowded).values_list("control_failures", flat=True)) == {0}
    assert crowded.hits.get().seats.filter(state=Seat.State.FILLED).count() == 4
    ruling = ControlRuling.objects.get()
    assert (ruling.retired, ruling.by) == (True, "")
    assert "0.92" in ruling.reason
    events = Event.objects.filter(subject=f"hits.control:{positive(crowded).pk}").order_by("pk")
    assert [(one.verb, one.actor) for one in events] == [("suspected", "control rule"), ("retired", "control rule")]


@pytest.mark.parametrize(("missing", "state"), [("negative", State.FLAGGED), ("positive", State.ACCEPTED)])
def test_only_a_missing_answer_to_another_control_keeps_work_flagged(crowded, missing, state):
    work = judge(crowded, fails="positive")
    work.judgments.filter(item__control__polarity=missing).delete()
    retire(positive(crowded), reason="It is wrong.", actor="robin")
    assert states() == [state]


def test_a_suspected_control_that_others_answer_right_is_cleared(crowded, elsewhere):
    for fails in ("positive", "positive", ""):
        judge(crowded, seasoned(elsewhere, right=8), fails=fails)
    assert positive(crowded).state == Controls.ACTIVE
    assert Event.objects.filter(verb="cleared").count() == 1


def test_who_failed_another_control_too_stays_flagged_with_fewer_failures(crowded):
    careless = judge(crowded, fails="positive negative")
    assert careless.control_failures == 2
    assert retire(positive(crowded), reason=ANOTHER, actor="robin") == 0
    careless.refresh_from_db()
    assert (careless.state, careless.control_failures) == (State.FLAGGED, 1)
    assert not Payment.objects.exists()


def test_what_a_person_excluded_stays_excluded(crowded, person):
    excluded = judge(crowded, fails="positive")
    decide(excluded, votes_count=False, paid=True, reason="It looks careless.", by=person)
    retire(positive(crowded), reason=ANOTHER, actor="robin")
    excluded.refresh_from_db()
    assert (excluded.state, excluded.control_failures) == (State.EXCLUDED, 0)
    assert (Decision.objects.count(), Payment.objects.count()) == (1, 1)


def test_work_that_a_person_proposed_to_reject_waits_for_the_second_one(crowded, person):
    work = judge(crowded, fails="positive")
    words = {"grounds": "random", "reason": "All answers are the same.", "evidence": "18 times 100% NO in 20 seconds."}
    rejection = reject(work, by=person, **words)
    type(rejection).objects.update(needs_second=True)
    Assignment.objects.update(state=State.FLAGGED)
    assert retire(positive(crowded), reason=ANOTHER, actor="robin") == 0
    assert states() == [State.FLAGGED]


@pytest.mark.parametrize("odd", ["has a problem", "is rejected on its platform"])
def test_work_that_waits_for_another_reason_stays_flagged(crowded, odd, monkeypatch):
    judge(crowded, fails="positive")
    if odd == "has a problem":
        Assignment.objects.update(problem="Check it.")
    else:
        monkeypatch.setattr(platforms.postings, "is_undecided", lambda work: False)
    assert retire(positive(crowded), reason=ANOTHER, actor="robin") == 0
    assert states() == [State.FLAGGED]


def test_the_ceiling_holds_and_once_raised_the_work_is_accepted(crowded):
    for _ in range(3):
        judge(crowded, fails="positive")
    Round.objects.update(ceiling=2 * crowded.reward)
    assert retire(positive(crowded), reason=ANOTHER, actor="robin") == 0
    Round.objects.update(ceiling=3 * crowded.reward)
    assert repair()["regraded assignments"] == 3
    assert Payment.objects.count() == 3


def test_retiring_needs_a_reason_twice_is_an_error_and_pays_once(crowded):
    judge(crowded, fails="positive")
    control = positive(crowded)
    with pytest.raises(CounterpartError, match="The reason is empty"):
        retire(control, reason=" ", actor="robin")
    assert retire(control, reason=ANOTHER, actor="robin") == 1
    with pytest.raises(CounterpartError, match="is retired already"):
        retire(control, reason="Again.", actor="robin")
    assert [repair_controls(), repair_controls()] == [0, 0]
    assert (Payment.objects.count(), ControlRuling.objects.count()) == (1, 1)


def test_a_reinstated_control_takes_nothing_back(crowded):
    work = judge(crowded, fails="positive")
    retire(positive(crowded), reason=ANOTHER, actor="robin")
    reinstate(positive(crowded), reason="It was the right picture after all.", actor="kim")
    repair_controls()
    work.refresh_from_db()
    assert (work.state, work.control_failures) == (State.ACCEPTED, 1)
    assert Payment.objects.get().state == "owed"
    assert judge(crowded, fails="positive").state == State.FLAGGED


def test_what_a_person_ruled_on_the_rule_leaves_alone(crowded, elsewhere):
    for _ in range(2):
        judge(crowded, seasoned(elsewhere, right=8), fails="positive")
    assert positive(crowded).state == Controls.SUSPECTED
    reinstate(positive(crowded), reason="The caption fits.", actor="robin")
    for _ in range(4):
        judge(crowded, seasoned(elsewhere, right=8), fails="positive")
    assert positive(crowded).state == Controls.ACTIVE
    with pytest.raises(CounterpartError, match="is active already"):
        reinstate(positive(crowded), reason="The caption fits.", actor="robin")


def test_a_crash_after_the_ruling_is_repaired(crowded, monkeypatch):
    judge(crowded, fails="positive")
    with monkeypatch.context() as patched:
        patched.setattr(retirement, "_regrade", lambda controls: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            retire(positive(crowded), reason=ANOTHER, actor="robin")
    assert (positive(crowded).state, states()) == (Controls.RETIRED, [State.FLAGGED])
    assert repair()["regraded assignments"] == 1
    assert states() == [State.ACCEPTED]


def test_the_reconciler_retires_what_later_records_doubt(crowded, elsewhere):
    work = [judge(crowded, seasoned(elsewhere, right=1), fails="positive") for _ in range(4)]
    assert positive(crowded).state == Controls.SUSPECTED
    more = make_round(make_collection("more", images=20), "more", hits=4, replication=4)
    for one in work * 4:
        judge_next(more, one.worker)
    assert positive(crowded).state == Controls.SUSPECTED
    assert repair()["regraded assignments"] == 4
    assert positive(crowded).state == Controls.RETIRED


def judge_next(made: Round, worker: Worker) -> None:
    lease = lease_seat(made, worker=worker)
    submit_answers(lease, answers=right_answers(lease), active_seconds=60)
    settle(lease)


def test_the_controls_of_an_unusable_caption_or_picture_are_retired_in_every_round(crowded):
    collection, control = crowded.pool.collection, positive(crowded)
    other = make_round(collection, "round-2")
    for one in (crowded, other):
        judge(one, fails="positive")
    words = {"reason": "There is no image here to provide a caption for.", "actor": "robin"}
    assert retire_controls_of(collection, captions=[control.caption_id], **words) == 2
    assert retire_controls_of(collection, captions=[control.caption_id], **words) == 0
    assert retire_controls_of(collection, images=[crowded.controls.get(polarity="negative").image_id], **words) == 2
    assert set(Assignment.objects.values_list("state", flat=True)) == {State.ACCEPTED}
    assert set(ControlRuling.objects.values_list("by", "retired")) == {("robin", True)}


def test_the_controls_of_other_collections_stay(crowded, elsewhere):
    captions = [positive(crowded).caption_id]
    assert retire_controls_of(elsewhere.pool.collection, captions=captions, reason="Broken.", actor="robin") == 0


def test_a_control_that_comes_back_counts_again_takes_nothing_back_and_is_left_to_the_rule(crowded, elsewhere):
    control = positive(crowded)
    work = judge(crowded, fails="positive")
    shown = {"captions": [control.caption_id], "actor": "robin"}
    retire_controls_of(crowded.pool.collection, **shown, reason="It shows kites.")
    assert (Assignment.objects.get(pk=work.pk).control_failures, states()) == (0, [State.ACCEPTED])
    assert reinstate_controls_of(crowded.pool.collection, **shown) == 1
    assert reinstate_controls_of(crowded.pool.collection, **shown) == 0
    assert (Assignment.objects.get(pk=work.pk).control_failures, states()) == (1, [State.ACCEPTED])
    for _ in range(3):
        judge(crowded, seasoned(elsewhere, right=8), fails="positive")
    assert positive(crowded).state == Control.State.RETIRED
    assert reinstate_controls_of(crowded.pool.collection, **shown) == 0


@pytest.mark.slow
def test_graders_at_once_retire_once_and_pay_each_worker_once(transactional_db):
    elsewhere, made = make_elsewhere(), make_round(replication=8)
    work = [judge(made, seasoned(elsewhere, right=8), fails="positive", graded=False) for _ in range(6)]
    at_once(*(lambda one=one: settle(one) for one in work), *[repair_controls] * 2)
    repair()
    assert ControlRuling.objects.count() == 1
    assert states() == [State.ACCEPTED] * 6
    assert Payment.objects.count() == Decision.objects.count() == 6


# The records and the rule that doubts a control: cases worked by hand, and slow references

ACTIVE, SUSPECTED, RETIRED = Control.State.values


def record(*answers: tuple[bool, int, int]) -> ControlRecord:
    """A record of answers, each as: is it right, and of how many other controls how many right."""
    return ControlRecord(
        Control(), [ControlAnswer(1, "flagged", 1, "p", 4, right, Tally(n, k)) for right, n, k in answers]
    )


@pytest.mark.parametrize(
    ("answered", "right", "weight"),
    [(0, 0, 0), (1, 1, 1 / 3), (4, 4, 2 / 3), (8, 8, 0.8), (4, 3, 1 / 3), (4, 2, 0), (4, 0, 0)]
)  # fmt: skip
def test_a_worker_weighs_as_much_as_they_are_better_than_guessing(answered, right, weight):
    assert Tally(answered, right).weight == pytest.approx(weight)


def test_the_doubt_of_four_workers_with_four_of_four_right_is_worked_by_hand():
    # f = 4 · 2/3, r = 0: the tail of Beta(1 + 8/3, 1) above 1/2 is 1 − (1/2)^(11/3).
    assert record(*[(False, 4, 4)] * 4).doubt() == pytest.approx(1 - 0.5 ** (11 / 3))


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12), st.integers(0, 12)), max_size=12), st.floats(0.2, 0.8))
def test_the_doubt_is_the_integral_of_its_density(answers, rate):
    found = record(*((right, max(n, k), min(n, k)) for right, n, k in answers))
    failing = np.linspace(0, 1, 40_001)
    wrong, right = (sum(one.elsewhere.weight for one in found.answers if one.is_right == is_) for is_ in (False, True))
    density = failing**wrong * (1 - failing) ** right
    above = failing >= rate
    slow = np.trapezoid(density[above], failing[above]) / np.trapezoid(density, failing)
    assert found.doubt(rate) == pytest.approx(slow, abs=1e-3)


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([], ACTIVE),
        ([(False, 8, 8)], ACTIVE),
        ([(False, 8, 8)] * 2, SUSPECTED),
        ([(False, 8, 8)] * 3, RETIRED),
        ([(False, 4, 4)] * 3, SUSPECTED),
        ([(False, 4, 4)] * 4, RETIRED),
        ([(False, 1, 1)] * 6, SUSPECTED),
        ([(False, 1, 1)] * 7, RETIRED),
        ([(False, 8, 8)] * 3 + [(True, 8, 8)], ACTIVE),
        ([(False, 8, 8)] * 4 + [(True, 8, 8)], SUSPECTED),
        ([(False, 8, 4)] * 50, ACTIVE),
        ([(False, 0, 0)] * 50, ACTIVE),
        ([(False, 8, 8)] * 3 + [(True, 8, 2)] * 9, RETIRED),
    ],
)
def test_the_rule_doubts_a_control_that_reliable_workers_keep_failing(answers, state):
    assert ControlPolicy().state_of(record(*answers)) == state


def test_the_policy_names_how_many_answers_are_needed():
    assert ControlPolicy(answers=5).state_of(record(*[(False, 8, 8)] * 4)) == SUSPECTED


def test_records_are_those_of_a_slow_count(db):
    elsewhere, made = make_elsewhere(), make_round(replication=6)
    for right, wrong, fails in ((8, 0, "positive"), (2, 2, "negative"), (0, 3, ""), (5, 1, "positive negative")):
        judge(made, seasoned(elsewhere, right=right, wrong=wrong), fails=fails)
    Control.objects.filter(pk=elsewhere.controls.first().pk).update(state=RETIRED)
    for found in records_of(Control.objects.all()):
        answers = list(Judgment.objects.filter(item__control=found.control).order_by("pk"))
        assert [answer.worker_id for answer in found.answers] == [answer.worker_id for answer in answers]
        for answer in found.answers:
            others = [
                other.level in RIGHT_LEVELS[other.item.control.polarity]
                for other in Judgment.objects.filter(worker=answer.worker_id, item__control__isnull=False)
                if other.item.control != found.control and other.item.control.state != RETIRED
            ]
            assert answer.elsewhere == Tally(len(others), sum(others))


def test_many_controls_take_as_many_queries_as_one(db, django_assert_num_queries):
    judge(make_round(hits=3), fails="positive")
    controls = list(Control.objects.all())
    for some in (controls[:1], controls):
        with django_assert_num_queries(2):
            records_of(some)
