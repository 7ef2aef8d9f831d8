import pytest

from annotation.models import Assignment, Draft
from annotation.work.answers import SeatLostError, drafts_of, save_draft
from annotation.work.leases import expire_leases, lease_seat, return_assignment
from annotation.work.submissions import Answer, submit_answers
from core.errors import CounterpartError
from tests.annotation.answering import leased, right_answers
from tests.factories import make_round


@pytest.fixture
def assignment(db) -> Assignment:
    return leased(make_round(reasons=True))


def first_item(assignment):
    return right_answers(assignment)[0].item_id


def test_a_changed_answer_replaces_the_draft(assignment):
    for level, reason in ((2, "grammar"), (3, "not_in_image"), (4, "")):
        save_draft(assignment, Answer(first_item(assignment), level, reason))
    draft = Draft.objects.get()
    assert (draft.level, draft.shortcoming) == (4, "")


def test_a_draft_may_lack_its_reason(assignment):
    save_draft(assignment, Answer(first_item(assignment), 2))
    save_draft(assignment, Answer(first_item(assignment), 2, "wrong_way"))
    assert Draft.objects.get().shortcoming == "wrong_way"


def test_a_malformed_draft_is_refused(assignment):
    for answer in ((7, ""), (5, ""), (1, "grammar"), (2, "nonsense")):
        with pytest.raises(CounterpartError, match="Pair \\d"):
            save_draft(assignment, Answer(first_item(assignment), *answer))
    assert Draft.objects.count() == 0


def test_a_draft_for_another_hits_item_is_refused(assignment):
    other = leased(make_round(assignment.hit.round.pool.collection, "other"))
    with pytest.raises(CounterpartError, match="another HIT"):
        save_draft(assignment, Answer(first_item(other), 1))


def test_dropping_a_draft_undoes_the_answer(assignment):
    save_draft(assignment, Answer(first_item(assignment), 1))
    save_draft(assignment, undone=[first_item(assignment)])
    assert Draft.objects.count() == 0


def test_nothing_is_saved_after_submission(assignment):
    submit_answers(assignment, answers=right_answers(assignment), active_seconds=1)
    with pytest.raises(SeatLostError):
        save_draft(assignment, Answer(first_item(assignment), 1))


def test_a_returned_hits_drafts_are_kept_but_take_no_more(assignment):
    save_draft(assignment, Answer(first_item(assignment), 1))
    return_assignment(assignment, actor="worker")
    with pytest.raises(SeatLostError):
        save_draft(assignment, Answer(first_item(assignment), 2))
    assert Draft.objects.get().level == 1


def test_drafts_wait_for_the_worker_who_gets_the_same_hit_again(db):
    made = make_round()
    late = leased(made, minutes=-1)
    save_draft(late, right_answers(late, level=2)[0])
    expire_leases()
    again = lease_seat(made, worker=late.worker)
    assert [draft.level for draft in drafts_of(again)] == [2]
