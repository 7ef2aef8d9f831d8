"""Rounds on Prolific by all kinds of people: everybody who finished is paid once, every answer is stored once, and both
sides' books agree."""

import pytest

from annotation.models import Assignment, Judgment, Payment
from annotation.review.decisions import decide
from counterpart_emulators.marketplace import Refusal
from crowd.posting.pauses import resume_round
from hits.models import Seat
from tests.crowd.fakes import robin
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import check_books, code_in, published, rest


def decline(there) -> tuple[str, str]:
    """Refuse to take part, and end the session with the code for that; the submission and the participant."""
    submission, person = there.reserve()
    page = there.come(there.start(submission, person), person, "no")
    there.complete(submission, person, code_in(page.text))
    return submission, person


def leave_unseen(there) -> tuple[str, str]:
    """End a session without ever opening our page; the submission and the participant."""
    submission, person = there.reserve()
    there.start(submission, person)
    there.complete(submission, person, "NOCODE")
    return submission, person


def fill(made, there, commit, *, visitors: int) -> int:
    """Have visitors come one after the other; how many of them found no place."""
    turned_away = 0
    for _ in range(visitors):
        try:
            with commit(execute=True):
                there.work()
        except Refusal:
            turned_away += 1
    sync(made, commit)
    sync(made, commit)
    return turned_away


@pytest.mark.slow
@pytest.mark.parametrize("leave", [decline, leave_unseen])
def test_visitors_who_leave_without_a_hit_take_no_place_and_are_not_paid(rehearsal, commit, leave):
    made = published(hits=2, commit=commit)
    left = [leave(rehearsal) for _ in range(2)]
    sync(made, commit)
    assert rehearsal.study().places == 2
    for submission, person in left:
        rehearsal.give_back(submission, person)
    sync(made, commit)
    assert not Assignment.objects.exists()
    with commit(execute=True):  # Prolific has paused the study, which was full, until it is started again.
        resume_round(made, actor="robin")
    assert fill(made, rehearsal, commit, visitors=3) == 1
    assert (rehearsal.study().places, Payment.objects.filter(state="paid").count()) == (2, 2)
    assert not Payment.objects.filter(assignment__has_hit=False).exists()
    check_books(made, rehearsal)


def test_a_visitor_who_declines_and_is_approved_all_the_same_is_in_the_books(rehearsal, commit):
    made = published(hits=1, commit=commit)
    decline(rehearsal)
    rehearsal.later(days=22)
    sync(made, commit)
    assert (Payment.objects.get().state, rehearsal.study().places) == ("paid", 2)
    check_books(made, rehearsal)


def test_a_submission_that_was_not_opened_here_takes_a_place_once_a_person_has_it_paid(rehearsal, commit):
    made = published(hits=1, commit=commit)
    leave_unseen(rehearsal)
    sync(made, commit)
    unseen = Assignment.objects.get()
    assert (unseen.state, rehearsal.study().places) == ("flagged", 1)
    with commit(execute=True):
        decide(unseen, votes_count=False, paid=True, reason="They wrote to us.", by=robin())
    sync(made, commit)
    assert (rehearsal.study().places, Payment.objects.get().state) == (2, "paid")
    check_books(made, rehearsal)


@pytest.mark.slow
def test_everything_odd_together_pays_everybody_once(rehearsal, commit):
    """One person finishes, one runs out of time after answering, one returns, one enters no code without answers."""
    made = published(hits=4, commit=commit)
    with commit(execute=True):
        late, person, sheet = rehearsal.open()
        rehearsal.answer(late, person, sheet)
        rehearsal.later(hours=2)
        rehearsal.work()
        gone, visitor, _ = rehearsal.open()
        rehearsal.give_back(gone, visitor)
        rehearsal.complete(*rehearsal.open()[:2], "NOCODE")
    sync(made, commit)
    for flagged in Assignment.objects.filter(state="flagged"):
        counts = flagged.judgments.exists()
        with commit(execute=True):
            decide(flagged, votes_count=counts, paid=True, reason="Looked at.", by=robin())
    rest(made, rehearsal, commit)
    while Seat.objects.filter(state="open").exists():
        with commit(execute=True):
            rehearsal.work()
        sync(made, commit)
    rest(made, rehearsal, commit)
    assert Judgment.objects.values("assignment").distinct().count() == 4
    assert not Payment.objects.filter(state="owed").exists()
    check_books(made, rehearsal)
