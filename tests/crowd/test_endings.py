"""How a session ends, from each pair of its states on the platform and here.

``endings.json`` was written by the code of 0.3.2, which had no table of endings; ``ON_PURPOSE`` names what changed.
"""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Decision, Payment, Rejection, Worker
from annotation.money.payments import PAID_AS_BONUS, mark_paid, owe, owe_bonus
from annotation.people.consent import give_consent
from annotation.people.workers import worker_for
from annotation.work.leases import lease_for_visitor
from crowd import endings
from crowd.channels.base import Listed
from crowd.endings import Act
from crowd.models import Posting, Visit
from crowd.posting.seats import answer_sets_due, places_missing
from crowd.visits import sessions
from crowd.visits.arrivals import TWO_PEOPLE
from hits.prices import cents
from integrations.models import Notification
from tests.crowd.fakes import robin
from tests.transactions import taken_back

FROZEN = json.loads(Path(__file__).with_name("endings.json").read_text())
LONG_AGO = timezone.now() - timedelta(hours=2)
QUESTIONS = {text: name for name, text in vars(endings).items() if isinstance(text, str) and text in endings.PASSING}
# A question follows the platform: what it asked before holds no more. A session that is paid twice is shown. One that
# the platform does not know takes no place of it.
ON_PURPOSE = {
    "- | refused": "flagged UNKNOWN; no seat; missing 0, holds 2",
    "approved | bonus": "flagged PAID_TWICE; seat taken; bonus paid; reward paid; missing 0, holds 1",
    "rejected | silent": "flagged REJECTED_THERE; seat taken; missing 0, holds 2",
    "returned | silent": "excluded; seat open; missing 0, holds 2",
    "settled | stranger": "flagged SETTLED; no seat; missing 1, holds 1",
    "settled | silent": "flagged SETTLED; seat taken; missing 0, holds 1",
}


def visitor(posting: Posting) -> Worker:
    worker = worker_for(**posting.market, external_id="P1")
    give_consent(worker)
    return worker


def given(posting: Posting) -> Assignment:
    """A HIT that the session's visitor was given."""
    time = timedelta(minutes=30)
    with transaction.atomic():
        assignment = lease_for_visitor(posting.round, worker=visitor(posting), time=time, outside_key="S1")
    assert assignment
    posting.begin_visit(assignment)
    return assignment


def put(assignment: Assignment, state: str, **fields: object) -> Assignment:
    Assignment.objects.filter(pk=assignment.pk).update(state=state, **fields)
    assignment.refresh_from_db()
    return assignment


def answered(posting: Posting, state: str = "accepted") -> Assignment:
    assignment = given(posting)
    assignment.seat.state = "filled"
    assignment.seat.save()
    return put(assignment, state, submitted_at=LONG_AGO, receipt=assignment.receipt_code)


def decided(assignment: Assignment, *, votes_count: bool = True) -> Assignment:
    Decision.objects.create(assignment=assignment, votes_count=votes_count, paid=True, reason="They have finished.")
    return assignment


def absent(posting: Posting) -> None:
    pass


def working(posting: Posting) -> None:
    given(posting)


def left(posting: Posting) -> None:
    seat = given(posting).seat
    put(Assignment.objects.get(), "expired")
    seat.state = "open"
    seat.save()


def came(posting: Posting) -> None:
    assignment = decided(given(posting), votes_count=False)
    assignment.seat.state = "open"
    assignment.seat.save()
    fields = {"seat": None, "has_hit": False, "receipt": assignment.receipt_code, "submitted_at": LONG_AGO}
    owe(put(assignment, "excluded", **fields))


def owed(posting: Posting) -> None:
    owe(answered(posting))


def bonus(posting: Posting) -> None:
    reward = cents(posting.round.reward)
    payment = owe_bonus(decided(answered(posting)), amount=reward, reason=PAID_AS_BONUS, actor="robin")
    mark_paid(payment, actor="outbox")


def paid(posting: Posting) -> None:
    mark_paid(owe(answered(posting)), actor="outbox")


def refused(posting: Posting) -> None:
    assignment = answered(posting, "excluded")
    assignment.seat.state = "open"
    assignment.seat.save()
    Rejection.objects.create(assignment=assignment, by=robin(), grounds="random", reason="r", evidence="e")


def stranger(posting: Posting) -> None:
    sessions.keep_sessions(posting, [Listed("S1", "P1", "submitted", LONG_AGO, None, None, "")])


def silent(posting: Posting) -> None:
    given(posting)
    stranger(posting)


