"""Rounds on Prolific by all kinds of people: everybody who finished is paid once, every answer is stored once, and both
sides' books agree."""

import pytest

from annotation.decisions import decide
from annotation.models import Assignment, Judgment, Payment
from crowd.models import Outbox
from hits.models import Round, Seat
from tests.crowd.prolific_rehearsal import Rehearsal, check_books, published, rehearsal, rest, robin, sync

__all__ = ["rehearsal"]


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


KINDS_OF_PEOPLE = ["honest"] * 5 + ["careless", "returns", "late", "no code", "two tabs", "another device", "leaves"]


@pytest.mark.slow
def test_sixty_hits_by_all_kinds_of_people_end_with_balanced_books(rehearsal, commit, settings):
    """The show: everybody who finished is paid once, every answer is stored once, both sides agree."""
    settings.ARRIVALS_PER_HOUR = 10_000
    made = published(hits=60, commit=commit)
    finished = 0
    for turn in range(400):
        if not Seat.objects.filter(state="open").exists():
            settle_all(made, rehearsal, commit)
            if not Seat.objects.filter(state="open").exists():
                break
        kind = KINDS_OF_PEOPLE[turn % len(KINDS_OF_PEOPLE)]
        with commit(execute=True):
            finished += play(kind, rehearsal)
        if turn % 12 == 11:
            settle_all(made, rehearsal, commit)
    for _ in range(5):
        settle_all(made, rehearsal, commit)
    counted = Assignment.objects.filter(state="accepted")
    assert counted.count() == 60
    assert Judgment.objects.filter(assignment__in=counted).count() == 60 * 4
    paid = Payment.objects.filter(state="paid").values_list("assignment", flat=True)
    assert len(paid) == len(set(paid)) == finished
    assert not Payment.objects.filter(state="owed").exists()
    check_books(made, rehearsal)
    assert not Outbox.objects.exclude(state="done").exists()


def play(kind: str, there: Rehearsal) -> int:
    """One person's visit; 1 if they finished their answers."""
    submission, person, sheet = there.open()
    if kind == "leaves":
        return 0
    if kind == "returns":
        there.give_back(submission, person)
        return 0
    if kind == "another device":
        address = there.start(submission, person)
        there.browsers.clear()
        sheet = there.come(address, person).url
    code = there.answer(submission, person, sheet, wrong=kind == "careless")
    if kind == "two tabs":
        assert there.answer(submission, person, sheet) == code
    if kind == "late":
        there.later(hours=2)
    else:
        there.complete(submission, person, "NOCODE" if kind == "no code" else code)
    return 1


def settle_all(made: Round, there: Rehearsal, commit) -> None:
    """Sync, have a person decide what waits, and sync again once payments are listed."""
    there.later(hours=2)
    sync(made, commit)
    for flagged in Assignment.objects.filter(state="flagged"):
        with commit(execute=True):
            counts = not flagged.control_failures
            decide(flagged, votes_count=counts, paid=True, reason="Looked at.", by=robin())
    sync(made, commit)
    there.later(minutes=2)
    sync(made, commit)
