import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Draft, Judgment
from annotation.work.answers import REASONS, Answer, decode_answers, drafts_of, encode_answers, save_drafts
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from annotation.work.submissions import SeatLostError, mark_submitted, submit_answers
from core.errors import CounterpartError
from hits.models import Item
from hits.question import Shortcoming, WrongWay
from tests.annotation.answering import leased, right_answers, shown
from tests.at_once import at_once
from tests.factories import make_collection, make_round

State = Assignment.State


@pytest.fixture
def with_reasons(db) -> Assignment:
    return leased(make_round(reasons=True))


def submit(assignment, answers, seconds=60):
    return submit_answers(assignment, answers=answers, active_seconds=seconds)


def state_of(assignment):
    return Assignment.objects.get(pk=assignment.pk).state


def assert_refused(assignment, answers, message):
    with pytest.raises(CounterpartError, match=message):
        submit(assignment, answers)
    assert Judgment.objects.count() == 0
    assert state_of(assignment) == State.LEASED


def test_every_answer_becomes_a_judgment_on_its_own_pair_and_clears_the_drafts(assignment):
    answers = right_answers(assignment, level=2)
    save_drafts(assignment, [answers[0]])
    submit(assignment, answers, seconds=77)
    assert Draft.objects.count() == 0
    stored = {(j.item_id, j.level, j.image_id, j.caption_id) for j in Judgment.objects.all()}
    pairs = {item.pk: (item.image_id, item.caption_id) for item in Item.objects.all()}
    assert stored == {(answer.item_id, answer.level, *pairs[answer.item_id]) for answer in answers}
    assert set(Judgment.objects.values_list("worker_id", flat=True)) == {assignment.worker_id}
    assert Assignment.objects.get().active_seconds == 77


def test_a_second_submission_gets_the_same_receipt_and_changes_nothing(assignment):
    first = submit(assignment, right_answers(assignment, level=1))
    second = submit(assignment, right_answers(assignment, level=4))
    assert first == second == submit(assignment, []) == Assignment.objects.get().receipt
    assert Judgment.objects.filter(item__control=None, level=4).count() == 0


def test_answers_that_are_missing_that_are_to_another_hit_or_that_come_twice_are_refused(assignment):
    third = shown(assignment)[2].pk
    answers = [answer for answer in right_answers(assignment) if answer.item_id != third]
    assert_refused(assignment, answers, r"1 pair has .*: 3\.")
    assert_refused(assignment, [], "4 pairs have no answer yet: 1, 2, 3, 4")
    other = leased(make_round(assignment.hit.round.pool.collection, "other"))
    assert_refused(assignment, right_answers(assignment)[1:] + right_answers(other)[:1], "1 answer is to pairs of ano")
    answers = right_answers(assignment)
    second = shown(assignment)[1].pk
    again = next(answer for answer in answers if answer.item_id == second)
    assert_refused(assignment, [*answers, again], r"1 pair is answered twice: 2\.")


def test_an_answer_that_the_sheet_does_not_offer_is_refused_by_its_place(with_reasons):
    first, *others = right_answers(with_reasons)
    place = 1 + [item.place for item in shown(with_reasons)].index(1)
    not_asked = "has a (reason|detail) that was not asked"
    for said, refusal in (
        *[((level,), f"has level {level}") for level in (6, 5, -1)],
        *[((level,), "has no reason") for level in (2, 3)],
        ((2, "wrong_way"), "has no detail"),
        *[((level, "grammar"), not_asked) for level in (1, 4)],
        *[((2, "ugly"), not_asked), ((2, "grammar", "color"), not_asked), ((3, "wrong_way", "smell"), not_asked)],
    ):
        assert_refused(with_reasons, [Answer(first.item_id, *said), *others], f"Pair {place} {refusal}")


def test_reasons_are_stored_with_the_answer(with_reasons):
    answers = right_answers(with_reasons)
    submit(with_reasons, [Answer(answers[0].item_id, 3, "wrong_way", "color"), *answers[1:]])
    stored = Judgment.objects.get(item_id=answers[0].item_id)
    assert (stored.level, stored.shortcoming, stored.wrong_way) == (3, "wrong_way", "color")


def test_a_returned_assignment_can_no_longer_be_submitted(assignment):
    answers = right_answers(assignment)
    return_assignment(assignment, actor="worker")
    with pytest.raises(SeatLostError, match="no longer have"):
        submit(assignment, answers)
    assert Judgment.objects.count() == 0


def test_a_pair_that_the_worker_judged_before_is_refused_whole(assignment):
    submit(assignment, right_answers(assignment))
    again = leased(make_round(assignment.hit.round.pool.collection, "again"), worker=assignment.worker)
    with pytest.raises(CounterpartError, match="4 pairs .* before"):
        submit(again, right_answers(again))
    assert (Judgment.objects.count(), state_of(again)) == (4, State.LEASED)


def test_grading_follows_the_commit(assignment, commit):
    with commit(execute=True):
        submit(assignment, right_answers(assignment))
        assert state_of(assignment) == State.SUBMITTED
    assert state_of(assignment) == State.ACCEPTED


def test_a_failure_in_grading_costs_no_answers(assignment, commit, monkeypatch):
    monkeypatch.setattr("annotation.work.submissions.grade", lambda assignment, **_: 1 / 0)
    with commit(execute=True):
        submit(assignment, right_answers(assignment))
    assert (state_of(assignment), Judgment.objects.count()) == (State.SUBMITTED, 4)


