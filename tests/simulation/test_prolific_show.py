"""A whole round on Prolific's emulator, played over HTTP by a simulated crowd of every conduct."""

from collections import Counter
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Judgment, Payment
from annotation.money.ledger import balances
from annotation.review.decisions import decide
from crowd.differences import find_differences
from crowd.models import Outbox
from crowd.visits.arrivals import NOTHING_LEFT
from hits.models import Round
from hits.rounds.packed_rounds import pack_round
from hits.rounds.round_parameters import PackParameters
from simulation.simulated_workers import reviewing_user
from tests.commands import figures_printed
from tests.crowd.prolific_rehearsal import Rehearsal
from tests.factories import make_collection
from tests.hits.pools import pool_of

pytestmark = pytest.mark.slow


def publish(made: Round) -> Round:
    options = {"channel": "prolific", "environment": "emulator", "expected_minutes": Decimal(8)}
    call_command("publish", made.name, **options, stdout=StringIO())
    made.refresh_from_db()
    return made


def end(made: Round, there: Rehearsal) -> None:
    """Close the round, pay those who answered although their session ended, and sync until nothing is on its way."""
    call_command("close", made.name, stdout=StringIO())
    for _ in range(4):
        there.later(minutes=2)
        Outbox.objects.update(due_at="2026-01-01T00:00Z")
        call_command("sync", made.name, stdout=StringIO())
        for late in Assignment.objects.filter(hit__round=made, state=Assignment.State.FLAGGED).exclude(problem=""):
            votes_count = late.seat_id is not None
            decide(late, votes_count=votes_count, paid=True, reason="It was finished.", by=reviewing_user())


def check(made: Round, there: Rehearsal) -> None:
    """Hold both books against each other: whoever finished is paid once, and every answer set is stored once."""
    made.refresh_from_db()
    books = balances(made)
    assert (sum(books.values()), books["held"], books["owed"]) == (0, 0, 0)
    assert not Outbox.objects.exclude(state="done").exists()
    assert [str(one) for one in find_differences(made)] == []
    with there.world.looking() as state:
        rows = [*state.submissions.values()]
        assert (state.ledger.on_hold, state.ledger.spent) == (0, books["paid"] + books["fees"])
        paid = {row.id: [*([row.paid] if row.paid else []), *row.bonuses] for row in rows}
    finished = Assignment.objects.exclude(receipt="").filter(hit__round=made)
    assert {each.outside_key: [made.reward] for each in finished} == {id: sums for id, sums in paid.items() if sums}
    # A reward is withdrawn where a bonus had to take its place.
    assert set(Payment.objects.values_list("state", flat=True)) <= {"paid", "withdrawn"}
    sets, sizes = Counter(Judgment.objects.values_list("assignment", flat=True)), dict[int, int]()
    for hit in made.hits.all():
        sizes |= dict.fromkeys(hit.assignments.values_list("pk", flat=True), hit.items.count())
    for_nothing = finished.filter(decisions__reason=NOTHING_LEFT).values_list("pk", flat=True)
    assert {*finished.values_list("pk", flat=True)} - {*for_nothing} == set(sets)
    assert all(sizes[pk] == count for pk, count in sets.items())
    assert set(Counter(Judgment.objects.values_list("worker", "image", "caption")).values()) <= {1}


def test_a_whole_round_ends_with_every_answer_stored_once_and_all_workers_paid_once(prolific):
    hits, votes = 10, 2
    pool = pool_of(16 * hits, images=20, collection=make_collection(images=20, pictures=True))
    made = publish(pack_round("show", pool, PackParameters(replication=votes, reward=Decimal("2.00"), seed=1)))
    crowd = figures_printed("simulate", "show", workers=40, seed=6)
    end(made, prolific)
    strayed = ("excluded", "returned", "abandoned", "submitted twice", "without code", "on two devices")
    assert all(crowd[conduct] for conduct in strayed), crowd
    assert (crowd["seats still open"], crowd["not taken in yet"]) == (0, 0)
    check(made, prolific)
    with prolific.world.looking() as state:
        ended = Counter(each.status for each in state.submissions.values())
        late = [each for each in state.submissions.values() if each.bonuses]
    assert (ended["RETURNED"], ended["TIMED-OUT"]) == (crowd["returned"], crowd["abandoned"])
    assert late, "no worker ran out of time after answering"
    assert {each.status for each in late} <= {"TIMED-OUT", "RETURNED"}
    assert made.seats.filter(state="open").count() == 0
    assert figures_printed("reconcile_books", "show")["differences"] == 0