def proposed(posting: Posting) -> None:
    assignment = answered(posting, "flagged")
    words = {"grounds": "random", "reason": "r", "evidence": "e"}
    Rejection.objects.create(assignment=assignment, by=robin(), needs_second=True, **words)


HERE = {
    one.__name__: one
    for one in (absent, stranger, working, left, silent, came, answered, owed, bonus, paid, refused, proposed)
}
DECLINED = "declined"


def ending(posting: Posting, listed: str, here: str) -> str:
    """What one list of the platform makes of a session in this state here."""
    at = LONG_AGO if listed else None
    sent = [Listed("S1", "P1", listed, at, None, None, "", has_declined=here == DECLINED)] if listed else []
    sessions.keep_sessions(posting, sent)
    return described(posting)


def described(posting: Posting) -> str:
    found = Assignment.objects.first()
    sets, _ = answer_sets_due([posting.round])[posting.round_id]
    places = f"missing {places_missing([posting.round])[posting.round_id]}, holds {sets}"
    if found is None:
        return f"no record; {places}"
    asked = QUESTIONS.get(found.problem, found.problem)
    money = [f"{one.kind} {one.state}" for one in Payment.objects.order_by("kind")]
    seat = f"seat {found.seat.state}" if found.seat else "no seat"
    return "; ".join([f"{found.state} {asked}".strip(), seat, *money, places])


def test_every_pair_of_states_has_a_rule_and_every_rule_that_asks_a_question():
    assert list(endings.RULES) == list(Visit.State)
    for rules in endings.RULES.values():
        assert list(rules) == list(endings.Here)
        for rule in rules.values():
            assert bool(rule.question) == (rule.act in (Act.ASK, Act.RECORD))
            assert rule.question in endings.PASSING | {""}


def test_each_session_ends_as_it_did_before_there_was_a_table(made):
    ends = {}
    for here in [*HERE, DECLINED]:
        with taken_back():
            HERE.get(here, absent)(Posting.objects.get())
            for listed in Visit.State.values:
                with taken_back():
                    ends[f"{listed or '-'} | {here}"] = ending(Posting.objects.get(), listed, here)
    assert ends == FROZEN | ON_PURPOSE


def flagged(posting: Posting, question: str, was: str, here: str) -> None:
    """Answers about which a person was asked while the platform said that they ``was``."""
    HERE[here](posting)
    Assignment.objects.update(state="flagged", problem=question)
    Visit.objects.update(state=was)


@pytest.mark.parametrize(
    ("question", "was", "here", "listed", "ends"),
    [
        (endings.ENDED, "expired", "answered", "approved", "submitted; reward paid"),
        (endings.ENDED, "expired", "answered", "submitted", "submitted"),
        (endings.ENDED, "expired", "proposed", "submitted", "flagged LANDED_LATE"),
        (endings.ENDED, "expired", "proposed", "approved", "flagged ENDED; reward paid"),
        (endings.REJECTED_THERE, "rejected", "answered", "approved", "submitted; reward paid"),
        (endings.UNKNOWN, "", "answered", "submitted", "submitted"),
        (endings.FOREIGN, "", "answered", "submitted", "submitted"),
        (endings.LANDED, "submitted", "bonus", "returned", "accepted; bonus paid"),
        (endings.LANDED, "submitted", "bonus", "approved", "flagged PAID_TWICE; bonus paid; reward paid"),
        (endings.LANDED, "submitted", "bonus", "settled", "flagged SETTLED; bonus paid"),
        (endings.SETTLED, "settled", "answered", "approved", "submitted; reward paid"),
        (TWO_PEOPLE, "", "answered", "submitted", f"flagged {TWO_PEOPLE}"),
        ("", "", "answered", "submitted", "flagged"),
    ],
)
def test_a_question_goes_away_with_its_reason(made, question, was, here, listed, ends):
    flagged(Posting.objects.get(), question, was, here)
    for _ in range(2):
        sessions.keep_sessions(Posting.objects.get(), [Listed("S1", "P1", listed, LONG_AGO, None, None, "")])
    assert (
        described(Posting.objects.get())
        .replace("seat filled; ", "")
        .replace("seat taken; ", "")
        .startswith(ends + "; ")
    )


def test_a_part_of_the_list_raises_no_question_about_other_sessions(made):
    answered(Posting.objects.get())
    sessions.keep_sessions(Posting.objects.get(), [], all_of_them=False)
    assert Assignment.objects.get().problem == ""


def test_work_whose_worker_never_came_here_is_notified_as_flagged(made):
    stranger(Posting.objects.get())
    data = Notification.objects.get(type="assignment.flagged").data
    assert data["id"] == Assignment.objects.get().pk
    assert "S1" not in str(data)
    assert "P1" not in str(data)