def test_a_submission_that_lost_the_race_gets_the_winners_receipt(assignment, monkeypatch):
    def overtaken(assignment, *, active_seconds, at):
        mark_submitted(Assignment.objects.get(pk=assignment.pk), active_seconds=active_seconds)

    monkeypatch.setattr("annotation.work.submissions.mark_submitted", overtaken)
    assert submit(assignment, right_answers(assignment)) == Assignment.objects.get().receipt
    assert Judgment.objects.count() == 0


@pytest.mark.service
@pytest.mark.skipif(connection.vendor == "sqlite", reason="writers wait for each other on SQLite")
@pytest.mark.django_db(transaction=True)
def test_two_submissions_at_once_give_one_receipt_and_one_set_of_judgments():
    assignment = leased(make_round())
    answers = right_answers(assignment)
    receipts = at_once(*[lambda: submit(Assignment.objects.get(pk=assignment.pk), answers)] * 2)
    assert len(set(receipts)) == 1
    assert Judgment.objects.count() == len(answers)


def queries_to_submit(made):
    assignment = Assignment.objects.get(pk=leased(made).pk)
    answers = right_answers(assignment)
    with CaptureQueriesContext(connection) as queries:
        submit(assignment, answers)
    return len(queries)


def test_a_large_hit_takes_no_more_queries_than_a_small_one(db):
    small = make_round(name="small", candidates=2)
    large = make_round(make_collection("large", images=20), "large", candidates=16)
    assert queries_to_submit(small) == queries_to_submit(large)


def test_a_lease_past_its_deadline_may_be_submitted_while_the_seat_is_held(db):
    overdue = leased(make_round(), minutes=-5)
    assert submit(overdue, right_answers(overdue))


def first_item(assignment):
    return right_answers(assignment)[0].item_id


def test_a_changed_answer_replaces_the_draft_which_may_come_without_its_reason(with_reasons):
    for level, reason in ((2, ""), (2, "wrong_way"), (3, "not_in_image"), (4, "")):
        save_drafts(with_reasons, [Answer(first_item(with_reasons), level, reason)])
        assert Draft.objects.values_list("level", "shortcoming").get() == (level, reason)


def test_a_malformed_draft_is_refused(with_reasons):
    for answer in ((7, ""), (5, ""), (1, "grammar"), (2, "nonsense")):
        refused = save_drafts(with_reasons, [Answer(first_item(with_reasons), *answer)])
        assert "Pair " in refused[first_item(with_reasons)]
    assert Draft.objects.count() == 0


@pytest.mark.parametrize("state", [State.RETURNED, State.SUBMITTED])
def test_the_drafts_of_a_hit_that_is_over_are_kept_but_take_no_more(with_reasons, state):
    save_drafts(with_reasons, [Answer(first_item(with_reasons), 1)])
    Assignment.objects.update(state=state)
    with pytest.raises(SeatLostError):
        save_drafts(with_reasons, [Answer(first_item(with_reasons), 2)])
    assert Draft.objects.get().level == 1


def test_drafts_wait_for_the_worker_who_gets_the_same_hit_again(db):
    made = make_round()
    late = leased(made, minutes=-1)
    save_drafts(late, [right_answers(late, level=2)[0]])
    expire_leases()
    again = lease_seat(made, worker=late.worker)
    assert [draft.level for draft in drafts_of(again)] == [2]


# The one form field that carries an answer set through a platform

PLACES = {1: 71, 2: 33, 3: 52, 4: 90}
ANSWERS = [
    Answer(71, 1),
    Answer(33, 2, "not_in_image"),
    Answer(52, 3, "wrong_way", "quantity"),
    Answer(90, 4),
]


def test_a_word_a_pair_in_the_order_of_places():
    assert encode_answers(ANSWERS, PLACES) == "1.2a.3ce.4"
    assert encode_answers(ANSWERS[::-1], dict(reversed(PLACES.items()))) == "1.2a.3ce.4"


def test_every_answer_comes_back_as_it_was():
    every = [Answer(n, 2 + n % 2, reason) for n, reason in enumerate(Shortcoming.values)]
    every += [Answer(100 + n, 3, "wrong_way", way) for n, way in enumerate(WrongWay.values)]
    places = {place: answer.item_id for place, answer in enumerate(every, 1)}
    assert decode_answers(encode_answers(every, places), places) == every


def test_the_letters_are_those_of_the_pages_keys():
    keys = (Path(settings.BASE_DIR) / "static/judging/keys.js").read_text()
    assert re.search(r'REASON_KEYS = \[\.\.\."(\w+)"\]', keys)[1] == "".join(REASONS)


@pytest.mark.parametrize("text", ["", "1.1.1", "1.1.1.1.1", "1,1,1,1"])
def test_another_number_of_answers_than_pairs_is_refused(text):
    with pytest.raises(CounterpartError, match="answers? for 4 pairs"):
        decode_answers(text, PLACES)


@pytest.mark.parametrize("word", ["6", "5", "2z", "2ea", "3cee", "٣", "1 ", "1\n", "2A", "<b>", ""])
def test_an_invalid_word_is_refused_by_its_place(word):
    with pytest.raises(CounterpartError, match="The answer to pair 3 is"):
        decode_answers(f"1.1.{word}.1", PLACES)


def test_a_refusal_repeats_little_of_what_was_sent():
    with pytest.raises(CounterpartError) as refused:
        decode_answers("9" * 60_000 + ".1.1.1", PLACES)
    assert len(str(refused.value)) < 120
