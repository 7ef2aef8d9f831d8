"""Rounds on Prolific by all kinds of people: everybody who finished is paid once, every answer is stored once, and both
sides' books agree."""

import pytest

from annotation.decisions import decide
from annotation.models import Assignment, Judgment, Payment
from hits.models import Seat
from tests.crowd.prolific_rehearsal import check_books, published, rehearsal, rest, robin, sync

__all__ = ["rehearsal"]


@pytest.mark.slow
def test_everything_odd_together_pays_everybody_once(rehearsal, commit):
    made = published(hits=4, commit=commit)
    with commit(execute=True):
        rehearsal.work()
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
        gone, visitor, _ = rehearsal.open()
        rehearsal.give_back(gone, visitor)
        rehearsal.complete(*rehearsal.open()[:2], "NOCODE")
    rehearsal.later(hours=2)
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
